import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readAccessFindings } from '../helpers/database/findings.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readAllRows, readCancellation, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers, uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

const january = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const february = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };
const at = (time: string) => setClock(database, time);
const cancel = (atPeriodEnd = true) => callRpc(service, 'cancel_subscription', user.id, atPeriodEnd);
const resume = () => callRpc(service, 'resume_subscription', user.id);
const subscription = () => database.one('select * from public.subscriptions where user_id = $1', [user.id]);

async function sweep(): Promise<void> {
  for (;;) if ((await database.one('select billing.sweep() as done')).done === 0) return;
}

/** A month of basic from 1 January. */
async function bought(): Promise<void> {
  await at(january.start);
  user = await createUser(database);
  await verifyPurchase(service, await placeOrder(database, { user, tier: 'basic' }));
}

/** Starts a new gateway subscription for pro, with a cycle that starts at its activation. @returns its id */
async function bill(cycle: typeof january): Promise<string> {
  await at(cycle.start);
  const id = uniqueId('sub');
  await event('activated', id, cycle.start, cycle);
  return id;
}

function event(
  name: SubscriptionEvent['name'],
  id: string,
  createdAt: string,
  fields: Partial<SubscriptionEvent> = {},
) {
  const of = { userId: user.id, id, planId: 'plan_pro', createdAt };
  return deliver(service, subscriptionEvent({ name, ...of, ...fields }));
}

/** When the gateway is to be told that a subscription ends. */
async function cancellationTime(id: string): Promise<unknown> {
  const row = await database.one(
    "select next_attempt_at as at from billing.outbox where key = 'cancel-subscription/' || $1",
    [id],
  );
  return row.at;
}

function withoutRevision({ revision: _, updated_at: __, ...rest }: Row): Row {
  return rest;
}

describe('a cancellation at the period’s end', () => {
  test('that is repeated every 59 minutes ends access with the period', async () => {
    await bought();
    const last = Date.parse(january.end);
    let time = Date.parse('2026-01-31T00:00:00Z');
    for (; time <= last; time += 59 * 60_000) {
      await at(new Date(time).toISOString());
      expect(await cancel()).toMatchObject({ outcome: 'cancelled' });
      await sweep();
      expect(await readTier(database, user.id)).toBe('basic');
    }
    await at(new Date(time).toISOString());
    await sweep();
    expect(await readTier(database, user.id)).toBe('free');
    expect(await cancel()).toMatchObject({ outcome: 'subscription_not_found' });
  });

  test('that is repeated writes nothing, nor does a repeated resumption', async () => {
    await bought();
    await cancel();
    const cancelled = await readAllRows(database);
    await at('2026-01-10T00:00:00Z');
    await cancel();
    expect(await readAllRows(database)).toEqual(cancelled);

    await resume();
    const resumed = await readAllRows(database);
    await at('2026-01-11T00:00:00Z');
    await resume();
    expect(await readAllRows(database)).toEqual(resumed);
  });

  test('and its resumption move no period end, however often they alternate', async () => {
    await bought();
    const before = withoutRevision(await subscription());
    for (let number = 2; number < 10; number += 1) {
      await at(`2026-01-0${number}T00:00:00Z`);
      await cancel();
      await resume();
    }
    expect(withoutRevision(await subscription())).toEqual(before);
  });

  test('is due at the gateway 48 hours before the end', async () => {
    user = await createUser(database);
    const id = await bill(january);
    await cancel();
    expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'pending' });
    expect(await cancellationTime(id)).toEqual(new Date('2026-01-30T00:00:00Z'));
  });

  test('stays due 48 hours before the end when a purchase replaces the subscription and is refunded', async () => {
    user = await createUser(database);
    const id = await bill(january);
    await cancel();
    await at('2026-01-20T00:00:00Z');
    const order = await placeOrder(database, { user, tier: 'premium' });
    await verifyPurchase(service, order);
    expect(await cancellationTime(id)).toEqual(new Date('2026-01-30T00:00:00Z'));
    await at('2026-01-21T00:00:00Z');
    await deliver(service, refundEvent(paymentOf(order), 99900));
    expect(await subscription()).toMatchObject({ gateway_subscription_id: id, cancel_at_period_end: true });
    expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'pending' });
    expect(await cancellationTime(id)).toEqual(new Date('2026-01-30T00:00:00Z'));
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ['that is activated after the end', async (id) => {
      await at(january.end);
      await event('cancelled', id, january.end);
      await bill(february);
    }],
    ['that is activated before the end', async () => {
      await bill({ start: '2026-01-20T00:00:00Z', end: '2026-02-20T00:00:00Z' });
    }],
  ])('of one gateway subscription does not apply to another %s', async (_, follows) => {
    user = await createUser(database);
    const first = await bill(january);
    await cancel();
    expect(await subscription()).toMatchObject({ cancel_at_period_end: true });
    await follows(first);
    const row = await subscription();
    expect(row).toMatchObject({ status: 'active', tier: 'pro', cancel_at_period_end: false, ended_reason: null });
    expect(row.gateway_subscription_id).not.toBe(first);
  });

  test('of a gateway subscription does not apply to a purchase', async () => {
    user = await createUser(database);
    await bill(january);
    await cancel();
    await at('2026-01-20T00:00:00Z');
    await verifyPurchase(service, await placeOrder(database, { user, tier: 'basic' }));
    expect(await subscription()).toMatchObject({ tier: 'basic', cancel_at_period_end: false });
  });
});

describe('a cancellation at once', () => {
  test('ends every source, and is final at the gateway', async () => {
    user = await createUser(database);
    await at('2025-12-01T00:00:00Z');
    await verifyPurchase(service, await placeOrder(database, { user, tier: 'premium' }));
    const id = await bill(january);
    await at('2026-01-10T00:00:00Z');
    await grantTier(database, user.id, 'premium', '2027-01-01Z', 'a gift');
    expect(await readTier(database, user.id)).toBe('premium');

    await cancel(false);
    expect(await subscription()).toMatchObject({ status: 'cancelled', ended_reason: 'cancelled' });
    expect(await readTier(database, user.id)).toBe('free');
    expect(await readCancellation(database, id)).toEqual({ at: 'once', state: 'pending' });
    const ended = await subscription();
    await event('cancelled', id, '2026-01-10T00:00:05Z');
    await sweep();
    expect(await subscription()).toEqual(ended);
    expect(await readTier(database, user.id)).toBe('free');
    expect(await readAccessFindings(database)).toEqual([]);
  });

  test('also ends a gateway subscription whose earlier activation arrives afterwards', async () => {
    await bought();
    await at('2026-01-10T00:00:00Z');
    await cancel(false);
    await at('2026-01-10T00:00:05Z');
    await event('activated', uniqueId('sub'), '2026-01-09T00:00:00Z', january);
    expect(await readTier(database, user.id)).toBe('free');
  });
});
