import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readOutbox, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers } from '../helpers/records/records.ts';

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

async function event(name: SubscriptionEvent['name'], time: string, fields: Partial<SubscriptionEvent> = {}) {
  await setClock(database, time);
  await deliver(service, subscriptionEvent({ name, userId: user.id, planId: 'plan_pro', createdAt: time, ...fields }));
}
async function buy(tier: string, time: string): Promise<Purchase> {
  await setClock(database, time);
  const order = await placeOrder(database, { user, tier });
  await verifyPurchase(service, order);
  return order;
}
const refund = (order: Purchase) => deliver(service, refundEvent(paymentOf(order), 99900));
const sweep = () => database.query('select billing.sweep()');

/** The ends that the mails subscription-ended show. */
async function ends(): Promise<unknown[]> {
  const mails = await readOutbox(database, 'notice', user.email);
  return mails.filter(({ kind }) => kind === 'subscription-ended').map(({ payload }) => Object(payload).ends_at);
}

describe('the mail subscription-ended is enqueued once', () => {
  test.each([['plan_pro'], [undefined]])('when the gateway cancels (plan %s)', async (planId) => {
    user = await createUser(database);
    if (planId === undefined) await buy('pro', '2025-12-31T00:00:00Z');
    await event('activated', january.start, { planId, ...january });
    expect(await ends()).toEqual([]);
    await event('cancelled', '2026-01-10T00:00:00Z', { planId });
    expect(await readTier(database, user.id)).toBe('free');
    expect(await ends()).toEqual(['2026-01-10T00:00:00.000Z']);

    await event('cancelled', '2026-01-11T00:00:00Z', { planId });
    await setClock(database, '2026-03-01T00:00:00Z');
    await sweep();
    expect(await ends()).toEqual(['2026-01-10T00:00:00.000Z']);
  });

  test('when the payment is refunded in full', async () => {
    user = await createUser(database);
    const order = await buy('pro', january.start);
    await setClock(database, '2026-01-10T00:00:00Z');
    await refund(order);
    expect(await ends()).toEqual(['2026-01-10T00:00:00.000Z']);
  });

  test('when the user cancels at once', async () => {
    user = await createUser(database);
    await buy('pro', january.start);
    await setClock(database, '2026-01-10T00:00:00Z');
    await callRpc(service, 'cancel_subscription', user.id, false);
    await event('cancelled', '2026-01-10T00:00:05Z');
    expect(await ends()).toEqual(['2026-01-10T00:00:00.000Z']);
  });

  test('when the period lapses, with the end of the period', async () => {
    user = await createUser(database);
    await buy('basic', january.start);
    await setClock(database, '2026-02-04T00:00:00.001Z');
    await sweep();
    expect(await ends()).toEqual(['2026-02-01T00:00:00.000Z']);
  });

  test('for each end of access', async () => {
    user = await createUser(database);
    await event('activated', january.start, january);
    await event('cancelled', '2026-01-10T00:00:00Z');
    await event('activated', '2026-01-11T00:00:00Z', january);
    expect(await readTier(database, user.id)).toBe('pro');
    await event('cancelled', '2026-01-12T00:00:00Z');
    expect(await ends()).toEqual(['2026-01-10T00:00:00.000Z', '2026-01-12T00:00:00.000Z']);
  });
});

describe('the mail subscription-ended is not enqueued', () => {
  test('when another source takes over: after a cancellation, a refund and a lapse', async () => {
    user = await createUser(database);
    await buy('premium', '2025-12-01T00:00:00Z');
    await event('activated', january.start, january);
    await event('cancelled', '2026-01-10T00:00:00Z');
    expect(await readTier(database, user.id)).toBe('premium');
    await refund(await buy('pro', '2026-01-11T00:00:00Z'));
    expect(await readTier(database, user.id)).toBe('premium');
    await buy('basic', '2026-01-12T00:00:00Z');
    await setClock(database, '2026-02-15T00:00:00.001Z');
    await sweep();
    expect(await readTier(database, user.id)).toBe('premium');
    expect(await ends()).toEqual([]);
  });

  test('when the gateway cancels for a user without a subscription', async () => {
    user = await createUser(database);
    await event('cancelled', '2026-01-10T00:00:00Z', { planId: undefined });
    expect(await ends()).toEqual([]);
  });
});
