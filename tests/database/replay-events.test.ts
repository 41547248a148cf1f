import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { mailsTo, paymentOf, placeOrder } from '../helpers/records/purchases.ts';
import { readLedger, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await database.query("update public.plans set duration_months = 12 where tier = 'pro'");
  await database.query('alter table public.payments drop constraint if exists payments_poison_check');
});
afterAll(() => database.close());

async function replay(body: string): Promise<unknown> {
  const { outcome } = await database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)]);
  return outcome;
}

/** A capture that violates a constraint until `repair` drops it. */
async function failingCapture() {
  const order = await placeOrder(database);
  await database.query(
    `alter table public.payments add constraint payments_poison_check check (gateway_payment_id <> '${order.paymentId}')`,
  );
  const body = paymentCaptured(paymentOf(order));
  return {
    order,
    body,
    repair: () => database.query('alter table public.payments drop constraint payments_poison_check'),
  };
}

describe('a failed event', () => {
  test('leaves only its ledger row, and is retried with each delivery', async () => {
    const { order, body, repair } = await failingCapture();
    expect(await deliver(service, body)).toBe('failed: 23514');
    expect(await deliver(service, body)).toBe('failed: 23514');
    expect(await readLedger(database, sha256(body))).toMatchObject({
      outcome: 'failed: 23514',
      error: '23514',
      deliveries: 2,
      attempts: 2,
    });
    expect(await readTier(database, order.user.id)).toBe('free');
    expect(await mailsTo(database, order.user)).toEqual([]);
    await repair();
    expect(await deliver(service, body)).toBe('applied');
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('is parked when it is six hours old, and is then applied only by a replay of an admin', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const { order, body, repair } = await failingCapture();
    expect(await deliver(service, body)).toBe('failed: 23514');
    await setClock(database, '2026-01-01T06:00:00Z');
    expect(await deliver(service, body)).toBe('parked');
    expect(await replay(body)).toBe('parked');
    await repair();
    expect(await deliver(service, body)).toBe('parked');
    expect(await replay(body)).toBe('applied');
    expect(await readLedger(database, sha256(body))).toMatchObject({ outcome: 'applied', error: null, attempts: 4 });
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await replay(body)).toBe('already');
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
  });

  test('whose order is inserted later does not stop the insert', async () => {
    const paymentId = uniqueId('pay');
    const orderId = uniqueId('order');
    const body = paymentCaptured({ id: paymentId, order_id: orderId });
    await deliver(service, body);
    await database.query(
      `alter table public.payments add constraint payments_poison_check check (gateway_payment_id <> '${paymentId}')`,
    );
    const user = await createUser(database);
    await createPayment(database, { userId: user.id, orderId });
    expect(await readLedger(database, sha256(body))).toMatchObject({ outcome: 'failed: 23514' });
    await database.query('alter table public.payments drop constraint payments_poison_check');
    expect(await replay(body)).toBe('applied');
    expect(await readTier(database, user.id)).toBe('pro');
  });
});

describe('billing.replay_event', () => {
  test('of an unknown event returns null', async () => {
    expect(await replay(uniqueId('body'))).toBeNull();
  });

  test('of the capture of a payment that was refunded later grants nothing again', async () => {
    const order = await placeOrder(database);
    const money = paymentOf(order);
    const body = paymentCaptured(money);
    await deliver(service, body);
    await deliver(service, refundEvent(money, 99900));
    expect(await replay(body)).toBe('already');
    expect(await readTier(database, order.user.id)).toBe('free');
    expect(await mailsTo(database, order.user)).toEqual([
      `payment-success/${order.id}`,
      expect.stringMatching(/^subscription-ended\//),
    ]);
  });

  test('of a capture fulfils after the amount of the payment was corrected', async () => {
    const order = await placeOrder(database, { amount: 1 });
    const body = paymentCaptured(paymentOf(order));
    expect(await deliver(service, body)).toBe('mismatch');
    await database.query('update public.payments set amount = 99900 where id = $1', [order.id]);
    expect(await deliver(service, body)).toBe('mismatch');
    expect(await replay(body)).toBe('applied');
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('wakes the dispatcher', async () => {
    const order = await placeOrder(database, { amount: 1 });
    const body = paymentCaptured(paymentOf(order));
    await deliver(service, body);
    await database.query('update public.payments set amount = 99900 where id = $1', [order.id]);
    const admin = await database.connect();
    await admin.query('listen outbox');
    const woken = new Promise<void>((resolve) => admin.once('notification', () => resolve()));
    await admin.query("select billing.replay_event(decode($1, 'hex'))", [sha256(body)]);
    await woken;
  });

  test('is closed to the service', async () => {
    const call = service.query("select billing.replay_event('\\x00')");
    await expect(call).rejects.toMatchObject({ code: '42501' });
  });
});

test('a sweep retries an event that stays unmatched at most three times', async () => {
  const order = await placeOrder(database);
  const body = paymentCaptured({ ...paymentOf(order), amount: undefined });
  expect(await deliver(service, body)).toBe('unmatched');
  for (let sweep = 0; sweep < 4; sweep++) await database.query('select billing.sweep()');
  expect(await readLedger(database, sha256(body))).toMatchObject({ outcome: 'unmatched', attempts: 3 });
});
