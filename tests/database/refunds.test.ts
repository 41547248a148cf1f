import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, refundEvent, type RefundFields } from '../helpers/gateway/events.ts';
import {
  extraPayments,
  paymentOf,
  placeOrder,
  type Purchase,
  readPurchase,
  verifyPurchase,
} from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One payment has no plan and is never fulfilled.
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await setEarlyRenewal(database, 'replace');
});
afterAll(() => database.close());

const refund = (order: Purchase, amount: unknown, which?: RefundFields) =>
  deliver(service, refundEvent(paymentOf(order), amount, which));
const capture = (order: Purchase) => deliver(service, paymentCaptured(paymentOf(order)));

/** A new order that was paid and verified. */
async function purchase(options: Parameters<typeof placeOrder>[1] = {}): Promise<Purchase> {
  const order = await placeOrder(database, options);
  await verifyPurchase(service, order);
  return order;
}

const ended = { tier: 'free', subscription: { status: 'cancelled' } };

describe('a refund', () => {
  test('of a part changes no access; several add up, each counted once by its id', async () => {
    const order = await purchase();
    const before = await readPurchase(database, order);
    const first = { id: uniqueId('rfnd') };
    expect(await refund(order, 60000, first)).toBe('applied');
    expect(await refund(order, 60000, first)).toBe('already');
    expect(await refund(order, 39899)).toBe('applied');
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '99899' });
    expect(await readPurchase(database, order)).toEqual(before);
  });

  test('that reaches the full amount ends access: status, reason, time and profile', async () => {
    const order = await purchase();
    await refund(order, 40000);
    await setClock(database, '2126-01-01T00:00:00Z');
    expect(await refund(order, 59900)).toBe('applied');
    const row = await database.one('select * from public.subscriptions where user_id = $1', [order.user.id]);
    expect(row).toMatchObject({
      status: 'cancelled',
      ended_reason: 'refunded',
      cancelled_at: new Date('2126-01-01T00:00:00Z'),
    });
    expect(await readTier(database, order.user.id)).toBe('free');
    expect(await readPayment(database, order.id)).toMatchObject({ status: 'captured', fulfilled_at: expect.any(Date) });
    const changes = await database.query(
      'select from_tier, to_tier, cause, reference from billing.tier_changes where user_id = $1 order by id desc limit 1',
      [order.user.id],
    );
    expect(changes).toEqual([
      { from_tier: 'pro', to_tier: 'free', cause: 'refund.processed', reference: order.orderId },
    ]);
  });

  test('that is announced again, with another amount or with a second refund, does not change a later purchase', async () => {
    const first = await purchase();
    const whole = { id: uniqueId('rfnd') };
    await refund(first, 99900, whole);
    const second = await purchase({ user: first.user });
    const before = await readPurchase(database, second);
    expect(await refund(first, 99900, whole)).toBe('already');
    expect(await refund(first, 10, whole)).toBe('already');
    expect(await readPayment(database, first.id)).toMatchObject({ refunded_amount: '99900' });
    expect(await refund(first, 1)).toBe('applied');
    expect(await readPurchase(database, second)).toEqual(before);
    expect(before).toMatchObject({ tier: 'pro', subscription: { status: 'active' } });
  });

  test.each([[undefined], [null], ['99900'], [1.5], [{}], [-99900]])('of %j is ignored', async (amount) => {
    const order = await purchase();
    expect(await refund(order, amount)).toBe('ignored: refund.entity');
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '0' });
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('of 0 of a payment of 0 is recorded and ends no access', async () => {
    const order = await purchase({ amount: 0 });
    expect(await refund(order, 0)).toBe('applied');
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('of an unknown order is unmatched, and applied when the order is inserted', async () => {
    const user = await createUser(database);
    const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
    expect(await deliver(service, paymentCaptured(money))).toBe('unmatched');
    expect(await deliver(service, refundEvent(money, 99900))).toBe('unmatched');
    await service.query(
      `insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, 99900, $2, '{"tier": "pro"}')`,
      [user.id, money.order_id],
    );
    expect(await readTier(database, user.id)).toBe('free');
  });

  test('of another payment on the order does not refund the payment that counts', async () => {
    const order = await purchase();
    const extra = uniqueId('pay');
    await deliver(service, paymentCaptured({ id: extra, order_id: order.orderId }));
    expect(await refund({ ...order, paymentId: extra }, 99900)).toBe('applied');
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '0' });
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('of a deleted user’s payment is recorded', async () => {
    const order = await purchase();
    await database.query('delete from auth.users where id = $1', [order.user.id]);
    expect(await refund(order, 99900)).toBe('applied');
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '99900' });
  });
});

