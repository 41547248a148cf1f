import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

const empty = { subscription: null, currentTier: 'free', payments: [], billing: null };
const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00:00$/;

test('a user without a profile has no subscription and the tier free', async () => {
  expect(await callRpc(service, 'get_subscription', crypto.randomUUID())).toEqual(empty);
});

test('a profile without a tier has the tier free', async () => {
  const { id } = await createUser(database);
  await database.query('update public.profiles set subscription_tier = null where user_id = $1', [id]);
  expect(await callRpc(service, 'get_subscription', id)).toEqual(empty);
});

test('a subscription contains its whole plan and no created_at of the gateway’s events', async () => {
  const { id } = await createUser(database);
  const { orderId } = await createPayment(database, { userId: id });
  await callRpc(service, 'verify_payment', id, orderId, uniqueId('pay'), 'signature');

  const answer = await callRpc(service, 'get_subscription', id);
  const plan = await database.one("select to_jsonb(p) as plan from public.plans p where tier = 'pro'");
  expect(answer).toMatchObject({ currentTier: 'pro', subscription: { user_id: id, tier: 'pro', status: 'active' } });
  expect(answer.subscription).toHaveProperty('plan', plan.plan);
  expect(Object.keys(Object(answer.subscription)).sort()).toEqual([
    'cancel_at_period_end',
    'cancelled_at',
    'created_at',
    'current_period_end',
    'current_period_start',
    'ended_reason',
    'gateway_subscription_id',
    'id',
    'plan',
    'plan_id',
    'status',
    'tier',
    'user_id',
  ]);
});

test('a subscription without a plan has plan null', async () => {
  const { id } = await createUser(database);
  await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'old', 'cancelled')", [
    id,
  ]);
  const { subscription } = await callRpc(service, 'get_subscription', id);
  expect(subscription).toMatchObject({ tier: 'old', plan_id: null, plan: null });
});

test('of eleven payments the ten newest are returned, newest first, ties by id', async () => {
  const { id } = await createUser(database);
  for (let i = 0; i < 11; i++) await createPayment(database, { userId: id });
  // Three distinct times, so that most rows tie.
  await database.query(
    `update public.payments p set created_at = timestamptz '2026-01-01Z' + (n.place % 3) * interval '1 day'
     from (select id, row_number() over (order by id) as place from public.payments where user_id = $1) n
     where n.id = p.id`,
    [id],
  );
  const rows = await database.query(
    'select id from public.payments where user_id = $1 order by created_at desc, id desc limit 10',
    [id],
  );
  const { payments } = await callRpc(service, 'get_subscription', id);
  expect(Array.isArray(payments) && payments.map(({ id }) => id)).toEqual(rows.map((row) => row.id));
});

test('another user’s payments and subscription are not returned', async () => {
  const [owner, other] = [await createUser(database), await createUser(database)];
  const { orderId } = await createPayment(database, { userId: owner.id });
  await callRpc(service, 'verify_payment', owner.id, orderId, uniqueId('pay'), 'signature');
  expect(await callRpc(service, 'get_subscription', other.id)).toEqual(empty);
});

test('times are ISO 8601 in UTC for any time zone and date style of the session', async () => {
  const { id } = await createUser(database);
  const { orderId } = await createPayment(database, { userId: id });
  const session = await openSession(database, { role: 'service_role' });
  await session.query("set timezone = 'Asia/Kolkata'");
  await session.query("set datestyle = 'SQL, DMY'");
  await callRpc(session, 'verify_payment', id, orderId, uniqueId('pay'), 'signature');

  const { subscription, payments } = await callRpc(session, 'get_subscription', id);
  const [payment] = Array.isArray(payments) ? payments : [];
  const times = [
    Reflect.get(Object(subscription), 'current_period_start'),
    Reflect.get(Object(subscription), 'current_period_end'),
    payment.created_at,
    payment.captured_at,
    payment.period_end,
  ];
  for (const time of times) expect(time).toMatch(isoTime);
});
