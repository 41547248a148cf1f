import { describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { changeEnvelope, paymentCaptured, paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, refusal, verify } from '../helpers/http/requests.ts';
import { ledger, poolThenRest, targets, useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow, paymentOfOrder, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newBuyer, unchanged } = project;
const received = { status: 200, body: { received: true } };
const failed = refusal(500, 'Webhook processing failed');
const missing = refusal(400, 'Missing signature');
const invalid = refusal(400, 'Invalid signature');
const secret = secrets.GATEWAY_WEBHOOK_SECRET;
const encoder = new TextEncoder();
const statusOf = async (orderId: string) => (await paymentOfOrder(database, orderId)).status;

describe.each(targets)('%s', (target) => {
  const service = useService(target, project);

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

  test('POST /api/webhooks/gateway when the database refuses → 500; delivered again → 200, applied', async () => {
    const { orderId } = await newBuyer();
    const body = paymentFailed({ order_id: orderId });
    await whileBroken(
      database,
      'apply_gateway_event',
      () => unchanged(async () => expect(await answer(postWebhook(service, body))).toEqual(failed)),
    );
    expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await statusOf(orderId)).toBe('failed');
  });
});

describe('one target', () => {
  const service = useService(poolThenRest, project);

  /** Delivers with the given signature, and asserts that a refusal writes nothing. */
  const deliverSigned = (body: string | Uint8Array<ArrayBuffer>, signature: string, to = service) => {
    const headers = { 'x-gateway-signature': signature };
    return unchanged(() => answer(postWebhook(to, body, { headers })));
  };

  test('POST /api/webhooks/gateway with an unhandled event → 200, recorded, no change', async () => {
    for (const event of ['refund.speed_changed', 'payment.authorized', 'something.new', '']) {
      const body = changeEnvelope(paymentCaptured(), { event });
      await unchanged(async () => {
        expect(await answer(postWebhook(service, body))).toEqual(received);
      }, ledger);
      expect(await ledgerRow(database, body)).toMatchObject({ event, outcome: 'ignored: not handled' });
    }
  });

  test('POST /api/webhooks/gateway without an event id, and with a session → 200', async () => {
    const [{ accessToken }, body] = [await newBuyer(), paymentCaptured()];
    const headers = { 'x-gateway-signature': await sign(secret, body) };
    expect(await answer(postWebhook(service, body, { headers }))).toEqual(received);
    expect(await ledgerRow(database, body)).toMatchObject({ event_id: null });
    const withSession = { ...headers, authorization: `Bearer ${accessToken}` };
    expect(await answer(postWebhook(service, body, { headers: withSession }))).toEqual(received);
  });

  test('POST /api/webhooks/gateway with the same event again, with another event id → 200, no effect', async () => {
    const { id: userId, accessToken, paid } = await newBuyer();
    const cancelled = subscriptionEvent({ name: 'cancelled', userId, id: uniqueId('sub') });
    expect(await answer(postWebhook(service, cancelled))).toEqual(received);
    expect((await verify(service, accessToken, paid)).status).toBe(200);
    await unchanged(async () => {
      for (const _ of [1, 2]) expect(await answer(postWebhook(service, cancelled))).toEqual(received);
    }, ledger);
    expect(await readTier(database, userId)).toBe('pro');
    expect(await ledgerRow(database, cancelled)).toMatchObject({ deliveries: 3, attempts: 1 });
  });

  test('POST /api/webhooks/gateway with signed invalid JSON → 500, nothing written; badly signed → 400, before 500', async () => {
    for (const body of ['{', '', 'event=payment.captured', '{"event": payment}', '[1,', '['.repeat(200_000)]) {
      expect(await deliverSigned(body, await sign(secret, body))).toEqual(failed);
      expect(await deliverSigned(body, 'x')).toEqual(invalid);
      expect(await deliverSigned(body, '')).toEqual(missing);
    }
  });

  // Parked after six hours: database/apply-gateway-event.
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

  describe('signatures', () => {
    test('POST /api/webhooks/gateway without a signature, or with an empty one → 400 Missing signature', async () => {
      await unchanged(async () => {
        expect(await answer(postWebhook(service, paymentCaptured(), { headers: {} }))).toEqual(missing);
      });
      expect(await deliverSigned('{}', '')).toEqual(missing);
    });

    // All forms that are refused: unit/signature.
    test('POST /api/webhooks/gateway with a signature of another form → 400', async () => {
      const body = paymentCaptured();
      const s = await sign(secret, body);
      const digit = s.endsWith('0') ? '1' : '0';
      const changed = [s.slice(0, -1), `${s}0`, s.toUpperCase(), `${s}, ${s}`, `sha256=${s}`, s.slice(0, -1) + digit];
      for (const signature of changed) expect(await deliverSigned(body, signature)).toEqual(invalid);
    });

    test('POST /api/webhooks/gateway signed with another secret, or with the signature of another body → 400', async () => {
      const body = paymentCaptured();
      for (const other of ['another-secret', 'old-secret', secrets.GATEWAY_KEY_SECRET, `${secret} `, '\0']) {
        expect(await deliverSigned(body, await sign(other, body))).toEqual(invalid);
      }
      for (const other of [`${body} `, '']) {
        expect(await deliverSigned(body, await sign(secret, other))).toEqual(invalid);
      }
    });

    test('POST /api/webhooks/gateway with a byte-order mark, signed over the bytes → 200; over the text → 400', async () => {
      const text = paymentCaptured();
      const bytes = encoder.encode(`\uFEFF${text}`);
      expect(await deliverSigned(bytes, await sign(secret, text))).toEqual(invalid);
      const headers = { 'x-gateway-signature': await sign(secret, bytes) };
      expect(await answer(postWebhook(service, bytes, { headers }))).toEqual(received);
      expect(await ledgerRow(database, bytes)).toMatchObject({ event: 'payment.captured' });
    });

    test('POST /api/webhooks/gateway with a signed body that is not UTF-8, or has its own white space → 200', async () => {
      const [start, end] = [encoder.encode(`{"event":"${uniqueId('event')}","note":"`), encoder.encode('"}')];
      const bytes = new Uint8Array([...start, 0xff, 0xfe, 0xc0, ...end]);
      for (const body of [bytes, ` {\n\t"payload" : {} , "event":"${uniqueId('event')}" }\r\n`]) {
        expect(await answer(postWebhook(service, body))).toEqual(received);
      }
      expect(await ledgerRow(database, bytes)).toMatchObject({ payload: { note: '\uFFFD\uFFFD\uFFFD' } });
    });
  });

  describe('settings', () => {
    const rotating = useService(poolThenRest, project, {
      GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old-secret',
      GATEWAY_SIGNATURE_HEADER: 'X-Acme-Signature',
      GATEWAY_EVENT_ID_HEADER: 'X-Acme-Event-Id',
      GATEWAY_ACCOUNT_ID: 'acc_Ours',
    });
    const onlyPrevious = useService(poolThenRest, project, {
      GATEWAY_WEBHOOK_SECRET: '',
      GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old-secret',
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

    test('POST /api/webhooks/gateway with only the previous secret → 200 of it, 400 of an empty one', async () => {
      const body = captureBy();
      // WebCrypto refuses empty keys; a key of one zero byte gives the same HMAC.
      expect(await deliverSigned(body, await sign('\0', body), onlyPrevious)).toEqual(invalid);
      expect(await answer(postWebhook(onlyPrevious, body, { secret: 'old-secret' }))).toEqual(received);
    });

    test('POST /api/webhooks/gateway of another account → 200, recorded without its payload, no change', async () => {
      const { orderId } = await newBuyer();
      const body = captureBy('acc_Others', orderId);
      const row = { event: 'payment.captured', outcome: 'ignored: account', payload: null, subject_id: null };
      for (const deliveries of [1, 2]) {
        await unchanged(async () => expect(await post(body)).toEqual(received), ledger);
        expect(await ledgerRow(database, body)).toMatchObject({ ...row, deliveries });
      }
      for (const account of ['acc_Ours', undefined]) {
        const ours = await newBuyer();
        expect(await post(captureBy(account, ours.orderId))).toEqual(received);
        expect(await statusOf(ours.orderId)).toBe('captured');
      }
    });
  });
});
