import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { countDeadlocks } from '../helpers/database/racers.ts';
import { openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, insertSubscriptions, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await setClock(database, null);
  await setEarlyRenewal(database, 'replace');
  await database.query('delete from auth.users');
  await database.query('delete from public.payments');
  await database.query("update billing.scheduled_jobs set announced_until = '-infinity'");
});
afterAll(() => database.close());

const service = () => openSession(database, { role: 'service_role' });

/**
 * A user whose month of basic ended in February, and an open order for the renewal. The clock is set to
 * March.
 */
async function lapsedWithRenewal(): Promise<Purchase> {
  const session = await service();
  await setClock(database, '2026-01-01T00:00:00Z');
  const first = await placeOrder(database, { tier: 'basic' });
  await verifyPurchase(session, first);
  await setClock(database, '2026-03-01T00:00:00Z');
  return placeOrder(database, { user: first.user, tier: 'basic' });
}

const expire = 'select billing.expire_subscriptions() as ended';

test('a renewal in flight wins: expiry skips its subscription without waiting', async () => {
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

test('a renewal that starts while expiry runs waits for it and wins', async () => {
  const order = await lapsedWithRenewal();
  await setEarlyRenewal(database, 'extend');
  const [renewing, expiring] = [await service(), await database.connect()];
  await expiring.query('begin');
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 1 }]);
  const later = verifyPurchase(renewing, order);
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

test('after a renewal rolls back, the next run ends the subscription', async () => {
  const order = await lapsedWithRenewal();
  const [renewing, expiring] = [await service(), await database.connect()];
  await renewing.query('begin');
  await verifyPurchase(renewing, order);
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 0 }]);
  await renewing.query('rollback');
  expect((await expiring.query(expire)).rows).toEqual([{ ended: 1 }]);
});

test.each([
  ['profile', "update public.profiles set display_name = 'Asha' where user_id = $1"],
  ['subscription', 'select from public.subscriptions where user_id = $1 for update'],
  ['user', "update auth.users set email = 'asha@example.com' where id = $1"],
])(
  'the sweep does not wait for an open transaction that holds a %s: it ends the others, and the next sweep ends this one',
  async (
    _,
    statement,
  ) => {
    const [one, two] = [await lapsedWithRenewal(), await lapsedWithRenewal()];
    const [admin, sweeping] = [await database.connect(), await database.connect()];
    await admin.query('begin');
    await admin.query(statement, [one.user.id]);
    await sweeping.query(sweep);
    expect(await readTier(database, two.user.id)).toBe('free');
    expect(await readSubscription(database, one.user.id)).toMatchObject({ status: 'active' });
    await admin.query('commit');
    await sweeping.query(sweep);
    expect(await readTier(database, one.user.id)).toBe('free');
  },
);

