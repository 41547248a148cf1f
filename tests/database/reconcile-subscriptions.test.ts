import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, seconds, subscriptionEvent } from '../helpers/gateway/events.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { paymentOf, placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from auth.users');
  await database.query('delete from billing.gateway_subscriptions');
});
afterAll(() => database.close());

const start = '2026-01-01T00:00:00Z';
const end = '2026-02-01T00:00:00Z';
const nextEnd = '2026-03-01T00:00:00Z';
type Billed = { userId: string; id: string; gatewayId: string };

/** Creates a subscription that the gateway bills, paid for January. */
async function billed(): Promise<Billed> {
  await setClock(database, start);
  const { id: userId } = await createUser(database);
  const gatewayId = uniqueId('sub');
  const event = { userId, id: gatewayId, planId: 'plan_pro', start, end, createdAt: start };
  await deliver(service, subscriptionEvent({ name: 'activated', ...event }));
  const { id } = await database.one('select id from public.subscriptions where user_id = $1', [userId]);
  return { userId, id: String(id), gatewayId };
}

const claimAll = () => callRpc(service, 'claim_subscriptions_to_reconcile');
const claim = async () => (await claimAll()).subscriptions;
const apply = ({ id, gatewayId }: Billed, entity: Record<string, unknown> | null) =>
  callRpc(service, 'apply_gateway_subscription', id, gatewayId, entity === null ? null : JSON.stringify(entity));
const january = { current_start: seconds(start), current_end: seconds(end), plan_id: 'plan_pro', notes: [] };
const february = { ...january, current_start: seconds(end), current_end: seconds(nextEnd) };

const nextCheck = async (id: string) =>
  (await database.one('select next_check_at from billing.gateway_subscriptions where gateway_subscription_id = $1', [
    id,
  ]))
    .next_check_at;

async function expire(at: string): Promise<unknown> {
  await setClock(database, at);
  return (await database.one('select billing.expire_subscriptions() as ended')).ended;
}

describe('a gateway subscription is reconciled', () => {
  test('from a day before its period ends, every six hours', async () => {
    const subscription = await billed();
    const expected = [{ id: subscription.id, gateway_subscription_id: subscription.gatewayId }];
    await setClock(database, '2026-01-30T23:59:59Z');
    expect(await claim()).toEqual([]);
    await setClock(database, '2026-01-31T00:00:00Z');
    expect(await claim()).toEqual(expected);
    await apply(subscription, { status: 'active', ...january });
    await setClock(database, '2026-01-31T05:59:59Z');
    expect(await claim()).toEqual([]);
    await setClock(database, '2026-01-31T06:00:00Z');
    expect(await claim()).toEqual(expected);
  });

  test('once, and again after its lease of five minutes expired', async () => {
    await billed();
    await setClock(database, end);
    expect(await claim()).toHaveLength(1);
    expect(await claim()).toEqual([]);
    await setClock(database, '2026-02-01T00:05:00Z');
    expect(await claim()).toHaveLength(1);
  });

  test('not after the gateway cancelled it, and not if the gateway bills nothing', async () => {
    const { userId, gatewayId } = await billed();
    await deliver(service, subscriptionEvent({ name: 'cancelled', userId, id: gatewayId, createdAt: start }));
    await verifyPurchase(service, await placeOrder(database, { tier: 'basic' }));
    await setClock(database, end);
    expect(await claim()).toEqual([]);
  });

  test('again after another gateway subscription replaced it', async () => {
    const subscription = await billed();
    await setClock(database, end);
    await claim();
    await apply(subscription, { status: 'halted', ...january });
    await database.query("update public.subscriptions set gateway_subscription_id = 'sub_new' where id = $1", [
      subscription.id,
    ]);
    expect(await claim()).toEqual([{ id: subscription.id, gateway_subscription_id: 'sub_new' }]);
    expect(
      await database.one('select checked_at from billing.gateway_subscriptions where gateway_subscription_id = $1', [
        'sub_new',
      ]),
    ).toEqual({ checked_at: null });
  });

  test('also if its user is inserted after it was due', async () => {
    await setClock(database, start);
    const userId = crypto.randomUUID();
    const id = uniqueId('sub');
    const event = { userId, id, planId: 'plan_pro', start, end, createdAt: start };
    await deliver(service, subscriptionEvent({ name: 'activated', ...event }));
    await setClock(database, '2026-01-31T06:00:00Z');
    expect(await claim()).toEqual([]);
    await database.query("insert into auth.users (id, email) values ($1, 'asha@example.com')", [userId]);
    expect(await readTier(database, userId)).toBe('pro');
    await setClock(database, '2026-02-01T06:00:00Z');
    expect(await claim()).toMatchObject([{ gateway_subscription_id: id }]);
  });
});

