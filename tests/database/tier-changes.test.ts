import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let userId: string;
beforeAll(async () => {
  // Five tiers are written by hand, and one is renewed early.
  database = await createTestDatabase({ findings: { entitled_not_paid: 5, paid_twice: 1, unmailed_payment: 1 } });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
beforeEach(async () => {
  userId = (await createUser(database)).id;
});
afterAll(() => database.close());

function changes(): Promise<Row[]> {
  return database.query(
    'select from_tier, to_tier, cause, reference from billing.tier_changes where user_id = $1 order by id',
    [userId],
  );
}

function setTier(tier: string | null) {
  return database.query('update public.profiles set subscription_tier = $2 where user_id = $1', [userId, tier]);
}

async function buy(tier: string): Promise<string> {
  const { orderId } = await createPayment(database, { userId, meta: { tier } });
  const paymentId = uniqueId('pay');
  await callRpc(service, 'verify_payment', userId, orderId, paymentId, 'signature');
  return paymentId;
}

test('a sign-up is no change', async () => {
  expect(await changes()).toEqual([]);
});

test('a payment is the cause, with its id', async () => {
  const reference = await buy('pro');
  expect(await changes()).toEqual([{ from_tier: 'free', to_tier: 'pro', cause: 'payment', reference }]);
});

test('a renewal of the same tier is no change', async () => {
  await buy('pro');
  await buy('pro');
  expect(await changes()).toHaveLength(1);
});

test('each event of the gateway is a cause, with its subscription', async () => {
  const reference = uniqueId('sub');
  const of = { userId, id: reference };
  const period = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
  await deliver(
    service,
    subscriptionEvent({ name: 'activated', ...of, ...period, planId: 'plan_pro', createdAt: '2026-01-01T00:00:00Z' }),
  );
  await deliver(
    service,
    subscriptionEvent({ name: 'charged', ...of, ...period, planId: 'plan_premium', createdAt: '2026-01-02T00:00:00Z' }),
  );
  await deliver(service, subscriptionEvent({ name: 'cancelled', ...of, createdAt: '2026-01-03T00:00:00Z' }));
  expect(await changes()).toEqual([
    { from_tier: 'free', to_tier: 'pro', cause: 'subscription.activated', reference },
    { from_tier: 'pro', to_tier: 'premium', cause: 'subscription.charged', reference },
    { from_tier: 'premium', to_tier: 'free', cause: 'subscription.cancelled', reference },
  ]);
});

test('an event that changes no tier is not the cause of a later update on the same connection', async () => {
  const { orderId } = await createPayment(database, { userId });
  await deliver(service, paymentFailed({ id: uniqueId('pay'), order_id: orderId }));
  await service.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [userId]);
  expect(await changes()).toEqual([{ from_tier: 'free', to_tier: 'pro', cause: 'direct', reference: null }]);
});

test('an update by an admin has the cause direct', async () => {
  await setTier('pro');
  expect(await changes()).toEqual([{ from_tier: 'free', to_tier: 'pro', cause: 'direct', reference: null }]);
});

test('a write of the same tier, or of a name, is no change', async () => {
  await setTier('free');
  await database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [userId]);
  expect(await changes()).toEqual([]);
});

test('null and free are the same: between them there is no change', async () => {
  await setTier(null);
  await setTier('free');
  expect(await changes()).toEqual([]);
  await setTier(null);
  await setTier('pro');
  await setTier(null);
  expect(await changes()).toMatchObject([{ from_tier: null, to_tier: 'pro' }, { from_tier: 'pro', to_tier: null }]);
});

test('an update of many profiles is a change for each profile whose tier differs', async () => {
  const { id: proId } = await createUser(database);
  await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [proId]);
  await database.query("update public.profiles set subscription_tier = 'pro' where user_id = any ($1)", [[
    userId,
    proId,
  ]]);
  const rows = await database.query('select user_id from billing.tier_changes where user_id = any ($1)', [
    [userId, proId],
  ]);
  expect(rows).toEqual([{ user_id: proId }, { user_id: userId }]);
});

test('a profile inserted with a tier is a change from null, one inserted as free is not', async () => {
  for (const tier of ['free', null, 'pro']) {
    await database.query('delete from public.profiles where user_id = $1', [userId]);
    await database.query('insert into public.profiles (user_id, subscription_tier) values ($1, $2)', [userId, tier]);
  }
  expect(await changes()).toEqual([{ from_tier: null, to_tier: 'pro', cause: 'direct', reference: null }]);
});

test('a purchase without a profile is a change from null', async () => {
  await database.query('delete from public.profiles where user_id = $1', [userId]);
  const reference = await buy('pro');
  expect(await changes()).toEqual([{ from_tier: null, to_tier: 'pro', cause: 'payment', reference }]);
});

test('a change that is rolled back writes no row', async () => {
  const { orderId } = await createPayment(database, { userId });
  await service.query('begin');
  await callRpc(service, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
  await service.query('rollback');
  expect(await changes()).toEqual([]);
});

test('the history stays after the deletion of the user', async () => {
  const reference = await buy('pro');
  await database.query('delete from auth.users where id = $1', [userId]);
  expect(await changes()).toEqual([{ from_tier: 'free', to_tier: 'pro', cause: 'payment', reference }]);
});
