import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import {
  changeEnvelope,
  type Fields,
  gatewayEvent,
  paymentCaptured,
  refundEvent,
  type RefundFields,
} from '../helpers/gateway/events.ts';
import { permutations } from '../helpers/orderings/permutations.ts';
import {
  mailsTo,
  paymentOf,
  placeOrder,
  type Purchase,
  readPurchase,
  verifyPurchase,
} from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(() => setClock(database, null));
afterAll(() => database.close());

/** A verified purchase of pro. */
async function purchase(user?: Purchase['user']): Promise<Purchase> {
  const order = await placeOrder(database, user ? { user } : {});
  await verifyPurchase(service, order);
  return order;
}

/** Returns a function that delivers an event of one refund with a status. */
function refundOf({ paymentId, orderId }: Purchase, amount = 99900) {
  const id = uniqueId('rfnd');
  return (status: NonNullable<RefundFields['status']>) =>
    deliver(service, refundEvent({ id: paymentId, order_id: orderId }, amount, { id, status }));
}

const refundedAmount = async ({ id }: Purchase) => (await readPayment(database, id)).refunded_amount;
const active = { tier: 'pro', subscription: { tier: 'pro', status: 'active' } };
const ended = { tier: 'free', subscription: { tier: 'pro', status: 'cancelled' } };

describe('a full refund', () => {
  test('that is pending changes no access', async () => {
    const order = await purchase();
    const before = await readPurchase(database, order);
    const send = refundOf(order);
    expect(await send('pending')).toBe('applied');
    expect(await send('pending')).toBe('already');
    expect(await readPurchase(database, order)).toEqual(before);
    expect(await refundedAmount(order)).toBe('0');
    expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
  });

  test('that is pending does not keep a capture from being fulfilled', async () => {
    const order = await placeOrder(database);
    await refundOf(order)('pending');
    await deliver(service, paymentCaptured({ ...paymentOf(order), amount_refunded: 99900 }));
    expect(await readPurchase(database, order)).toMatchObject(active);
  });

  test('that is pending does not keep a verification from granting the tier', async () => {
    const order = await placeOrder(database);
    await refundOf(order)('pending');
    expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'applied', tier: 'pro' });
    expect(await readPurchase(database, order)).toMatchObject({ isFulfilled: true, ...active });
    expect(await refundedAmount(order)).toBe('0');
  });

  test('with one rupee processed and the rest pending does not end access', async () => {
    const order = await purchase();
    expect(await refundOf(order, 100)('processed')).toBe('applied');
    const rest = refundOf(order, 99800);
    expect(await rest('pending')).toBe('applied');
    expect(await readPurchase(database, order)).toMatchObject(active);
    expect(await refundedAmount(order)).toBe('100');
    expect(await rest('processed')).toBe('applied');
    expect(await readPurchase(database, order)).toMatchObject(ended);
    expect(await refundedAmount(order)).toBe('99900');
  });

  test('that fails after it was processed restores access, with the same period', async () => {
    const order = await purchase();
    const before = await readSubscription(database, order.user.id);
    const send = refundOf(order);
    await send('processed');
    expect(await readPurchase(database, order)).toMatchObject(ended);
    expect(await send('failed')).toBe('applied');
    expect(await readSubscription(database, order.user.id)).toEqual(before);
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await readPayment(database, order.id)).toMatchObject({
      refunded_amount: '0',
      ended_at: null,
      ended_reason: null,
    });
    expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
    expect(await mailsTo(database, order.user)).toEqual([
      `payment-success/${order.id}`,
      expect.stringMatching(/^subscription-ended\//),
    ]);
  });

  test('that fails after it was processed does not change that a later purchase rules', async () => {
    const first = await purchase();
    const send = refundOf(first);
    await send('processed');
    const second = await placeOrder(database, { user: first.user, tier: 'premium' });
    await verifyPurchase(service, second);
    await send('failed');
    expect(await readSubscription(database, first.user.id)).toMatchObject({ tier: 'premium', status: 'active' });
    expect(await refundOf(second)('processed')).toBe('applied');
    expect(await readPurchase(database, first)).toMatchObject(active);
  });

  test('that fails after the capture arrived fulfils the capture', async () => {
    const order = await placeOrder(database);
    const send = refundOf(order);
    await send('processed');
    await deliver(service, paymentCaptured(paymentOf(order)));
    expect(await readPurchase(database, order)).toMatchObject({ isFulfilled: false, tier: 'free' });
    expect(await send('failed')).toBe('applied');
    expect(await readPurchase(database, order)).toMatchObject({ isFulfilled: true, ...active });
  });

  test.each(
    [
      [['pending', 'processed'], ended],
      [['pending', 'failed'], active],
      [['processed', 'failed'], active],
      [['pending', 'processed', 'failed'], active],
    ] as const,
  )('gives the same result in every order of its events %j', async (statuses, end) => {
    for (const order of permutations([...statuses])) {
      const bought = await purchase();
      const send = refundOf(bought);
      for (const status of order) await send(status);
      for (const status of order) expect(await send(status), order.join()).toBe('already');
      expect(await readPurchase(database, bought), order.join()).toMatchObject(end);
    }
  });
});