describe('a gateway subscription that did not get its charge', () => {
  const due = (id: string) =>
    database.query(
      'update billing.gateway_subscriptions set next_check_at = billing.clock() where gateway_subscription_id = $1',
      [
        id,
      ],
    );

  test.each(['pending', 'halted', 'paused'])(
    'is read while it is %s, every six hours, and once a day from 17 days after its period',
    async (status) => {
      const subscription = await billed();
      const { gatewayId } = subscription;
      await setClock(database, '2026-02-17T22:00:00Z');
      expect(await claim()).toHaveLength(1);
      await apply(subscription, { status, ...january });
      for (const at of ['2026-02-18T04:00:00Z', '2026-02-19T04:00:00Z']) {
        await setClock(database, at);
        await due(gatewayId);
        expect(await claim()).toHaveLength(1);
        await apply(subscription, { status, ...january });
      }
      await setClock(database, '2026-02-19T12:00:00Z');
      await due(gatewayId);
      expect(await claimAll()).toEqual({ settled: 1, subscriptions: [] });
      expect(await nextCheck(gatewayId)).toEqual(new Date('2026-02-20T04:00:00Z'));
      await setClock(database, '2026-02-20T04:00:00Z');
      expect(await claim()).toHaveLength(1);
    },
  );

  test('is read while it is halted, also with a period that has not ended', async () => {
    const subscription = await billed();
    await apply(subscription, { status: 'halted', ...january });
    await due(subscription.gatewayId);
    expect(await claim()).toHaveLength(1);
  });

  test('is not read 17 days after its period, if the gateway says that it is complete', async () => {
    const subscription = await billed();
    await setClock(database, '2026-02-18T04:00:00Z');
    await apply(subscription, { status: 'completed', ...january });
    await due(subscription.gatewayId);
    expect(await claimAll()).toEqual({ settled: 1, subscriptions: [] });
    expect(await nextCheck(subscription.gatewayId)).toBeNull();
  });
});

describe('a claim', () => {
  test('counts renewed subscriptions as settled, and the next one claims those that are due after them', async () => {
    await setClock(database, start);
    await database.query(
      `insert into auth.users (id, email) select md5('user' || n)::uuid, n || '@example.com' from generate_series(1, 230) n`,
    );
    await database.query(
      `insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
       select id, 'pro', 'active', $1, $2 from auth.users`,
      [start, end],
    );
    await database.query(
      `insert into billing.gateway_subscriptions
         (user_id, gateway_subscription_id, status, period_start, period_end, next_check_at, arrived_at)
       select md5('user' || n)::uuid, 'sub_' || n, 'active', $1, case when n > 200 then $2 else $3 end::timestamptz,
         timestamptz '2025-12-01' + make_interval(secs => n), $1
       from generate_series(1, 230) n`,
      [start, '2026-01-02T00:00:00Z', nextEnd],
    );
    expect(await claimAll()).toEqual({ settled: 200, subscriptions: [] });
    expect(await claim()).toHaveLength(20);
    expect(await claim()).toHaveLength(10);
    expect(await claimAll()).toEqual({ settled: 0, subscriptions: [] });
  });
});

