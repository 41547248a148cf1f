import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, paymentFailed, type PaymentFields } from '../helpers/gateway/events.ts';
import {
  extraPayments,
  mailsTo,
  paymentOf,
  placeOrder,
  readPurchase,
  verifyPurchase,
} from '../helpers/records/purchases.ts';
import { readLedger, readOutbox, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // Two deleted users, captures of another amount or currency, and orders paid twice.
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 2, failed_events: 14, paid_twice: 5 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

describe.each([
  ['payment.captured', paymentCaptured],
  ['order.paid', (money: PaymentFields) => orderPaid(money, { id: String(money.order_id) })],
])('%s', (_, event) => {
  test('alone fulfils as a verify does: subscription, tier, period, mail', async () => {
    const order = await placeOrder(database);
    expect(await deliver(service, event(paymentOf(order)))).toBe('applied');
    const payment = await readPayment(database, order.id);
    expect(payment).toMatchObject({
      status: 'captured',
      tier: 'pro',
      gateway_payment_id: order.paymentId,
      gateway_signature: null,
      confirmed_at: expect.any(Date),
      fulfilled_at: expect.any(Date),
    });
    const { months } = await database.one(
      'select period_end = billing.add_months(period_start, 12) as months from public.payments where id = $1',
      [order.id],
    );
    expect(months).toBe(true);
    const subscription = await readSubscription(database, order.user.id);
    expect(subscription).toMatchObject({ tier: 'pro', status: 'active', plan_tier: 'pro' });
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await readOutbox(database, 'email', order.user.email)).toMatchObject([{
      key: `payment-success/${order.id}`,
      payload: { amount: 99900, plan_name: 'Pro', transaction_id: order.paymentId, valid_until: subscription?.end },
    }]);
  });

  test('before verify lets verify return already_applied with the same end, and stores nothing twice', async () => {
    const order = await placeOrder(database);
    await deliver(service, event(paymentOf(order)));
    const before = await readPurchase(database, order);
    const { end } = await readSubscription(database, order.user.id) ?? {};
    expect(await verifyPurchase(service, order)).toEqual({
      outcome: 'already_applied',
      tier: 'pro',
      valid_until: end,
    });
    expect(await readPurchase(database, order)).toEqual(before);
    expect(await extraPayments(database, order)).toEqual([]);
  });

  test('after verify confirms the payment and grants nothing again', async () => {
    const order = await placeOrder(database);
    const { valid_until } = await verifyPurchase(service, order);
    const before = await readPurchase(database, order);
    expect(await deliver(service, event(paymentOf(order)))).toBe('applied');
    expect(await readPurchase(database, order)).toEqual(before);
    expect(await readPayment(database, order.id)).toMatchObject({ confirmed_at: expect.any(Date) });
    expect(await readSubscription(database, order.user.id)).toMatchObject({ end: valid_until });
  });

  test.each([[true], ['1'], [1], [undefined], [null]])('with captured %j fulfils', async (flag) => {
    const order = await placeOrder(database);
    await deliver(service, event({ ...paymentOf(order), captured: flag }));
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test.each<[string, Record<string, unknown>]>([
    ['no currency', { currency: undefined }],
    ['no status', { status: undefined }],
    ['null as both', { currency: null, status: null }],
  ])('with %s fulfils by its amount', async (_, fields) => {
    const order = await placeOrder(database);
    expect(await deliver(service, event({ ...paymentOf(order), ...fields }))).toBe('applied');
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['one unit less', { amount: 99899 }, 'mismatch'],
    ['one unit more', { amount: 99901 }, 'mismatch'],
    ['nothing paid', { amount: 0 }, 'mismatch'],
    ['a negative amount', { amount: -99900 }, 'mismatch'],
    ['another currency', { currency: 'USD' }, 'mismatch'],
    ['a payment only authorised', { status: 'authorized' }, 'mismatch'],
    ['a refunded payment', { status: 'refunded' }, 'mismatch'],
    ['no amount', { amount: undefined }, 'unmatched'],
    ['an amount as text', { amount: '99900' }, 'unmatched'],
    ['an amount with a fraction', { amount: 99900.5 }, 'unmatched'],
  ])('with %s grants nothing and changes nothing', async (_, fields, outcome) => {
    const order = await placeOrder(database);
    const before = await readPayment(database, order.id);
    expect(await deliver(service, event({ ...paymentOf(order), ...fields }))).toBe(outcome);
    expect(await readPayment(database, order.id)).toEqual(before);
    expect(await readPurchase(database, order)).toMatchObject({ subscription: null, tier: 'free', mails: [] });
  });

  test('is never matched by the notes of the payment', async () => {
    const order = await placeOrder(database);
    const notes = { user_id: order.user.id, order_id: order.orderId, receipt: order.id.replaceAll('-', '') };
    const body = event({ id: uniqueId('pay'), order_id: uniqueId('order'), receipt: notes.receipt, notes });
    expect(await deliver(service, body)).toBe('unmatched');
    expect(await readPurchase(database, order)).toMatchObject({ status: 'created', tier: 'free' });
  });

  test('of another payment on a fulfilled order with a confirmed payment overwrites nothing and is an extra payment', async () => {
    const order = await placeOrder(database);
    await verifyPurchase(service, order);
    await deliver(service, event(paymentOf(order)));
    const before = await readPayment(database, order.id);
    const other = uniqueId('pay');
    expect(await deliver(service, event({ id: other, order_id: order.orderId }))).toBe('already');
    expect(await deliver(service, event({ id: other, order_id: order.orderId }))).toBe('already');
    expect(await readPayment(database, order.id)).toEqual(before);
    expect(await extraPayments(database, order)).toEqual([other]);
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
  });

  test('of another payment on an order that was only verified counts, grants nothing again, and the first is an extra payment', async () => {
    const order = await placeOrder(database);
    await verifyPurchase(service, order);
    const before = await readSubscription(database, order.user.id);
    const other = uniqueId('pay');
    await deliver(service, event({ id: other, order_id: order.orderId }));
    expect(await readPayment(database, order.id)).toMatchObject({
      gateway_payment_id: other,
      gateway_signature: null,
      confirmed_at: expect.any(Date),
    });
    expect(await extraPayments(database, order)).toEqual([order.paymentId]);
    expect(await readSubscription(database, order.user.id)).toEqual(before);
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
  });

  test('without a plan captures, and fulfils with one mail when it is replayed after the plan was created', async () => {
    const tier = uniqueId('team');
    const order = await placeOrder(database, { tier });
    const body = event(paymentOf(order));
    expect(await deliver(service, body)).toBe('plan_not_found');
    expect(await readPurchase(database, order)).toMatchObject({ status: 'captured', isFulfilled: false, tier: 'free' });
    expect(await database.query('select reason from billing.captured_not_fulfilled where payment_id = $1', [order.id]))
      .toEqual([{ reason: 'no plan of this tier' }]);

    await database.query("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", [tier]);
    const replay = () => database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)]);
    expect(await replay()).toEqual({ outcome: 'applied' });
    expect(await replay()).toEqual({ outcome: 'already' });
    expect(await readPurchase(database, order)).toMatchObject({
      isFulfilled: true,
      tier,
      mails: [`payment-success/${order.id}`],
    });
    expect(await database.query('select from billing.captured_not_fulfilled where payment_id = $1', [order.id]))
      .toEqual(
        [],
      );
  });

  test('for a deleted user captures, fulfils nothing and is a finding', async () => {
    const order = await placeOrder(database);
    await database.query('delete from auth.users where id = $1', [order.user.id]);
    expect(await deliver(service, event(paymentOf(order)))).toBe('applied');
    expect(await readPayment(database, order.id)).toMatchObject({ status: 'captured', fulfilled_at: null });
    expect(await database.query('select reason from billing.captured_not_fulfilled where payment_id = $1', [order.id]))
      .toEqual([{ reason: 'paid, user gone' }]);
    expect(await mailsTo(database, order.user)).toEqual([]);
  });
});

