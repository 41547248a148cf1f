import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readOutbox, readTier } from '../helpers/records/read-records.ts';
import { insertSubscriptions, uniqueId } from '../helpers/records/records.ts';

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
});
afterAll(() => database.close());

/** A purchase for a month on 1 January: the period ends on 1 February, its grace on the 4th. */
async function bought(tier = 'basic'): Promise<Purchase> {
  await setClock(database, '2026-01-01T00:00:00Z');
  const order = await placeOrder(database, { tier });
  await verifyPurchase(service, order);
  return order;
}

async function expire(at: string): Promise<unknown> {
  await setClock(database, at);
  return (await database.one('select billing.expire_subscriptions() as ended')).ended;
}

const subscription = (order: Purchase) =>
  database.one('select * from public.subscriptions where user_id = $1', [order.user.id]);

/** Updates a subscription by hand. */
async function change(order: Purchase, fields: string): Promise<void> {
  await database.query(`update public.subscriptions set ${fields} where user_id = $1`, [order.user.id]);
}

describe('access', () => {
  test('ends after the grace days: status, time, reason, profile, and one change of tier', async () => {
    const order = await bought();
    expect(await expire('2026-02-01T00:00:01Z')).toBe(0);
    expect(await expire('2026-02-04T00:00:00Z')).toBe(0);
    expect(await readTier(database, order.user.id)).toBe('basic');
    expect(await expire('2026-02-04T00:00:00.001Z')).toBe(1);
    expect(await expire('2026-02-04T00:00:00.001Z')).toBe(0);
    expect(await subscription(order)).toMatchObject({
      status: 'cancelled',
      ended_reason: 'lapsed',
      cancelled_at: new Date('2026-02-01T00:00:00Z'),
      current_period_end: new Date('2026-02-01T00:00:00Z'),
      tier: 'basic',
    });
    expect(await readTier(database, order.user.id)).toBe('free');
    const changes = await database.query(
      'select from_tier, to_tier, cause, reference from billing.tier_changes where user_id = $1 order by id',
      [order.user.id],
    );
    expect(changes).toEqual([
      { from_tier: 'free', to_tier: 'basic', cause: 'payment', reference: order.paymentId },
      { from_tier: 'basic', to_tier: 'free', cause: 'expiry', reference: null },
    ]);
  });

  test.each<[number, string, string]>([
    [0, '2026-02-01T00:00:00Z', '2026-02-01T00:00:00.001Z'],
    [10, '2026-02-11T00:00:00Z', '2026-02-11T00:00:00.001Z'],
  ])('has the grace days of its plan: %i', async (days, last, over) => {
    await bought();
    await database.query("update public.plans set grace_days = $1 where tier = 'basic'", [days]);
    expect(await expire(last)).toBe(0);
    expect(await expire(over)).toBe(1);
    await database.query("update public.plans set grace_days = 3 where tier = 'basic'");
  });

  test('without a plan has three grace days', async () => {
    const order = await bought();
    await change(order, 'plan_id = null');
    expect(await expire('2026-02-04T00:00:00Z')).toBe(0);
    expect(await expire('2026-02-04T00:00:00.001Z')).toBe(1);
  });

  test('cancelled for the end of its period has no grace', async () => {
    const order = await bought();
    await change(order, 'cancel_at_period_end = true');
    expect(await expire('2026-02-01T00:00:00Z')).toBe(0);
    expect(await expire('2026-02-01T00:00:00.001Z')).toBe(1);
  });

  test('whose row was just written ends like any other', async () => {
    const order = await bought();
    await setClock(database, '2026-03-01T00:00:00Z');
    await change(order, 'tier = tier');
    expect(await expire('2026-03-01T00:00:00.001Z')).toBe(1);
    expect(await subscription(order)).toMatchObject({ status: 'cancelled', ended_reason: 'lapsed' });
  });

  test('that is cancelled for the period’s end every 59 minutes still ends with its period', async () => {
    const order = await bought();
    const cancel = () => service.query('select public.cancel_subscription($1, true)', [order.user.id]);
    await setClock(database, '2026-01-31T23:30:00Z');
    await cancel();
    const cancelled = await subscription(order);
    await setClock(database, '2026-02-01T00:00:00Z');
    await cancel();
    expect(await subscription(order)).toEqual(cancelled);
    expect(await expire('2026-02-01T00:00:00Z')).toBe(0);
    expect(await expire('2026-02-01T00:00:00.001Z')).toBe(1);
    expect(await subscription(order)).toMatchObject({ status: 'cancelled' });
    expect(await readTier(database, order.user.id)).toBe('free');
  });

  test.each([
    ['billed by the gateway', "gateway_subscription_id = 'sub_billed'"],
    ['cancelled already', "status = 'cancelled', ended_reason = 'refunded'"],
    ['without an end', 'current_period_end = null'],
  ])('that is %s does not change', async (_, fields) => {
    const order = await bought();
    await change(order, fields);
    const before = await subscription(order);
    expect(await expire('2027-01-01T00:00:00Z')).toBe(0);
    expect(await subscription(order)).toEqual(before);
    expect(await readTier(database, order.user.id)).toBe('basic');
  });

  test('of a user without a profile ends', async () => {
    const order = await bought();
    await database.query('delete from public.profiles where user_id = $1', [order.user.id]);
    expect(await expire('2026-03-01T00:00:00Z')).toBe(1);
    expect(await subscription(order)).toMatchObject({ status: 'cancelled' });
  });

  test('starts again with the next purchase, for its whole period', async () => {
    const order = await bought();
    await expire('2026-03-01T00:00:00Z');
    const next = await placeOrder(database, { user: order.user, tier: 'basic' });
    await setEarlyRenewal(database, 'extend');
    await verifyPurchase(service, next);
    expect(await subscription(order)).toMatchObject({
      status: 'active',
      cancelled_at: null,
      ended_reason: null,
      current_period_start: new Date('2026-03-01T00:00:00Z'),
      current_period_end: new Date('2026-04-01T00:00:00Z'),
    });
    expect(await readTier(database, order.user.id)).toBe('basic');
  });
});

