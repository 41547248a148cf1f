import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed, refundEvent } from '../helpers/gateway/events.ts';
import { alertsAbout, applyOrderPayments, listed } from '../helpers/gateway/reconciliation.ts';
import { mailsTo, paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readAllRows, readPayment, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One verified payment is never captured, and one captured payment has no plan.
  database = await createTestDatabase({ findings: { never_captured: 1, captured_not_fulfilled: 1, failed_events: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

const start = Date.parse('2026-01-01T00:00:00Z');
const later = (seconds: number) => setClock(database, new Date(start + seconds * 1000).toISOString());
beforeEach(() => later(0));
afterEach(async () => {
  await setClock(database, null);
  await database.query('update public.payments set next_reconcile_at = null');
});

const get = ({ user, orderId }: Purchase, canRead = true) => callRpc(service, 'get_order', user.id, orderId, canRead);
const apply = ({ id }: Purchase, items: unknown[] | null) =>
  callRpc(service, 'apply_order_read', id, items === null ? null : JSON.stringify(items));
const stateOf = async (order: Purchase) => Object((await get(order, false)).order);
const failed = (order: Purchase, seconds: number, description: string | null, id = uniqueId('pay')) =>
  paymentFailed({ id, order_id: order.orderId, created_at: start / 1000 + seconds, error_description: description });

describe('the state of an order', () => {
  test('is open before it is paid, with the fields of the answer alone', async () => {
    const order = await placeOrder(database, { tier: 'premium', amount: 199900 });
    expect(await get(order, false)).toEqual({
      outcome: 'known',
      payment_id: order.id,
      order: {
        order_id: order.orderId,
        status: 'open',
        tier: 'premium',
        amount: 199900,
        currency: 'INR',
        valid_until: null,
        attempts: 0,
        last_error: null,
      },
    });
  });

  test('is paid when it was verified or captured, until the end of the period that it bought', async () => {
    const [verified, captured] = [await placeOrder(database), await placeOrder(database)];
    await verifyPurchase(service, verified);
    await deliver(service, paymentCaptured(paymentOf(captured)));
    for (const order of [verified, captured]) {
      const paid = { status: 'paid', valid_until: '2027-01-01T00:00:00.000Z', attempts: 1, last_error: null };
      expect(await stateOf(order)).toMatchObject(paid);
    }
  });

  test('is paid without an end where its tier has no plan, and where its access was ended', async () => {
    const [unplanned, cancelled] = [await placeOrder(database, { tier: uniqueId('tier') }), await placeOrder(database)];
    await deliver(service, paymentCaptured(paymentOf(unplanned)));
    await verifyPurchase(service, cancelled);
    await callRpc(service, 'cancel_subscription', cancelled.user.id, false);
    for (const order of [unplanned, cancelled]) {
      expect(await stateOf(order)).toMatchObject({ status: 'paid', valid_until: null });
    }
  });

  test('is failed after a full refund, and paid after a partial one', async () => {
    const [full, partial] = [await placeOrder(database), await placeOrder(database)];
    for (const [order, amount] of [[full, 99900], [partial, 99899]] as const) {
      await deliver(service, paymentCaptured(paymentOf(order)));
      await deliver(service, refundEvent({ id: order.paymentId }, amount));
    }
    expect(await stateOf(full)).toMatchObject({ status: 'failed', valid_until: null });
    expect(await stateOf(partial)).toMatchObject({ status: 'paid', valid_until: '2027-01-01T00:00:00.000Z' });
  });

  test('is failed where a verified payment was never captured', async () => {
    const order = await placeOrder(database);
    await verifyPurchase(service, order);
    await later(121 * 3600);
    expect(await applyOrderPayments(service, order, null)).toMatchObject({ ended: true });
    expect(await get(order)).toMatchObject({ outcome: 'known', order: { status: 'failed', valid_until: null } });
  });

  test('is failed after a failed attempt, and paid after a later one', async () => {
    const order = await placeOrder(database);
    await deliver(service, failed(order, 0, 'No funds.'));
    expect(await stateOf(order)).toMatchObject({ status: 'failed', attempts: 1, last_error: 'No funds.' });
    await deliver(service, paymentCaptured(paymentOf(order)));
    expect(await stateOf(order)).toMatchObject({ status: 'paid', attempts: 2, last_error: 'No funds.' });
  });

  test('has the error of the newest attempt, in whatever order the events arrive', async () => {
    const order = await placeOrder(database);
    for (const [seconds, text] of [[30, 'second'], [60, 'third'], [0, 'first']] as const) {
      await deliver(service, failed(order, seconds, text));
    }
    expect(await stateOf(order)).toMatchObject({ attempts: 3, last_error: 'third' });
    expect((await readPayment(database, order.id)).meta).toMatchObject({ error_description: 'first' });
  });

  test.each([null, ''])('has no error where the gateway’s is %j', async (description) => {
    const order = await placeOrder(database);
    await deliver(service, failed(order, 0, description));
    expect(await stateOf(order)).toMatchObject({ status: 'failed', attempts: 1, last_error: null });
  });

  test('counts each attempt once, also one that paid a second time', async () => {
    const order = await placeOrder(database);
    await verifyPurchase(service, order);
    await deliver(service, paymentCaptured(paymentOf(order)));
    await deliver(service, paymentCaptured({ ...paymentOf(order), notes: { again: 'yes' } }));
    await verifyPurchase(service, { ...order, paymentId: uniqueId('pay') });
    expect(await stateOf(order)).toMatchObject({ status: 'paid', attempts: 2 });
  });

  test('keeps one attempt and its error when the ledger was purged', async () => {
    const order = await placeOrder(database);
    await deliver(service, failed(order, 0, 'No funds.'));
    await database.query('delete from billing.gateway_events where subject_id = $1', [order.orderId]);
    expect(await stateOf(order)).toMatchObject({ status: 'failed', attempts: 1, last_error: 'No funds.' });
  });

  test('is unknown to another user, and after the user was deleted', async () => {
    const [order, other] = [await placeOrder(database), await placeOrder(database)];
    const before = await readAllRows(database);
    expect(await get({ ...order, user: other.user })).toEqual({ outcome: 'order_not_found' });
    expect(await get({ ...order, orderId: 'unknown' })).toEqual({ outcome: 'order_not_found' });
    expect(await readAllRows(database)).toEqual(before);
    await database.query('delete from auth.users where id = $1', [order.user.id]);
    expect(await get(order)).toEqual({ outcome: 'order_not_found' });
  });
});

describe('the gateway is read', () => {
  const outcomes = async (order: Purchase, ...times: number[]) => {
    const found: unknown[] = [];
    for (const seconds of times) {
      await later(seconds);
      found.push((await get(order)).outcome);
    }
    return found;
  };

  test('every five seconds', async () => {
    const order = await placeOrder(database);
    expect(await outcomes(order, 0, 0, 4.999, 5, 5, 9.999, 10))
      .toEqual(['read', 'known', 'known', 'read', 'known', 'known', 'read']);
  });

  test('at most 20 times, and each order by itself', async () => {
    const [order, other] = [await placeOrder(database), await placeOrder(database)];
    const found = await outcomes(order, ...Array.from({ length: 30 }, (_, index) => index * 5));
    expect(found).toEqual([...Array(20).fill('read'), ...Array(10).fill('known')]);
    expect(await outcomes(other, 200)).toEqual(['read']);
  });

  test('also after a failed attempt, which another one may follow', async () => {
    const order = await placeOrder(database);
    await deliver(service, failed(order, 0, 'No funds.'));
    expect(await get(order)).toMatchObject({ outcome: 'read', order: { status: 'failed' } });
  });

  test('neither after the capture nor where it is not configured, and nothing is written then', async () => {
    const [paid, open] = [await placeOrder(database), await placeOrder(database)];
    await verifyPurchase(service, paid);
    const before = await readAllRows(database);
    expect(await get(paid)).toMatchObject({ outcome: 'known' });
    expect(await get(open, false)).toMatchObject({ outcome: 'known' });
    expect(await readAllRows(database)).toEqual(before);
  });

  test('for five days after the order, not longer', async () => {
    const order = await placeOrder(database);
    expect(await outcomes(order, 120 * 3600 - 1, 120 * 3600)).toEqual(['read', 'known']);
  });
});

describe('an answer of the gateway', () => {
  const read = async () => {
    const order = await placeOrder(database);
    await get(order);
    return order;
  };

  test('that has a capture fulfils the order, with one mail and no alert', async () => {
    const order = await read();
    expect(await apply(order, listed(order, { status: 'captured' }))).toMatchObject({
      applied: 1,
      order: { status: 'paid', valid_until: '2027-01-01T00:00:00.000Z', attempts: 1 },
    });
    expect(await readTier(database, order.user.id)).toBe('pro');
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
    expect(await alertsAbout(database, order.orderId)).toEqual([]);
    expect(await deliver(service, paymentCaptured(paymentOf(order)))).toBe('already');
    expect(await mailsTo(database, order.user)).toEqual([`payment-success/${order.id}`]);
  });

  test('of a reconciliation raises an alert again a minute after the page’s last read', async () => {
    const [soon, late] = [await read(), await read()];
    for (const [order, seconds, alerts] of [[soon, 59, []], [late, 60, ['missed_webhook']]] as const) {
      await later(seconds);
      await applyOrderPayments(service, order, listed(order, { status: 'captured' }));
      expect(await alertsAbout(database, order.orderId)).toEqual(alerts);
    }
  });

  test('that has a failed attempt stores its error and enqueues its mail, once', async () => {
    const order = await read();
    const items = listed(order, { status: 'failed', error_description: 'No funds.' });
    for (const applied of [1, 0]) {
      expect(await apply(order, items)).toMatchObject({
        applied,
        order: { status: 'failed', attempts: 1, last_error: 'No funds.' },
      });
    }
    expect(await mailsTo(database, order.user)).toEqual([`payment-failed/${order.paymentId}`]);
  });

  test.each(
    [
      ['created after a failed one is open', [['failed', 1], ['created', 2]], 'open'],
      ['authorised after a failed one is open', [['authorized', 2], ['failed', 1]], 'open'],
      ['created before a failed one is failed', [['created', 1], ['failed', 2]], 'failed'],
      ['captured after a failed one is paid', [['failed', 1], ['captured', 2]], 'paid'],
      ['created without a failed one is open', [['created', 1], ['authorized', 1]], 'open'],
    ] as const,
  )('in which an attempt that is %s', async (_, attempts, status) => {
    const order = await read();
    const items = listed(
      order,
      ...attempts.map(([status, at]) => ({ id: uniqueId('pay'), status, created_at: start / 1000 + at })),
    );
    expect(await apply(order, items)).toMatchObject({ order: { status, attempts: 2 } });
    expect(await stateOf(order)).toMatchObject({ status, attempts: 2 });
  });

  test('with an open attempt counts until the reads are used up', async () => {
    const order = await read();
    const items = (second: string) =>
      listed(order, { status: 'failed', created_at: 1 }, { id: uniqueId('pay'), status: second, created_at: 2 });
    await apply(order, items('created'));
    expect(await stateOf(order)).toMatchObject({ status: 'open' });
    await database.query('update public.payments set reads = 20 where id = $1', [order.id]);
    expect(await stateOf(order)).toMatchObject({ status: 'failed' });
  });

  test.each([
    ['no payment', []],
    ['an unknown order', null],
    ['a payment of another amount', [{ id: 'pay_less', status: 'captured', amount: 1, currency: 'INR' }]],
    ['payments of other shapes', [{}, { id: 1, status: 'captured' }, { id: null, status: [] }]],
  ])('that has %s leaves the order open', async (_, items) => {
    const order = await read();
    expect(await apply(order, items)).toMatchObject({ applied: 0, order: { status: 'open', valid_until: null } });
    expect(await readTier(database, order.user.id)).toBe('free');
  });

  test('plans the next reconciliation as one would', async () => {
    const order = await read();
    await later(16 * 60);
    await apply(order, []);
    expect((await readPayment(database, order.id)).next_reconcile_at).toEqual(new Date(start + 3600_000));
  });
});
