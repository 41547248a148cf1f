import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { disputeEvent, gatewayEvent, paymentCaptured } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, readPurchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';
import { endAccess } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One dispute is about the second payment on an order, and one is lost while its payment still gives access.
  database = await createTestDatabase({ findings: { paid_twice: 1, dispute_lost: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

async function bought() {
  const order = await placeOrder(database);
  await verifyPurchase(service, order);
  const deliverDispute = (name: string, status: unknown) =>
    deliver(service, disputeEvent(name, status, paymentOf(order)));
  return { order, deliverDispute };
}

test.each(['won', 'lost', 'closed'])(
  'a dispute that ends %s is recorded, changes no access, and stays decided',
  async (end) => {
    const { order, deliverDispute } = await bought();
    const before = await readPurchase(database, order);
    expect(await deliverDispute('created', 'open')).toBe('applied');
    expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: 'open' });
    expect(await deliverDispute('under_review', 'under_review')).toBe('applied');
    expect(await deliverDispute('under_review', 'under_review')).toBe('stale');
    expect(await deliverDispute(end, end)).toBe('applied');
    for (const late of ['open', 'under_review', 'won', 'lost', 'closed']) {
      expect(await deliverDispute('late', late)).toBe(
        'stale',
      );
    }
    expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: end });
    expect(await readPurchase(database, order)).toEqual(before);
  },
);

test.each([[undefined], [null], [7], [{}]])('a dispute with the status %j is ignored', async (status) => {
  const { order, deliverDispute } = await bought();
  expect(await deliverDispute('created', status)).toBe('ignored: dispute.entity.status');
  expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: null });
});

test('a dispute without a payment entity finds the payment by its payment_id', async () => {
  const { order } = await bought();
  const body = gatewayEvent('payment.dispute.created', { dispute: { payment_id: order.paymentId } });
  expect(await deliver(service, body)).toBe('applied');
  expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: 'open' });
});

test('a dispute without an entity is ignored', async () => {
  expect(await deliver(service, gatewayEvent('payment.dispute.won', {}))).toBe('ignored: dispute.entity');
});

test('a dispute about an extra payment on the order does not change the payment that counts', async () => {
  const { order } = await bought();
  await deliver(service, paymentCaptured(paymentOf(order)));
  const extra = { id: uniqueId('pay'), order_id: order.orderId };
  await deliver(service, paymentCaptured(extra));
  expect(await deliver(service, disputeEvent('created', 'open', extra))).toBe('applied');
  expect(await deliver(service, disputeEvent('created', 'open', { ...extra, id: uniqueId('pay') }))).toBe('mismatch');
  expect(await readPayment(database, order.id)).toMatchObject({ dispute_status: null });
});

test('a lost dispute is a finding until an admin ends the payment’s access', async () => {
  const { order, deliverDispute } = await bought();
  const findings = () =>
    database.query('select finding, subject from billing.findings where user_id = $1 order by 1', [order.user.id]);
  await deliverDispute('created', 'open');
  expect(await findings()).toEqual([]);
  await deliverDispute('lost', 'lost');
  expect(await findings()).toEqual([{ finding: 'dispute_lost', subject: order.id }]);
  expect(await readTier(database, order.user.id)).toBe('pro');

  await endAccess(database, order.id);
  await expect(endAccess(database, order.id)).rejects.toMatchObject({ code: 'PS409' });
  expect(await findings()).toEqual([]);
  expect(await readTier(database, order.user.id)).toBe('free');
  expect(await readPayment(database, order.id)).toMatchObject({ ended_reason: 'dispute_lost', dispute_status: 'lost' });
  expect(
    await database.one('select status, ended_reason from public.subscriptions where user_id = $1', [order.user.id]),
  ).toEqual({ status: 'cancelled', ended_reason: 'dispute_lost' });
  expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'already_applied' });
  expect(await readTier(database, order.user.id)).toBe('free');
});

test('the end of an access by an admin lets another source rule', async () => {
  const { order } = await bought();
  const premium = await placeOrder(database, { user: order.user, tier: 'premium' });
  await verifyPurchase(service, premium);
  await endAccess(database, premium.id);
  expect(await readPurchase(database, order)).toMatchObject({
    subscription: { tier: 'pro', status: 'active' },
    tier: 'pro',
  });
});

test('a dispute of an unknown order is recorded when the order is stored', async () => {
  const user = await createUser(database);
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  expect(await deliver(service, paymentCaptured(money))).toBe('unmatched');
  expect(await deliver(service, disputeEvent('created', 'open', money))).toBe('unmatched');
  const { id } = await createPayment(database, { userId: user.id, orderId: money.order_id });
  expect(await readPayment(database, id)).toMatchObject({ status: 'captured', dispute_status: 'open' });
  expect(await readTier(database, user.id)).toBe('pro');
});
