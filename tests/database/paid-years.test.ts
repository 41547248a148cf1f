import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readAccessFindings } from '../helpers/database/findings.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { mailsTo, paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readCancellation, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
let gatewayId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

const month = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };
const year = { start: '2026-02-01T00:00:00Z', end: '2027-02-01T00:00:00Z' };
const payment = () => ({ id: `pay_of_${gatewayId}`, amount: 49900 });
const proYear = {
  tier: 'pro',
  status: 'active',
  plan_tier: 'pro',
  gateway_subscription_id: null,
  start: '2026-01-01T00:00:00.000Z',
  end: '2027-01-01T00:00:00.000Z',
};

async function at(time: string): Promise<void> {
  await setClock(database, time);
}

/** Delivers an event of the gateway subscription at the time of the event. */
async function event(name: SubscriptionEvent['name'], time: string, fields: Partial<SubscriptionEvent> = {}) {
  await at(time);
  const of = { userId: user.id, id: gatewayId, createdAt: time };
  return await deliver(service, subscriptionEvent({ name, ...of, ...fields }));
}

async function buy(tier: string, time: string): Promise<Purchase> {
  await at(time);
  const order = await placeOrder(database, { user, tier });
  await verifyPurchase(service, order);
  return order;
}

/** Marks the cancellation of the gateway subscription as delivered, as a dispatcher does. */
async function deliverCancellation(): Promise<void> {
  const rows = await database.query(
    `update billing.outbox set attempts = 1, delivered_at = billing.clock()
     where key = 'cancel-subscription/' || $1 and delivered_at is null and parked_at is null
     returning id`,
    [gatewayId],
  );
  expect(rows).toHaveLength(1);
}

/** Activates and charges the gateway subscription on 1 February. */
async function bill(planId: string, cycle: typeof month): Promise<void> {
  gatewayId = uniqueId('sub');
  expect(await event('activated', '2026-02-01T00:00:00Z', { planId, ...cycle })).toBe('applied');
  await event('charged', '2026-02-01T00:00:05Z', { planId, ...cycle, payment: payment() });
}

async function expire(time: string): Promise<unknown> {
  await at(time);
  return (await database.one('select billing.expire_subscriptions() as ended')).ended;
}

/** Reconciles the gateway subscription with an answer of the gateway. */
async function reconcile(status: string): Promise<void> {
  const { id } = await database.one('select id from public.subscriptions where user_id = $1', [user.id]);
  await callRpc(service, 'apply_gateway_subscription', id, gatewayId, JSON.stringify({ status }));
}

const subscription = () => readSubscription(database, user.id);
const refund = () => deliver(service, refundEvent(payment(), payment().amount));
const endMails = async () =>
  (await mailsTo(database, user)).map(String).filter((key) => key.startsWith('subscription-ended'));

describe('a purchased year of pro, with premium billed by the gateway over it', () => {
  async function bought(): Promise<void> {
    user = await createUser(database);
    await buy('pro', '2026-01-01T00:00:00Z');
    await bill('plan_premium', month);
    expect(await subscription()).toMatchObject({ tier: 'premium', end: '2026-03-01T00:00:00.000Z' });
    expect(await readTier(database, user.id)).toBe('premium');
  }

  test.each<[string, () => Promise<unknown>]>([
    ['cancelled at the gateway', () => event('cancelled', '2026-02-10T00:00:00Z', { planId: 'plan_premium' })],
    ['cancelled at the gateway, by an event without a plan', () => event('cancelled', '2026-02-10T00:00:00Z')],
    ['refunded', refund],
    ['cancelled by the user for its end', async () => {
      await at('2026-02-10T00:00:00Z');
      await callRpc(service, 'cancel_subscription', user.id, true);
      expect(await subscription()).toMatchObject({ tier: 'premium', status: 'active' });
      await event('cancelled', '2026-03-01T00:00:00Z', { planId: 'plan_premium' });
    }],
    ['halted and lapsed', async () => {
      await at('2026-03-03T12:00:00Z');
      await reconcile('halted');
      expect(await readTier(database, user.id)).toBe('premium');
      expect(await expire('2026-03-04T00:00:00.001Z')).toBe(1);
    }],
  ])('is pro until its end when premium is %s', async (_, ends) => {
    await bought();
    await ends();
    expect(await subscription()).toEqual(proYear);
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await endMails()).toEqual([]);
    expect(await expire('2027-01-04T00:00:00Z')).toBe(0);
    expect(await expire('2027-01-04T00:00:00.001Z')).toBe(1);
    expect(await readTier(database, user.id)).toBe('free');
    expect(await endMails()).toHaveLength(1);
  });

  test.each([['cancelled', 'plan_premium'], ['expired', undefined]])(
    'is not changed by a late cancellation after premium was %s',
    async (status, planId) => {
      await bought();
      await at('2026-03-02T00:00:00Z');
      await reconcile(status);
      expect(await subscription()).toEqual(proYear);
      await event('cancelled', '2026-03-05T00:00:00Z', { planId });
      expect(await subscription()).toEqual(proYear);
      expect(await readTier(database, user.id)).toBe('pro');
      expect(await readAccessFindings(database)).toEqual([]);
    },
  );

  test('is not changed by the cancellation that follows a halt and a lapse', async () => {
    await bought();
    await at('2026-03-03T12:00:00Z');
    await reconcile('halted');
    await expire('2026-03-04T00:00:00.001Z');
    await event('cancelled', '2026-03-05T00:00:00Z', { planId: 'plan_premium' });
    expect(await subscription()).toEqual(proYear);
    expect(await readTier(database, user.id)).toBe('pro');
  });
});

