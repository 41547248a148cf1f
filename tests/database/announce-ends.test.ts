import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { mailsTo, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readOutbox } from '../helpers/records/read-records.ts';
import { createUser, insertSubscriptions } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await setEarlyRenewal(database, 'replace');
  await database.query('delete from auth.users');
  await database.query('truncate billing.outbox');
  await database.query("update billing.scheduled_jobs set announced_until = '-infinity'");
});
afterAll(() => database.close());

/** A month of basic, bought on 1 January: the period ends on 1 February. */
async function bought(user?: Purchase['user']): Promise<Purchase> {
  await setClock(database, '2026-01-01T00:00:00Z');
  const order = await placeOrder(database, { tier: 'basic', ...(user && { user }) });
  await verifyPurchase(service, order);
  return order;
}

async function announce(at: string): Promise<unknown> {
  await setClock(database, at);
  return (await database.one('select billing.announce_ends() as looked_at')).looked_at;
}

const change = (order: Purchase, fields: string) =>
  database.query(`update public.subscriptions set ${fields} where user_id = $1`, [order.user.id]);
const notices = async ({ user }: Purchase) =>
  (await mailsTo(database, user)).filter((key) => String(key).startsWith('subscription-'));

describe('the mail subscription-ending', () => {
  test('is enqueued seven days before the paid period ends, once, with the data of that moment', async () => {
    const order = await bought();
    await database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [order.user.id]);
    const { id } = await database.one('select id from public.subscriptions where user_id = $1', [order.user.id]);
    expect(await announce('2026-01-24T23:59:59.999Z')).toBe(0);
    expect(await notices(order)).toEqual([]);
    expect(await announce('2026-01-25T00:00:00Z')).toBe(1);
    expect(await announce('2026-01-25T00:00:00Z')).toBe(0);
    expect(await announce('2026-01-28T00:00:00Z')).toBe(0);
    const [mail] = await readOutbox(database, 'notice', order.user.email);
    expect(mail).toEqual({
      key: `subscription-ending/${id}/2026-02-01T00:00:00.000Z`,
      kind: 'subscription-ending',
      payload: {
        to: order.user.email,
        display_name: 'Asha',
        plan_name: 'Basic',
        ends_at: '2026-02-01T00:00:00.000Z',
        early_renewal: 'replace',
      },
    });
  });

  test('keeps the setting of early renewals of the moment when it is enqueued', async () => {
    const order = await bought();
    await setEarlyRenewal(database, 'extend');
    await announce('2026-01-25T00:00:00Z');
    await setEarlyRenewal(database, 'replace');
    const [mail] = await readOutbox(database, 'notice', order.user.email);
    expect(mail).toMatchObject({ payload: { early_renewal: 'extend' } });
  });

  test('is enqueued late if the period still runs, and not after its end', async () => {
    const order = await bought();
    expect(await announce('2026-01-31T23:59:59Z')).toBe(1);
    expect(await notices(order)).toHaveLength(1);

    const other = await bought();
    await database.query("update billing.scheduled_jobs set announced_until = '-infinity'");
    expect(await announce('2026-02-01T00:00:00Z')).toBe(0);
    expect(await notices(other)).toEqual([]);
  });

  test('after a renewal is enqueued again for the next period', async () => {
    const order = await bought();
    await announce('2026-01-25T00:00:00Z');
    await setEarlyRenewal(database, 'extend');
    await verifyPurchase(service, await placeOrder(database, { user: order.user, tier: 'basic' }));
    expect(await announce('2026-02-21T23:59:59Z')).toBe(0);
    expect(await announce('2026-02-22T00:00:00Z')).toBe(1);
    expect((await notices(order)).map((key) => String(key).split('/')[2]))
      .toEqual(['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z']);
  });

  test.each([
    ['whose subscription the gateway renews', "gateway_subscription_id = 'sub_1'", 0],
    [
      'whose subscription the gateway ends with the period',
      "gateway_subscription_id = 'sub_1', cancel_at_period_end = true",
      1,
    ],
    ['who cancelled for the period’s end', 'cancel_at_period_end = true', 1],
    ['whose period was shorter than the notice', "current_period_start = '2026-01-25T00:00:00.001Z'", 0],
    ['whose period was as long as the notice', "current_period_start = '2026-01-25'", 1],
    ['whose period has no beginning', 'current_period_start = null', 1],
    ['whose subscription was cancelled', "status = 'cancelled'", 0],
  ])('a user %s (%s) gets this number of mails: %i', async (_, fields, count) => {
    const order = await bought();
    await change(order, fields);
    await announce('2026-01-25T00:00:01Z');
    expect(await notices(order)).toHaveLength(count);
  });

  test.each([
    ['without a profile', 'delete from public.profiles where user_id = $1'],
    ['without an address', 'update auth.users set email = null where id = $1'],
    ['with an empty address', "update auth.users set email = '' where id = $1"],
  ])('is not enqueued for a user %s', async (_, statement) => {
    const order = await bought();
    await database.query(statement, [order.user.id]);
    expect(await announce('2026-01-25T00:00:00Z')).toBe(1);
    expect(await notices(order)).toEqual([]);
    const { count } = await database.one("select count(*)::int from billing.outbox where kind like 'subscription-%'");
    expect(count).toBe(0);
  });

  test('is not enqueued if another payment takes over at the end', async () => {
    await setClock(database, '2025-12-01T00:00:00Z');
    const user = await createUser(database);
    await verifyPurchase(service, await placeOrder(database, { user, tier: 'pro' }));
    const order = await bought(user);
    expect(await announce('2026-01-25T00:00:00Z')).toBe(1);
    expect(await notices(order)).toEqual([]);
  });

  test('for a tier without a plan shows the tier as the plan’s name', async () => {
    const order = await bought();
    await change(order, "plan_id = null, tier = 'Team 5'");
    await announce('2026-01-25T00:00:00Z');
    const [mail] = await readOutbox(database, 'notice', order.user.email);
    expect(mail).toMatchObject({ payload: { plan_name: 'Team 5' } });
  });
});

describe('batches', () => {
  const count = async () =>
    (await database.one("select count(*)::int from billing.outbox where kind = 'subscription-ending'")).count;

  test('take a thousand periods, the earliest end first, and read each period once', async () => {
    await insertSubscriptions(database, 2500, "timestamptz '2026-01-31' + make_interval(secs => n)");
    expect(await announce('2026-01-25T00:00:00Z')).toBe(1000);
    expect(await database.one("select announced_until as until from billing.scheduled_jobs where name = 'sweep'"))
      .toEqual({ until: new Date('2026-01-31T00:16:40Z') });
    const batches = [];
    for (let i = 0; i < 3; i++) batches.push(await announce('2026-01-25T00:00:00Z'));
    expect(batches).toEqual([1000, 500, 0]);
    expect(await count()).toBe(2500);
  });

  test('take periods with the same end together', async () => {
    await insertSubscriptions(database, 1500, "timestamptz '2026-01-31' + make_interval(secs => n / 500)");
    expect(await announce('2026-01-25T00:00:00Z')).toBe(1499);
    expect(await announce('2026-01-25T00:00:00Z')).toBe(1);
    expect(await count()).toBe(1500);
  });
});

test('a clock that was set back announces the remaining periods seven days before their ends', async () => {
  const order = await bought();
  await announce('2029-01-01T00:00:00Z');
  expect(await announce('2026-01-20T00:00:00Z')).toBe(0);
  expect(await announce('2026-01-25T00:00:00Z')).toBe(1);
  expect(await notices(order)).toHaveLength(1);
});
