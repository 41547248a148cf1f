import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/clock.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/purchases.ts';
import { countDeadlocks } from '../helpers/racers.ts';
import { openSession, waitUntilBlocked } from '../helpers/session.ts';
import { readSubscription, readTier } from '../helpers/state.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from auth.users');
});
afterAll(() => database.close());

const service = () => openSession(database, { role: 'service_role' });

/** A month of basic that was over in February, and the order of its renewal; the clock stands in March. */
async function lapsedWithRenewal(): Promise<Purchase> {
  const session = await service();
  await setClock(database, '2026-01-01T00:00:00Z');
  const first = await placeOrder(database, { tier: 'basic' });
  await verifyPurchase(session, first);
  await setClock(database, '2026-03-01T00:00:00Z');
  return placeOrder(database, { user: first.user, tier: 'basic' });
}

const expire = 'select private.expire_subscriptions() as ended';

test('a renewal in flight wins: expiry leaves its subscription alone and waits for nobody', async () => {
  const order = await lapsedWithRenewal();
  const [renewing, expiring] = [await service(), await database.connect()];
  await renewing.query('begin');
  await verifyPurchase(renewing, order);
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 0 }]);
  await renewing.query('commit');
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 0 }]);
  expect(await readSubscription(database, order.user.id)).toMatchObject({ status: 'active' });
  expect(await readTier(database, order.user.id)).toBe('basic');
});

test('a renewal that comes while expiry runs waits for it and wins', async () => {
  const order = await lapsedWithRenewal();
  const [renewing, expiring] = [await service(), await database.connect()];
  await expiring.query('begin');
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 1 }]);
  const later = verifyPurchase(renewing, order, 'extend');
  await waitUntilBlocked(database, renewing);
  await expiring.query('commit');
  expect(await later).toMatchObject({ outcome: 'applied', valid_until: '2026-04-01T00:00:00.000Z' });
  expect(await readSubscription(database, order.user.id)).toMatchObject({
    status: 'active',
    start: '2026-03-01T00:00:00.000Z',
    end: '2026-04-01T00:00:00.000Z',
  });
  expect(await readTier(database, order.user.id)).toBe('basic');
});

test('a renewal that is rolled back is ended by the next run', async () => {
  const order = await lapsedWithRenewal();
  const [renewing, expiring] = [await service(), await database.connect()];
  await renewing.query('begin');
  await verifyPurchase(renewing, order);
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 0 }]);
  await renewing.query('rollback');
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 1 }]);
});

test('a profile that somebody holds is not waited for: the others end, this one with the next run', async () => {
  const [one, two] = [await lapsedWithRenewal(), await lapsedWithRenewal()];
  const [app, expiring] = [await database.connect(), await database.connect()];
  await app.query('begin');
  await app.query("update public.profiles set display_name = 'Asha' where user_id = $1", [one.user.id]);
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 1 }]);
  expect(await readTier(database, two.user.id)).toBe('free');
  expect(await readSubscription(database, one.user.id)).toMatchObject({ status: 'active' });
  await app.query('commit');
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 1 }]);
  expect(await readTier(database, one.user.id)).toBe('free');
});

test('two runs at once end each subscription once, in batches of their own', async () => {
  await database.query(`
    insert into auth.users (id, email)
    select gen_random_uuid(), 'race' || n || '@example.com' from generate_series(1, 1500) n`);
  await setClock(database, '2026-01-01T00:00:00Z');
  await database.query(`
    insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
    select id, 'basic', 'active', '2025-12-01', '2026-01-01' from auth.users`);
  await database.query("update public.profiles set subscription_tier = 'basic'");
  await setClock(database, '2026-02-01T00:00:00Z');

  const [one, two] = [await database.connect(), await database.connect()];
  await one.query('begin');
  expect((await one.query(expire)).rows).toEqual([{ ended: 1000 }]);
  expect((await two.query(expire)).rows).toEqual([{ ended: 500 }]);
  await one.query('commit');
  expect((await two.query(expire)).rows).toEqual([{ ended: 0 }]);
  const changes = await database.query(
    `select count(*)::int as changes, count(distinct user_id)::int as users from private.tier_changes
     where cause = 'expiry' and user_id in (select id from auth.users)`,
  );
  expect(changes).toEqual([{ changes: 1500, users: 1500 }]);
});

test('expiry, renewals and deletions of users at once: no deadlock, and whoever renewed has the tier', async () => {
  const orders: Purchase[] = [];
  for (let user = 0; user < 24; user++) orders.push(await lapsedWithRenewal());
  const expiring = [await database.connect(), await database.connect()];
  const others = await Promise.all(orders.map((_, index) => index % 3 === 2 ? database.connect() : service()));
  const results = await Promise.allSettled([
    ...expiring.map((session) => session.query(expire)),
    ...orders.map((order, index) => {
      const session = others[index];
      if (!session) throw new Error('fewer sessions than orders');
      return index % 3 === 2
        ? session.query('delete from auth.users where id = $1', [order.user.id])
        : verifyPurchase(session, order);
    }),
    ...expiring.map((session) => session.query(expire)),
  ]);
  expect(results.filter((result) => result.status === 'rejected')).toEqual([]);
  for (const [index, order] of orders.entries()) {
    expect(await readTier(database, order.user.id)).toBe(index % 3 === 2 ? undefined : 'basic');
  }
  expect(await countDeadlocks(database, [...expiring, ...others])).toBe(0);
});
