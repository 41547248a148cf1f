import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import {
  refundEvent,
  type RefundFields,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ at: '2126-01-15T00:00:00Z', findings: { missed_webhook: 1 } });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(async () => {
  await setClock(database, null);
  await database.query(
    `truncate auth.users, public.payments, billing.outbox, billing.gateway_events, billing.refunds,
       billing.gateway_subscriptions cascade`,
  );
});
afterAll(() => database.close());

const at = (day: string) => setClock(database, `2126-${day}T00:00:00Z`);
const january = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
const february = { start: '2126-02-01T00:00:00Z', end: '2126-03-01T00:00:00Z' };
const march = { start: '2126-03-01T00:00:00Z', end: '2126-04-01T00:00:00Z' };

const refund = (id: string, amount = 99900, which?: RefundFields) =>
  deliver(service, refundEvent({ id }, amount, which));

/** A gateway subscription of premium, activated on 1 January. */
async function subscriber() {
  await at('01-01');
  const user = await createUser(database);
  const id = uniqueId('sub');
  const send = (event: Pick<SubscriptionEvent, 'name'> & Partial<SubscriptionEvent>) =>
    deliver(service, subscriptionEvent({ userId: user.id, id, planId: 'plan_premium', ...event }));
  /** Delivers a charge of a cycle. @returns the id of its payment */
  const charge = async (period: { start: string; end: string }, payment = uniqueId('pay')) => {
    await send({ name: 'charged', ...period, payment: { id: payment, amount: 99900 } });
    return payment;
  };
  await send({ name: 'activated', ...january });
  return { user, id, send, charge };
}

const access = async (userId: string) => {
  const { status, ended_reason: reason } = await database.one(
    'select status, ended_reason from public.subscriptions where user_id = $1',
    [userId],
  );
  return [status, reason, await readTier(database, userId)];
};

test('a refund of the only cycle ends its access', async () => {
  const { user, charge } = await subscriber();
  const payment = await charge(january);
  await at('01-10');
  expect(await refund(payment)).toBe('applied');
  expect(await access(user.id)).toEqual(['cancelled', 'refunded', 'free']);
});

test('a refund of a later cycle ends its access: the subscription ends with the previous cycle', async () => {
  const { user, charge } = await subscriber();
  await charge(january);
  await at('02-01');
  const payment = await charge(february);
  await at('02-10');
  expect(await refund(payment)).toBe('applied');
  expect(await access(user.id)).toEqual(['cancelled', 'refunded', 'free']);
  expect(await readSubscription(database, user.id)).toMatchObject({ end: '2126-02-01T00:00:00.000Z' });
});

test('a refund of a cycle that was charged before its start does not change the running cycle', async () => {
  const { user, charge } = await subscriber();
  await charge(january);
  await at('01-30');
  const payment = await charge(february);
  await refund(payment);
  expect(await access(user.id)).toEqual(['active', null, 'premium']);
  expect(await readSubscription(database, user.id)).toMatchObject({ end: '2126-02-01T00:00:00.000Z' });
  await setClock(database, '2126-02-04T00:00:01Z');
  await database.query('select billing.expire_subscriptions()');
  expect(await access(user.id)).toEqual(['cancelled', 'refunded', 'free']);
});

test('a refund of an earlier cycle does not change the newest', async () => {
  const { user, charge } = await subscriber();
  const payment = await charge(january);
  await at('02-01');
  await charge(february);
  expect(await refund(payment)).toBe('applied');
  expect(await access(user.id)).toEqual(['active', null, 'premium']);
  expect(await readSubscription(database, user.id)).toMatchObject({ end: '2126-03-01T00:00:00.000Z' });
});

test('a partial refund changes no access; parts that reach the full amount end it', async () => {
  const { user, charge } = await subscriber();
  const payment = await charge(january);
  await refund(payment, 100);
  await refund(payment, 99800, { status: 'pending' });
  expect(await access(user.id)).toEqual(['active', null, 'premium']);
  await refund(payment, 99800);
  expect(await access(user.id)).toEqual(['cancelled', 'refunded', 'free']);
});

test('a refund that fails after it was processed restores the access of the cycle', async () => {
  const { user, charge } = await subscriber();
  const payment = await charge(january);
  const before = await readSubscription(database, user.id);
  const which = { id: uniqueId('rfnd') };
  await refund(payment, 99900, which);
  expect(await refund(payment, 99900, { ...which, status: 'failed' })).toBe('applied');
  expect(await access(user.id)).toEqual(['active', null, 'premium']);
  expect(await readSubscription(database, user.id)).toEqual(before);
});

