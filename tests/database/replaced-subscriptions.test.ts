import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readCancellation, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

/** A day of March 2026. */
const day = (number: number) => new Date(Date.UTC(2026, 2, number)).toISOString();
const purchasedAt = '2026-03-10T12:00:00.500Z';
const month = { start: day(1), end: '2026-04-01T00:00:00Z' };
const nextMonth = { start: '2026-04-01T00:00:00Z', end: '2026-05-01T00:00:00Z' };
const event = (event: SubscriptionEvent) => deliver(service, subscriptionEvent({ planId: 'plan_pro', ...event }));
const cancellation = (id: string) => readCancellation(database, id);
const atCycleEnd = { at: 'cycle end', state: 'pending' };
const atOnce = { at: 'once', state: 'pending' };

/** The gateway subscriptions of a user that another source replaced. */
async function replacedSubscriptions(userId: string): Promise<unknown[]> {
  const rows = await database.query(
    `select gateway_subscription_id as id from billing.gateway_subscriptions
     where user_id = $1 and stops_at is not null and not cancel_at_period_end order by gateway_subscription_id`,
    [userId],
  );
  return rows.map(({ id }) => id);
}

/** A customer with a purchase on 10 March. The clock then shows 11 March. */
async function customer() {
  await setClock(database, purchasedAt);
  const order = await placeOrder(database);
  await verifyPurchase(service, order);
  await setClock(database, day(11));
  return { userId: order.user.id, id: uniqueId('sub') };
}

describe('a gateway subscription from before the purchase', () => {
  test.each(['activated', 'charged'] as const)(
    '%s afterwards is cancelled at the end of its cycle, and the subscription row does not change',
    async (name) => {
      const of = await customer();
      const before = await readSubscription(database, of.userId);
      expect(await event({ name, ...of, ...month, createdAt: day(1) })).toBe('applied');
      expect(await event({ name, ...of, ...month, createdAt: day(2) })).toBe('applied');
      expect(await readSubscription(database, of.userId)).toEqual(before);
      expect(await replacedSubscriptions(of.userId)).toEqual([of.id]);
      expect(await cancellation(of.id)).toEqual(atCycleEnd);
    },
  );

  test('cancelled afterwards does not change the purchase and its tier', async () => {
    const of = await customer();
    const before = await readSubscription(database, of.userId);
    expect(await event({ name: 'cancelled', ...of, createdAt: day(3) })).toBe('applied');
    expect(await readSubscription(database, of.userId)).toEqual(before);
    expect(await readTier(database, of.userId)).toBe('pro');
    expect(await cancellation(of.id)).toBeNull();
  });

  test('activated again after the purchase rules, and late older events do not change it', async () => {
    const of = await customer();
    expect(await event({ name: 'activated', ...of, ...month, createdAt: day(11) })).toBe('applied');
    const activated = await readSubscription(database, of.userId);
    expect(activated).toMatchObject({ gateway_subscription_id: of.id, status: 'active' });
    for (const name of ['activated', 'cancelled'] as const) {
      expect(await event({ name, ...of, ...nextMonth, createdAt: day(1) })).toBe('stale');
    }
    await event({ name: 'charged', ...of, ...nextMonth, createdAt: day(1) });
    expect(await readSubscription(database, of.userId)).toEqual(activated);
    expect(await cancellation(of.id)).toBeNull();
  });

  test.each<[string, Partial<SubscriptionEvent>, { at: string; state: string }]>([
    ['without a known plan', { planId: 'plan_unknown', ...month, createdAt: day(1) }, atCycleEnd],
    ['before its first cycle', { createdAt: day(1) }, atOnce],
    ['before its first cycle, without a time', {}, atOnce],
  ])('%s is cancelled by the purchase', async (_, fields, expected) => {
    const order = await placeOrder(database);
    const id = uniqueId('sub');
    await setClock(database, day(2));
    expect(await event({ name: 'activated', userId: order.user.id, id, ...fields })).toBe('unmatched');
    await setClock(database, purchasedAt);
    await verifyPurchase(service, order);
    expect(await replacedSubscriptions(order.user.id)).toEqual([id]);
    expect(await cancellation(id)).toEqual(expected);
  });
});

describe('a cancellation', () => {
  const secondOfPurchase = '2026-03-10T12:00:00Z';

  test.each<[string, string | null, string]>([
    ['before the purchase', '2026-03-10T11:59:59Z', 'active'],
    ['in the second of the purchase', secondOfPurchase, 'cancelled'],
    ['after the purchase', '2026-03-10T12:00:01Z', 'cancelled'],
    ['without a time', null, 'cancelled'],
  ])('without a plan, from %s (at %s), leaves the purchase %s', async (_, createdAt, status) => {
    const of = await customer();
    await event({ name: 'cancelled', ...of, planId: undefined, createdAt });
    expect(await readSubscription(database, of.userId)).toMatchObject({ status });
    expect(await readTier(database, of.userId)).toBe(status === 'active' ? 'pro' : 'free');
  });

  test.each([secondOfPurchase, day(11), null])(
    'with a known plan (at %s) ends its own subscription, not the purchase',
    async (createdAt) => {
      const of = await customer();
      expect(await event({ name: 'cancelled', ...of, createdAt })).toBe('applied');
      expect(await readSubscription(database, of.userId)).toMatchObject({ status: 'active', tier: 'pro' });
      expect(await readTier(database, of.userId)).toBe('pro');
    },
  );
});

