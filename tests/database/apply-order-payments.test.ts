import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/clock.ts';
import { deliver } from '../helpers/gateway-events.ts';
import { captured, failed, orderPaid } from '../helpers/money-events.ts';
import {
  extraPayments,
  mailsTo,
  placeOrder,
  type Purchase,
  readPurchase,
  verifyPurchase,
} from '../helpers/purchases.ts';
import { alertsAbout, applyOrderPayments, listed, orderedAt } from '../helpers/reconciliation.ts';
import { uniqueId } from '../helpers/records.ts';
import { openSession } from '../helpers/session.ts';
import { readPayment, readTier } from '../helpers/state.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ findings: { paid_twice: 2 } });
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
const verified = async () => {
  const order = await ordered();
  await verifyPurchase(service, order);
  return order;
};

describe('what the gateway answers goes the way of its webhooks', () => {
  test.each(['created', 'failed'])(
    'a capture fulfils a payment that is %s, mails, and raises an alert',
    async (status) => {
      const order = await ordered();
      if (status === 'failed') {
        await deliver(service, failed({ id: uniqueId('pay'), order_id: order.orderId }));
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

  test('the ledger holds it under reconcile:<payment id>:<status>, delivered by nobody', async () => {
    const order = await ordered();
    await apply(order, listed(order, { status: 'captured' }));
    expect(
      await database.one(
        `select event, event_id, deliveries, attempts, outcome from private.gateway_events
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

  test('the same answer again changes nothing, and neither does the webhook that comes after it', async () => {
    const order = await ordered();
    const answer = listed(order, { status: 'captured' });
    await apply(order, answer);
    const before = await readPurchase(database, order);
    expect(await apply(order, answer)).toEqual({ applied: 0, ended: false });
    const money = { id: order.paymentId, order_id: order.orderId };
    expect(await deliver(service, captured(money))).toBe('already');
    expect(await deliver(service, orderPaid(money, { id: order.orderId }))).toBe('already');
    expect(await readPurchase(database, order)).toEqual(before);
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
  });

  test('an attempt that failed before one that paid is no failure of the order: no mail says so', async () => {
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

  test('a failed attempt marks the payment, mails once, and is asked about again', async () => {
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

  test('an entity that names another order counts for the order that was asked about', async () => {
    const other = await ordered();
    const order = await ordered();
    await apply(order, listed(order, { status: 'captured', order_id: other.orderId }));
    expect(await readPurchase(database, order)).toMatchObject({ tier: 'pro' });
    expect(await readPurchase(database, other)).toMatchObject({ tier: 'free' });
  });

  test('a plan that was missing is asked for again until it is there', async () => {
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

  test('two captures on one order fulfil it once and leave one to give back', async () => {
    const order = await ordered();
    await apply(order, listed(order, { id: 'pay_1', status: 'captured' }, { id: 'pay_2', status: 'captured' }));
    expect(await readPurchase(database, order)).toMatchObject({ paymentId: 'pay_1', tier: 'pro' });
    expect(await extraPayments(database, order)).toEqual(['pay_2']);
  });
});

describe('what a customer brought back', () => {
  test('and the gateway confirms is settled; without a webhook that raises an alert', async () => {
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

  test('raises no alert where a webhook came that could not be applied', async () => {
    const order = await verified();
    await deliver(service, orderPaid({ id: order.paymentId, amount: 1, status: 'created' }, { id: order.orderId }));
    await database.query('update public.payments set confirmed_at = null where id = $1', [order.id]);
    await apply(order, listed(order, { status: 'captured' }));
    expect(await alerts(order)).toEqual([]);
  });

  test.each<[string, Record<string, unknown>[]]>([
    ['only authorised', [{ status: 'authorized' }]],
    ['failed', [{ status: 'failed' }]],
    ['unheard of', []],
  ])(
    'and is %s loses access with the last step, not before; should it be captured after all, it has it again',
    async (_, fields) => {
      const order = await verified();
      for (const time of ['01T00:15', '04T00:00', '05T23:59']) {
        await setClock(database, `2026-01-${time}:00Z`);
        expect(await apply(order, listed(order, ...fields))).toMatchObject({ ended: false });
        expect(await readTier(database, order.user.id)).toBe('pro');
      }
      await setClock(database, '2026-01-06T00:00:00Z');
      expect(await apply(order, listed(order, ...fields))).toMatchObject({ ended: true });
      expect(await readPurchase(database, order)).toMatchObject({
        status: 'failed',
        isFulfilled: false,
        subscription: { status: 'cancelled' },
        tier: 'free',
      });
      expect(await alerts(order)).toEqual(['never_captured']);
      expect(await dueAt(order)).toBeNull();

      expect(await deliver(service, captured({ id: order.paymentId, order_id: order.orderId }))).toBe('applied');
      expect(await readPurchase(database, order)).toMatchObject({ status: 'captured', tier: 'pro' });
    },
  );

  test('and was never captured gives no access again, whoever brings it, until the gateway itself captures it', async () => {
    const order = await verified();
    await setClock(database, '2026-01-06T00:00:00Z');
    await apply(order, []);
    for (const paymentId of [order.paymentId, uniqueId('pay'), order.paymentId]) {
      expect(await verifyPurchase(service, { ...order, paymentId })).toEqual({ outcome: 'never_captured' });
      expect(await readTier(database, order.user.id)).toBe('free');
    }
    expect(await dueAt(order)).toEqual(new Date('2026-01-06T00:00:00Z'));
    await apply(order, listed(order, { status: 'captured' }));
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
  });

  test.each<[string, Record<string, unknown>]>([
    ['its amount', { status: 'refunded', amount_refunded: 99900 }],
    ['its status alone', { status: 'refunded', amount_refunded: null }],
  ])('and was refunded, by %s, loses access at once', async (_, field) => {
    const order = await verified();
    await setClock(database, '2026-01-01T00:15:00Z');
    await apply(order, listed(order, field));
    expect(await readPurchase(database, order)).toMatchObject({ subscription: { status: 'cancelled' }, tier: 'free' });
    expect(await dueAt(order)).toBeNull();
  });

  test('and was refunded in part keeps access', async () => {
    const order = await verified();
    await apply(order, listed(order, { status: 'captured', amount_refunded: 100 }));
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '100', status: 'captured' });
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('on an order that the gateway does not know keeps access: another key may see it', async () => {
    const order = await verified();
    await setClock(database, '2026-01-06T00:00:00Z');
    expect(await apply(order, null)).toEqual({ applied: 0, ended: false });
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await dueAt(order)).toBeNull();
  });

  test('and was paid by another payment on the order keeps access', async () => {
    const order = await verified();
    await setClock(database, '2026-01-06T00:00:00Z');
    await apply(order, listed(order, { id: 'pay_other', status: 'captured' }));
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await extraPayments(database, order)).toEqual(['pay_other']);
  });
});
