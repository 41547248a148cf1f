import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { seconds, subscriptionEvent } from '../helpers/gateway/events.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readCancellation, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let userId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
const start = '2026-06-01T00:00:00Z';
const end = '2026-07-01T00:00:00Z';
const later = (minutes: number) => setClock(database, new Date(Date.parse(start) + minutes * 60_000).toISOString());
beforeEach(async () => {
  await later(0);
  userId = (await createUser(database)).id;
  await database.query(
    `update public.plans
     set is_active = true, billing_cycles = null, gateway_plan_id = case when tier <> 'premium' then 'plan_' || tier end`,
  );
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from auth.users; truncate billing.marks');
});
afterAll(() => database.close());

const create = (tier = 'pro', key: string | null = null, gatewayKeyId: string | null = null) =>
  callRpc(service, 'create_subscription', userId, tier, key, gatewayKeyId);

/** Creates a subscription and stores what the gateway made. */
async function subscribed(tier = 'pro', key: string | null = null) {
  const created = await create(tier, key);
  expect(created).toMatchObject({ outcome: 'created' });
  const [id, gatewayId] = [String(created.id), uniqueId('sub')];
  const url = `https://gateway.example/s/${gatewayId}`;
  expect(await callRpc(service, 'store_subscription', id, gatewayId, url)).toEqual({ outcome: 'stored' });
  return { id, gatewayId, url };
}

const activate = (gatewayId: string, planId = 'plan_pro') =>
  deliver(
    service,
    subscriptionEvent({ name: 'activated', userId, id: gatewayId, planId, start, end, createdAt: start }),
  );

describe('a new subscription', () => {
  test('has the terms of the plan, can be authorised for 24 hours, and gives no access', async () => {
    expect(await create()).toEqual({
      outcome: 'created',
      id: expect.any(String),
      gateway_plan_id: 'plan_pro',
      billing_cycles: 10,
      expire_by: seconds('2026-06-02T00:00:00Z'),
      start_at: null,
      gateway_subscription_id: null,
      short_url: null,
      status: 'created',
      plan: expect.objectContaining({ tier: 'pro', price: 99900, gateway_plan_id: 'plan_pro' }),
      running: null,
    });
    expect(await readSubscription(database, userId)).toBeNull();
    expect(await readTier(database, userId)).toBe('free');
  });

  test.each([['basic', null, 120], ['pro', null, 10], ['pro', 3, 3]])(
    'to %s with billing_cycles %j → %i cycles',
    async (tier, cycles, expected) => {
      await database.query('update public.plans set billing_cycles = $2 where tier = $1', [tier, cycles]);
      expect(await create(tier)).toMatchObject({ billing_cycles: expected });
    },
  );

  test('names the period that runs', async () => {
    const order = await placeOrder(database, { tier: 'basic' });
    await verifyPurchase(service, order);
    userId = order.user.id;
    expect(await create()).toMatchObject({
      running: { tier: 'basic', until: '2026-07-01T00:00:00.000Z', early_renewal: 'replace' },
    });
  });

  test.each(['premium', 'no-such-plan'])('to %s, which the gateway does not bill → plan_not_found', async (tier) => {
    expect(await create(tier)).toEqual({ outcome: 'plan_not_found' });
  });

  test('to a plan that is not on offer → plan_not_found', async () => {
    await database.query("update public.plans set is_active = false where tier = 'pro'");
    expect(await create()).toEqual({ outcome: 'plan_not_found' });
  });

  test('of a deleted user → user_not_found', async () => {
    await database.query('delete from auth.users where id = $1', [userId]);
    expect(await create()).toEqual({ outcome: 'user_not_found' });
  });
});

