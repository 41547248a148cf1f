import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

// Sequences of verify and subscription events that have only the fields that the contract requires: id, current_start,
// current_end, notes.user_id. Contract: Fields that an event needs, Gateway subscriptions.

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({
    findings: {
      // Purchases that the gateway cancelled: three without created_at, three with an old one.
      paid_not_entitled: 6,
    },
  });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

const first = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
const second = { start: '2126-02-01T00:00:00Z', end: '2126-03-01T00:00:00Z' };
const iso = ({ start, end }: typeof first) => ({
  start: new Date(start).toISOString(),
  end: new Date(end).toISOString(),
});

/** A client of the contract may leave created_at out, or send the old one of the gateway's documentation. */
const variants = [['without created_at', null], ['with an old created_at', '2019-09-10T07:25:14Z']] as const;

describe.each(variants)('%s', (_, oldTime) => {
  let events = 0;
  type Customer = { userId: string; id: string; verify(tier?: string): Promise<Row> };

  async function customer(): Promise<Customer> {
    const user = await createUser(database);
    return {
      userId: user.id,
      id: uniqueId('sub'),
      async verify(tier = 'pro') {
        return await verifyPurchase(service, await placeOrder(database, { user, tier }));
      },
    };
  }
  function event({ userId, id }: Customer, name: SubscriptionEvent['name'], period: Partial<typeof first> = {}) {
    events += 1;
    const createdAt = oldTime === null ? null : new Date(Date.parse(oldTime) + events * 1000).toISOString();
    return deliver(service, subscriptionEvent({ name, userId, id, createdAt, ...period }));
  }
  const subscription = ({ userId }: Customer) => readSubscription(database, userId);
  const tier = ({ userId }: Customer) => readTier(database, userId);

  test('verify, activated, charged, cancelled: each changes its fields', async () => {
    const of = await customer();
    const { valid_until } = await of.verify();
    expect(await subscription(of)).toMatchObject({
      status: 'active',
      gateway_subscription_id: null,
      end: valid_until,
    });

    await event(of, 'activated', first);
    const activated = { tier: 'pro', plan_tier: 'pro', status: 'active', gateway_subscription_id: of.id };
    expect(await subscription(of)).toEqual({ ...activated, ...iso(first) });
    await event(of, 'charged', second);
    expect(await subscription(of)).toEqual({ ...activated, ...iso(second) });
    expect(await tier(of)).toBe('pro');
    await event(of, 'cancelled', second);
    expect(await subscription(of)).toEqual({ ...activated, ...iso(second), status: 'cancelled' });
    expect(await tier(of)).toBe('free');
  });

  test('verify, charged, cancelled, verify: the second purchase starts now', async () => {
    const of = await customer();
    await of.verify();
    await event(of, 'charged', first);
    expect(await subscription(of)).toMatchObject({ status: 'active', ...iso(first) });
    await event(of, 'cancelled');
    expect(await subscription(of)).toMatchObject({ status: 'cancelled', ...iso(first) });
    expect(await tier(of)).toBe('free');

    const { valid_until } = await of.verify('premium');
    expect(await subscription(of)).toMatchObject({ tier: 'premium', status: 'active', end: valid_until });
    expect(await tier(of)).toBe('premium');
    await event(of, 'cancelled');
    expect(await tier(of)).toBe('free');
  });

  test('verify, cancelled, activated: active again, with the tier', async () => {
    const of = await customer();
    await of.verify();
    await event(of, 'cancelled');
    await event(of, 'activated', first);
    expect(await subscription(of)).toMatchObject({
      tier: 'pro',
      status: 'active',
      gateway_subscription_id: of.id,
      ...iso(first),
    });
    expect(await tier(of)).toBe('pro');
  });

  test('activated, charged and cancelled without a subscription create none; cancelled sets the profile to free', async () => {
    const of = await customer();
    await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [of.userId]);
    await event(of, 'activated', first);
    await event(of, 'charged', second);
    expect(await subscription(of)).toBeNull();
    expect(await tier(of)).toBe('pro');
    await event(of, 'cancelled');
    expect(await subscription(of)).toBeNull();
    expect(await tier(of)).toBe('free');
  });

  test.each(['active', 'cancelled'])(
    'a subscription that was inserted as %s: charged, activated, cancelled',
    async (status) => {
      const of = await customer();
      const { id: planId } = await database.one("select id from public.plans where tier = 'basic'");
      await database.query(
        `insert into public.subscriptions
         (user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id)
       values ($1, $2, 'basic', $3, '2126-01-01Z', '2126-02-01Z', $4)`,
        [of.userId, planId, status, of.id],
      );
      const row = { tier: 'basic', plan_tier: 'basic', gateway_subscription_id: of.id };
      await event(of, 'charged', second);
      expect(await subscription(of)).toEqual({ ...row, status, ...iso(second) });
      await event(of, 'activated', first);
      expect(await subscription(of)).toEqual({ ...row, status: 'active', ...iso(first) });
      await event(of, 'cancelled');
      expect(await subscription(of)).toEqual({ ...row, status: 'cancelled', ...iso(first) });
      expect(await tier(of)).toBe('free');
      const { cancelled_at } = await database.one(
        'select cancelled_at from public.subscriptions where user_id = $1',
        [
          of.userId,
        ],
      );
      expect(cancelled_at).toBeInstanceOf(Date);
    },
  );

  test('a verify by a user with an inserted subscription replaces it', async () => {
    const of = await customer();
    await database.query(
      `insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
       values ($1, 'basic', 'active', '2020-01-01Z', '2126-02-01Z')`,
      [of.userId],
    );
    const { valid_until } = await of.verify('pro');
    expect(await subscription(of)).toMatchObject({
      tier: 'pro',
      plan_tier: 'pro',
      status: 'active',
      end: valid_until,
    });
    expect(await tier(of)).toBe('pro');
  });
});
