import { describe, expect, test } from 'vitest';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { changeEnvelope, paymentCaptured, paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, refusal } from '../helpers/http/requests.ts';
import { ledger, poolThenRest, useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow, paymentOfOrder, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newBuyer, unchanged } = project;
const service = useService(poolThenRest, project);
const received = { status: 200, body: { received: true } };
const failed = refusal(500, 'Webhook processing failed');
const missing = refusal(400, 'Missing signature');
const invalid = refusal(400, 'Invalid signature');
const secret = secrets.GATEWAY_WEBHOOK_SECRET;
const encoder = new TextEncoder();
const statusOf = async (orderId: string) => (await paymentOfOrder(database, orderId)).status;

describe('an effect', () => {
  test('POST /api/webhooks/gateway → 200; the ledger stores event, event id and payload', async () => {
    const body = paymentCaptured();
    expect(await answer(postWebhook(service, body, { eventId: 'evt_Np3' }))).toEqual(received);
    expect(await ledgerRow(database, body)).toMatchObject({
      event_id: 'evt_Np3',
      event: 'payment.captured',
      payload: JSON.parse(body),
      outcome: 'unmatched',
      deliveries: 1,
    });
  });

  // Parked after six hours: database/apply-gateway-event. A database that refuses the call: outages.
  test('POST /api/webhooks/gateway whose effect violates a constraint → 500, undone; delivered again without it → 200, applied', async () => {
    const { orderId } = await newBuyer();
    const event = paymentFailed({ order_id: orderId });
    await database.query("alter table public.payments add constraint no_failure check (status <> 'failed') not valid");
    await unchanged(async () => expect(await answer(postWebhook(service, event))).toEqual(failed), ledger);
    expect(await ledgerRow(database, event)).toMatchObject({ outcome: 'failed: 23514', attempts: 1 });
    await database.query('alter table public.payments drop constraint no_failure');
    expect(await answer(postWebhook(service, event))).toEqual(received);
    expect(await ledgerRow(database, event)).toMatchObject({ outcome: 'applied', attempts: 2, deliveries: 2 });
    expect(await statusOf(orderId)).toBe('failed');
  });

  test('POST /api/webhooks/gateway about a charge that can’t be stored → 500; delivered again it gives the access', async () => {
    const { user } = await newBuyer();
    await database.query(
      "update public.plans set gateway_plan_id = 'plan_stored' where tier = 'pro' and lookup_key is null",
    );
    const now = Math.floor(Date.now() / 1000) * 1000;
    const [start, end] = [0, 30].map((days) => new Date(now + days * 86_400_000).toISOString());
    const cycle = { planId: 'plan_stored', start, end };
    const charged = subscriptionEvent({ name: 'charged', userId: user.id, id: uniqueId('sub'), ...cycle });
    const table = 'alter table billing.gateway_subscriptions';
    await database.query(`${table} add constraint no_cycle check (period_end is null) not valid`);
    await unchanged(async () => expect(await answer(postWebhook(service, charged))).toEqual(failed), ledger);
    await database.query(`${table} drop constraint no_cycle`);
    expect(await answer(postWebhook(service, charged))).toEqual(received);
    expect(await readTier(database, user.id)).toBe('pro');
  });
});

