import { describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { changeEnvelope, paymentCaptured, paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, verify } from '../helpers/http/requests.ts';
import { everyTarget } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import {
  ledgerRow,
  paymentOfOrder,
  readAllRows,
  readRowsBesidesLedger,
  readTier,
  subscriptionOf,
} from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// One parked event for each target.
const project = useProject({ findings: { failed_events: everyTarget.length } });
const received = { status: 200, body: { received: true } };
const failed = refusal(500, 'Webhook processing failed');

describe.each(everyTarget)('%s', (target) => {
  const service = useService(target, project);

  test.each(['refund.speed_changed', 'payment.authorized', 'invoice.paid', 'something.new', ''])(
    'POST /api/webhooks/gateway with the unhandled event "%s" → 200, recorded, no change',
    async (event) => {
      const before = await readRowsBesidesLedger(project.database);
      const body = changeEnvelope(paymentCaptured(), { event });
      expect(await answer(postWebhook(service, body))).toEqual(received);
      expect(await readRowsBesidesLedger(project.database)).toEqual(before);
      expect(await ledgerRow(project.database, body)).toMatchObject({ event, outcome: 'ignored: not handled' });
    },
  );

  test('POST /api/webhooks/gateway without and with a session → 200', async () => {
    const user = await createCaller(project.database);
    const body = JSON.stringify({ event: uniqueId('event') });
    const headers = { 'x-gateway-signature': await sign(secrets.GATEWAY_WEBHOOK_SECRET, body) };
    expect(await answer(postWebhook(service, body, { headers }))).toEqual(received);
    const withSession = { ...headers, authorization: `Bearer ${user.accessToken}` };
    expect(await answer(postWebhook(service, body, { headers: withSession }))).toEqual(received);
  });

  test('POST /api/webhooks/gateway → 200; the ledger stores event, event id and payload', async () => {
    const body = paymentCaptured();
    expect(await answer(postWebhook(service, body, { eventId: 'evt_Np3' }))).toEqual(received);
    expect(await ledgerRow(project.database, body)).toMatchObject({
      event_id: 'evt_Np3',
      event: 'payment.captured',
      payload: JSON.parse(body),
      outcome: 'unmatched',
      deliveries: 1,
    });
  });

  test('POST /api/webhooks/gateway without an event id header → 200', async () => {
    const body = paymentCaptured();
    const headers = { 'x-gateway-signature': await sign(secrets.GATEWAY_WEBHOOK_SECRET, body) };
    expect(await answer(postWebhook(service, body, { headers }))).toEqual(received);
    expect(await ledgerRow(project.database, body)).toMatchObject({ event_id: null });
  });

  test('POST /api/webhooks/gateway with the same event again, with another event id → 200, no effect', async () => {
    const user = await createCaller(project.database);
    const cancelled = subscriptionEvent({ name: 'cancelled', userId: user.id, id: uniqueId('sub') });
    expect(await answer(postWebhook(service, cancelled))).toEqual(received);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    expect((await verify(service, user.accessToken, await checkout(orderId))).status).toBe(200);
    const before = await readRowsBesidesLedger(project.database);

    for (let i = 0; i < 2; i++) expect(await answer(postWebhook(service, cancelled))).toEqual(received);
    expect(await readRowsBesidesLedger(project.database)).toEqual(before);
    expect(await readTier(project.database, user.id)).toBe('pro');
    expect(await subscriptionOf(project.database, user.id)).toMatchObject({ status: 'active' });
    expect(await ledgerRow(project.database, cancelled)).toMatchObject({ deliveries: 3, attempts: 1 });
  });

  test('POST /api/webhooks/gateway with two events of the same event id → 200, both applied', async () => {
    const user = await createCaller(project.database);
    const orders = [
      await createPayment(project.database, { userId: user.id }),
      await createPayment(project.database, { userId: user.id }),
    ];
    for (const { orderId } of orders) {
      expect(await answer(postWebhook(service, paymentFailed({ order_id: orderId }), { eventId: 'evt_same' })))
        .toEqual(received);
      expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'failed' });
    }
  });

  test.each(['{', '', 'event=payment.captured', '{"event": payment}', '[1,'])(
    'POST /api/webhooks/gateway with the signed invalid JSON body %j → 500',
    async (body) => {
      const before = await readAllRows(project.database);
      expect(await answer(postWebhook(service, body))).toEqual(failed);
      expect(await readAllRows(project.database)).toEqual(before);
    },
  );

  test('POST /api/webhooks/gateway when the database refuses → 500; delivered again → 200, applied', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const body = paymentFailed({ order_id: orderId });
    await whileBroken(project.database, 'apply_gateway_event', async () => {
      const before = await readAllRows(project.database);
      expect(await answer(postWebhook(service, body))).toEqual(failed);
      expect(await readAllRows(project.database)).toEqual(before);
    });
    expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'failed' });
  });

  test('POST /api/webhooks/gateway whose effect violates a constraint → 500, undone; delivered again without it → 200, applied', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const body = paymentFailed({ order_id: orderId });
    await whileFailuresAreRefused(async () => {
      const before = await readRowsBesidesLedger(project.database);
      expect(await answer(postWebhook(service, body))).toEqual(failed);
      expect(await readRowsBesidesLedger(project.database)).toEqual(before);
      expect(await ledgerRow(project.database, body)).toMatchObject({ outcome: 'failed: 23514', attempts: 1 });
    });
    expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await ledgerRow(project.database, body)).toMatchObject({ outcome: 'applied', attempts: 2, deliveries: 2 });
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'failed' });
  });

  test('POST /api/webhooks/gateway whose effect still fails after six hours → 200, parked', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const body = paymentFailed({ order_id: orderId });
    await whileFailuresAreRefused(async () => {
      await setClock(project.database, '2027-04-01T00:00:00Z');
      expect(await answer(postWebhook(service, body))).toEqual(failed);
      await setClock(project.database, '2027-04-01T05:59:59Z');
      expect(await answer(postWebhook(service, body))).toEqual(failed);
      await setClock(project.database, '2027-04-01T06:00:00Z');
      expect(await answer(postWebhook(service, body))).toEqual(received);
      expect(await ledgerRow(project.database, body)).toMatchObject({ outcome: 'parked', deliveries: 3 });
      expect(await answer(postWebhook(service, body))).toEqual(received);
    });
    await setClock(project.database, null);
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'created' });
  });

  /** Runs work while a constraint refuses payments with status `failed`. */
  async function whileFailuresAreRefused(work: () => Promise<void>): Promise<void> {
    const database = project.database;
    await database.query("alter table public.payments add constraint no_failure check (status <> 'failed') not valid");
    try {
      await work();
    } finally {
      await database.query('alter table public.payments drop constraint no_failure');
    }
  }
});
