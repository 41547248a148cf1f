import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One subscription is activated for a period that is over: the gateway bills it, and no payment covers the current
  // time.
  database = await createTestDatabase({ findings: { entitled_not_paid: 1 }, at: now });
  service = await openSession(database, { role: 'service_role' });
  await setClock(database, now);
});
afterAll(() => database.close());

/** A few days after the events, so that they count by their own times. */
const now = '2026-01-10T00:00:00Z';
const january = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
const february = { start: '2126-02-01T00:00:00Z', end: '2126-03-01T00:00:00Z' };
const iso = ({ start, end }: typeof january) => ({
  start: start.replace('Z', '.000Z'),
  end: end.replace('Z', '.000Z'),
});
const event = (event: SubscriptionEvent) => deliver(service, subscriptionEvent(event));

const planId = 'plan_gateway';
beforeAll(() => database.query("update public.plans set gateway_plan_id = $1 where tier = 'premium'", [planId]));

test.each(['activated', 'charged'] as const)(
  '%s of a known gateway plan creates the subscription, with the tier',
  async (name) => {
    const { id: userId } = await createUser(database);
    const id = uniqueId('sub');
    expect(await event({ name, userId, id, planId, ...january })).toBe('applied');
    expect(await readSubscription(database, userId)).toEqual({
      tier: 'premium',
      plan_tier: 'premium',
      status: 'active',
      gateway_subscription_id: id,
      ...iso(january),
    });
    expect(await readTier(database, userId)).toBe('premium');
  },
);

test.each(['activated', 'charged'] as const)('%s of an unknown gateway plan changes nothing', async (name) => {
  const { id: userId } = await createUser(database);
  for (const planId of [undefined, 'plan_unknown']) {
    expect(await event({ name, userId, planId, ...january })).toBe('unmatched');
  }
  expect(await readSubscription(database, userId)).toBeNull();
  expect(await readTier(database, userId)).toBe('free');
});

test('a period that is over creates a subscription without the tier', async () => {
  const { id: userId } = await createUser(database);
  const over = { start: '2020-01-01T00:00:00Z', end: '2020-02-01T00:00:00Z' };
  expect(await event({ name: 'activated', userId, id: uniqueId('sub'), planId, ...over })).toBe('applied');
  expect(await readTier(database, userId)).toBe('free');
});

test('cancelled without a subscription still sets the profile to free', async () => {
  const { id: userId } = await createUser(database);
  await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [userId]);
  expect(await event({ name: 'cancelled', userId })).toBe('unmatched');
  expect(await readTier(database, userId)).toBe('free');
  expect(await readSubscription(database, userId)).toBeNull();
});

test('events that arrive before their subscription is known are applied when it is created', async () => {
  const { id: userId } = await createUser(database);
  const of = { userId, id: uniqueId('sub') };
  const createdAt = (day: number) => ({ createdAt: `2026-01-0${day}T00:00:00Z` });
  expect(await event({ name: 'cancelled', ...of, ...createdAt(4) })).toBe('unmatched');
  expect(await event({ name: 'charged', ...of, ...february, ...createdAt(3) })).toBe('unmatched');
  expect(await event({ name: 'activated', ...of, ...createdAt(1) })).toBe('unmatched');
  expect(await event({ name: 'charged', ...of, planId, ...january, ...createdAt(2) })).toBe('applied');
  expect(await readSubscription(database, userId)).toEqual({
    tier: 'premium',
    plan_tier: 'premium',
    status: 'cancelled',
    gateway_subscription_id: of.id,
    ...iso(february),
  });
  expect(await readTier(database, userId)).toBe('free');
  // The mirror stores these facts. The ledger keeps the outcome of each on its arrival.
  const rows = await database.query(
    'select outcome, attempts from billing.gateway_events where subject_id = $1 order by outcome, attempts',
    [of.id],
  );
  expect(rows).toEqual(['applied', 'unmatched', 'unmatched', 'unmatched'].map((outcome) => ({ outcome, attempts: 1 })));
});

test('early events of another gateway subscription are not applied', async () => {
  const { id: userId } = await createUser(database);
  const other = { userId, id: uniqueId('sub') };
  expect(await event({ name: 'cancelled', ...other, createdAt: '2026-01-04T00:00:00Z' })).toBe('unmatched');
  await event({ name: 'activated', userId, id: uniqueId('sub'), planId, ...january });
  expect(await readTier(database, userId)).toBe('premium');
});
