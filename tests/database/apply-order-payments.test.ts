import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { alertsAbout, applyOrderPayments, listed, orderedAt } from '../helpers/gateway/reconciliation.ts';
import {
  extraPayments,
  mailsTo,
  paymentOf,
  placeOrder,
  type Purchase,
  readPurchase,
  verifyPurchase,
} from '../helpers/records/purchases.ts';
import { readPayment, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One test captures two payments on one order.
  database = await createTestDatabase({ findings: { paid_twice: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('update public.payments set next_reconcile_at = null');
});
afterAll(() => database.close());

const ordered = () => orderedAt(database, '2026-01-01T00:00:00Z');
const apply = (order: Purchase, answer: unknown[] | null) => applyOrderPayments(service, order, answer);
const dueAt = async ({ id }: Purchase) => (await readPayment(database, id)).next_reconcile_at;
const alerts = ({ orderId }: Purchase) => alertsAbout(database, orderId);
const refund = (amount: number, status: string) => ({ id: uniqueId('rfnd'), entity: 'refund', amount, status });
const verified = async () => {
  const order = await ordered();
  await verifyPurchase(service, order);
  return order;
};

describe('an answer of the gateway is applied like a webhook', () => {
  test.each(['created', 'failed'])(
    'a capture fulfils a payment that is %s, enqueues the mail, and raises an alert',
    async (status) => {
      const order = await ordered();
      if (status === 'failed') {
        await deliver(service, paymentFailed({ id: uniqueId('pay'), order_id: order.orderId }));
      }
      await setClock(database, '2026-01-01T00:15:00Z');
      expect(await apply(order, listed(order, { status: 'captured' }))).toEqual({ applied: 1, ended: false });
      expect(await readPurchase(database, order)).toMatchObject({
        status: 'captured',
        isFulfilled: true,
        tier: 'pro',
        mails: expect.arrayContaining([`payment-success/${order.id}`]),
      });
      expect(await alerts(order)).toEqual(['missed_webhook']);
      expect(await dueAt(order)).toBeNull();
    },
  );

  test('the ledger stores it under reconcile:<payment id>:<status>, with no delivery', async () => {
    const order = await ordered();
    await apply(order, listed(order, { status: 'captured' }));
    expect(
      await database.one(
        `select event, event_id, deliveries, attempts, outcome from billing.gateway_events
         where body_sha256 = sha256(convert_to($1, 'UTF8'))`,
        [`reconcile:${order.paymentId}:captured`],
      ),
    ).toEqual({
      event: 'payment.captured',
      event_id: `reconcile:${order.paymentId}:captured`,
      deliveries: 0,
      attempts: 1,
      outcome: 'applied',
    });
  });

  test('the same answer again changes nothing, nor does a webhook that arrives later', async () => {
    const order = await ordered();
    const answer = listed(order, { status: 'captured' });
    await apply(order, answer);
    const before = await readPurchase(database, order);
    expect(await apply(order, answer)).toEqual({ applied: 0, ended: false });
    const money = paymentOf(order);
    expect(await deliver(service, paymentCaptured(money))).toBe('already');
    expect(await deliver(service, orderPaid(money, { id: order.orderId }))).toBe('already');
    expect(await readPurchase(database, order)).toEqual(before);
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
  });

  test('a failed attempt before a successful one does not fail the payment and enqueues no failure mail', async () => {
    const order = await ordered();
    const attempts = listed(order, { id: 'pay_A', status: 'failed' }, { status: 'captured' }, {
      id: 'pay_C',
      status: 'failed',
    });
    await apply(order, attempts);
    expect(await readPurchase(database, order)).toMatchObject({
      status: 'captured',
      paymentId: order.paymentId,
      mails: [`payment-success/${order.id}`],
    });
  });

  test('a failed attempt marks the payment, enqueues one mail, and the payment stays due for reconciliation', async () => {
    const order = await ordered();
    await setClock(database, '2026-01-01T00:15:00Z');
    const answer = listed(order, { status: 'failed', error_description: 'Declined' });
    await apply(order, answer);
    await apply(order, answer);
    expect(await readPurchase(database, order)).toMatchObject({
      status: 'failed',
      tier: 'free',
      mails: [`payment-failed/${order.paymentId}`],
    });
    expect(await dueAt(order)).toEqual(new Date('2026-01-01T01:00:00Z'));
  });

  test.each<[string, Record<string, unknown>]>([
    ['of another amount', { amount: 100 }],
    ['in another currency', { currency: 'USD' }],
  ])('a capture %s fulfils nothing', async (_, field) => {
    const order = await ordered();
    await apply(order, listed(order, { status: 'captured', ...field }));
    expect(await readPurchase(database, order)).toMatchObject({ isFulfilled: false, tier: 'free' });
  });

  test('an entity that names another order counts for the order that was read', async () => {
    const other = await ordered();
    const order = await ordered();
    await apply(order, listed(order, { status: 'captured', order_id: other.orderId }));
    expect(await readPurchase(database, order)).toMatchObject({ tier: 'pro' });
    expect(await readPurchase(database, other)).toMatchObject({ tier: 'free' });
  });

  test('a payment whose plan is missing is reconciled until it is fulfilled', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const order = await placeOrder(database, { tier: 'gold' });
    const answer = listed(order, { status: 'captured' });
    await apply(order, answer);
    expect(await readPurchase(database, order)).toMatchObject({ status: 'captured', isFulfilled: false });
    expect(await dueAt(order)).not.toBeNull();
    await database.query("insert into public.plans (tier, name, price) values ('gold', 'Gold', 99900)");
    await apply(order, answer);
    expect(await readPurchase(database, order)).toMatchObject({ isFulfilled: true, tier: 'gold' });
    expect(await dueAt(order)).toBeNull();
  });

  test('two captures on one order fulfil it once and leave one extra payment', async () => {
    const order = await ordered();
    await apply(order, listed(order, { id: 'pay_1', status: 'captured' }, { id: 'pay_2', status: 'captured' }));
    expect(await readPurchase(database, order)).toMatchObject({ paymentId: 'pay_1', tier: 'pro' });
    expect(await extraPayments(database, order)).toEqual(['pay_2']);
  });
});

describe('a verified payment', () => {
  test('is no longer due after the gateway confirms it; without a webhook the confirmation raises an alert', async () => {
    const order = await verified();
    await setClock(database, '2026-01-01T00:15:00Z');
    await apply(order, listed(order, { status: 'captured' }));
    expect(await readPayment(database, order.id)).toMatchObject({
      confirmed_at: new Date('2026-01-01T00:15:00Z'),
      fulfilled_at: new Date('2026-01-01T00:00:00Z'),
      next_reconcile_at: null,
    });
    expect(await alerts(order)).toEqual(['missed_webhook']);
  });

  test('raises no alert if a webhook arrived that could not be applied', async () => {
    const order = await verified();
    await deliver(service, orderPaid({ id: order.paymentId, amount: 1, status: 'created' }, { id: order.orderId }));
    await database.query('update public.payments set confirmed_at = null where id = $1', [order.id]);
    await apply(order, listed(order, { status: 'captured' }));
    expect(await alerts(order)).toEqual([]);
  });

  test('loses access at once after a full refund', async () => {
    const order = await verified();
    await setClock(database, '2026-01-01T00:15:00Z');
    const refunds = [refund(60000, 'processed'), refund(39900, 'processed')];
    expect(await apply(order, listed(order, { status: 'refunded', amount_refunded: 99900, refunds }))).toEqual({
      applied: 2,
      ended: false,
    });
    expect(await readPurchase(database, order)).toMatchObject({ subscription: { status: 'cancelled' }, tier: 'free' });
    expect(await dueAt(order)).toBeNull();
  });

  test.each<[string, Record<string, unknown>]>([
    ['amount_refunded, which counts pending refunds', { status: 'captured', amount_refunded: 99900 }],
    ['status, and no refund is listed', { status: 'refunded', amount_refunded: null }],
    ['refunds, one of which is pending', {
      status: 'refunded',
      refunds: [refund(99899, 'processed'), refund(1, 'pending')],
    }],
    ['refunds, one of which failed', {
      status: 'captured',
      refunds: [refund(99899, 'processed'), refund(1, 'failed')],
    }],
  ])('keeps access where the full amount is refunded only by its %s', async (_, field) => {
    const order = await verified();
    await setClock(database, '2026-01-01T00:15:00Z');
    await apply(order, listed(order, field));
    expect(await readPurchase(database, order)).toMatchObject({ subscription: { status: 'active' }, tier: 'pro' });
  });

  test('keeps access after a partial refund', async () => {
    const order = await verified();
    const refunds = [refund(100, 'processed')];
    await apply(order, listed(order, { status: 'captured', amount_refunded: 100, refunds }));
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '100', status: 'captured' });
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('gives access again if its processed refund fails', async () => {
    const order = await verified();
    const processed = refund(99900, 'processed');
    await apply(order, listed(order, { status: 'refunded', refunds: [processed] }));
    expect(await readTier(database, order.user.id)).toBe('free');
    await apply(order, listed(order, { status: 'captured', refunds: [{ ...processed, status: 'failed' }] }));
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '0', ended_at: null });
  });

  test('keeps access if another payment on the order was captured, which then counts', async () => {
    const order = await verified();
    await setClock(database, '2026-01-06T00:00:00Z');
    expect(await apply(order, listed(order, { id: 'pay_other', status: 'captured' }))).toMatchObject({ ended: false });
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await readPayment(database, order.id)).toMatchObject({ gateway_payment_id: 'pay_other' });
    expect(await extraPayments(database, order)).toEqual([order.paymentId]);
    expect(await dueAt(order)).toBeNull();
  });
});
