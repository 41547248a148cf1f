import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliver } from '../helpers/gateway-events.ts';
import { captured, dispute } from '../helpers/money-events.ts';
import { placeOrder, readPurchase, verifyPurchase } from '../helpers/purchases.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records.ts';
import { openSession } from '../helpers/session.ts';
import { readPayment, readTier } from '../helpers/state.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // A dispute about the second payment on an order.
  database = await createTestDatabase({ findings: { paid_twice: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

async function bought() {
  const order = await placeOrder(database);
  await verifyPurchase(service, order);
  const tell = (name: string, status: unknown) =>
    deliver(service, dispute(name, status, { id: order.paymentId, order_id: order.orderId }));
  return { order, tell };
}

test.each(['won', 'lost', 'closed'])(
  'a dispute that ends %s is noted, changes no access, and stays decided',
  async (end) => {
    const { order, tell } = await bought();
    const before = await readPurchase(database, order);
    expect(await tell('created', 'open')).toBe('applied');
    expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: 'open' });
    expect(await tell('under_review', 'under_review')).toBe('applied');
    expect(await tell('under_review', 'under_review')).toBe('stale');
    expect(await tell(end, end)).toBe('applied');
    for (const late of ['open', 'under_review', 'won', 'lost', 'closed']) {
      expect(await tell('late', late)).toBe(
        'stale',
      );
    }
    expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: end });
    expect(await readPurchase(database, order)).toEqual(before);
  },
);

test.each([[undefined], [null], [7], [{}]])('a dispute with the status %j is ignored', async (status) => {
  const { order, tell } = await bought();
  expect(await tell('created', status)).toBe('ignored: dispute.entity.status');
  expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: null });
});

test('a dispute without its payment entity finds the payment by the id that it names', async () => {
  const { order } = await bought();
  const body = JSON.stringify({
    event: 'payment.dispute.created',
    payload: { dispute: { entity: { payment_id: order.paymentId, status: 'open' } } },
  });
  expect(await deliver(service, body)).toBe('applied');
  expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: 'open' });
});

test('a dispute without an entity is ignored', async () => {
  expect(await deliver(service, JSON.stringify({ event: 'payment.dispute.won', payload: {} }))).toBe(
    'ignored: dispute.entity',
  );
});

test('a dispute about another payment on the order is not one about the payment that counts', async () => {
  const { order } = await bought();
  const extra = { id: uniqueId('pay'), order_id: order.orderId };
  await deliver(service, captured(extra));
  expect(await deliver(service, dispute('created', 'open', extra))).toBe('mismatch');
  expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: null });
});

test('a dispute of an order that is not known yet is noted when it is', async () => {
  const user = await createUser(database);
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  expect(await deliver(service, captured(money))).toBe('unmatched');
  expect(await deliver(service, dispute('created', 'open', money))).toBe('unmatched');
  const { id } = await createPayment(database, { userId: user.id, orderId: money.order_id });
  expect(await readPayment(database, id)).toMatchObject({ status: 'captured', dispute_status: 'open' });
  expect(await readTier(database, user.id)).toBe('pro');
});