describe('a full refund before the capture', () => {
  test.each<[string, (order: Purchase) => Promise<unknown>, unknown]>([
    ['payment.captured', capture, 'applied'],
    [
      'order.paid',
      ({ paymentId, orderId }) => deliver(service, orderPaid({ id: paymentId }, { id: orderId })),
      'applied',
    ],
    ['verify', async (order) => (await verifyPurchase(service, order)).outcome, 'refunded'],
  ])('is never fulfilled by %s', async (_, act, outcome) => {
    const order = await placeOrder(database);
    expect(await refund(order, 99900)).toBe('applied');
    for (const expected of [outcome, outcome === 'applied' ? 'already' : outcome]) {
      expect(await act(order)).toBe(expected);
      expect(await readPurchase(database, order)).toEqual({
        status: 'captured',
        paymentId: order.paymentId,
        isFulfilled: false,
        subscription: null,
        tier: 'free',
        mails: [],
      });
    }
    expect(await verifyPurchase(service, order)).toEqual({ outcome: 'refunded' });
    expect(await database.query('select from billing.captured_not_fulfilled where payment_id = $1', [order.id]))
      .toEqual([]);
  });

  test('in two parts is never fulfilled', async () => {
    const order = await placeOrder(database);
    await refund(order, 50000);
    await refund(order, 49900);
    await capture(order);
    expect(await readTier(database, order.user.id)).toBe('free');
  });

  test('of a part is fulfilled', async () => {
    const order = await placeOrder(database);
    await refund(order, 99899);
    await capture(order);
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '99899' });
  });

  test('that only the capture’s amount_refunded shows is fulfilled: it may be pending', async () => {
    const order = await placeOrder(database);
    await deliver(service, paymentCaptured({ ...paymentOf(order), amount_refunded: 99900 }));
    expect(await readPurchase(database, order)).toMatchObject({ status: 'captured', isFulfilled: true, tier: 'pro' });
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '0' });
  });

  test.each<[string, (order: Purchase) => Promise<unknown>]>([
    ['payment.captured', capture],
    ['verify', (order) => verifyPurchase(service, order)],
  ])('of one attempt does not affect the next attempt on the order: %s fulfils it', async (_, act) => {
    const order = await placeOrder(database);
    await refund({ ...order, paymentId: uniqueId('pay') }, 99900);
    await act(order);
    expect(await readPurchase(database, order)).toMatchObject({ paymentId: order.paymentId, tier: 'pro' });
    expect(await readPayment(database, order.id)).toMatchObject({ refunded_amount: '0' });
    expect(await refund(order, 99900)).toBe('applied');
    expect(await readPurchase(database, order)).toMatchObject(ended);
  });
});

describe('a full refund with other payments', () => {
  test('of the ruling payment lets the newest running one rule', async () => {
    const user = await createUser(database);
    await purchase({ user, tier: 'basic' });
    const pro = await purchase({ user, tier: 'pro' });
    const premium = await purchase({ user, tier: 'premium' });
    await refund(premium, 99900);
    const { period_start, period_end } = await readPayment(database, pro.id);
    const row = await database.one(
      `select s.*, p.tier as plan_tier from public.subscriptions s join public.plans p on p.id = s.plan_id
       where s.user_id = $1`,
      [user.id],
    );
    expect(row).toMatchObject({
      tier: 'pro',
      plan_tier: 'pro',
      status: 'active',
      current_period_start: period_start,
      current_period_end: period_end,
    });
    expect(await readTier(database, user.id)).toBe('pro');
    await refund(pro, 99900);
    expect(await readTier(database, user.id)).toBe('basic');
  });

  test('skips refunded payments, unfulfilled ones and those whose period is over', async () => {
    const user = await createUser(database);
    await setClock(database, '2026-01-01T00:00:00Z');
    await purchase({ user, tier: 'basic' });
    await setClock(database, '2026-03-01T00:00:00Z');
    const premium = await purchase({ user, tier: 'premium' });
    await purchase({ user, tier: uniqueId('team') });
    const running = await purchase({ user, tier: 'pro' });
    await refund(premium, 99900);
    expect(await readTier(database, user.id)).toBe('pro');
    await refund(running, 99900);
    expect(await readPurchase(database, running)).toMatchObject(ended);
  });

  test('gives no access by another user’s payment', async () => {
    await purchase();
    const order = await purchase();
    await refund(order, 99900);
    expect(await readPurchase(database, order)).toMatchObject(ended);
  });

  test('of an older payment that does not rule changes nothing', async () => {
    const older = await purchase({ tier: 'premium' });
    const newer = await purchase({ user: older.user, tier: 'pro' });
    const before = await readSubscription(database, older.user.id);
    expect(await refund(older, 99900)).toBe('applied');
    expect(await readSubscription(database, older.user.id)).toEqual(before);
    expect(await readTier(database, newer.user.id)).toBe('pro');
  });

  test('does not change a longer grant of another tier', async () => {
    const order = await purchase();
    await grantTier(database, order.user.id, 'premium', '2126-01-01Z');
    expect(await refund(order, 99900)).toBe('applied');
    expect(await readSubscription(database, order.user.id)).toMatchObject({
      tier: 'premium',
      status: 'active',
      end: '2126-01-01T00:00:00.000Z',
    });
    expect(await readTier(database, order.user.id)).toBe('premium');
  });

  test('of the last payment of a chain keeps the periods of the earlier ones', async () => {
    const first = await placeOrder(database);
    const second = await placeOrder(database, { user: first.user });
    const third = await placeOrder(database, { user: first.user });
    await setEarlyRenewal(database, 'extend');
    for (const order of [first, second, third]) await verifyPurchase(service, order);
    const [one, two] = [await readPayment(database, first.id), await readPayment(database, second.id)];
    const period = () =>
      database.one('select current_period_start, current_period_end from public.subscriptions where user_id = $1', [
        first.user.id,
      ]);
    await refund(third, 99900);
    expect(await period()).toEqual({ current_period_start: one.period_start, current_period_end: two.period_end });
    await refund(second, 99900);
    expect(await period()).toEqual({ current_period_start: one.period_start, current_period_end: one.period_end });
    await refund(first, 99900);
    expect(await readPurchase(database, first)).toMatchObject(ended);
  });

  test('does not change a subscription that the gateway bills', async () => {
    const order = await purchase();
    await database.query(
      `update public.subscriptions set gateway_subscription_id = 'sub_billed', current_period_end = '2126-01-01Z'
       where user_id = $1`,
      [order.user.id],
    );
    await refund(order, 99900);
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await extraPayments(database, order)).toEqual([]);
  });
});
