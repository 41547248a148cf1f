import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { alertsAbout, applyOrderPayments, listed } from '../helpers/gateway/reconciliation.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const database = useDatabase({ isEmptied: true });
const start = Date.parse('2026-01-01T00:00:00Z');
const later = (seconds: number) => database.at(new Date(start + seconds * 1000).toISOString());
const hour = 3600;
const customer = useCustomer(database);
let order: CustomerOrder;
beforeEach(async () => {
  order = await customer.order('pro', { at: '01-01' });
});

const get = ({ user, orderId }: Purchase = order, canRead = true) =>
  database.rpc('get_order', user.id, orderId, canRead);
const apply = (items: unknown[] | null) =>
  database.rpc('apply_order_read', order.id, items === null ? null : JSON.stringify(items));
const state = async (of: Purchase = order) => Object((await get(of, false)).order);
const fail = (seconds: number, description: string | null) => {
  const times = { created_at: start / 1000 + seconds, error_description: description };
  return database.send(paymentFailed({ id: uniqueId('pay'), order_id: order.orderId, ...times }));
};
const inAYear = '2027-01-01T00:00:00.000Z';

describe('the state of an order', () => {
  test('is open before it is paid, with the fields of the answer alone', async () => {
    const known = { order_id: order.orderId, status: 'open', tier: 'pro', amount: 99900, currency: 'INR' };
    const unpaid = { valid_until: null, attempts: 0, last_error: null };
    expect(await get(order, false)).toEqual({ outcome: 'known', payment_id: order.id, order: { ...known, ...unpaid } });
  });

  test.each<[string, string, string | null, () => Promise<unknown>]>([
    ['it was captured', 'paid', inAYear, () => order.capture()],
    ['its access was ended', 'paid', null, async () => {
      await order.verify();
      await customer.cancel('at once');
    }],
    ['it was refunded in full', 'failed', null, async () => {
      await order.capture();
      await order.refund();
    }],
    ['it was verified and never captured', 'failed', null, async () => {
      await order.verify();
      await later(121 * hour);
      expect(await applyOrderPayments(database.service, order, null)).toMatchObject({ ended: true });
    }],
  ])('after %s is %s, until %s', async (_, status, valid_until, change) => {
    await change();
    expect(await state()).toMatchObject({ status, valid_until, attempts: 1, last_error: null });
    expect((await get()).outcome).toBe('known');
  });

  test('is paid without an end where its tier has no plan', async () => {
    const unplanned = await placeOrder(database, { user: customer, tier: uniqueId('tier') });
    await verifyPurchase(database.service, unplanned);
    expect(await state(unplanned)).toMatchObject({ status: 'paid', valid_until: null });
  });

  test('is failed after a failed attempt, has the error of the newest one, and is paid after a later one', async () => {
    for (const [seconds, text] of [[30, 'second'], [60, 'third'], [0, 'first']] as const) await fail(seconds, text);
    expect(await state()).toMatchObject({ status: 'failed', attempts: 3, last_error: 'third' });
    expect((await order.row()).meta).toMatchObject({ error_description: 'first' });
    await order.capture();
    expect(await state()).toMatchObject({ status: 'paid', attempts: 4, last_error: 'third' });
  });

  test('has no error where the gateway’s is empty', async () => {
    await fail(0, '');
    expect(await state()).toMatchObject({ status: 'failed', attempts: 1, last_error: null });
  });

  test('counts each attempt once, also one that paid a second time', async () => {
    await order.verify();
    await order.capture();
    await order.capture({ notes: { again: 'yes' } });
    await customer.again(order).verify();
    expect(await state()).toMatchObject({ status: 'paid', attempts: 2 });
  });

  test('keeps one attempt and its error when the ledger was purged', async () => {
    await fail(0, 'No funds.');
    await database.query('delete from billing.gateway_events where subject_id = $1', [order.orderId]);
    expect(await state()).toMatchObject({ status: 'failed', attempts: 1, last_error: 'No funds.' });
  });

  test('is unknown to another user, and after the user was deleted', async () => {
    const other = await database.customer();
    const before = await readAllRows(database);
    for (const unknown of [{ ...order, user: other }, { ...order, orderId: 'unknown' }]) {
      expect(await get(unknown)).toEqual({ outcome: 'order_not_found' });
    }
    expect(await readAllRows(database)).toEqual(before);
    await database.query('delete from auth.users where id = $1', [customer.id]);
    expect(await get()).toEqual({ outcome: 'order_not_found' });
  });
});

