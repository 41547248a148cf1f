import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { alertsAbout, applyOrderPayments, listed, orderedAt } from '../helpers/gateway/reconciliation.ts';
import {
  mailsTo,
  paymentOf,
  placeOrder,
  type Purchase,
  readPurchase,
  verifyPurchase,
} from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

let order: Purchase;
beforeEach(async () => {
  order = await orderedAt(database, '2026-01-01T00:00:00Z');
  await verifyPurchase(service, order);
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('truncate auth.users, public.payments, billing.outbox, billing.gateway_events cascade');
});

const at = (time: string) => setClock(database, `2026-01-${time}:00Z`);
const apply = (answer: unknown[] | null) => applyOrderPayments(service, order, answer);
const dueAt = async () => (await readPayment(database, order.id)).next_reconcile_at;
const findings = () =>
  database.query('select finding, subject from billing.findings where finding <> $1', ['outbox_stuck']);

const answers: [string, Record<string, unknown>[] | null][] = [
  ['a payment that is only authorised', [{ status: 'authorized' }]],
  ['a payment that failed', [{ status: 'failed' }]],
  ['no payment', []],
  ['404', null],
];

test.each(answers)(
  'a verified payment loses access after the gateway answered %s for 120 hours, not before',
  async (_, fields) => {
    const answer = fields && listed(order, ...fields);
    for (const time of ['01T00:15', '01T01:00', '01T06:00', '02T00:00', '04T00:00', '05T23:59']) {
      await at(time);
      expect(await apply(answer)).toMatchObject({ ended: false });
      expect(await readTier(database, order.user.id)).toBe('pro');
    }
    await at('06T00:00');
    expect(await apply(answer)).toMatchObject({ ended: true });
    expect(await readPurchase(database, order)).toMatchObject({
      status: 'failed',
      isFulfilled: true,
      subscription: { status: 'cancelled' },
      tier: 'free',
    });
    expect(await readPayment(database, order.id)).toMatchObject({
      ended_at: new Date('2026-01-06T00:00:00Z'),
      ended_reason: 'never_captured',
      verified_at: new Date('2026-01-01T00:00:00Z'),
    });
    expect(await findings()).toEqual([{ finding: 'never_captured', subject: order.id }]);
    expect(await alertsAbout(database, order.orderId)).toEqual([]);
    expect(await dueAt()).toBeNull();
    expect(await apply(answer)).toMatchObject({ ended: false });
  },
);

test.each(answers)(
  'a payment that is captured after the gateway answered %s for 120 hours is fulfilled, without a second success mail',
  async (_, fields) => {
    await at('06T00:00');
    expect(await apply(fields && listed(order, ...fields))).toMatchObject({ ended: true });
    await at('07T00:00');
    expect(await deliver(service, paymentCaptured(paymentOf(order)))).toBe('applied');
    expect(await readPurchase(database, order)).toMatchObject({ status: 'captured', isFulfilled: true, tier: 'pro' });
    expect(await readPayment(database, order.id)).toMatchObject({
      period_start: new Date('2026-01-07T00:00:00Z'),
      period_end: new Date('2027-01-07T00:00:00Z'),
      ended_at: null,
      ended_reason: null,
    });
    expect(await findings()).toEqual([]);
    expect(await mailsTo(database, order.user)).toContain(`payment-success/${order.id}`);
    expect((await mailsTo(database, order.user)).filter((key) => String(key).startsWith('payment-success')))
      .toHaveLength(1);
  },
);

test('a payment that was never captured gives no access by another verification, until the gateway captures it', async () => {
  await at('06T00:00');
  await apply([]);
  for (const paymentId of [order.paymentId, uniqueId('pay'), order.paymentId]) {
    expect(await verifyPurchase(service, { ...order, paymentId })).toEqual({ outcome: 'never_captured' });
    expect(await readTier(database, order.user.id)).toBe('free');
  }
  expect(await dueAt()).toEqual(new Date('2026-01-06T00:00:00Z'));
  await apply(listed(order, { status: 'captured' }));
  expect(await readTier(database, order.user.id)).toBe('pro');
  expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
});

test('a failed attempt on an order whose payment was never captured keeps the finding', async () => {
  await at('06T00:00');
  await apply([]);
  await deliver(service, paymentFailed({ id: uniqueId('pay'), order_id: order.orderId }));
  expect(await findings()).toEqual([{ finding: 'never_captured', subject: order.id }]);
  expect(await readTier(database, order.user.id)).toBe('free');
});

test('an older purchase rules again when a newer one was never captured', async () => {
  await deliver(service, paymentCaptured(paymentOf(order)));
  const older = order;
  await at('02T00:00');
  order = await placeOrder(database, { user: older.user, tier: 'premium' });
  await verifyPurchase(service, order);
  expect(await readTier(database, order.user.id)).toBe('premium');
  await at('07T00:00');
  expect(await apply(null)).toMatchObject({ ended: true });
  expect(await readSubscription(database, order.user.id)).toMatchObject({
    tier: 'pro',
    status: 'active',
    end: '2027-01-01T00:00:00.000Z',
  });
  expect(await readTier(database, order.user.id)).toBe('pro');
  expect(await mailsTo(database, order.user)).toEqual([`payment-success/${older.id}`, `payment-success/${order.id}`]);
});
