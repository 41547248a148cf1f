import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { deleteUsers, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

const january = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const february = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };

/** Delivers events of a user who is not inserted yet. @returns the id of the user */
async function announced(...events: Omit<SubscriptionEvent, 'userId'>[]): Promise<string> {
  await setClock(database, '2026-01-31T00:00:00Z');
  const userId = crypto.randomUUID();
  for (const event of events) {
    expect(await deliver(service, subscriptionEvent({ userId, ...event }))).toBe('unmatched');
  }
  return userId;
}
const insertUser = (id: string) =>
  database.query('insert into auth.users (id, email) values ($1, $2)', [id, `${uniqueId('user')}@example.com`]);

test('a user inserted after the events of a gateway subscription gets its tier and period', async () => {
  const id = uniqueId('sub');
  const userId = await announced(
    { name: 'charged', id, planId: 'plan_pro', ...february, createdAt: '2026-01-31T00:00:00Z' },
    { name: 'activated', id, planId: 'plan_pro', ...january, createdAt: '2026-01-30T00:00:00Z' },
  );
  await insertUser(userId);
  expect(await readSubscription(database, userId)).toEqual({
    tier: 'pro',
    plan_tier: 'pro',
    status: 'active',
    gateway_subscription_id: id,
    start: '2026-02-01T00:00:00.000Z',
    end: '2026-03-01T00:00:00.000Z',
  });
  expect(await readTier(database, userId)).toBe('pro');
  const changes = await database.query(
    'select from_tier, to_tier, cause from billing.tier_changes where user_id = $1',
    [
      userId,
    ],
  );
  expect(changes).toEqual([{ from_tier: 'free', to_tier: 'pro', cause: 'subscription of a new user' }]);
});

test.each<[string, Omit<SubscriptionEvent, 'userId'>[]]>([
  ['only a cancellation', [{ name: 'cancelled' }]],
  ['an activation and its cancellation', [
    { name: 'activated', planId: 'plan_pro', ...january, createdAt: '2026-01-30T00:00:00Z' },
    { name: 'cancelled', planId: 'plan_pro', createdAt: '2026-01-30T12:00:00Z' },
  ]],
  ['an activation of an unknown plan', [{ name: 'activated', planId: 'plan_unknown', ...january }]],
])('a user inserted after %s has the tier free', async (_, events) => {
  const id = uniqueId('sub');
  const userId = await announced(...events.map((event) => ({ id, ...event })));
  await insertUser(userId);
  expect(await readTier(database, userId)).toBe('free');
});

test('the insert of a user succeeds although the access cannot be settled', async () => {
  const userId = await announced({ name: 'activated', id: uniqueId('sub'), planId: 'plan_pro', ...january });
  await database.query("alter table public.subscriptions add constraint broken check (tier <> 'pro') not valid");
  try {
    await insertUser(userId);
  } finally {
    await database.query('alter table public.subscriptions drop constraint broken');
  }
  expect(await readSubscription(database, userId)).toBeNull();
  expect(await readTier(database, userId)).toBe('free');
});

test('a user whose access could not be settled on the insert is settled by the sweep', async () => {
  const userId = await announced({ name: 'activated', id: uniqueId('sub'), planId: 'plan_pro', ...january });
  await database.query("alter table public.subscriptions add constraint broken check (tier <> 'pro') not valid");
  try {
    await insertUser(userId);
  } finally {
    await database.query('alter table public.subscriptions drop constraint broken');
  }
  await database.query('select billing.sweep()');
  expect(await readTier(database, userId)).toBe('pro');
});

test('a user inserted during the delivery of the event is settled by the sweep', async () => {
  await setClock(database, '2026-01-31T00:00:00Z');
  const userId = crypto.randomUUID();
  const signingUp = await database.connect();
  await signingUp.query('begin');
  await signingUp.query("insert into auth.users (id, email) values ($1, 'asha@example.com')", [userId]);
  const event = { name: 'activated', userId, id: uniqueId('sub'), planId: 'plan_pro', ...january } as const;
  expect(await deliver(service, subscriptionEvent(event))).toBe('unmatched');
  await signingUp.query('commit');
  await database.query('select billing.sweep()');
  expect(await readTier(database, userId)).toBe('pro');
});
