import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway-events.ts';
import { placeOrder, verifyPurchase } from '../helpers/purchases.ts';
import { createUser, uniqueId } from '../helpers/records.ts';
import { openSession } from '../helpers/session.ts';
import { readOutbox, readSubscription, readTier } from '../helpers/state.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterAll(() => database.close());

const month = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
/** A day of the ten before today. */
const day = (number: number) => ({ createdAt: new Date(today + (number - 10) * 86_400_000).toISOString() });
const event = (event: SubscriptionEvent) => deliver(service, subscriptionEvent({ planId: 'plan_pro', ...event }));

/** Ids that were moved aside, and whether the gateway is told to cancel a subscription. */
async function superseded(userId: string) {
  const { ids } = await database.one(
    'select superseded_gateway_subscription_ids as ids from public.subscriptions where user_id = $1',
    [userId],
  );
  return ids;
}
const cancellations = async (id: string) => (await readOutbox(database, 'gateway', id)).map(({ payload }) => payload);
const atOnce = (id: string) => [{ gateway_subscription_id: id, at_cycle_end: false }];

/** A purchase of now: whatever happened on those days was before it. */
async function customer() {
  const order = await placeOrder(database);
  await verifyPurchase(service, order);
  return { userId: order.user.id, id: uniqueId('sub') };
}

describe('an event that happened before the purchase', () => {
  test.each(['activated', 'charged'] as const)(
    '%s has the gateway subscription cancelled and changes nothing else, once',
    async (name) => {
      const of = await customer();
      const before = await readSubscription(database, of.userId);
      expect(await event({ name, ...of, ...month, ...day(1) })).toBe('applied');
      expect(await event({ name, ...of, ...month, ...day(2) })).toBe('stale');
      expect(await readSubscription(database, of.userId)).toEqual(before);
      expect(await superseded(of.userId)).toEqual([of.id]);
      expect(await cancellations(of.id)).toEqual(atOnce(of.id));
    },
  );

  test('cancelled is stale: the purchase stays, with its tier', async () => {
    const of = await customer();
    const before = await readSubscription(database, of.userId);
    expect(await event({ name: 'cancelled', ...of, ...day(3) })).toBe('stale');
    expect(await readSubscription(database, of.userId)).toEqual(before);
    expect(await readTier(database, of.userId)).toBe('pro');
  });

  test('leaves alone the gateway subscription of that id that was activated after it', async () => {
    const of = await customer();
    expect(await event({ name: 'activated', ...of, ...month })).toBe('applied');
    for (const name of ['activated', 'charged', 'cancelled'] as const) {
      expect(await event({ name, ...of, start: month.end, end: '2126-03-01T00:00:00Z', ...day(1) })).toBe('stale');
    }
    expect(await readSubscription(database, of.userId)).toMatchObject({
      gateway_subscription_id: of.id,
      status: 'active',
    });
    expect(await cancellations(of.id)).toEqual([]);
  });
});

test.each([
  ['in the very second of the purchase', (at: Date) => new Date(Math.floor(at.getTime() / 1000) * 1000).toISOString()],
  ['after it', (at: Date) => new Date(Math.floor(at.getTime() / 1000) * 1000 + 1000).toISOString()],
  ['at no time', () => null],
])('a cancellation that happened %s ends the purchase', async (_, createdAt) => {
  const of = await customer();
  const { at } = await database.one('select max(fulfilled_at) as at from public.payments where user_id = $1', [
    of.userId,
  ]);
  if (!(at instanceof Date)) throw new Error('not fulfilled');
  expect(await event({ name: 'cancelled', ...of, createdAt: createdAt(at) })).toBe('applied');
  expect(await readSubscription(database, of.userId)).toMatchObject({ status: 'cancelled' });
  expect(await readTier(database, of.userId)).toBe('free');
});

test('a purchase moves aside what was activated before it and waited for a subscription', async () => {
  for (
    const [fields, id] of [[{ planId: 'plan_unknown', ...month }, uniqueId('sub')], [{}, uniqueId('sub')]] as const
  ) {
    const order = await placeOrder(database);
    expect(await event({ name: 'activated', userId: order.user.id, id, ...fields, ...day(1) })).toBe('unmatched');
    await verifyPurchase(service, order);
    expect(await superseded(order.user.id)).toEqual([id]);
    expect(await cancellations(id)).toEqual(atOnce(id));
  }
});

test('a purchase leaves alone what was activated at no time: it counts when it comes', async () => {
  const order = await placeOrder(database);
  const id = uniqueId('sub');
  expect(await event({ name: 'activated', userId: order.user.id, id })).toBe('unmatched');
  await verifyPurchase(service, order);
  expect(await superseded(order.user.id)).toEqual([]);
  expect(await cancellations(id)).toEqual([]);
});