describe('order.paid with a receipt', () => {
  test('fulfils before the id of the order is stored, and stores it', async () => {
    const order = await placeOrder(database);
    await database.query('update public.payments set gateway_order_id = null where id = $1', [order.id]);
    const paid = orderPaid({ id: order.paymentId }, { id: order.orderId, receipt: order.id.replaceAll('-', '') });
    expect(await deliver(service, paid)).toBe('applied');
    expect(await readPayment(database, order.id)).toMatchObject({
      gateway_order_id: order.orderId,
      fulfilled_at: expect.any(Date),
    });
  });

  test('grants nothing when the payment already has another order', async () => {
    const order = await placeOrder(database);
    const paid = orderPaid({ id: order.paymentId }, {
      id: uniqueId('order'),
      receipt: order.id.replaceAll('-', ''),
    });
    expect(await deliver(service, paid)).toBe('unmatched');
    expect(await readTier(database, order.user.id)).toBe('free');
  });

  test.each([[''], ['x'.repeat(32)], [null], [crypto.randomUUID().replaceAll('-', '').toUpperCase()]])(
    '%j matches no payment',
    async (receipt) => {
      const paid = orderPaid({ id: uniqueId('pay') }, { id: uniqueId('order'), receipt });
      expect(await deliver(service, paid)).toBe('unmatched');
    },
  );
});

test('captured, order.paid, verify and a failed attempt give one purchase and one success mail', async () => {
  const order = await placeOrder(database);
  const money = paymentOf(order);
  await deliver(service, orderPaid(money, { id: order.orderId }));
  await deliver(service, paymentCaptured(money));
  await verifyPurchase(service, order);
  expect(await deliver(service, paymentFailed({ id: uniqueId('pay'), order_id: order.orderId }))).toBe('stale');
  expect(await readPurchase(database, order)).toEqual({
    status: 'captured',
    paymentId: order.paymentId,
    isFulfilled: true,
    subscription: { tier: 'pro', status: 'active' },
    tier: 'pro',
    mails: [`payment-success/${order.id}`],
  });
});

test('a captured payment fulfils an order whose plan was missing, instead of the first payment, which is only verified', async () => {
  const tier = uniqueId('team');
  const order = await placeOrder(database, { tier });
  expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'plan_not_found' });
  await database.query("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", [tier]);
  const other = uniqueId('pay');
  expect(await deliver(service, paymentCaptured({ id: other, order_id: order.orderId }))).toBe('applied');
  expect(await readPayment(database, order.id)).toMatchObject({
    gateway_payment_id: other,
    confirmed_at: expect.any(Date),
    fulfilled_at: expect.any(Date),
  });
  expect(await extraPayments(database, order)).toEqual([order.paymentId]);
});

test('a renewal of the running tier by webhook extends its period under the setting extend', async () => {
  const user = await createUser(database);
  const [first, second] = [await placeOrder(database, { user }), await placeOrder(database, { user })];
  await verifyPurchase(service, first);
  const body = paymentCaptured(paymentOf(second));
  await setEarlyRenewal(database, 'extend');
  onTestFinished(() => setEarlyRenewal(database, 'replace'));
  expect(await deliver(service, body)).toBe('applied');
  const [one, two] = [await readPayment(database, first.id), await readPayment(database, second.id)];
  expect(two.period_start).toEqual(one.period_end);
  expect(await readLedger(database, sha256(body))).toMatchObject({ outcome: 'applied', deliveries: 1, attempts: 1 });
});
