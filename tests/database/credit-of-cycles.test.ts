import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { buyTier, type Order, orderTier } from '../helpers/records/orders.ts';
import { paymentOf, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readCancellation, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
let id: string;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
beforeEach(async () => {
  user = await createUser(database);
  id = uniqueId('sub');
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

/** Midnight of a day of 2026. */
const day = (number: number, month = 1) => new Date(Date.UTC(2026, month - 1, number)).toISOString();
const at = (time: string) => setClock(database, time);
const january = { start: day(1), end: day(1, 2) };
const february = { start: day(1, 2), end: day(1, 3) };

async function event(name: SubscriptionEvent['name'], time: string, fields: Partial<SubscriptionEvent> = {}) {
  await at(time);
  const of = { userId: user.id, id, planId: 'plan_basic', createdAt: time };
  return await deliver(service, subscriptionEvent({ name, ...of, ...fields }));
}
const payOf = (month: string) => ({ id: `pay_${month}_${id}`, amount: 9900 });

/** A user whose basic the gateway bills: January is paid. */
async function bill(): Promise<void> {
  await event('activated', day(1), january);
  await event('charged', day(1), { ...january, payment: payOf('january') });
}
async function order(time: string, tier = 'premium'): Promise<Order> {
  await at(time);
  return await orderTier(service, { user, tier, start: 'now' });
}
async function buy(time: string, tier = 'premium'): Promise<Order> {
  await at(time);
  return await buyTier(service, { user, tier, start: 'now' });
}
const row = () => readSubscription(database, user.id);
const findings = async () =>
  (await database.query('select finding, detail ->> $2 as reason from billing.findings where user_id = $1', [
    user.id,
    'reason',
  ])).filter(({ finding }) => finding !== 'outbox_stuck');

// 21 of the 31 days of January.
const unused = 6706;

test('the unused time of a paid cycle is credited', async () => {
  await bill();
  const { id: paymentId, answer } = await order(day(11));
  expect(answer).toMatchObject({ credit: unused, amount: 199900 - unused, running: { tier: 'basic' } });
  expect(await readPayment(database, paymentId)).toMatchObject({
    credited_kind: 'gateway_subscription',
    credited_id: id,
    credited_until: new Date(january.end),
    credited_amount: '9900',
  });
});

test('the purchase replaces the cycle, and the gateway is told to stop at its end', async () => {
  await bill();
  await buy(day(11));
  expect(await row()).toMatchObject({ tier: 'premium', gateway_subscription_id: null });
  expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'pending' });
  expect(await database.one("select ended_reason from billing.sources where kind = 'gateway_subscription'"))
    .toEqual({ ended_reason: 'replaced' });
  expect(await findings()).toEqual([]);
});

test.each([false, true])(
  'a refund of the purchase gives the cycle back, and withdraws its cancellation unless it was sent (%j)',
  async (isSent) => {
    await bill();
    const premium = await buy(day(11));
    if (isSent) {
      await database.query(
        "update billing.outbox set attempts = 1, delivered_at = billing.clock() where destination = 'gateway'",
      );
    }
    await at(day(12));
    await deliver(service, refundEvent(paymentOf(premium), 199900 - unused));
    expect(await row()).toMatchObject({
      tier: 'basic',
      status: 'active',
      gateway_subscription_id: id,
      end: january.end,
    });
    expect(await readTier(database, user.id)).toBe('basic');
    expect(await readCancellation(database, id)).toEqual({
      at: 'cycle end',
      state: isSent ? 'delivered' : 'withdrawn',
    });
    expect(
      await database.one('select cancel_at_period_end as ends from public.subscriptions where user_id = $1', [user.id]),
    )
      .toEqual({ ends: isSent });
  },
);

test('a later cycle of the replaced subscription is a source again', async () => {
  await bill();
  const premium = await buy(day(11));
  await event('charged', day(1, 2), { ...february, payment: payOf('february') });
  expect(await row()).toMatchObject({ tier: 'premium' });
  expect(await findings()).toEqual([{ finding: 'charged_after_replacement', reason: null }]);
  await deliver(service, refundEvent(paymentOf(premium), 199900 - unused));
  expect(await row()).toMatchObject({ tier: 'basic', status: 'active', end: february.end });
});

test('a repeated charge of the credited cycle changes nothing', async () => {
  await bill();
  await buy(day(11));
  await event('charged', day(12), { ...january, createdAt: day(1), payment: payOf('january') });
  expect(await row()).toMatchObject({ tier: 'premium' });
  expect(await database.one("select ended_reason from billing.sources where kind = 'gateway_subscription'"))
    .toEqual({ ended_reason: 'replaced' });
});

test('without a known payment of the cycle there is no credit', async () => {
  await event('activated', day(1), january);
  expect((await order(day(11))).answer).toMatchObject({ credit: 0, running: { tier: 'basic' } });
});

test('a cycle that was refunded in part is credited in part, one that was refunded in full not at all', async () => {
  await bill();
  await deliver(service, refundEvent({ id: payOf('january').id }, 3700));
  expect((await order(day(11))).answer).toMatchObject({ credit: Math.floor((6200 * 21) / 31) });
  await deliver(service, refundEvent({ id: payOf('january').id }, 6200));
  expect((await order(day(11))).answer).toMatchObject({ credit: 0 });
});

test('a cycle that is refunded after its credit is a finding', async () => {
  await bill();
  await buy(day(11));
  await deliver(service, refundEvent({ id: payOf('january').id }, 9900));
  expect(await row()).toMatchObject({ tier: 'premium', status: 'active' });
  expect(await findings()).toEqual([{
    finding: 'unearned_credit',
    reason: 'the credited payment was refunded or lost',
  }]);
});

test('billed, bought once and billed again: the credited purchase comes back after the last cycle', async () => {
  await bill();
  await buy(day(11));
  await event('cancelled', day(1, 2));
  id = uniqueId('sub');
  const month = { planId: 'plan_pro', start: day(10, 2), end: day(10, 3) };
  await event('activated', day(10, 2), month);
  await event('charged', day(10, 2), { ...month, payment: { id: uniqueId('pay'), amount: 99900 } });
  expect(await row()).toMatchObject({ tier: 'pro', gateway_subscription_id: id });
  await event('cancelled', day(10, 3), { planId: 'plan_pro' });
  expect(await row()).toMatchObject({ tier: 'premium', status: 'active', end: '2027-01-11T00:00:00.000Z' });
  expect(await readTier(database, user.id)).toBe('premium');
  expect(await findings()).toEqual([]);
});

test('a cancellation at once ends the replaced cycle for good', async () => {
  await bill();
  const premium = await buy(day(11));
  await at(day(12));
  expect(await callRpc(service, 'cancel_subscription', user.id, false)).toMatchObject({ outcome: 'cancelled' });
  await deliver(service, refundEvent(paymentOf(premium), 199900 - unused));
  expect(await readTier(database, user.id)).toBe('free');
});

test('two orders credit the same cycle: both are fulfilled, and the second is a finding', async () => {
  await bill();
  const [first, second] = [await order(day(11)), await order(day(11), 'pro')];
  for (const paid of [first, second]) expect(await verifyPurchase(service, paid)).toMatchObject({ outcome: 'applied' });
  expect(await findings()).toEqual([{ finding: 'unearned_credit', reason: 'another payment has the same credit' }]);
});
