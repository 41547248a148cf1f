import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, readPurchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readAllRows, readPayment } from '../helpers/records/read-records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

const verifyReturned = ({ orderId, paymentId }: Purchase) =>
  callRpc(service, 'verify_returned_payment', orderId, paymentId, 'signature');

test('a returned payment leaves what a verified one leaves', async () => {
  const [returned, verified] = [await placeOrder(database), await placeOrder(database)];
  expect(await verifyReturned(returned)).toMatchObject({ outcome: 'applied', tier: 'pro' });
  await verifyPurchase(service, verified);
  const state = async (order: Purchase) => ({
    ...await readPurchase(database, order),
    paymentId: null,
    mails: [],
  });
  expect(await state(returned)).toEqual(await state(verified));
  expect(await readPayment(database, returned.id)).toMatchObject({
    user_id: returned.user.id,
    gateway_signature: 'signature',
    verified_at: expect.any(Date),
  });
});

test('a payment that is returned again, verified and announced is applied once', async () => {
  const order = await placeOrder(database);
  const { valid_until } = await verifyReturned(order);
  const before = await readPurchase(database, order);
  expect(await verifyReturned(order)).toEqual({ outcome: 'already_applied', tier: 'pro', valid_until });
  expect(await verifyPurchase(service, order)).toEqual({ outcome: 'already_applied', tier: 'pro', valid_until });
  expect(await deliver(service, paymentCaptured(paymentOf(order)))).toBe('applied');
  expect(await readPurchase(database, order)).toEqual(before);
});

test('a payment that a webhook announced first keeps its period when it is returned', async () => {
  const order = await placeOrder(database);
  await deliver(service, paymentCaptured(paymentOf(order)));
  const { period_end } = await readPayment(database, order.id);
  expect(await verifyReturned(order)).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
  expect(await readPayment(database, order.id)).toMatchObject({ period_end, verified_at: expect.any(Date) });
});

test('a returned payment that was refunded in full is refused', async () => {
  const order = await placeOrder(database);
  await deliver(service, paymentCaptured(paymentOf(order)));
  await deliver(service, refundEvent({ id: order.paymentId }, 99900));
  expect(await verifyReturned(order)).toEqual({ outcome: 'refunded' });
});

test('a returned payment of an unknown order, or of a deleted user, writes nothing', async () => {
  const order = await placeOrder(database);
  await database.query('delete from auth.users where id = $1', [order.user.id]);
  const before = await readAllRows(database);
  expect(await verifyReturned(order)).toEqual({ outcome: 'payment_not_found' });
  expect(await verifyReturned({ ...order, orderId: 'unknown' })).toEqual({ outcome: 'payment_not_found' });
  expect(await readAllRows(database)).toEqual(before);
});