describe('the same open subscription', () => {
  test('is returned for 30 minutes', async () => {
    const { id, gatewayId, url } = await subscribed();
    await later(30 - 1 / 60);
    expect(await create()).toMatchObject({
      outcome: 'existing',
      id,
      gateway_subscription_id: gatewayId,
      short_url: url,
      status: 'created',
    });
    await later(30);
    expect(await create()).toMatchObject({ outcome: 'created' });
  });

  test('is not returned for another tier, plan at the gateway or API key', async () => {
    await subscribed();
    expect(await create('basic')).toMatchObject({ outcome: 'created' });
    await callRpc(service, 'create_subscription', userId, 'pro', null, 'key_live');
    await database.query("update billing.subscription_orders set gateway_key_id = 'key_test' where tier = 'pro'");
    expect(await create('pro', null, 'key_live')).toMatchObject({ outcome: 'created' });
    await database.query("update public.plans set gateway_plan_id = 'plan_new' where tier = 'pro'");
    expect(await create()).toMatchObject({ outcome: 'created', gateway_plan_id: 'plan_new' });
  });

  test('is in flight until the gateway answers, for at most 30 seconds', async () => {
    await create();
    expect(await create()).toEqual({ outcome: 'in_flight' });
    await later(0.5);
    expect(await create()).toMatchObject({ outcome: 'created' });
  });

  test('is created again at once after the gateway made none', async () => {
    const { id } = await create();
    expect(await callRpc(service, 'store_subscription', id)).toEqual({ outcome: 'discarded' });
    expect(await create()).toMatchObject({ outcome: 'created' });
  });

  test('is stored once: a second id changes nothing, and is cancelled', async () => {
    const { id, gatewayId, url } = await subscribed();
    expect(await callRpc(service, 'store_subscription', id, 'sub_other', 'https://gateway.example/s')).toEqual({
      outcome: 'order_not_found',
    });
    expect(await readCancellation(database, 'sub_other')).toEqual({ at: 'cycle end', state: 'pending' });
    expect(await callRpc(service, 'store_subscription', id, gatewayId, url)).toEqual({ outcome: 'stored' });
    expect(await readCancellation(database, gatewayId)).toBeNull();
    expect(await callRpc(service, 'store_subscription', id)).toEqual({ outcome: 'discarded' });
    expect(await create()).toMatchObject({ outcome: 'existing', gateway_subscription_id: gatewayId });
  });
});

test.each(['forgotten', 'deleted with its user'])(
  'what the gateway made for an order that was %s is cancelled',
  async (end) => {
    const { id } = await create('pro', 'key');
    if (end === 'forgotten') {
      await later(1);
      await create('pro', 'key');
    } else {
      await database.query('delete from auth.users where id = $1', [userId]);
    }
    const made = uniqueId('sub');
    expect(await callRpc(service, 'store_subscription', id, made, 'https://gateway.example/s')).toEqual({
      outcome: 'order_not_found',
    });
    expect(await readCancellation(database, made)).toEqual({ at: 'cycle end', state: 'pending' });
  },
);

describe('an idempotency key', () => {
  test('names the subscription, also after it was activated', async () => {
    const { id, gatewayId } = await subscribed('pro', 'key');
    await activate(gatewayId);
    await later(600);
    expect(await create('pro', 'key')).toMatchObject({ outcome: 'existing', id, status: 'active' });
  });

  test('of another tier → key_conflict', async () => {
    await subscribed('pro', 'key');
    expect(await create('basic', 'key')).toEqual({ outcome: 'key_conflict' });
  });

  test('whose request ended without an answer of the gateway is used again', async () => {
    await create('pro', 'key');
    expect(await create('pro', 'key')).toEqual({ outcome: 'in_flight' });
    await later(1);
    expect(await create('pro', 'key')).toMatchObject({
      outcome: 'created',
      expire_by: seconds('2026-06-02T00:01:00Z'),
    });
  });

  test('that is new for the open subscription names it, too', async () => {
    const { id } = await subscribed('pro', 'key');
    expect(await create('pro', 'another')).toMatchObject({ outcome: 'existing', id });
    await later(600);
    expect(await create('pro', 'another')).toMatchObject({ outcome: 'existing', id });
  });

  test('belongs to its user', async () => {
    const { id } = await subscribed('pro', 'key');
    userId = (await createUser(database)).id;
    expect(await create('pro', 'key')).not.toMatchObject({ id });
  });
});

describe('within an hour', () => {
  test('an eleventh subscription → rate_limited until the first is an hour old', async () => {
    for (let minutes = 0; minutes < 10; minutes++) {
      await later(minutes);
      await create();
    }
    await later(10);
    expect(await create()).toEqual({ outcome: 'rate_limited', retry_after: 50 * 60 });
    await later(60);
    expect(await create()).toMatchObject({ outcome: 'created' });
  });

  test('a twenty-first key of the open subscription → rate_limited until it is no longer returned', async () => {
    await subscribed('pro', 'key 0');
    for (let n = 1; n < 20; n++) expect(await create('pro', `key ${n}`)).toMatchObject({ outcome: 'existing' });
    expect(await create('pro', 'key 20')).toEqual({ outcome: 'rate_limited', retry_after: 30 * 60 });
    expect(await create('pro', 'key 19')).toMatchObject({ outcome: 'existing' });
  });
});