describe('an answer of the gateway', () => {
  test('with a new charge renews the period, and raises an alert if no webhook announced it', async () => {
    const subscription = await billed();
    await setClock(database, end);
    expect(await apply(subscription, { status: 'active', ...february })).toMatchObject({ applied: true });
    expect(await readSubscription(database, subscription.userId)).toMatchObject({
      status: 'active',
      start: '2026-02-01T00:00:00.000Z',
      end: '2026-03-01T00:00:00.000Z',
    });
    expect(await alertsAbout(database, subscription.gatewayId)).toEqual(['missed_webhook']);
    expect(await apply(subscription, { status: 'active', ...february })).toMatchObject({ applied: false });
  });

  test('that is older than the webhook of the next charge changes nothing', async () => {
    const subscription = await billed();
    const march = { start: nextEnd, end: '2026-04-01T00:00:00Z', createdAt: '2026-03-01T00:00:05Z' };
    const event = { userId: subscription.userId, id: subscription.gatewayId, planId: 'plan_pro' };
    await deliver(service, subscriptionEvent({ name: 'charged', ...event, ...march }));
    expect(await apply(subscription, { status: 'active', ...february })).toMatchObject({ applied: false });
    expect(await readSubscription(database, subscription.userId)).toMatchObject({ end: '2026-04-01T00:00:00.000Z' });
  });

  test.each(['cancelled', 'expired'])('with the status %s ends access', async (status) => {
    const subscription = await billed();
    await setClock(database, end);
    expect(await apply(subscription, { status, ...january })).toMatchObject({ applied: true });
    expect(await readTier(database, subscription.userId)).toBe('free');
  });

  test.each<[string, boolean, string]>([
    ['active', false, 'pro'],
    ['pending', true, 'pro'],
    ['halted', true, 'pro'],
    ['completed', true, 'free'],
    ['paused', true, 'free'],
  ])('with the status %s and no new period has the effect of its event: %s, %s', async (status, applied, tier) => {
    const subscription = await billed();
    await setClock(database, end);
    expect(await apply(subscription, { status, ...january })).toMatchObject({ applied });
    expect(await readTier(database, subscription.userId)).toBe(tier);
    expect(await apply(subscription, { status, ...january })).toMatchObject({ applied: false });
  });

  test('with the status active after a failed charge is no charge of the current cycle without another paid cycle', async () => {
    const subscription = await billed();
    const event = { userId: subscription.userId, id: subscription.gatewayId, planId: 'plan_pro' };
    const charged = { start, end, createdAt: start, fields: { paid_count: 1 } };
    await deliver(service, subscriptionEvent({ name: 'charged', ...event, ...charged }));
    await setClock(database, '2026-02-02T00:00:00Z');
    await apply(subscription, { status: 'pending', paid_count: 1, ...february });
    await apply(subscription, { status: 'active', paid_count: 1, ...february });
    expect(await readSubscription(database, subscription.userId)).toMatchObject({ end: '2026-02-01T00:00:00.000Z' });
    expect(await apply(subscription, { status: 'active', paid_count: 2, ...february })).toMatchObject({
      applied: true,
    });
    expect(await readSubscription(database, subscription.userId)).toMatchObject({ end: '2026-03-01T00:00:00.000Z' });
  });

  test('without the number of paid cycles gives no unpaid access after a halt, until a charge is known', async () => {
    const subscription = await billed();
    const event = { userId: subscription.userId, id: subscription.gatewayId, planId: 'plan_pro' };
    await setClock(database, '2026-02-04T00:00:00Z');
    await deliver(service, subscriptionEvent({ name: 'halted', ...event, createdAt: '2026-02-04T00:00:00Z' }));
    await setClock(database, '2026-02-05T00:00:00Z');
    for (const status of ['pending', 'paused', 'active']) await apply(subscription, { status, ...february });
    expect(await readTier(database, subscription.userId)).toBe('free');
    const march = { start: nextEnd, end: '2026-04-01T00:00:00Z', createdAt: nextEnd };
    await setClock(database, nextEnd);
    await deliver(service, subscriptionEvent({ name: 'charged', ...event, ...march }));
    const april = {
      current_start: seconds(march.end),
      current_end: seconds('2026-05-01T00:00:00Z'),
      plan_id: 'plan_pro',
    };
    await setClock(database, march.end);
    expect(await apply(subscription, { status: 'active', ...april })).toMatchObject({ applied: true });
    expect(await readSubscription(database, subscription.userId)).toMatchObject({ end: '2026-05-01T00:00:00.000Z' });
  });

  test('with the status pending renews the cycle before the one that failed', async () => {
    const subscription = await billed();
    await setClock(database, nextEnd);
    const march = { current_start: february.current_end, current_end: february.current_end + 31 * 24 * 3600 };
    expect(await apply(subscription, { status: 'pending', paid_count: 2, ...march })).toMatchObject({ applied: true });
    expect(await readSubscription(database, subscription.userId)).toMatchObject({
      start: '2026-02-01T00:00:00.000Z',
      end: '2026-03-01T00:00:00.000Z',
    });
    expect(await readTier(database, subscription.userId)).toBe('pro');
  });

  test('about a subscription that a purchase replaced changes nothing', async () => {
    const subscription = await billed();
    const user = { id: subscription.userId, email: null };
    await verifyPurchase(service, await placeOrder(database, { user, tier: 'premium' }));
    for (const status of ['active', 'cancelled']) await apply(subscription, { status, ...february });
    expect(await readSubscription(database, subscription.userId)).toMatchObject({ tier: 'premium', status: 'active' });
    expect(await readTier(database, subscription.userId)).toBe('premium');
  });
});