test('what waited for a subscription to be made is judged then: the newer activation counts', async () => {
  const { id: userId } = await createUser(database);
  const [older, newer] = [uniqueId('sub'), uniqueId('sub')];
  expect(await event({ name: 'activated', userId, id: newer, ...day(2) })).toBe('unmatched');
  expect(await event({ name: 'activated', userId, id: older, ...month, ...day(1) })).toBe('applied');
  expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: newer });
  expect(await cancellations(older)).toEqual(atOnce(older));
});

test('what waited for a subscription to be made does not take the place of one of the same second', async () => {
  const { id: userId } = await createUser(database);
  const [waiting, made] = ['sub_Z', 'sub_A'].map((id) => uniqueId(id));
  expect(await event({ name: 'activated', userId, id: waiting, ...day(1) })).toBe('unmatched');
  expect(await event({ name: 'activated', userId, id: made, ...month, ...day(1) })).toBe('applied');
  expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: made });
});

describe('of two gateway subscriptions', () => {
  test.each([['last', false], ['first', true]])(
    'the one activated before is cancelled at the gateway, when it is told %s',
    async (_, first) => {
      const { id: userId } = await createUser(database);
      const [older, newer] = [uniqueId('sub'), uniqueId('sub')];
      const events = [
        { name: 'activated', userId, id: older, ...month, ...day(1) },
        { name: 'activated', userId, id: newer, ...month, ...day(2) },
      ] as const;
      for (const one of first ? events : events.toReversed()) expect(await event(one)).toBe('applied');
      expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: newer });
      expect(await superseded(userId)).toEqual([older]);
      expect(await cancellations(older)).toEqual(atOnce(older));
      expect(await cancellations(newer)).toEqual([]);
    },
  );

  test('the one that is activated again counts again, and is not cancelled unless somebody tried', async () => {
    for (const tried of [false, true]) {
      const { id: userId } = await createUser(database);
      const [first, second] = [uniqueId('sub'), uniqueId('sub')];
      await event({ name: 'activated', userId, id: first, ...month, ...day(1) });
      await event({ name: 'activated', userId, id: second, ...month, ...day(2) });
      if (tried) {
        await database.query("update private.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [
          first,
        ]);
      }
      expect(await event({ name: 'activated', userId, id: first, ...month, ...day(3) })).toBe('applied');
      expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: first });
      expect(await superseded(userId)).toEqual([second]);
      const rows = await database.query(
        `select parked_at is not null as withdrawn from private.outbox
         where key in ('cancel-subscription/' || $1, 'cancel-subscription/' || $2) order by id`,
        [first, second],
      );
      expect(rows).toEqual([{ withdrawn: !tried }, { withdrawn: false }]);
    }
  });

  test('one that is known by a charge alone is not cancelled: its activation may be the newer one', async () => {
    const { id: userId } = await createUser(database);
    const [charged, activated] = [uniqueId('sub'), uniqueId('sub')];
    await event({ name: 'charged', userId, id: charged, ...month, ...day(3) });
    await event({ name: 'activated', userId, id: activated, ...month, ...day(1) });
    expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: activated });
    expect(await cancellations(charged)).toEqual([]);
    await event({ name: 'activated', userId, id: charged, ...month, ...day(2) });
    expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: charged });
    expect(await cancellations(activated)).toEqual(atOnce(activated));
  });
});

describe('a gateway subscription of a user who is gone', () => {
  test.each(['activated', 'charged'] as const)('is cancelled when %s comes late', async (name) => {
    const { id: userId } = await createUser(database);
    await database.query('delete from auth.users where id = $1', [userId]);
    const id = uniqueId('sub');
    expect(await event({ name, userId, id, ...month })).toBe('applied');
    expect(await cancellations(id)).toEqual(atOnce(id));
  });

  test('is cancelled when its events had no effect while the user was there', async () => {
    const { id: userId } = await createUser(database);
    const id = uniqueId('sub');
    expect(await event({ name: 'activated', userId, id, planId: 'plan_unknown', ...month })).toBe('unmatched');
    await database.query('delete from auth.users where id = $1', [userId]);
    expect(await cancellations(id)).toEqual(atOnce(id));
  });

  test('is left alone where the user never was: another app may be at the same gateway', async () => {
    const id = uniqueId('sub');
    expect(await event({ name: 'activated', userId: crypto.randomUUID(), id, ...month })).toBe('unmatched');
    expect(await cancellations(id)).toEqual([]);
  });
});