test('a batch is 100 rows: 250 take three, the earliest end first', async () => {
  await setClock(database, '2026-01-01T00:00:00Z');
  await insertSubscriptions(database, 250, "timestamptz '2026-01-01' + make_interval(secs => n)");
  const left = () =>
    database.one(
      `select count(*)::int as count, min(current_period_end) > max(ended) as later from public.subscriptions
       cross join (select max(current_period_end) as ended from public.subscriptions where status = 'cancelled') e
       where status = 'active'`,
    );
  expect(await expire('2026-02-01T00:00:00Z')).toBe(100);
  expect(await left()).toEqual({ count: 150, later: true });
  expect(await expire('2026-02-01T00:00:00Z')).toBe(100);
  expect(await expire('2026-02-01T00:00:00Z')).toBe(50);
  expect(await expire('2026-02-01T00:00:00Z')).toBe(0);
  const tiers = await database.query('select distinct subscription_tier from public.profiles');
  expect(tiers).toEqual([{ subscription_tier: 'free' }]);
});

describe('the mail subscription-ended', () => {
  const mails = async ({ user }: Purchase) =>
    (await readOutbox(database, 'notice', user.email)).filter(({ kind }) => kind === 'subscription-ended');

  test('is enqueued when access ends, once, with the key, recipient and data of that moment', async () => {
    const order = await bought();
    await database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [order.user.id]);
    await expire('2026-02-04T00:00:00Z');
    expect(await mails(order)).toEqual([]);
    await expire('2026-02-04T00:00:01Z');
    await expire('2026-02-04T02:00:00Z');
    const { id } = await subscription(order);
    expect(await mails(order)).toEqual([{
      key: `subscription-ended/${id}/2026-02-01T00:00:00.000Z`,
      kind: 'subscription-ended',
      payload: {
        to: order.user.email,
        display_name: 'Asha',
        plan_name: 'Basic',
        ends_at: '2026-02-01T00:00:00.000Z',
      },
    }]);
  });

  test('is not enqueued if the expiry rolls back', async () => {
    const order = await bought();
    await setClock(database, '2026-03-01T00:00:00Z');
    const client = await database.connect();
    await client.query('begin');
    expect((await client.query('select billing.expire_subscriptions() as ended')).rows).toEqual([{ ended: 1 }]);
    await client.query('rollback');
    expect(await mails(order)).toEqual([]);
    expect(await expire('2026-03-01T00:00:00Z')).toBe(1);
    expect(await mails(order)).toHaveLength(1);
  });

  test.each([
    ['without a profile', 'delete from public.profiles where user_id = $1'],
    ['without an address', 'update auth.users set email = null where id = $1'],
    ['with an empty address', "update auth.users set email = '' where id = $1"],
  ])('is not enqueued for a user %s', async (_, statement) => {
    const order = await bought();
    await database.query(statement, [order.user.id]);
    expect(await expire('2026-03-01T00:00:00Z')).toBe(1);
    const { id } = await subscription(order);
    const rows = await database.query("select from billing.outbox where key like 'subscription-ended/' || $1 || '%'", [
      id,
    ]);
    expect(rows).toEqual([]);
  });

  test('is not enqueued again for access that a cancellation ended', async () => {
    const order = await bought();
    await service.query('select public.cancel_subscription($1, false)', [order.user.id]);
    const sent = await mails(order);
    expect(sent).toMatchObject([{ payload: { ends_at: '2026-01-01T00:00:00.000Z' } }]);
    expect(await expire('2026-03-01T00:00:00Z')).toBe(0);
    expect(await mails(order)).toEqual(sent);
  });
});