describe('expiry ends a subscription that the gateway bills', () => {
  test('never before a reconciliation, however long the period is over', async () => {
    const { userId } = await billed();
    expect(await expire('2027-01-01T00:00:00Z')).toBe(0);
    expect(await readTier(database, userId)).toBe('pro');
  });

  test.each(['halted', 'pending', null])(
    'after its grace days when the gateway answered %s',
    async (status) => {
      const subscription = await billed();
      await setClock(database, '2026-02-03T20:00:00Z');
      await claim();
      await apply(subscription, status === null ? null : { status, ...january });
      expect(await expire('2026-02-03T23:00:00Z')).toBe(0);
      expect(await expire('2026-02-04T00:00:01Z')).toBe(1);
      expect(await readTier(database, subscription.userId)).toBe('free');
    },
  );

  test('after its grace days, also if a purchase in between was refunded', async () => {
    const subscription = await billed();
    await setClock(database, '2026-02-03T20:00:00Z');
    await claim();
    await apply(subscription, { status: 'halted', ...january });
    const user = { id: subscription.userId, email: null };
    const order = await placeOrder(database, { user, tier: 'premium' });
    await verifyPurchase(service, order);
    expect(await readTier(database, user.id)).toBe('premium');
    await deliver(service, refundEvent(paymentOf(order), 99900));
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await expire('2026-02-04T00:00:00Z')).toBe(0);
    expect(await expire('2026-02-04T00:00:01Z')).toBe(1);
    expect(await readTier(database, user.id)).toBe('free');
  });

  test('not by an answer from before the end of the period, nor by one older than a day', async () => {
    const subscription = await billed();
    for (const expected of ['2026-01-31T12:00:00Z', '2026-02-02T00:00:00Z']) {
      await setClock(database, expected);
      await claim();
      await apply(subscription, { status: 'pending', ...january });
      expect(await expire(expected.startsWith('2026-01') ? '2026-02-01T12:00:00Z' : '2026-02-10T00:00:00Z')).toBe(0);
    }
    expect(await readTier(database, subscription.userId)).toBe('pro');
  });

  test('and a late charge restores access', async () => {
    const subscription = await billed();
    await setClock(database, '2026-02-04T00:00:00Z');
    await claim();
    await apply(subscription, { status: 'halted', ...january });
    expect(await readTier(database, subscription.userId)).toBe('free');
    const event = { userId: subscription.userId, id: subscription.gatewayId, planId: 'plan_pro' };
    const paid = { start: end, end: nextEnd, createdAt: '2026-02-04T01:00:00Z' };
    await deliver(service, subscriptionEvent({ name: 'charged', ...event, ...paid }));
    expect(await readTier(database, subscription.userId)).toBe('pro');
  });
});
