import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { permutations } from '../helpers/orderings/permutations.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readCancellation, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

/** A day of November 2026. */
const day = (number: number) => new Date(Date.UTC(2026, 10, number)).toISOString();
const cycle = { start: day(9), end: '2026-12-09T00:00:00Z' };
const purchased = { tier: 'pro', status: 'active', gateway_subscription_id: null, end: '2027-11-10T00:00:00.000Z' };

type Fact = readonly ['purchase' | SubscriptionEvent['name'], number];
const purchase: Fact = ['purchase', 10];

/**
 * `facts` are in the order in which they happened. `rules` names the source that must rule in every order of arrival.
 * A fact arrives at its own time or, after a later fact, at the time of that fact.
 */
type History = { readonly name: string; readonly facts: readonly Fact[]; readonly rules: 'purchase' | 'X' };

const histories: History[] = [
  {
    name: 'X activated before a purchase, charged after it',
    facts: [['activated', 9], ['charged', 11]],
    rules: 'purchase',
  },
  {
    name: 'X activated before a purchase, cancelled after it',
    facts: [['activated', 9], ['cancelled', 11]],
    rules: 'purchase',
  },
  { name: 'X activated before and after a purchase', facts: [['activated', 9], ['activated', 12]], rules: 'X' },
];

async function deliverFact(userId: string, [name, number]: Fact, planId: string | undefined): Promise<void> {
  if (name === 'purchase') {
    const order = await placeOrder(database, { user: { id: userId, email: null } });
    await verifyPurchase(service, order);
    return;
  }
  const period = name === 'cancelled' ? {} : cycle;
  await deliver(service, subscriptionEvent({ name, userId, id: 'sub_X', planId, createdAt: day(number), ...period }));
}

/** The orders in which facts can arrive. The purchase happens in this database, so it is never delayed. */
const orders = (facts: readonly Fact[]) =>
  [...permutations([purchase, ...facts])].filter((order) =>
    order.slice(0, order.indexOf(purchase)).every(([, number]) => number < purchase[1])
  );

describe.each(histories)('$name', ({ facts, rules }) => {
  test.each(
    [['plan_premium', 'premium'], [undefined, 'pro']].flatMap(([planId, tier]) =>
      orders(facts).map((order) => ({
        planId,
        tier,
        order,
        arrival: order.map(([name, number]) => `${name} on ${number}`).join(', '),
      }))
    ),
  )(`${rules} rules: plan $planId, $arrival`, async ({ planId, tier, order }) => {
    const user = await createUser(database, { email: null });
    let now = 0;
    for (const fact of order) {
      now = Math.max(now, fact[1]);
      await setClock(database, day(now));
      await deliverFact(user.id, fact, planId);
    }
    expect(await readSubscription(database, user.id)).toMatchObject(
      rules === 'purchase'
        ? purchased
        : { tier, status: 'active', gateway_subscription_id: 'sub_X', end: '2026-12-09T00:00:00.000Z' },
    );
    expect(await readTier(database, user.id)).toBe(rules === 'purchase' ? 'pro' : tier);
    const isCancelled = facts.some(([name]) => name === 'cancelled');
    // A subscription that the gateway cancelled itself may have a cancellation from this service before.
    if (!isCancelled) {
      const state = (await readCancellation(database, 'sub_X'))?.state ?? 'none';
      expect(rules === 'purchase' ? ['pending'] : ['none', 'withdrawn']).toContain(state);
    }
  });
});

test('a row written by hand with a time in the future does not outrank a later activation', async () => {
  const { id: userId } = await createUser(database);
  await setClock(database, day(9));
  await database.query(
    `insert into public.subscriptions (user_id, tier, status, current_period_end, updated_at)
     values ($1, 'basic', 'active', '2026-12-09', '2027-11-09')`,
    [userId],
  );
  await setClock(database, day(10));
  await deliverFact(userId, purchase, undefined);
  await setClock(database, day(11));
  await deliverFact(userId, ['activated', 11], 'plan_premium');
  expect(await readTier(database, userId)).toBe('premium');
});

test('an order made before another one was verified does not outrank it, although its capture arrives later', async () => {
  const pay = ({ orderId, paymentId }: Purchase) =>
    deliver(service, paymentCaptured({ id: paymentId, order_id: orderId }));
  const user = await createUser(database);
  await setClock(database, day(9));
  const premium = await placeOrder(database, { user, tier: 'premium' });
  await pay(premium);
  await setClock(database, day(10));
  const basic = await placeOrder(database, { user, tier: 'basic' });
  await setClock(database, day(11));
  await verifyPurchase(service, premium);
  await setClock(database, day(12));
  await pay(basic);
  expect(await readTier(database, user.id)).toBe('premium');
});