test('the sweep does not wait for the locked user of an unmatched event: the next sweep applies the event', async () => {
  const { id, email } = await createUser(database);
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  const [app, admin, sweeping] = [await database.connect(), await database.connect(), await database.connect()];
  await app.query('begin');
  await app.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, 99900, $2, '{"tier": "pro"}')`,
    [id, money.order_id],
  );
  expect(await deliver(await service(), paymentCaptured(money))).toBe('unmatched');
  await app.query('commit');

  await admin.query('begin');
  await admin.query('update auth.users set email = $2 where id = $1', [id, email]);
  const started = performance.now();
  await sweeping.query(sweep);
  const milliseconds = performance.now() - started;
  await admin.query('commit');
  expect(milliseconds).toBeLessThan(2000);
  await sweeping.query(sweep);
  expect(await readTier(database, id)).toBe('pro');
});

test('two runs at once take separate batches and end each subscription once', async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  await insertSubscriptions(database, 150, "timestamptz '2026-01-01'");
  await setClock(database, '2026-02-01T00:00:00Z');

  const [one, two] = [await database.connect(), await database.connect()];
  await one.query('begin');
  expect((await one.query(expire)).rows).toEqual([{ ended: 100 }]);
  expect((await two.query(expire)).rows).toEqual([{ ended: 50 }]);
  await one.query('commit');
  expect((await two.query(expire)).rows).toEqual([{ ended: 0 }]);
  const changes = await database.query(
    `select count(*)::int as changes, count(distinct user_id)::int as users from billing.tier_changes
     where cause = 'expiry' and user_id in (select id from auth.users)`,
  );
  expect(changes).toEqual([{ changes: 150, users: 150 }]);
  const { mails } = await database.one(
    "select count(*)::int as mails from billing.outbox where kind = 'subscription-ended' and payload ->> 'to' in (select email from auth.users)",
  );
  expect(mails).toBe(150);
});

test('a refund of the payment that is about to take over ends access, before or after the expiry', async () => {
  for (const refundFirst of [true, false]) {
    const session = await service();
    await setClock(database, '2026-01-01T00:00:00Z');
    const pro = await placeOrder(database, { tier: 'pro' });
    await verifyPurchase(session, pro);
    await setClock(database, '2026-03-01T00:00:00Z');
    await verifyPurchase(session, await placeOrder(database, { user: pro.user, tier: 'basic' }));
    await setClock(database, '2026-05-01T00:00:00Z');
    const refund = () => deliver(session, refundEvent(paymentOf(pro), 99900));
    const expiring = await database.connect();

    if (refundFirst) {
      await session.query('begin');
      await refund();
      expect((await expiring.query(expire)).rows).toEqual([{ ended: 0 }]);
      await session.query('commit');
      expect((await expiring.query(expire)).rows).toEqual([{ ended: 0 }]);
    } else {
      await expiring.query('begin');
      expect((await expiring.query(expire)).rows).toEqual([{ ended: 1 }]);
      const later = refund();
      await waitUntilBlocked(database, session);
      await expiring.query('commit');
      expect(await later).toBe('applied');
    }
    expect(await readSubscription(database, pro.user.id)).toMatchObject({ status: 'cancelled' });
    expect(await readTier(database, pro.user.id)).toBe('free');
  }
});

test('of two announcements at once one processes the subscription, and neither blocks a renewal', async () => {
  const order = await lapsedWithRenewal();
  await setClock(database, '2026-01-28T00:00:00Z');
  const [one, two] = [await database.connect(), await database.connect()];
  const announce = 'select billing.announce_ends() as looked_at';
  await one.query('begin');
  expect((await one.query(announce)).rows).toEqual([{ looked_at: 1 }]);
  expect((await two.query(announce)).rows).toEqual([{ looked_at: 0 }]);
  expect(await verifyPurchase(await service(), order)).toMatchObject({ outcome: 'applied' });
  await one.query('rollback');
  await database.query("update billing.scheduled_jobs set announced_until = '-infinity'");
  await setClock(database, '2026-02-25T00:00:00Z');
  expect((await two.query(announce)).rows).toEqual([{ looked_at: 1 }]);
  expect((await one.query(announce)).rows).toEqual([{ looked_at: 0 }]);
});

test('a sweep that is killed keeps its first batch complete; the next sweep ends the rest, each once', async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  await insertSubscriptions(database, 250, "timestamptz '2026-01-01'");
  await setClock(database, '2026-02-01T00:00:00Z');
  // The trigger makes the second batch wait for this lock after its first statements.
  await database.query(`
    create function billing.hold() returns trigger language plpgsql as $$
    begin
      if (select count(*) from public.subscriptions where status = 'cancelled') > 100 then
        perform pg_advisory_xact_lock(1);
      end if;
      return null;
    end $$;
    create trigger hold after update on public.profiles for each statement execute function billing.hold()`);
  const state = () =>
    database.one(
      `select count(*) filter (where s.status = 'cancelled')::int as ended,
         count(*) filter (where p.subscription_tier = 'free')::int as free,
         (select count(*)::int from billing.outbox where kind = 'subscription-ended'
          and payload ->> 'to' in (select email from auth.users)) as mails
       from public.subscriptions s join public.profiles p using (user_id)`,
    );
  const [sweeping, holding] = [await database.connect(), await database.connect()];
  await holding.query('select pg_advisory_lock(1)');
  const killed = expect(sweeping.query(sweep)).rejects.toThrow();
  await waitUntilBlocked(database, sweeping);
  await database.query('select pg_terminate_backend($1)', [Reflect.get(sweeping, 'processID')]);
  await killed;
  expect(await state()).toEqual({ ended: 100, free: 100, mails: 100 });

  await database.query('drop function billing.hold cascade');
  await holding.query(sweep);
  expect(await state()).toEqual({ ended: 250, free: 250, mails: 250 });
});

test('expiry, renewals and deletions of users at once cause no deadlock, and every renewed user has the tier', async () => {
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