describe('a user with a subscription to the tier', () => {
  test('that is billed → already_subscribed', async () => {
    await activate((await subscribed()).gatewayId);
    expect(await create()).toEqual({ outcome: 'already_subscribed' });
    expect(await create('basic')).toMatchObject({ outcome: 'created' });
  });

  test('that ends with its period may start another one', async () => {
    await activate((await subscribed()).gatewayId);
    await callRpc(service, 'cancel_subscription', userId, true);
    expect(await create()).toMatchObject({ outcome: 'created' });
  });

  test('that was cancelled at once may start another one', async () => {
    await activate((await subscribed()).gatewayId);
    await callRpc(service, 'cancel_subscription', userId, false);
    expect(await create()).toMatchObject({ outcome: 'created' });
  });
});

describe('a trial', () => {
  const trialEnd = '2026-06-15T00:00:00.000Z';
  beforeEach(() => database.query("update public.plans set trial_days = 14 where tier = 'pro'"));
  afterEach(() => database.query('update public.plans set trial_days = 0'));
  const authenticated = (id: string, createdAt = start) =>
    deliver(service, subscriptionEvent({ name: 'authenticated', userId, id, planId: 'plan_pro', createdAt }));

  test('is a start that many days later, and gives access from the authorisation until then', async () => {
    const created = await create();
    expect(created).toMatchObject({ outcome: 'created', start_at: seconds('2026-06-15T00:00:00Z') });
    await callRpc(service, 'store_subscription', created.id, 'sub_trial', 'https://gateway.example/s/1');
    expect(await readTier(database, userId)).toBe('free');
    expect(await authenticated('sub_trial')).toBe('applied');
    expect(await readTier(database, userId)).toBe('pro');
    expect(await readSubscription(database, userId)).toMatchObject({ status: 'active', end: trialEnd });
    expect(await create()).toEqual({ outcome: 'already_subscribed' });
  });

  test('ends in the first cycle, in both orders of arrival', async () => {
    const states = [];
    for (const isReversed of [false, true]) {
      userId = (await createUser(database)).id;
      const { gatewayId: id } = await subscribed();
      const event = { userId, id, planId: 'plan_pro' };
      const cycle = { start: trialEnd, end: '2026-07-15T00:00:00Z', createdAt: '2026-06-15T00:00:05Z' };
      const bodies = [
        subscriptionEvent({ name: 'authenticated', ...event, createdAt: start }),
        subscriptionEvent({ name: 'activated', ...event, ...cycle }),
      ];
      for (const body of isReversed ? bodies.reverse() : bodies) await deliver(service, body);
      const { start: periodStart, end: periodEnd, status } = await readSubscription(database, userId) ?? {};
      states.push({ periodStart, periodEnd, status });
    }
    expect(states[0]).toEqual({ periodStart: trialEnd, periodEnd: '2026-07-15T00:00:00.000Z', status: 'active' });
    expect(states[1]).toEqual(states[0]);
  });

  test('that was cancelled runs to its end, also after the gateway confirmed the cancellation', async () => {
    const { gatewayId: id } = await subscribed();
    await authenticated(id);
    expect(await callRpc(service, 'cancel_subscription', userId, true)).toMatchObject({ outcome: 'cancelled' });
    expect(await readCancellation(database, id)).toMatchObject({ state: 'pending' });
    await later(12 * 24 * 60);
    const createdAt = '2026-06-13T00:00:00Z';
    await deliver(service, subscriptionEvent({ name: 'cancelled', userId, id, planId: 'plan_pro', createdAt }));
    expect(await readTier(database, userId)).toBe('pro');
    await later(14 * 24 * 60 + 1);
    expect(await database.one('select billing.expire_subscriptions() as ended')).toEqual({ ended: 1 });
    expect(await readTier(database, userId)).toBe('free');
  });

  test('is not given to a user who paid or had a subscription before', async () => {
    const order = await placeOrder(database, { user: { id: userId, email: null }, tier: 'basic' });
    await verifyPurchase(service, order);
    expect(await create()).toMatchObject({ outcome: 'created', start_at: null });
    userId = (await createUser(database)).id;
    const event = { userId, id: uniqueId('sub'), planId: 'plan_basic', start, end, createdAt: start };
    await deliver(service, subscriptionEvent({ name: 'activated', ...event }));
    expect(await create()).toMatchObject({ outcome: 'created', start_at: null });
  });
});

