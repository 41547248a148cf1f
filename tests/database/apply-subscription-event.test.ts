import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { seconds, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One subscription is activated for a period that is over: the gateway bills it, and no payment covers the current
  // time. Cancellations of attached gateway subscriptions end the purchases.
  database = await createTestDatabase({ findings: { entitled_not_paid: 1, paid_not_entitled: 4 }, at: now });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

/** A few days after the events, so that they count by their own times. */
const now = '2026-01-10T00:00:00Z';
const january = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
const february = { start: '2126-02-01T00:00:00Z', end: '2126-03-01T00:00:00Z' };
const iso = ({ start, end }: typeof january) => ({
  start: start.replace('Z', '.000Z'),
  end: end.replace('Z', '.000Z'),
});
const event = (event: SubscriptionEvent) => deliver(service, subscriptionEvent(event));

/** A customer who bought pro before all events, with an id for a gateway subscription. */
async function customer() {
  const user = await createUser(database);
  const { orderId } = await createPayment(database, { userId: user.id });
  await setClock(database, '2025-12-15T00:00:00Z');
  await callRpc(service, 'verify_payment', user.id, orderId, uniqueId('pay'), 'signature');
  await setClock(database, now);
  return { userId: user.id, id: uniqueId('sub') };
}

test('a cancellation that names another plan leaves the plan of the paid cycle', async () => {
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
  const of = { userId: (await createUser(database)).id, id: uniqueId('sub') };
  await event({ name: 'activated', ...of, ...january, planId: 'plan_pro', createdAt: '2026-01-09T00:00:00Z' });
  await event({ name: 'cancelled', ...of, planId: 'plan_premium', createdAt: '2026-01-09T12:00:00Z' });
  await database.query('update public.plans set gateway_plan_id = null');
  expect(await readSubscription(database, of.userId)).toMatchObject({ tier: 'pro', status: 'cancelled' });
});

describe('events without created_at', () => {
  test('activated sets status, id and period', async () => {
    const of = await customer();
    await database.query(
      "update public.subscriptions set status = 'cancelled', cancelled_at = billing.clock() where user_id = $1",
      [
        of.userId,
      ],
    );
    expect(await event({ name: 'activated', ...of, ...january })).toBe('applied');
    expect(await readSubscription(database, of.userId)).toEqual({
      tier: 'pro',
      plan_tier: 'pro',
      status: 'active',
      gateway_subscription_id: of.id,
      ...iso(january),
    });
    const row = await database.one('select cancelled_at, ended_reason from public.subscriptions where user_id = $1', [
      of.userId,
    ]);
    expect(row).toEqual({ cancelled_at: null, ended_reason: null });
  });

  test('charged sets only the period', async () => {
    const of = await customer();
    const before = await readSubscription(database, of.userId);
    expect(await event({ name: 'charged', ...of, ...february })).toBe('applied');
    expect(await readSubscription(database, of.userId)).toEqual({ ...before, ...iso(february) });
  });

  test('cancelled sets status and cancelled_at, and the profile to free; the period stays', async () => {
    const of = await customer();
    const before = await readSubscription(database, of.userId);
    expect(await event({ name: 'cancelled', ...of })).toBe('applied');
    expect(await readSubscription(database, of.userId)).toEqual({ ...before, status: 'cancelled' });
    expect(await readTier(database, of.userId)).toBe('free');
    const row = await database.one('select cancelled_at from public.subscriptions where user_id = $1', [of.userId]);
    expect(row).toEqual({ cancelled_at: new Date(now) });
  });

  test('each event applies in the order of arrival', async () => {
    const of = await customer();
    for (const name of ['activated', 'cancelled', 'activated'] as const) {
      expect(await event({ name, ...of, ...january })).toBe('applied');
    }
    expect(await readSubscription(database, of.userId)).toMatchObject({ status: 'active' });
    expect(await readTier(database, of.userId)).toBe('pro');
  });
});

describe('with created_at', () => {
  const at = (day: number) => `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;

  test('an older charge does not shorten the period', async () => {
    const of = await customer();
    await event({ name: 'charged', ...of, ...february, createdAt: at(2) });
    expect(await event({ name: 'charged', ...of, ...january, createdAt: at(1) })).toBe('stale');
    expect(await readSubscription(database, of.userId)).toMatchObject(iso(february));
  });

  test('a cancellation older than the activation does not cancel', async () => {
    const of = await customer();
    await event({ name: 'activated', ...of, ...january, createdAt: at(2) });
    expect(await event({ name: 'cancelled', ...of, createdAt: at(1) })).toBe('stale');
    expect(await readTier(database, of.userId)).toBe('pro');
  });

  test('of a cancellation and an activation in the same second the cancellation wins, in either order', async () => {
    for (const names of [['activated', 'cancelled'], ['cancelled', 'activated']] as const) {
      const of = await customer();
      for (const name of names) await event({ name, ...of, ...january, createdAt: at(1) });
      expect(await readSubscription(database, of.userId), names.join()).toMatchObject({
        status: 'cancelled',
        gateway_subscription_id: of.id,
        ...iso(january),
      });
      expect(await readTier(database, of.userId), names.join()).toBe('free');
    }
  });

  test('an older activation still sets an empty id', async () => {
    const of = await customer();
    await event({ name: 'cancelled', ...of, createdAt: at(3) });
    await event({ name: 'charged', ...of, ...february, createdAt: at(2) });
    expect(await event({ name: 'activated', ...of, ...january, createdAt: at(1) })).toBe('applied');
    expect(await readSubscription(database, of.userId)).toMatchObject({
      status: 'cancelled',
      gateway_subscription_id: of.id,
      ...iso(february),
    });
  });

  test('created_at inside the payload counts as well', async () => {
    const of = await customer();
    await event({ name: 'charged', ...of, ...february, createdAt: at(2) });
    const body = JSON.parse(subscriptionEvent({ name: 'charged', ...of, ...january }));
    body.payload.created_at = seconds(at(1));
    expect(await deliver(service, JSON.stringify(body))).toBe('stale');
  });

  test('a reactivation after a halt restores the tier', async () => {
    const of = await customer();
    await event({ name: 'cancelled', ...of, createdAt: at(1) });
    expect(await readTier(database, of.userId)).toBe('free');
    await event({ name: 'activated', ...of, ...january, createdAt: at(2) });
    expect(await readTier(database, of.userId)).toBe('pro');
  });

  test('an activation of a period that is over does not restore the tier', async () => {
    const of = await customer();
    await event({ name: 'cancelled', ...of, createdAt: at(1) });
    const over = { start: '2020-01-01T00:00:00Z', end: '2020-02-01T00:00:00Z' };
    expect(await event({ name: 'activated', ...of, ...over, createdAt: at(2) })).toBe('applied');
    expect(await readTier(database, of.userId)).toBe('free');
  });
});

describe('events of another gateway subscription than the stored one', () => {
  test.each(['charged', 'cancelled'] as const)('%s changes nothing', async (name) => {
    const of = await customer();
    await event({ name: 'activated', ...of, ...january });
    const before = await readSubscription(database, of.userId);
    expect(await event({ name, ...of, id: uniqueId('sub'), ...february })).toBe('mismatch');
    expect(await readSubscription(database, of.userId)).toEqual(before);
    expect(await readTier(database, of.userId)).toBe('pro');
  });

  test('a newer activation replaces it', async () => {
    const of = await customer();
    await event({ name: 'activated', ...of, ...january, createdAt: '2026-01-01T00:00:00Z' });
    const id = uniqueId('sub');
    await event({ name: 'activated', ...of, id, ...february, createdAt: '2026-01-02T00:00:00Z' });
    expect(await readSubscription(database, of.userId)).toMatchObject({
      gateway_subscription_id: id,
      ...iso(february),
    });
  });
});

describe('an event whose plan_id is a plan’s gateway_plan_id', () => {
  beforeAll(() => database.query("update public.plans set gateway_plan_id = 'plan_basic' where tier = 'basic'"));

  test('an activation after the cancellation of a more expensive purchase gives the tier of the subscription', async () => {
    const of = await customer();
    await event({ name: 'cancelled', ...of });
    await event({ name: 'activated', ...of, planId: 'plan_basic', ...january });
    expect(await readSubscription(database, of.userId)).toMatchObject({ tier: 'basic', plan_tier: 'basic' });
    expect(await readTier(database, of.userId)).toBe('basic');
  });

  test('charged for the first period of a changed plan changes the tier', async () => {
    const of = await customer();
    await event({ name: 'activated', ...of, ...january });
    expect(await readTier(database, of.userId)).toBe('pro');
    await event({ name: 'charged', ...of, planId: 'plan_basic', ...february });
    expect(await readTier(database, of.userId)).toBe('basic');
  });
});

test('charged after the period was over restores the tier, and during the period leaves the profile unchanged', async () => {
  const of = await customer();
  const setTier = (tier: string) =>
    database.query('update public.profiles set subscription_tier = $2 where user_id = $1', [of.userId, tier]);
  await setTier('set by the app');
  await event({ name: 'charged', ...of, ...january });
  expect(await readTier(database, of.userId)).toBe('set by the app');

  await database.query("update public.subscriptions set current_period_end = '2020-01-01Z' where user_id = $1", [
    of.userId,
  ]);
  await setTier('free');
  await event({ name: 'charged', ...of, ...february });
  expect(await readTier(database, of.userId)).toBe('pro');
});

describe('an event that arrived before a purchase', () => {
  test('does not end it when it is delivered again', async () => {
    const { id: userId } = await createUser(database);
    const cancelled = subscriptionEvent({ name: 'cancelled', userId, id: uniqueId('sub') });
    expect(await deliver(service, cancelled)).toBe('unmatched');
    const { orderId } = await createPayment(database, { userId });
    await setClock(database, '2026-01-10T00:00:01Z');
    await callRpc(service, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
    expect(await deliver(service, cancelled)).toBe('unmatched');
    expect(await readSubscription(database, userId)).toMatchObject({ status: 'active' });
    expect(await readTier(database, userId)).toBe('pro');
  });

  test('does not end it when the activation of its subscription arrives late', async () => {
    const { id: userId } = await createUser(database);
    const id = uniqueId('sub');
    await event({ name: 'cancelled', userId, id, createdAt: '2026-01-02T00:00:00Z' });
    const { orderId } = await createPayment(database, { userId });
    await callRpc(service, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
    await event({ name: 'activated', userId, id, ...january, createdAt: '2026-01-01T00:00:00Z' });
    expect(await readSubscription(database, userId)).toMatchObject({ status: 'active' });
    expect(await readTier(database, userId)).toBe('pro');
  });
});
