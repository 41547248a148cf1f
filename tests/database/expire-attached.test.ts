import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readAccessFindings } from '../helpers/database/findings.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { seconds, subscriptionEvent } from '../helpers/gateway/events.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers } from '../helpers/records/records.ts';

// Attached gateway subscriptions: no plan has their gateway_plan_id. Contract: Gateway subscriptions.

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

const cycle = { start: '2026-01-02T00:00:00Z', end: '2026-02-02T00:00:00Z' };

/** Creates a user with basic for January, and attaches a gateway subscription from 2 January to 2 February. */
async function attached(id: string | null): Promise<void> {
  user = await createUser(database);
  await setClock(database, '2026-01-01T00:00:00Z');
  await verifyPurchase(service, await placeOrder(database, { user, tier: 'basic' }));
  await setClock(database, cycle.start);
  await deliver(service, subscriptionEvent({ name: 'activated', userId: user.id, id, ...cycle }));
  expect(await readSubscription(database, user.id)).toMatchObject({
    gateway_subscription_id: id,
    end: '2026-02-02T00:00:00.000Z',
  });
}

/** Applies an answer of the gateway by which it bills no further cycle. */
async function reconcile(at: string): Promise<void> {
  await setClock(database, at);
  const { id } = await database.one('select id from public.subscriptions where user_id = $1', [user.id]);
  const answer = { status: 'completed', current_start: seconds(cycle.start), current_end: seconds(cycle.end) };
  await callRpc(service, 'apply_gateway_subscription', id, 'sub_A', JSON.stringify(answer));
}

async function expire(at: string): Promise<unknown> {
  await setClock(database, at);
  await database.query('select billing.expire_subscriptions()');
  return await readTier(database, user.id);
}

test('an attached gateway subscription ends after the grace days, after its reconciliation', async () => {
  await attached('sub_A');
  expect(await expire('2026-02-05T00:00:00.001Z')).toBe('basic');
  await reconcile('2026-02-05T00:00:01Z');
  expect(await expire('2026-02-05T00:00:02Z')).toBe('free');
  expect(await readSubscription(database, user.id)).toMatchObject({ status: 'cancelled' });
});

test('an attached subscription that the user cancelled for the end of its cycle has no grace days', async () => {
  await attached('sub_A');
  await callRpc(service, 'cancel_subscription', user.id, true);
  await reconcile('2026-02-02T00:00:01Z');
  expect(await expire('2026-02-02T00:00:02Z')).toBe('free');
  expect(await readAccessFindings(database)).toEqual([]);
});

test('an attached subscription whose events have no id cannot be reconciled and ends after the grace days', async () => {
  await attached(null);
  expect(await expire('2026-02-05T00:00:00Z')).toBe('basic');
  expect(await expire('2026-02-05T00:00:00.001Z')).toBe('free');
  expect(await readAccessFindings(database)).toEqual([]);
});

test('with a charged cycle that is shorter than the purchase, access ends with the purchase, and the mail shows that day', async () => {
  user = await createUser(database);
  await setClock(database, '2026-01-01T00:00:00Z');
  await verifyPurchase(service, await placeOrder(database, { user, tier: 'basic' }));
  await setClock(database, '2026-01-02T00:00:00Z');
  const short = { start: '2026-01-02T00:00:00Z', end: '2026-01-20T00:00:00Z' };
  await deliver(service, subscriptionEvent({ name: 'charged', userId: user.id, ...short }));
  expect(await expire('2026-01-24T00:00:00Z')).toBe('basic');
  expect(await expire('2026-02-04T00:00:00.001Z')).toBe('free');
  const rows = await database.query(
    "select payload ->> 'ends_at' as ends_at from billing.outbox where kind = 'subscription-ended'",
  );
  expect(rows).toEqual([{ ends_at: '2026-02-01T00:00:00.000Z' }]);
});

test.each(['plan_basic', 'plan_unknown'])(
  'an attached subscription of %s before its first cycle ends with the purchase: no further period is paid',
  async (planId) => {
    user = await createUser(database);
    await database.query("update public.plans set gateway_plan_id = 'plan_basic' where tier = 'basic'");
    await setClock(database, '2026-01-01T00:00:00Z');
    await verifyPurchase(service, await placeOrder(database, { user, tier: 'basic' }));
    await setClock(database, '2026-01-02T00:00:00Z');
    await deliver(service, subscriptionEvent({ name: 'activated', userId: user.id, id: 'sub_A', planId }));
    expect(await readSubscription(database, user.id)).toMatchObject({
      gateway_subscription_id: 'sub_A',
      status: 'active',
      end: '2026-02-01T00:00:00.000Z',
    });
    expect(await expire('2026-02-04T00:00:00Z')).toBe('basic');
    expect(await expire('2026-02-04T00:00:00.001Z')).toBe('free');
    expect(await readAccessFindings(database)).toEqual([]);
  },
);