describe('an event of a refund', () => {
  const event = (name: string, refund: Fields, { paymentId, orderId }: Purchase) =>
    deliver(service, gatewayEvent(`refund.${name}`, { refund, payment: { id: paymentId, order_id: orderId } }));

  test('without a status takes the status from its name', async () => {
    const order = await purchase();
    const refund = { id: uniqueId('rfnd'), payment_id: order.paymentId, status: undefined };
    await event('created', refund, order);
    expect(await readTier(database, order.user.id)).toBe('pro');
    await event('processed', refund, order);
    expect(await readTier(database, order.user.id)).toBe('free');
    await event('failed', refund, order);
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('without a payment id takes the payment of the event', async () => {
    const order = await purchase();
    expect(await event('processed', { payment_id: undefined }, order)).toBe('applied');
    expect(await readTier(database, order.user.id)).toBe('free');
  });

  test.each([
    ['without an id', { id: undefined }],
    ['with an unknown status', { status: 'reversed' }],
    ['without an amount', { amount: undefined }],
  ])('%s is ignored', async (_, fields) => {
    const order = await purchase();
    expect(await event('processed', { payment_id: order.paymentId, ...fields }, order)).toBe('ignored: refund.entity');
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test.each([['no refund', undefined], ['text', 'rfnd_1']])('with %s as its entity is ignored', async (_, entity) => {
    const body = changeEnvelope(gatewayEvent('refund.processed', {}), { payload: { refund: { entity } } });
    expect(await deliver(service, body)).toBe('ignored: refund.entity');
  });
});

describe('verify after a full refund', () => {
  test('returns refunded and grants nothing, until the refund fails', async () => {
    const order = await purchase();
    const send = refundOf(order);
    await send('processed');
    for (let time = 0; time < 2; time++) {
      expect(await verifyPurchase(service, order)).toEqual({ outcome: 'refunded' });
      expect(await readPurchase(database, order)).toMatchObject(ended);
    }
    await send('failed');
    expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
    expect(await readPurchase(database, order)).toMatchObject(active);
  });

  test('in parts returns refunded, and after a partial refund already_applied', async () => {
    const order = await purchase();
    await refundOf(order, 50000)('processed');
    expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'already_applied' });
    await refundOf(order, 49900)('processed');
    expect(await verifyPurchase(service, order)).toEqual({ outcome: 'refunded' });
  });

  test('does not change the source that rules now', async () => {
    const first = await purchase();
    await refundOf(first)('processed');
    const second = await placeOrder(database, { user: first.user, tier: 'premium' });
    await verifyPurchase(service, second);
    const before = await readPurchase(database, second);
    expect(await verifyPurchase(service, first)).toEqual({ outcome: 'refunded' });
    expect(await readPurchase(database, second)).toEqual(before);
  });
});