describe('signatures and settings', () => {
  /** Delivers with the given signature, and asserts that a refusal writes nothing. */
  const deliverSigned = (body: string | Uint8Array<ArrayBuffer>, signature: string, to = service) =>
    unchanged(() => answer(postWebhook(to, body, { headers: { 'x-gateway-signature': signature } })));

  test('POST /api/webhooks/gateway with an unhandled event, without an event id → 200, recorded, no change', async () => {
    for (const event of ['payment.authorized', '']) {
      const body = changeEnvelope(paymentCaptured(), { event });
      const headers = { 'x-gateway-signature': await sign(secret, body) };
      await unchanged(async () => {
        expect(await answer(postWebhook(service, body, { headers }))).toEqual(received);
      }, ledger);
      expect(await ledgerRow(database, body)).toMatchObject({ event, event_id: null, outcome: 'ignored: not handled' });
    }
  });

  test('POST /api/webhooks/gateway with signed invalid JSON → 500, nothing written; badly signed → 400, before 500', async () => {
    for (const body of ['{', '', '['.repeat(200_000)]) {
      expect(await deliverSigned(body, await sign(secret, body))).toEqual(failed);
      expect(await deliverSigned(body, 'x')).toEqual(invalid);
      expect(await deliverSigned(body, '')).toEqual(missing);
    }
  });

  // All forms that are refused: unit/signature.
  test('POST /api/webhooks/gateway without a signature → 400 Missing signature', async () => {
    await unchanged(async () => {
      expect(await answer(postWebhook(service, paymentCaptured(), { headers: {} }))).toEqual(missing);
    });
  });

  test('POST /api/webhooks/gateway with a signature of another form, secret or body → 400', async () => {
    const body = paymentCaptured();
    const s = await sign(secret, body);
    const signatures = [s.slice(0, -1), `${s}0`, s.toUpperCase(), `sha256=${s}`, await sign(secret, `${body} `)];
    for (const other of ['another-secret', 'old-secret', secrets.GATEWAY_KEY_SECRET, '\0']) {
      signatures.push(await sign(other, body));
    }
    for (const signature of signatures) expect(await deliverSigned(body, signature)).toEqual(invalid);
  });

  test('POST /api/webhooks/gateway with a byte-order mark, or not in UTF-8, signed over the bytes → 200; over the text → 400', async () => {
    const text = paymentCaptured();
    const marked = encoder.encode(`\uFEFF${text}`);
    expect(await deliverSigned(marked, await sign(secret, text))).toEqual(invalid);
    const [start, end] = [encoder.encode(` {\n\t"event":"${uniqueId('event')}" , "note":"`), encoder.encode('"}')];
    const invalidText = new Uint8Array([...start, 0xff, 0xfe, 0xc0, ...end]);
    for (const body of [marked, invalidText]) expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await ledgerRow(database, marked)).toMatchObject({ event: 'payment.captured' });
    expect(await ledgerRow(database, invalidText)).toMatchObject({ payload: { note: '\uFFFD\uFFFD\uFFFD' } });
  });

  describe('settings', () => {
    const rotating = useService('in process over the pool', project, {
      GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old-secret',
      GATEWAY_SIGNATURE_HEADER: 'X-Acme-Signature',
      GATEWAY_EVENT_ID_HEADER: 'X-Acme-Event-Id',
      GATEWAY_ACCOUNT_ID: 'acc_Ours',
    });
    const post = async (body: string, key: string = secret, eventId = 'evt_acme') => {
      const headers = { 'x-acme-signature': await sign(key, body), 'x-acme-event-id': eventId };
      return await answer(postWebhook(rotating, body, { headers }));
    };
    const captureBy = (account_id?: string, orderId?: string) =>
      changeEnvelope(paymentCaptured({ order_id: orderId }), { account_id });

    test('POST /api/webhooks/gateway while the secret rotates, in the configured headers → 200 of either secret, 400 of a third', async () => {
      for (const key of [secret, 'old-secret']) expect(await post(captureBy(), key)).toEqual(received);
      expect(await post(captureBy(), 'older-secret')).toEqual(invalid);
      const body = captureBy();
      expect(await post(body)).toEqual(received);
      expect(await ledgerRow(database, body)).toMatchObject({ event_id: 'evt_acme' });
      expect(await deliverSigned(body, await sign(secret, body), rotating)).toEqual(missing);
    });

    test('POST /api/webhooks/gateway of another account → 200, recorded without its payload, no change', async () => {
      const { orderId } = await newBuyer();
      const body = captureBy('acc_Others', orderId);
      const row = { event: 'payment.captured', outcome: 'ignored: account', payload: null, subject_id: null };
      for (const deliveries of [1, 2]) {
        await unchanged(async () => expect(await post(body)).toEqual(received), ledger);
        expect(await ledgerRow(database, body)).toMatchObject({ ...row, deliveries });
      }
      const ours = await newBuyer();
      expect(await post(captureBy('acc_Ours', ours.orderId))).toEqual(received);
      expect(await statusOf(ours.orderId)).toBe('captured');
    });
  });
});
