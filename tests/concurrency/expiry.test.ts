import { describe, expect, test } from 'vitest';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { type Act, asOwner, countDeadlocks, overlap, race, untilBlocked } from '../helpers/database/racers.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { mailsTo, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, insertSubscriptions, uniqueId } from '../helpers/records/records.ts';

const database = useDatabase({ isEmptied: true });

/** Users whose month of basic ended in February, each with an open order for the renewal. The clock is set to March. */
async function lapsed(count: number): Promise<Purchase[]> {
  await database.at('01-01');
  const first = await Promise.all(Array.from({ length: count }, () => placeOrder(database, { tier: 'basic' })));
  for (const order of first) await verifyPurchase(database.service, order);
  await database.at('03-01');
  return await Promise.all(first.map(({ user }) => placeOrder(database, { user, tier: 'basic' })));
}
const lapsedOne = async () => (await lapsed(1))[0]!;

const renew = (order: Purchase): Act<Record<string, unknown>> => (session) => verifyPurchase(session, order);
const expire = () => database.expire();
const expiry = asOwner('select billing.settle_due() as ended');
const state = async ({ user: { id } }: Purchase) =>
  `${await readTier(database, id)}: ${(await readSubscription(database, id))?.status}`;

test.each([['commit', 0, 'basic: active'], ['rollback', 1, 'free: cancelled']] as const)(
  'expiry skips a subscription with a renewal in flight, without waiting; after its %s the next run ends %i',
  async (end, ended, left) => {
    const order = await lapsedOne();
    const renewing = await database.connect();
    await renewing.query('begin');
    await verifyPurchase(renewing, order);
    expect(await expire()).toBe(0);
    await renewing.query(end);
    expect(await expire()).toBe(ended);
    expect(await state(order)).toBe(left);
  },
);

test('a renewal that starts while expiry runs waits for it and wins', async () => {
  const order = await lapsedOne();
  await database.set("early_renewal = 'extend'");
  const [{ rows }, renewed] = await overlap(database, expiry, renew(order));
  expect(rows).toEqual([{ ended: 1 }]);
  const end = '2026-04-01T00:00:00.000Z';
  expect(renewed).toMatchObject({ outcome: 'applied', valid_until: end });
  expect(await readSubscription(database, order.user.id)).toMatchObject({ start: '2026-03-01T00:00:00.000Z', end });
  expect(await state(order)).toBe('basic: active');
});

test.each([
  ['profile', "update public.profiles set display_name = 'Asha' where user_id = $1"],
  ['subscription', 'select from public.subscriptions where user_id = $1 for update'],
  ['user', "update auth.users set email = 'asha@example.com' where id = $1"],
])(
  'the sweep does not wait for a transaction that holds a %s: it ends the others, the next one this',
  async (_, sql) => {
    const orders = await lapsed(2);
    const admin = await database.connect();
    await admin.query('begin');
    await admin.query(sql, [orders[0]?.user.id]);
    await database.query(sweep);
    expect(await Promise.all(orders.map(state))).toEqual(['basic: active', 'free: cancelled']);
    await admin.query('commit');
    await database.query(sweep);
    expect(await Promise.all(orders.map(state))).toEqual(['free: cancelled', 'free: cancelled']);
  },
);

test('an event that arrives while its order is inserted is applied by the first sweep that need not wait for its user', async () => {
  const { id, email } = await createUser(database);
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  const [app, admin] = [await database.connect(), await database.connect()];
  await app.query('begin');
  await app.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, 99900, $2, '{"tier": "pro"}')`,
    [id, money.order_id],
  );
  expect(await database.send(paymentCaptured(money))).toBe('unmatched');
  await app.query('commit');

  await admin.query('begin');
  await admin.query('update auth.users set email = $2 where id = $1', [id, email]);
  const started = performance.now();
  await database.query(sweep);
  expect(performance.now() - started).toBeLessThan(2000);
  await admin.query('commit');
  expect(await readTier(database, id)).toBe('free');
  for (let time = 0; time < 2; time += 1) await database.query(sweep);
  expect(await readTier(database, id)).toBe('pro');
  expect(await mailsTo(database, { id, email })).toHaveLength(1);
});

describe('many subscriptions that ended', () => {
  const insert = async (count: number) => {
    await database.at('01-01');
    await insertSubscriptions(database, count, "timestamptz '2026-01-01'");
    await database.at('02-01');
  };
  const ended = async () =>
    Object.values(
      await database.one(
        `select count(*) filter (where s.status = 'cancelled')::int as ended,
           count(*) filter (where p.subscription_tier = 'free')::int as free,
           (select count(*)::int from billing.outbox where kind = 'subscription-ended') as mails,
           (select count(*)::int from billing.tier_changes join auth.users u on u.id = user_id
            where cause = 'expiry') as changes
         from public.subscriptions s join public.profiles p using (user_id)`,
      ),
    );

  test('are taken in separate batches by two runs at once, and end once each', async () => {
    await insert(75);
    const one = await database.connect();
    await one.query('begin');
    expect((await one.query('select billing.settle_due() as ended')).rows).toEqual([{ ended: 50 }]);
    expect(await expire()).toBe(25);
    await one.query('commit');
    expect(await expire()).toBe(0);
    expect(await ended()).toEqual(Array(4).fill(75));
  });

  test('end in complete batches: a sweep that is killed keeps its first one, the next sweep ends the rest', async () => {
    await insert(125);
    // The trigger makes the second batch wait for this lock after its first statements.
    await database.query(`
      create function billing.hold() returns trigger language plpgsql as $$
      begin
        if (select count(*) from public.subscriptions where status = 'cancelled') > 50 then
          perform pg_advisory_xact_lock(1);
        end if;
        return null;
      end $$;
      create trigger hold after update on public.profiles for each statement execute function billing.hold()`);
    const [sweeping, holding] = [await database.connect(), await database.connect()];
    await holding.query('select pg_advisory_lock(1)');
    const killed = sweeping.query(sweep);
    await untilBlocked(database, sweeping, killed);
    await database.query('select pg_terminate_backend($1)', [Reflect.get(sweeping, 'processID')]);
    await expect(killed).rejects.toThrow();
    expect(await ended()).toEqual(Array(4).fill(50));
    await database.query('drop function billing.hold cascade');
    await holding.query(sweep);
    expect(await ended()).toEqual(Array(4).fill(125));
  });
});

test('of two announcements at once one looks at the subscription', async () => {
  await lapsedOne();
  await database.at('01-28');
  const announce = 'select billing.settle_due() as checked';
  const [one, two] = [await database.connect(), await database.connect()];
  await one.query('begin');
  expect((await one.query(announce)).rows).toEqual([{ checked: 1 }]);
  expect((await two.query(announce)).rows).toEqual([{ checked: 0 }]);
  await one.query('rollback');
});

test('expiry, renewals and deletions of users at once cause no deadlock, and every renewed user has the tier', async () => {
  const orders = await lapsed(24);
  const isDeleted = (index: number) => index % 3 === 2;
  await race<unknown>(database, [
    expiry,
    expiry,
    ...orders.map((order, index) =>
      isDeleted(index) ? asOwner('delete from auth.users where id = $1', [order.user.id]) : renew(order)
    ),
  ]);
  await expire();
  for (const [index, { user }] of orders.entries()) {
    expect(await readTier(database, user.id)).toBe(isDeleted(index) ? undefined : 'basic');
  }
  expect(await countDeadlocks(database)).toBe(0);
});