describe('subscription.charged after the end', () => {
  const charge = (order: Purchase, end: string) =>
    deliver(
      service,
      subscriptionEvent({
        name: 'charged',
        userId: order.user.id,
        id: uniqueId('sub'),
        start: '2026-02-01T00:00:00Z',
        end,
        createdAt: '2026-03-01T00:00:00Z',
      }),
    );

  test('restores status and tier of a lapsed subscription', async () => {
    const order = await bought();
    await expire('2026-03-01T00:00:00Z');
    expect(await charge(order, '2026-04-01T00:00:00Z')).toBe('applied');
    expect(await subscription(order)).toMatchObject({
      status: 'active',
      cancelled_at: null,
      ended_reason: null,
      current_period_end: new Date('2026-04-01T00:00:00Z'),
    });
    expect(await readTier(database, order.user.id)).toBe('basic');
  });

  test.each([
    ['2026-02-26T00:00:00Z', 'is over with its grace days restores nothing', 'cancelled', 'free'],
    ['2026-02-26T00:00:01Z', 'has grace days left restores access for them', 'active', 'basic'],
  ])('with its new end (%s) %s', async (end, _, status, tier) => {
    const order = await bought();
    await expire('2026-03-01T00:00:00Z');
    await charge(order, end);
    expect(await subscription(order)).toMatchObject({ status });
    expect(await readTier(database, order.user.id)).toBe(tier);
  });

  test.each(['refunded', 'cancelled', null])(
    'restores nothing that ended for another reason: %s',
    async (reason) => {
      const order = await bought();
      await expire('2026-03-01T00:00:00Z');
      await database.query('update public.subscriptions set ended_reason = $2 where user_id = $1', [
        order.user.id,
        reason,
      ]);
      await charge(order, '2026-04-01T00:00:00Z');
      expect(await subscription(order)).toMatchObject({ status: 'cancelled', ended_reason: reason });
      expect(await readTier(database, order.user.id)).toBe('free');
    },
  );
});