describe('reconciliation', () => {
  const claim = async () => (await callRpc(service, 'claim_subscription_orders')).orders;
  const apply = (id: string, entity: Record<string, unknown> | null) =>
    callRpc(service, 'apply_subscription_order', id, entity === null ? null : JSON.stringify(entity));
  const paid = { status: 'active', plan_id: 'plan_pro', current_start: seconds(start), current_end: seconds(end) };

  test('claims a subscription ten minutes after it was made, and leases it for five', async () => {
    const { id, gatewayId } = await subscribed();
    expect(await claim()).toEqual([]);
    await later(10);
    expect(await claim()).toEqual([{ id, gateway_subscription_id: gatewayId }]);
    expect(await claim()).toEqual([]);
    await later(15);
    expect(await claim()).toHaveLength(1);
  });

  test('does not claim a subscription whose event arrived, and forgets one that the gateway did not make', async () => {
    await activate((await subscribed()).gatewayId);
    await create('basic');
    const open = () => database.query('select tier from billing.subscription_orders order by tier');
    await later(10);
    expect(await claim()).toEqual([]);
    expect(await open()).toEqual([{ tier: 'basic' }, { tier: 'pro' }]);
    await later(25 * 60);
    expect(await claim()).toEqual([]);
    expect(await open()).toEqual([{ tier: 'pro' }]);
  });

  test('grants the first cycle that no webhook announced, with an alert; the webhook then changes nothing', async () => {
    const { id, gatewayId } = await subscribed();
    await later(10);
    await claim();
    expect(await apply(id, { id: gatewayId, ...paid, notes: [] })).toMatchObject({ applied: true });
    expect(await readTier(database, userId)).toBe('pro');
    expect(await readSubscription(database, userId)).toMatchObject({ status: 'active' });
    expect(await alertsAbout(database, gatewayId)).toEqual(['missed_webhook']);
    await later(60);
    expect(await claim()).toEqual([]);
    const before = await readSubscription(database, userId);
    await activate(gatewayId);
    expect(await readSubscription(database, userId)).toEqual(before);
  });

  test('asks again every hour until the authorisation expires, then cancels the subscription once', async () => {
    const { id, gatewayId } = await subscribed();
    for (const minutes of [10, 70, 24 * 60 - 30]) {
      await later(minutes);
      expect(await claim()).toHaveLength(1);
      expect(await apply(id, { status: 'created' })).toMatchObject({ applied: false });
      expect(await claim()).toEqual([]);
    }
    expect(await readCancellation(database, gatewayId)).toBeNull();
    await later(24 * 60);
    expect(await claim()).toHaveLength(1);
    expect(await apply(id, { status: 'created' })).toMatchObject({ applied: true });
    expect(await readCancellation(database, gatewayId)).toEqual({ at: 'once', state: 'pending' });
    await later(48 * 60);
    expect(await claim()).toEqual([]);
    expect(await database.query('select id from billing.subscription_orders')).toEqual([]);
  });

  test('asks again after an authorisation, until the first charge', async () => {
    const { id } = await subscribed();
    await later(25 * 60);
    await claim();
    await apply(id, { status: 'authenticated' });
    await later(26 * 60);
    expect(await claim()).toHaveLength(1);
  });

  test.each([[{ status: 'expired' }], [{ status: 'cancelled' }], [null]])(
    'with the answer %j ends without a cancellation',
    async (entity) => {
      const { id, gatewayId } = await subscribed();
      await later(10);
      await claim();
      expect(await apply(id, entity)).toMatchObject({ applied: false });
      await later(24 * 60);
      if (entity === null) {
        expect(await claim()).toHaveLength(1);
        expect(await apply(id, entity)).toMatchObject({ applied: false });
      }
      await later(48 * 60);
      expect(await claim()).toEqual([]);
      expect(await readCancellation(database, gatewayId)).toBeNull();
    },
  );

  test('of a user who was deleted meanwhile changes nothing', async () => {
    const { id, gatewayId } = await subscribed();
    await later(10);
    await claim();
    await database.query('delete from auth.users where id = $1', [userId]);
    expect(await apply(id, { id: gatewayId, ...paid })).toMatchObject({ applied: false });
  });
});