describe('the gateway is read', () => {
  const outcomes = async (of: CustomerOrder, ...times: number[]) => {
    const found: unknown[] = [];
    for (const seconds of times) {
      await later(seconds);
      found.push((await get(of)).outcome);
    }
    return found;
  };

  test('every five seconds, for five days after the order', async () => {
    const times = [0, 0, 4.999, 5, 5, 9.999, 10, 120 * hour - 1, 120 * hour];
    expect(await outcomes(order, ...times))
      .toEqual(['read', 'known', 'known', 'read', 'known', 'known', 'read', 'read', 'known']);
  });

  test('at most 20 times, and each order by itself', async () => {
    const other = await customer.order('premium');
    const found = await outcomes(order, ...Array.from({ length: 22 }, (_, index) => index * 5));
    expect(found).toEqual([...Array(20).fill('read'), 'known', 'known']);
    expect(await outcomes(other, 200)).toEqual(['read']);
  });

  test('neither after the payment nor where it is not configured, and nothing is written then', async () => {
    const open = await customer.order('premium');
    await order.verify();
    const before = await readAllRows(database);
    expect(await get()).toMatchObject({ outcome: 'known' });
    expect(await get(open, false)).toMatchObject({ outcome: 'known' });
    expect(await readAllRows(database)).toEqual(before);
  });
});

describe('an answer of the gateway', () => {
  beforeEach(() => get());

  test('that has a capture fulfils the order, with one mail and no alert', async () => {
    const paid = { status: 'paid', valid_until: inAYear, attempts: 1 };
    expect(await apply(listed(order, { status: 'captured' }))).toMatchObject({ applied: 1, order: paid });
    expect(await customer.tier()).toBe('pro');
    expect(await alertsAbout(database, order.orderId)).toEqual([]);
    expect(await order.capture()).toBe('already');
    expect(await customer.mails()).toEqual([`payment-success/${order.id}`]);
  });

  test.each([[59, []], [60, ['missed_webhook']]])('of a reconciliation %i s later: %j', async (seconds, alerts) => {
    await database.query('truncate billing.marks');
    await later(seconds);
    await applyOrderPayments(database.service, order, listed(order, { status: 'captured' }));
    expect(await alertsAbout(database, order.orderId)).toEqual(alerts);
    await database.query('truncate billing.marks');
  });

  test.each(
    [
      ['authorised after a failed one is open', [['authorized', 2], ['failed', 1]], 'open'],
      ['created before a failed one is failed', [['created', 1], ['failed', 2]], 'failed'],
      ['captured after a failed one is paid', [['failed', 1], ['captured', 2]], 'paid'],
    ] as const,
  )('in which an attempt that is %s', async (_, attempts, status) => {
    const items = attempts.map(([status, at]) => ({ id: uniqueId('pay'), status, created_at: start / 1000 + at }));
    expect(await apply(listed(order, ...items))).toMatchObject({ order: { status, attempts: 2 } });
    expect(await state()).toMatchObject({ status, attempts: 2 });
  });

  test('with an open attempt counts until the reads are used up', async () => {
    const created = { id: uniqueId('pay'), status: 'created', created_at: 2 };
    await apply(listed(order, { status: 'failed', created_at: 1 }, created));
    expect(await state()).toMatchObject({ status: 'open' });
    await database.query('update public.payments set reads = 20');
    expect(await state()).toMatchObject({ status: 'failed' });
  });

  test.each([
    ['no payment', []],
    ['an unknown order', null],
    ['a payment of another amount', [{ id: 'pay_less', status: 'captured', amount: 1, currency: 'INR' }]],
    ['payments of other shapes', [{}, { id: 1, status: 'captured' }, { id: null, status: [] }]],
  ])('that has %s leaves the order open, and plans the next reconciliation as one would', async (_, items) => {
    await later(16 * 60);
    expect(await apply(items)).toMatchObject({ applied: 0, order: { status: 'open', valid_until: null } });
    expect(await customer.tier()).toBe('free');
    expect((await order.row()).next_reconcile_at).toEqual(new Date(start + hour * 1000));
  });
});
