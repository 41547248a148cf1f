import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { permutations } from '../helpers/orderings/permutations.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let userId: string;
let id: string;
beforeAll(async () => {
  database = await createTestDatabase({ findings: { paid_twice: 'any' } });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
beforeEach(async () => {
  await setClock(database, '2026-06-01T00:00:00Z');
  userId = (await createUser(database)).id;
  id = uniqueId('sub');
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from auth.users; delete from billing.outbox');
});
afterAll(() => database.close());

const june = { start: '2026-06-01T00:00:00Z', end: '2026-07-01T00:00:00Z' };
const july = { start: '2026-07-01T00:00:00Z', end: '2026-08-01T00:00:00Z' };
const august = { start: '2026-08-01T00:00:00Z', end: '2026-09-01T00:00:00Z' };
const at = (day: string) => `2026-${day}T00:00:00Z`;

type Step = Omit<SubscriptionEvent, 'userId' | 'id'>;
const body = (step: Step) => subscriptionEvent({ userId, id, planId: 'plan_pro', ...step });

/** Delivers an event at its time. @returns the outcome */
async function event(step: Step): Promise<unknown> {
  if (step.createdAt) await setClock(database, step.createdAt);
  return await deliver(service, body(step));
}

/** A subscription that was authorised, activated and charged for June. */
async function billed(): Promise<void> {
  await event({ name: 'authenticated', createdAt: at('06-01') });
  await event({ name: 'activated', ...june, createdAt: '2026-06-01T00:00:01Z', fields: { paid_count: 1 } });
  await event({ name: 'charged', ...june, createdAt: '2026-06-01T00:00:02Z', fields: { paid_count: 1 } });
}

async function expire(time: string): Promise<unknown> {
  await setClock(database, time);
  await database.query('select billing.expire_subscriptions()');
  return await readTier(database, userId);
}

const mails = () =>
  database.query(
    `select kind, payload ->> 'access_ends_at' as ends_at, payload ->> 'manage_url' as url
     from billing.outbox where destination in ('email', 'notice') order by id`,
  );
const billing = async () => (await callRpc(service, 'get_subscription', userId)).billing;

test('a mandate without a cycle gives no access', async () => {
  expect(await event({ name: 'authenticated', createdAt: at('06-01') })).toBe('applied');
  expect(await readTier(database, userId)).toBe('free');
  expect(await billing()).toMatchObject({ gateway_subscription_id: id, status: 'authenticated' });
});

describe('a charge that fails', () => {
  test('keeps access for the days of grace, with one mail for the cycle that says when it ends', async () => {
    await billed();
    const fields = { short_url: 'https://gateway.example/s/1', charge_at: Date.parse(at('07-02')) / 1000 };
    expect(await event({ name: 'pending', createdAt: at('07-01'), fields })).toBe('applied');
    expect(await event({ name: 'pending', createdAt: at('07-02'), fields })).toBe('applied');
    expect(await mails()).toEqual([
      { kind: 'payment-pending', ends_at: '2026-07-04T00:00:00.000Z', url: 'https://gateway.example/s/1' },
    ]);
    expect(await billing()).toEqual({
      gateway_subscription_id: id,
      status: 'pending',
      next_charge_at: '2026-07-02T00:00:00+00:00',
      payment_attention: true,
      manage_url: 'https://gateway.example/s/1',
    });
    expect(await readTier(database, userId)).toBe('pro');
  });

  test('and then succeeds renews the period, and the next failure has a mail of its own', async () => {
    await billed();
    await event({ name: 'pending', createdAt: at('07-01') });
    await event({ name: 'charged', ...july, createdAt: at('07-02'), fields: { paid_count: 2 } });
    expect(await billing()).toMatchObject({ status: 'active', payment_attention: false });
    expect(await expire(at('07-20'))).toBe('pro');
    await event({ name: 'pending', createdAt: at('08-01') });
    expect(await mails()).toMatchObject([{ kind: 'payment-pending' }, { ends_at: '2026-08-04T00:00:00.000Z' }]);
  });

  test('late, after the charge that succeeded, changes nothing', async () => {
    await billed();
    const pending = body({ name: 'pending', createdAt: at('07-01') });
    await event({ name: 'charged', ...july, createdAt: at('07-02') });
    expect(await deliver(service, pending)).toBe('stale');
    expect(await mails()).toEqual([]);
    expect(await billing()).toMatchObject({ status: 'active' });
  });

  test('so often that the gateway halts, and succeeds before the halt is told: no mail', async () => {
    await billed();
    const halted = body({ name: 'halted', createdAt: at('07-01') });
    await event({ name: 'charged', ...july, createdAt: at('07-02') });
    expect(await deliver(service, halted)).toBe('applied');
    expect(await mails()).toEqual([]);
    expect(await billing()).toMatchObject({ status: 'active' });
  });

  test('of a subscription under a purchase announces no end of access', async () => {
    await billed();
    await setClock(database, at('06-20'));
    await verifyPurchase(service, await placeOrder(database, { user: { id: userId, email: null }, tier: 'premium' }));
    await event({ name: 'pending', createdAt: at('07-01') });
    expect((await mails()).filter(({ kind }) => kind === 'payment-pending')).toEqual([
      { kind: 'payment-pending', ends_at: null, url: null },
    ]);
  });

  test('of a subscription over another one that is not renewed says when access ends', async () => {
    await billed();
    id = uniqueId('sub');
    const cycle = { start: '2026-06-01T06:00:00Z', end: '2026-07-01T06:00:00Z' };
    await event({ name: 'activated', ...cycle, planId: 'plan_premium', createdAt: cycle.start });
    await event({ name: 'pending', planId: 'plan_premium', createdAt: cycle.end });
    expect(await mails()).toMatchObject([{ kind: 'payment-pending', ends_at: '2026-07-04T06:00:00.000Z' }]);
  });
});

describe('a halted subscription', () => {
  test('ends after the days of grace without a reconciliation, at the time that its mail names', async () => {
    await billed();
    await event({ name: 'pending', createdAt: at('07-01') });
    expect(await event({ name: 'halted', createdAt: at('07-03') })).toBe('applied');
    const [, halted] = await mails();
    expect(halted).toMatchObject({ kind: 'subscription-halted', ends_at: '2026-07-04T00:00:00.000Z' });
    expect(await expire('2026-07-03T23:59:59Z')).toBe('pro');
    expect(await expire('2026-07-04T00:00:01Z')).toBe('free');
  });

  test('is not paid by an activation of the running cycle, but by a charge', async () => {
    await billed();
    await event({ name: 'halted', createdAt: at('07-03') });
    expect(await expire(at('07-10'))).toBe('free');
    await event({ name: 'activated', ...july, createdAt: at('07-12'), fields: { paid_count: 1 } });
    expect(await readTier(database, userId)).toBe('free');
    await event({ name: 'charged', ...august, createdAt: at('08-01'), fields: { paid_count: 2 } });
    expect(await readTier(database, userId)).toBe('pro');
  });
});

test('after a halt the newest charge counts, in whatever order the charges arrive', async () => {
  await event({ name: 'activated', ...june, createdAt: at('06-01') });
  await event({ name: 'halted', createdAt: at('07-04') });
  await event({ name: 'charged', ...july, createdAt: at('07-10') });
  await setClock(database, at('07-11'));
  await deliver(service, body({ name: 'charged', ...june, createdAt: '2026-06-01T00:00:02Z' }));
  expect(await readSubscription(database, userId)).toMatchObject({ status: 'active', end: '2026-08-01T00:00:00.000Z' });
});

test('a paused subscription gives what is paid and no days of grace; resumed, it goes on with the next charge', async () => {
  await billed();
  expect(await event({ name: 'paused', createdAt: at('06-10') })).toBe('applied');
  expect(await readTier(database, userId)).toBe('pro');
  expect(await billing()).toMatchObject({ status: 'paused', next_charge_at: null });
  expect(await expire('2026-07-01T00:00:01Z')).toBe('free');
  await event({ name: 'resumed', createdAt: at('07-15') });
  expect(await readTier(database, userId)).toBe('free');
  expect(await readSubscription(database, userId)).toMatchObject({
    status: 'cancelled',
    end: '2026-07-01T00:00:00.000Z',
  });
  await event({ name: 'charged', ...august, createdAt: at('08-01') });
  expect(await readTier(database, userId)).toBe('pro');
});

test('a resumption after the paid cycle, told before the sweep ran, ends access with the cycle', async () => {
  await billed();
  await event({ name: 'paused', createdAt: at('06-10') });
  await event({ name: 'resumed', createdAt: at('07-01') });
  expect(await readTier(database, userId)).toBe('free');
  expect(await readSubscription(database, userId)).toMatchObject({ status: 'cancelled' });
  await event({ name: 'charged', ...july, createdAt: at('07-02') });
  expect(await readSubscription(database, userId)).toMatchObject({ status: 'active', end: '2026-08-01T00:00:00.000Z' });
});

test('a subscription that is resumed within its paid cycle goes on', async () => {
  await billed();
  await event({ name: 'paused', createdAt: at('06-10') });
  await event({ name: 'resumed', createdAt: at('06-20') });
  expect(await expire('2026-07-02T00:00:00Z')).toBe('pro');
  expect(await billing()).toMatchObject({ status: 'active' });
});

test('a completed subscription ends with its paid period, with a mail that says so', async () => {
  await billed();
  expect(await event({ name: 'completed', createdAt: at('06-02') })).toBe('applied');
  expect(await mails()).toMatchObject([{ kind: 'subscription-completed', ends_at: '2026-07-01T00:00:00.000Z' }]);
  expect(await billing()).toBeNull();
  expect(await expire('2026-06-30T23:59:59Z')).toBe('pro');
  expect(await expire('2026-07-01T00:00:01Z')).toBe('free');
});

test('an update changes the plan and nothing that was paid', async () => {
  await billed();
  await event({ name: 'updated', ...july, planId: 'plan_premium', createdAt: at('06-10') });
  expect(await readSubscription(database, userId)).toMatchObject({ tier: 'premium', end: '2026-07-01T00:00:00.000Z' });
});

test('a change of plan at the end of the cycle leaves no time without access before the first charge', async () => {
  await billed();
  const next = { id: uniqueId('sub'), planId: 'plan_premium', createdAt: at('06-10') };
  await database.query(
    `insert into billing.subscription_orders (
       user_id, tier, gateway_plan_id, gateway_subscription_id, expires_at, starts_at, replaces
     )
     values ($1, 'premium', 'plan_premium', $2, $3, $4, $5)`,
    [userId, next.id, at('06-11'), at('07-01'), id],
  );
  await deliver(service, subscriptionEvent({ ...next, userId, name: 'authenticated' }));
  await event({ name: 'cancelled', createdAt: at('07-01') });
  expect(await expire('2026-07-02T00:00:00Z')).toBe('pro');
  await deliver(service, subscriptionEvent({ ...next, ...july, userId, name: 'charged', createdAt: at('07-02') }));
  expect(await expire('2026-07-20T00:00:00Z')).toBe('premium');
});

const histories: [string, string, Step[]][] = [
  ['a charge that fails and succeeds', '2026-07-20T00:00:00Z', [
    { name: 'authenticated', createdAt: at('06-01') },
    { name: 'charged', ...june, createdAt: at('06-01'), fields: { paid_count: 1 } },
    { name: 'pending', createdAt: at('07-01'), fields: { paid_count: 1 } },
    { name: 'charged', ...july, createdAt: at('07-02'), fields: { paid_count: 2 } },
  ]],
  ['a halt that an activation without a payment ends', '2026-07-20T00:00:00Z', [
    { name: 'activated', ...june, createdAt: at('06-01') },
    { name: 'charged', ...june, createdAt: at('06-01') },
    { name: 'halted', createdAt: at('07-04') },
    { name: 'activated', ...july, createdAt: at('07-10') },
  ]],
  ['a halt without a known charge', '2026-07-20T00:00:00Z', [
    { name: 'activated', ...june, createdAt: at('06-01') },
    { name: 'pending', createdAt: at('07-01') },
    { name: 'halted', createdAt: at('07-04') },
    { name: 'activated', ...july, createdAt: at('07-10') },
  ]],
  ['a halt that a charge ends', '2026-07-20T00:00:00Z', [
    { name: 'activated', ...june, createdAt: at('06-01') },
    { name: 'halted', createdAt: at('07-04') },
    { name: 'activated', ...july, createdAt: at('07-10') },
    { name: 'charged', ...july, createdAt: at('07-11') },
  ]],
  ['a pause within the second of its end', '2026-06-20T00:00:00Z', [
    { name: 'activated', ...june, createdAt: at('06-01') },
    { name: 'paused', createdAt: at('06-10') },
    { name: 'resumed', createdAt: at('06-10') },
    { name: 'updated', planId: 'plan_premium', createdAt: at('06-11') },
  ]],
  ['a pause over the end of the cycle', '2026-07-20T00:00:00Z', [
    { name: 'activated', ...june, createdAt: at('06-01') },
    { name: 'paused', createdAt: at('06-10') },
    { name: 'resumed', createdAt: at('07-10') },
    { name: 'pending', createdAt: at('07-11') },
  ]],
  ['a last charge', '2026-06-20T00:00:00Z', [
    { name: 'activated', ...june, createdAt: at('06-01') },
    { name: 'charged', ...june, createdAt: at('06-01') },
    { name: 'completed', createdAt: at('06-01') },
    { name: 'cancelled', createdAt: at('06-19') },
  ]],
];

describe('every order of arrival gives the same access', () => {
  test.each(histories)('%s', async (_, now, steps) => {
    const states = new Set<string>();
    for (const order of permutations(steps)) {
      await setClock(database, at('06-01'));
      userId = (await createUser(database)).id;
      id = uniqueId('sub');
      await setClock(database, now);
      for (const step of order) await deliver(service, body(step));
      await database.query('select billing.expire_subscriptions()');
      const { tier, status, start, end } = await readSubscription(database, userId) ?? {};
      const state = { tier, status, start, end, profile: await readTier(database, userId) };
      const { gateway_subscription_id: _id, ...shown } = Object(await billing());
      states.add(JSON.stringify({ state, shown }));
    }
    expect([...states]).toHaveLength(1);
  });
});
