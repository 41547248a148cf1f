import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent, type RefundFields } from '../helpers/gateway/events.ts';
import { mailsTo, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ findings: { paid_twice: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

const capture = ({ orderId }: Purchase, id: string) => deliver(service, paymentCaptured({ id, order_id: orderId }));
const refund = ({ orderId }: Purchase, id: string, amount = 99900, which?: RefundFields) =>
  deliver(service, refundEvent({ id, order_id: orderId }, amount, which));

/** The payments on an order that do not count, with the refunded amount of each. */
const extras = ({ id }: Purchase) =>
  database.query(
    `select gateway_payment_id as id, refunded_amount::int as refunded
     from public.payments where extra_of = $1 order by created_at, gateway_payment_id`,
    [id],
  );

/** An order and the ids of two payments on it. */
async function paidTwice() {
  const order = await placeOrder(database);
  return { order, one: order.paymentId, two: uniqueId('pay') };
}

test.each([['after', true], ['before', false]])(
  'a refund of an extra payment %s its capture is recorded and changes no access',
  async (_, after) => {
    const { order, one, two } = await paidTwice();
    await capture(order, one);
    const before = await readPayment(database, order.id);
    if (after) await capture(order, two);
    const which = { id: uniqueId('rfnd') };
    expect(await refund(order, two, 99900, which)).toBe('applied');
    expect(await refund(order, two, 99900, which)).toBe('already');
    expect(await extras(order)).toEqual(after ? [{ id: two, refunded: 99900 }] : []);
    expect(await capture(order, two)).toBe('already');
    expect(await extras(order)).toEqual([{ id: two, refunded: 99900 }]);
    expect(await readPayment(database, order.id)).toEqual(before);
    expect(await readTier(database, order.user.id)).toBe('pro');
  },
);

test('a refund of an extra payment is matched by the payment id if the event names no order', async () => {
  const { order, one, two } = await paidTwice();
  await capture(order, one);
  await capture(order, two);
  expect(await deliver(service, refundEvent({ id: two }, 99900))).toBe('applied');
  expect(await extras(order)).toEqual([{ id: two, refunded: 99900 }]);
});

test.each(['verify, payment.captured', 'payment.captured, verify'])(
  'a captured payment counts before another on the order that is only verified: %s',
  async (steps) => {
    const { order, one, two } = await paidTwice();
    for (const step of steps.split(', ')) {
      if (step === 'verify') await verifyPurchase(service, order);
      else await capture(order, two);
    }
    expect(await readPayment(database, order.id)).toMatchObject({
      gateway_payment_id: two,
      gateway_signature: null,
      confirmed_at: expect.any(Date),
    });
    expect(await extras(order)).toEqual([{ id: one, refunded: 0 }]);
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
    expect(await capture(order, one)).toBe('already');
    expect(await readPayment(database, order.id)).toMatchObject({ gateway_payment_id: two });
    await refund(order, one);
    expect(await readTier(database, order.user.id)).toBe('pro');
  },
);

test('a refund of the payment that counts lets another on the order count, and changes no access', async () => {
  const { order, one, two } = await paidTwice();
  await verifyPurchase(service, order);
  await capture(order, one);
  await capture(order, two);
  const before = await readSubscription(database, order.user.id);
  expect(await refund(order, one)).toBe('applied');
  expect(await readPayment(database, order.id)).toMatchObject({
    gateway_payment_id: two,
    gateway_signature: null,
    refunded_amount: '0',
    confirmed_at: expect.any(Date),
  });
  expect(await extras(order)).toEqual([{ id: one, refunded: 99900 }]);
  expect(await readSubscription(database, order.user.id)).toEqual(before);
  expect(await readTier(database, order.user.id)).toBe('pro');
  expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);

  expect(await refund(order, two)).toBe('applied');
  expect(await readTier(database, order.user.id)).toBe('free');
});

test('another payment on an order whose first payment was refunded grants the tier again, without a second success mail', async () => {
  for (const again of ['payment.captured', 'verify']) {
    const { order, one, two } = await paidTwice();
    await capture(order, one);
    await refund(order, one);
    expect(await readTier(database, order.user.id), again).toBe('free');
    if (again === 'verify') {
      expect(await verifyPurchase(service, { ...order, paymentId: two })).toMatchObject({ outcome: 'applied' });
    } else expect(await capture(order, two)).toBe('applied');
    expect(await readTier(database, order.user.id), again).toBe('pro');
    const { period_start, period_end } = await readPayment(database, order.id);
    const row = await database.one(
      'select status, ended_reason, current_period_start as period_start, current_period_end as period_end from public.subscriptions where user_id = $1',
      [order.user.id],
    );
    expect(row, again).toEqual({ status: 'active', ended_reason: null, period_start, period_end });
    expect(await mailsTo(database, order.user), again).toEqual([
      `payment-success/${order.id}`,
      expect.stringMatching(/^subscription-ended\//),
    ]);
  }
});

test('a payment that was partly refunded before its capture is no extra payment before the capture, and can count after it', async () => {
  const { order, one, two } = await paidTwice();
  await refund(order, one, 30000);
  await capture(order, two);
  expect(await extras(order)).toEqual([]);
  await refund(order, two);
  expect(await readTier(database, order.user.id)).toBe('free');
  expect(await capture(order, one)).toBe('applied');
  expect(await readPayment(database, order.id)).toMatchObject({ gateway_payment_id: one, refunded_amount: '30000' });
  expect(await readTier(database, order.user.id)).toBe('pro');
});

test('two payments that were refunded in full before their capture grant nothing', async () => {
  const { order, one, two } = await paidTwice();
  for (const id of [one, two]) await refund(order, id);
  for (const id of [two, one]) await capture(order, id);
  expect(await readPayment(database, order.id)).toMatchObject({ status: 'captured', fulfilled_at: null });
  expect(await extras(order)).toEqual([{ id: one, refunded: 99900 }]);
  expect(await readTier(database, order.user.id)).toBe('free');
});

test('a payment that is known only by its refund never counts', async () => {
  const { order, one, two } = await paidTwice();
  await capture(order, one);
  await refund(order, two, 1);
  await refund(order, one);
  expect(await readPayment(database, order.id)).toMatchObject({ gateway_payment_id: one });
  expect(await readTier(database, order.user.id)).toBe('free');
});

test('verify stores the signature of a payment that a webhook had captured, and of no other', async () => {
  const { order, one, two } = await paidTwice();
  await capture(order, one);
  await verifyPurchase(service, { ...order, paymentId: two });
  expect(await readPayment(database, order.id)).toMatchObject({ gateway_signature: null });
  await verifyPurchase(service, order);
  expect(await readPayment(database, order.id)).toMatchObject({ gateway_signature: 'signature' });
});

test('an extra payment that was only verified is reconciled when it counts', async () => {
  const { order, one, two } = await paidTwice();
  await capture(order, one);
  await verifyPurchase(service, { ...order, paymentId: two });
  await database.query('update public.payments set next_reconcile_at = null where id = $1', [order.id]);
  await refund(order, one);
  expect(await readPayment(database, order.id)).toMatchObject({
    gateway_payment_id: two,
    confirmed_at: null,
    next_reconcile_at: expect.any(Date),
  });
});