test('a refund that arrives before its charge is unmatched, and the charge gives no access', async () => {
  const { user, charge } = await subscriber();
  await charge(january);
  await at('02-01');
  const payment = uniqueId('pay');
  expect(await refund(payment)).toBe('unmatched');
  await charge(february, payment);
  expect(await access(user.id)).toEqual(['cancelled', 'refunded', 'free']);
});

test('a pending refund that arrives before its charge changes no access until it is processed', async () => {
  const { user, charge } = await subscriber();
  const payment = uniqueId('pay');
  const which = { id: uniqueId('rfnd') };
  await refund(payment, 99900, { ...which, status: 'pending' });
  await charge(january, payment);
  expect(await access(user.id)).toEqual(['active', null, 'premium']);
  expect(await refund(payment, 99900, which)).toBe('applied');
  expect(await access(user.id)).toEqual(['cancelled', 'refunded', 'free']);
});

test('the charge of the next cycle after a refunded one gives access', async () => {
  const { user, charge } = await subscriber();
  await charge(january);
  await at('02-01');
  await refund(await charge(february));
  await at('03-01');
  await charge(march);
  expect(await access(user.id)).toEqual(['active', null, 'premium']);
  expect(await readSubscription(database, user.id)).toMatchObject({
    start: '2126-03-01T00:00:00.000Z',
    end: '2126-04-01T00:00:00.000Z',
  });
});

test('a cycle with two payments gives access until both are refunded', async () => {
  const { user, charge } = await subscriber();
  const payments = [await charge(january), await charge(january)];
  await refund(String(payments[0]));
  expect(await access(user.id)).toEqual(['active', null, 'premium']);
  await refund(String(payments[1]));
  expect(await access(user.id)).toEqual(['cancelled', 'refunded', 'free']);
});

test('a purchase below a subscription rules when the cycle is refunded, until the end of the purchase', async () => {
  await at('01-01');
  const order = await placeOrder(database);
  await verifyPurchase(service, order);
  const of = { userId: order.user.id, id: uniqueId('sub'), planId: 'plan_premium' };
  await at('02-01');
  await deliver(service, subscriptionEvent({ name: 'activated', ...of, ...february }));
  const payment = { id: uniqueId('pay'), amount: 99900 };
  await deliver(service, subscriptionEvent({ name: 'charged', ...of, ...february, payment }));
  expect(await readTier(database, order.user.id)).toBe('premium');
  await refund(payment.id);
  expect(await readSubscription(database, order.user.id)).toMatchObject({
    tier: 'pro',
    status: 'active',
    end: '2127-01-01T00:00:00.000Z',
  });
  expect(await access(order.user.id)).toEqual(['active', null, 'pro']);
});

test('a refund of a deleted user’s charge is applied and writes no subscription', async () => {
  const { user, charge } = await subscriber();
  const payment = await charge(january);
  await database.query('delete from auth.users where id = $1', [user.id]);
  expect(await refund(payment)).toBe('applied');
  expect(await readSubscription(database, user.id)).toBeNull();
});

test('a refund that fails after the cycle and its grace restores the tier until the next reconciliation', async () => {
  const { user, id, charge } = await subscriber();
  const payment = await charge(january);
  await at('01-20');
  const which = { id: uniqueId('rfnd') };
  await refund(payment, 99900, which);
  const order = await placeOrder(database, { user, tier: 'basic' });
  await verifyPurchase(service, order);
  await at('03-20');
  await database.query('select billing.expire_subscriptions()');
  expect(await access(user.id)).toEqual(['cancelled', 'lapsed', 'free']);
  await refund(payment, 99900, { ...which, status: 'failed' });
  expect(await access(user.id)).toEqual(['active', null, 'premium']);

  const subscription = await database.one('select id from public.subscriptions where user_id = $1', [user.id]);
  const [start, end] = [january.start, january.end].map((time) => Date.parse(time) / 1000);
  const answer = { id, status: 'halted', plan_id: 'plan_premium', current_start: start, current_end: end };
  await callRpc(service, 'apply_gateway_subscription', subscription['id'], id, JSON.stringify(answer));
  await database.query('select billing.expire_subscriptions()');
  expect(await access(user.id)).toEqual(['cancelled', 'lapsed', 'free']);
});