describe('a purchased year of pro, with pro billed by the gateway over it', () => {
  test('shows the cycle while it runs, then the year, and is a finding while both run', async () => {
    user = await createUser(database);
    const { paymentId } = await buy('pro', '2026-01-01T00:00:00Z');
    await bill('plan_pro', month);
    expect(await subscription()).toMatchObject({
      gateway_subscription_id: gatewayId,
      start: '2026-02-01T00:00:00.000Z',
      end: '2026-03-01T00:00:00.000Z',
    });
    expect(await readAccessFindings(database)).toEqual([['paid_twice', paymentId, 'the gateway bills the same time']]);

    await event('cancelled', '2026-03-01T00:00:00Z', { planId: 'plan_pro' });
    expect(await subscription()).toEqual(proYear);
    expect(await readAccessFindings(database)).toEqual([]);
  });
});

describe('a year of premium that the gateway billed, with a purchased month of basic over it', () => {
  const premiumYear = () => ({
    tier: 'premium',
    status: 'active',
    plan_tier: 'premium',
    gateway_subscription_id: gatewayId,
    start: '2026-02-01T00:00:00.000Z',
    end: '2027-02-01T00:00:00.000Z',
  });

  async function bought(): Promise<Purchase> {
    user = await createUser(database);
    await bill('plan_premium', year);
    return await buy('basic', '2026-02-10T00:00:00Z');
  }
  const endsWithCycle = async () =>
    (await database.one('select cancel_at_period_end as ends from public.subscriptions where user_id = $1', [
      user.id,
    ])).ends;

  test('is basic for the month, premium again after it, and is billed no further cycle', async () => {
    await bought();
    expect(await subscription()).toMatchObject({
      tier: 'basic',
      gateway_subscription_id: null,
      end: '2026-03-10T00:00:00.000Z',
    });
    expect(await readTier(database, user.id)).toBe('basic');
    expect(await readCancellation(database, gatewayId)).toEqual({ at: 'cycle end', state: 'pending' });
    expect(await readAccessFindings(database)).toEqual([]);
    await deliverCancellation();

    expect(await expire('2026-03-13T00:00:00Z')).toBe(0);
    expect(await expire('2026-03-13T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toEqual(premiumYear());
    expect(await readTier(database, user.id)).toBe('premium');
    expect(await endsWithCycle()).toBe(true);
    expect(await endMails()).toEqual([]);

    await event('cancelled', '2027-02-01T00:00:00Z', { planId: 'plan_premium' });
    expect(await subscription()).toEqual({ ...premiumYear(), status: 'cancelled' });
    expect(await readTier(database, user.id)).toBe('free');
    expect(await endMails()).toHaveLength(1);
  });

  test.each([[false, 'withdrawn', false], [true, 'delivered', true]])(
    'is premium again at once when basic is refunded; the cancellation, delivered: %s, is %s and the end planned: %s',
    async (isDelivered, state, ends) => {
      const basic = await bought();
      if (isDelivered) await deliverCancellation();
      await deliver(service, refundEvent(paymentOf(basic), 99900));
      expect(await subscription()).toEqual(premiumYear());
      expect(await readTier(database, user.id)).toBe('premium');
      expect(await readCancellation(database, gatewayId)).toMatchObject({ state });
      expect(await endsWithCycle()).toBe(ends);
      expect(await endMails()).toEqual([]);
    },
  );
});

describe('an older order that is captured after a more expensive purchase', () => {
  const capture = (order: Purchase) => deliver(service, paymentCaptured(paymentOf(order)));

  test('runs below it, is a finding, and rules after the customer verifies it', async () => {
    user = await createUser(database);
    await at('2026-01-01T00:00:00Z');
    const basic = await placeOrder(database, { user, tier: 'basic' });
    await buy('premium', '2026-01-02T00:00:00Z');
    const premium = await subscription();

    await at('2026-01-03T00:00:00Z');
    expect(await capture(basic)).toBe('applied');
    expect(await subscription()).toEqual(premium);
    expect(await readTier(database, user.id)).toBe('premium');
    expect(await readAccessFindings(database)).toEqual([
      ['paid_twice', basic.paymentId, 'captured after a newer purchase'],
    ]);

    await at('2026-01-04T00:00:00Z');
    expect(await verifyPurchase(service, basic)).toEqual({
      outcome: 'already_applied',
      tier: 'basic',
      valid_until: '2026-02-03T00:00:00.000Z',
    });
    expect(await subscription()).toMatchObject({ tier: 'basic', end: '2026-02-03T00:00:00.000Z' });
    expect(await readTier(database, user.id)).toBe('basic');
    expect(await readAccessFindings(database)).toEqual([]);
    expect(await mailsTo(database, user)).toHaveLength(2);

    expect(await expire('2026-02-06T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toEqual(premium);
    expect(await readTier(database, user.id)).toBe('premium');
  });
});
