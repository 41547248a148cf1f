import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callRpc, openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readOutbox, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
});
afterAll(() => database.close());

/** A customer with an order, a session that deletes the customer, and a session of the service. */
async function setUp() {
  const user = await createUser(database);
  const payment = await createPayment(database, { userId: user.id });
  const service = await openSession(database, { role: 'service_role' });
  const admin = await database.connect();
  const remove = () => admin.query('delete from auth.users where id = $1', [user.id]);
  return { user, payment, paymentId: uniqueId('pay'), service, admin, remove };
}

/** The second call starts while the first one's transaction is open, and ends after its commit. */
async function overlap<T>(first: pg.Client, one: () => Promise<unknown>, second: pg.Client, other: () => Promise<T>) {
  await first.query('begin');
  await one();
  const result = other();
  await waitUntilBlocked(database, second);
  await first.query('commit');
  return await result;
}

describe('a user is deleted during a verify', () => {
  test('verify first: the payment stays fulfilled, without its user', async () => {
    const { user, payment, paymentId, service, admin, remove } = await setUp();
    const verify = () => callRpc(service, 'verify_payment', user.id, payment.orderId, paymentId, 'signature');
    await overlap(service, verify, admin, remove);
    expect(await readPayment(database, payment.id)).toMatchObject({
      user_id: null,
      subscription_id: null,
      status: 'captured',
      gateway_payment_id: paymentId,
    });
    expect(await readSubscription(database, user.id)).toBeNull();
    expect(await readTier(database, user.id)).toBeUndefined();
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
  });

  test('deletion first: the verify finds no payment and writes nothing', async () => {
    const { user, payment, paymentId, service, admin, remove } = await setUp();
    const verify = () => callRpc(service, 'verify_payment', user.id, payment.orderId, paymentId, 'signature');
    expect(await overlap(admin, remove, service, verify)).toEqual({ outcome: 'payment_not_found' });
    expect(await readPayment(database, payment.id)).toMatchObject({ user_id: null, status: 'created' });
    expect(await readSubscription(database, user.id)).toBeNull();
    expect(await readTier(database, user.id)).toBeUndefined();
    expect(await readOutbox(database, 'email', user.email)).toEqual([]);
  });
});

describe('a user is deleted during a failed payment', () => {
  const failed = (orderId: string, paymentId: string) => paymentFailed({ id: paymentId, order_id: orderId });

  test('payment.failed first: one mail is enqueued', async () => {
    const { user, payment, paymentId, service, admin, remove } = await setUp();
    await overlap(service, () => deliver(service, failed(payment.orderId, paymentId)), admin, remove);
    expect(await readPayment(database, payment.id)).toMatchObject({ user_id: null, status: 'failed' });
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
  });

  test('deletion first: the payment becomes failed and no mail is enqueued', async () => {
    const { user, payment, paymentId, service, admin, remove } = await setUp();
    const outcome = await overlap(
      admin,
      remove,
      service,
      () => deliver(service, failed(payment.orderId, paymentId)),
    );
    expect(outcome).toBe('applied');
    expect(await readPayment(database, payment.id)).toMatchObject({ user_id: null, status: 'failed' });
    expect(await readOutbox(database, 'email', user.email)).toEqual([]);
  });
});

describe('a user is deleted while the gateway activates a subscription', () => {
  const activated = (userId: string, id: string) =>
    subscriptionEvent({
      name: 'activated',
      userId,
      id,
      planId: 'plan_pro',
      start: '2126-01-01T00:00:00Z',
      end: '2126-02-01T00:00:00Z',
    });

  test('activation first: a cancellation at the gateway is enqueued', async () => {
    const { user, service, admin, remove } = await setUp();
    const id = uniqueId('sub');
    await overlap(service, () => deliver(service, activated(user.id, id)), admin, remove);
    expect(await readOutbox(database, 'gateway', id)).toHaveLength(1);
    expect(await readSubscription(database, user.id)).toBeNull();
  });

  test('deletion first: no subscription is created, and a cancellation at the gateway is enqueued', async () => {
    const { user, service, admin, remove } = await setUp();
    const id = uniqueId('sub');
    expect(await overlap(admin, remove, service, () => deliver(service, activated(user.id, id)))).toBe('applied');
    expect(await readOutbox(database, 'gateway', id)).toHaveLength(1);
    expect(await readSubscription(database, user.id)).toBeNull();
    expect(await readTier(database, user.id)).toBeUndefined();
  });
});
