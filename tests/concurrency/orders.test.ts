import { afterAll, beforeAll, expect, test } from 'vitest';
import { countDeadlocks, openRacers } from '../helpers/database/racers.ts';
import { callRpc, openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured } from '../helpers/gateway/events.ts';
import { readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const paymentsOf = (userId: string) => database.query('select id from public.payments where user_id = $1', [userId]);
const service = () => openSession(database, { role: 'service_role' });

test('twenty tabs at once get one order: one creates it, nineteen find it in flight', async () => {
  const { id: userId } = await createUser(database);
  const sessions = await openRacers(database, 20);
  const results = await Promise.all(sessions.map((session) => callRpc(session, 'create_order', userId, 'pro')));
  expect(results.map(({ outcome }) => outcome).sort()).toEqual(['created', ...Array(19).fill('in_flight')]);
  expect(await paymentsOf(userId)).toHaveLength(1);
});

test('twenty requests with one idempotency key at once create one order; those for another tier are conflicts', async () => {
  const { id: userId } = await createUser(database);
  const sessions = await openRacers(database, 20);
  const results = await Promise.all(
    sessions.map((session, index) => callRpc(session, 'create_order', userId, index % 2 ? 'pro' : 'premium', 'key')),
  );
  expect(results.map(({ outcome }) => outcome).sort()).toEqual([
    'created',
    ...Array(9).fill('in_flight'),
    ...Array(10).fill('key_conflict'),
  ]);
  expect(await paymentsOf(userId)).toHaveLength(1);
});

test('thirty orders at once with different keys and tiers stay within ten an hour', async () => {
  const { id: userId } = await createUser(database);
  await database.query(
    "insert into public.plans (tier, name, price) select 'team' || n, 'Team', 1 from generate_series(1, 30) n",
  );
  const sessions = await openRacers(database, 30);
  const results = await Promise.all(
    sessions.map((session, index) => callRpc(session, 'create_order', userId, `team${index + 1}`, `key ${index}`)),
  );
  expect(results.filter(({ outcome }) => outcome === 'created')).toHaveLength(10);
  expect(results.filter(({ outcome }) => outcome === 'rate_limited')).toHaveLength(20);
  expect(await paymentsOf(userId)).toHaveLength(10);
});

test('a second tab waits for the first, and creates the order itself if the first rolls back', async () => {
  for (const [end, outcome] of [['commit', 'in_flight'], ['rollback', 'created']]) {
    const { id: userId } = await createUser(database);
    const [first, second] = [await service(), await service()];
    await first.query('begin');
    await callRpc(first, 'create_order', userId, 'pro', 'key');
    const later = callRpc(second, 'create_order', userId, 'pro', 'key');
    await waitUntilBlocked(database, second);
    await first.query(String(end));
    expect(await later).toMatchObject({ outcome });
    expect(await paymentsOf(userId)).toHaveLength(1);
  }
});

test('an order that is discarded while its payment is fulfilled stays', async () => {
  const { id: userId } = await createUser(database);
  const { payment_id } = await callRpc(await service(), 'create_order', userId, 'pro');
  const [paying, discarding] = [await service(), await service()];
  const receipt = String(payment_id).replaceAll('-', '');
  await paying.query('begin');
  await deliver(paying, orderPaid({ id: uniqueId('pay') }, { id: uniqueId('order'), receipt }));
  const later = callRpc(discarding, 'discard_order', payment_id);
  await waitUntilBlocked(database, discarding);
  await paying.query('commit');
  await later;
  expect(await paymentsOf(userId)).toHaveLength(1);
  expect(await readTier(database, userId)).toBe('pro');
});

test('an order with unmatched events is stored under the lock on its user: no deadlock with order.paid', async () => {
  const { id: userId } = await createUser(database);
  const { payment_id } = await callRpc(await service(), 'create_order', userId, 'pro');
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  expect(await deliver(await service(), paymentCaptured(money))).toBe('unmatched');
  const [holder, storing, paying] = [await database.connect(), await service(), await service()];
  await holder.query('begin');
  await holder.query('select from auth.users where id = $1 for no key update', [userId]);
  // Both calls lock the user first. If store_order locked the payment before the user, order.paid would wait
  // for the payment while it holds the user.
  const stored = callRpc(storing, 'store_order', payment_id, money.order_id);
  await waitUntilBlocked(database, storing);
  const probe = await database.connect();
  await probe.query('begin');
  await probe.query('select from public.payments where id = $1 for update nowait', [payment_id]);
  await probe.query('rollback');
  const receipt = String(payment_id).replaceAll('-', '');
  const paid = deliver(paying, orderPaid(money, { id: money.order_id, receipt }));
  await waitUntilBlocked(database, paying);
  await holder.query('commit');
  expect(await stored).toEqual({ outcome: 'stored' });
  expect(await paid).toMatch(/^(applied|already)$/);
  expect(await readTier(database, userId)).toBe('pro');
  expect(await countDeadlocks(database, [holder, storing, paying])).toBe(0);
});