describe('of a gateway subscription with a cycle and one before its first cycle', () => {
  test('the newer activation is attached, the older one is cancelled at the end of its cycle', async () => {
    await setClock(database, day(11));
    const { id: userId } = await createUser(database);
    const [older, newer] = [uniqueId('sub'), uniqueId('sub')];
    expect(await event({ name: 'activated', userId, id: newer, createdAt: day(2) })).toBe('unmatched');
    expect(await event({ name: 'activated', userId, id: older, ...month, createdAt: day(1) })).toBe('applied');
    expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: newer, tier: 'pro' });
    expect(await cancellation(older)).toEqual(atCycleEnd);
    expect(await cancellation(newer)).toBeNull();
  });

  test.each(['first', 'last'])(
    'activated in the same second, the result is the same when the one with a cycle arrives %s',
    async (place) => {
      await setClock(database, day(11));
      const { id: userId } = await createUser(database);
      const [waiting, billed] = ['sub_Z', 'sub_A'].map((id) => uniqueId(id));
      const events: SubscriptionEvent[] = [
        { name: 'activated', userId, id: waiting, createdAt: day(1) },
        { name: 'activated', userId, id: billed, ...month, createdAt: day(1) },
      ];
      for (const one of place === 'last' ? events : events.toReversed()) await event(one);
      expect(await readSubscription(database, userId)).toMatchObject({
        gateway_subscription_id: waiting,
        end: '2026-04-01T00:00:00.000Z',
      });
    },
  );
});

describe('of two gateway subscriptions', () => {
  test.each([['last', false], ['first', true]])(
    'the one activated first is cancelled at the end of its cycle, when it arrives %s',
    async (_, first) => {
      await setClock(database, day(11));
      const { id: userId } = await createUser(database);
      const [older, newer] = [uniqueId('sub'), uniqueId('sub')];
      const events = [
        { name: 'activated', userId, id: older, ...month, createdAt: day(1) },
        { name: 'activated', userId, id: newer, ...month, createdAt: day(2) },
      ] as const;
      for (const one of first ? events : events.toReversed()) expect(await event(one)).toBe('applied');
      expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: newer });
      expect(await replacedSubscriptions(userId)).toEqual([older]);
      expect(await cancellation(older)).toEqual(atCycleEnd);
      expect(await cancellation(newer)).toBeNull();
    },
  );

  test.each([[false, 'withdrawn', false], [true, 'pending', true]])(
    'the one that is activated again rules again; its cancellation, attempted: %s, is %s and the end planned: %s',
    async (isAttempted, state, ends) => {
      await setClock(database, day(11));
      const { id: userId } = await createUser(database);
      const [first, second] = [uniqueId('sub'), uniqueId('sub')];
      await event({ name: 'activated', userId, id: first, ...month, createdAt: day(1) });
      await event({ name: 'activated', userId, id: second, ...month, createdAt: day(2) });
      if (isAttempted) {
        await database.query("update billing.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [
          first,
        ]);
      }
      expect(await event({ name: 'activated', userId, id: first, ...month, createdAt: day(3) })).toBe('applied');
      expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: first });
      expect(
        await database.one('select cancel_at_period_end as ends from public.subscriptions where user_id = $1', [
          userId,
        ]),
      ).toEqual({ ends });
      expect(await replacedSubscriptions(userId)).toEqual([second]);
      expect(await cancellation(first)).toMatchObject({ state });
      expect(await cancellation(second)).toEqual(atCycleEnd);
    },
  );
});

describe('a gateway subscription of a deleted user', () => {
  test.each(['activated', 'charged'] as const)(
    'is cancelled at once when %s arrives late',
    async (name) => {
      const { id: userId } = await createUser(database);
      await database.query('delete from auth.users where id = $1', [userId]);
      const id = uniqueId('sub');
      expect(await event({ name, userId, id, ...month })).toBe('applied');
      expect(await cancellation(id)).toEqual(atOnce);
    },
  );

  test('is cancelled at once when its events had no effect before the deletion', async () => {
    const { id: userId } = await createUser(database);
    const id = uniqueId('sub');
    expect(await event({ name: 'activated', userId, id, planId: 'plan_unknown', ...month })).toBe('unmatched');
    await database.query('delete from auth.users where id = $1', [userId]);
    expect(await cancellation(id)).toEqual(atOnce);
  });

  test('is not cancelled if the user never existed: another app may use the same gateway account', async () => {
    const id = uniqueId('sub');
    expect(await event({ name: 'activated', userId: crypto.randomUUID(), id, ...month })).toBe('unmatched');
    expect(await cancellation(id)).toBeNull();
  });
});
