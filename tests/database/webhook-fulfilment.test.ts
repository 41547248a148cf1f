import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, paymentFailed, type PaymentFields } from '../helpers/gateway/events.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { extraPayments, paymentOf, placeOrder, readPurchase } from '../helpers/records/purchases.ts';
import { readLedger, readOutbox, readPayment } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// Captures of another amount or currency.
const database = useDatabase({ isEmptied: true, findings: { failed_events: 9 } });
const customer = useCustomer(database);
let order: CustomerOrder;
beforeEach(async () => {
  order = await customer.order('pro');
});

const receiptOf = ({ id }: { id: string }) => id.replaceAll('-', '');
const ledger = async (body: string) => (await readLedger(database, sha256(body))).outcome;
const storeId = (id: string | null) =>
  database.query('update public.payments set gateway_order_id = $2 where id = $1', [order.id, id]);
const newMoney = () => ({ id: uniqueId('pay'), order_id: uniqueId('order') });
const [confirmed_at, fulfilled_at] = [expect.any(Date), expect.any(Date)];

describe.each([
  ['payment.captured', paymentCaptured],
  ['order.paid', (money: PaymentFields) => orderPaid(money, { id: String(money.order_id) })],
])('%s', (_, event) => {
  const send = (fields = {}) => database.send(event({ ...paymentOf(order), ...fields }));

  test('alone fulfils as a verify does: subscription, tier, mail; a later verify changes nothing', async () => {
    expect(await send()).toBe('applied');
    const paid = { status: 'captured', tier: 'pro', gateway_payment_id: order.paymentId, gateway_signature: null };
    expect(await order.row()).toMatchObject({ ...paid, confirmed_at, fulfilled_at });
    const valid_until = (await customer.subscription())?.end;
    const payload = { amount: 99900, plan_name: 'Pro', transaction_id: order.paymentId, valid_until };
    expect(await readOutbox(database, 'email', customer.email))
      .toMatchObject([{ key: `payment-success/${order.id}`, payload }]);
    const before = await readPurchase(database, order);
    expect(before).toMatchObject({ subscription: { tier: 'pro', status: 'active' }, tier: 'pro' });
    expect(await order.verify()).toEqual({ outcome: 'already_applied', tier: 'pro', valid_until });
    expect(await readPurchase(database, order)).toEqual(before);
    expect(await extraPayments(database, order)).toEqual([]);
  });

  test('after verify confirms the payment; neither it nor another payment on the order grants anything again', async () => {
    await order.verify();
    const before = await readPurchase(database, order);
    const period = await order.period();
    expect(await send()).toBe('applied');
    const confirmed = await order.row();
    expect(confirmed).toMatchObject({ confirmed_at });
    const id = uniqueId('pay');
    for (let time = 0; time < 2; time++) expect(await send({ id })).toBe('already');
    expect([await readPurchase(database, order), await order.row()]).toEqual([before, confirmed]);
    expect([await order.period(), await extraPayments(database, order)]).toEqual([period, [id]]);
  });

  test('is never matched by the notes of the payment', async () => {
    const notes = { user_id: customer.id, order_id: order.orderId, receipt: receiptOf(order) };
    expect(await send({ ...newMoney(), receipt: notes.receipt, notes })).toBe('unmatched');
    expect(await readPurchase(database, order)).toMatchObject({ status: 'created', tier: 'free' });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['no captured', { captured: undefined }, 'applied'],
    ['no currency and no status', { currency: undefined, status: undefined }, 'applied'],
    ['null as currency and status', { currency: null, status: null }, 'applied'],
    ['one unit less', { amount: 99899 }, 'mismatch'],
    ['one unit more', { amount: 99901 }, 'mismatch'],
    ['another currency', { currency: 'USD' }, 'mismatch'],
    ['a payment only authorised', { status: 'authorized' }, 'mismatch'],
    ['no amount', { amount: undefined }, 'unmatched'],
    ['an amount as text', { amount: '99900' }, 'unmatched'],
    ['an amount with a fraction', { amount: 99900.5 }, 'unmatched'],
  ])('with %s, %j, is %s', async (_, fields, outcome) => {
    const before = await order.row();
    expect(await send(fields)).toBe(outcome);
    expect(await customer.tier()).toBe(outcome === 'applied' ? 'pro' : 'free');
    // After a mismatch the order is read at once.
    const due = outcome === 'mismatch' ? { next_reconcile_at: expect.any(Date) } : {};
    if (outcome !== 'applied') expect(await order.row()).toEqual({ ...before, ...due });
  });
});

test('payment.captured fulfils an order whose plan was missing, instead of the first payment, which is only verified', async () => {
  const team = await placeOrder(database, { user: customer, tier: 'team' });
  const { orderId, paymentId } = team;
  const verified = await database.rpc('verify_payment', customer.id, orderId, paymentId, 'signature');
  expect(verified).toMatchObject({ outcome: 'plan_not_found' });
  await database.query("insert into public.plans (tier, name, price) values ('team', 'Team', 99900)");
  const id = uniqueId('pay');
  expect(await database.send(paymentCaptured({ id, order_id: orderId }))).toBe('applied');
  expect(await readPayment(database, team.id)).toMatchObject({ gateway_payment_id: id, confirmed_at, fulfilled_at });
  expect(await extraPayments(database, team)).toEqual([paymentId]);
});

describe('order.paid with a receipt', () => {
  test('fulfils before the id of the order is stored, stores it, and settles the events that came before it', async () => {
    await storeId(null);
    const money = paymentOf(order);
    const [late, attempt] = [paymentCaptured(money), paymentFailed({ ...money, id: uniqueId('pay') })];
    for (const body of [attempt, late]) expect(await database.send(body)).toBe('unmatched');
    expect(await database.send(orderPaid(money, { id: order.orderId, receipt: receiptOf(order) }))).toBe('applied');
    expect([await ledger(late), await ledger(attempt)]).toEqual(['already', 'stale']);
    expect(await order.row()).toMatchObject({ gateway_order_id: order.orderId, fulfilled_at });
    expect(await readPurchase(database, order)).toMatchObject({ tier: 'pro', mails: [`payment-success/${order.id}`] });
  });

  test.each(['', 'x'.repeat(32), null])('%j matches no payment, nor does that of another order', async (receipt) => {
    for (const other of [receipt, receiptOf(order)]) {
      const paid = orderPaid({ id: uniqueId('pay') }, { id: uniqueId('order'), receipt: other });
      expect(await database.send(paid)).toBe('unmatched');
    }
    expect(await customer.tier()).toBe('free');
  });
});

describe('events that arrive before their order', () => {
  async function early(...bodies: string[]): Promise<void> {
    for (const body of bodies) expect(await database.send(body)).toBe('unmatched');
  }

  test('are applied when the order id is written to a payment', async () => {
    await storeId(null);
    await early(paymentFailed(paymentOf(order)), paymentCaptured(paymentOf(order)));
    await storeId(order.orderId);
    expect(await readPurchase(database, order)).toMatchObject({ isFulfilled: true, tier: 'pro' });
  });

  test('of another amount become a mismatch: the insert succeeds and grants nothing', async () => {
    const money = newMoney();
    const body = paymentCaptured({ ...money, amount: 1 });
    await early(body);
    const { id } = await createPayment(database, { userId: customer.id, orderId: money.order_id });
    expect(await readPayment(database, id)).toMatchObject({ status: 'created' });
    expect(await ledger(body)).toBe('mismatch');
  });

  test.each([['replace', 'extend'], ['extend', 'replace']])(
    'under %s are applied by store_order, once, under the later setting %s',
    async (arrived, applied) => {
      await order.verify();
      const { payment_id } = await database.rpc('create_order', customer.id, 'pro');
      const [id, money] = [String(payment_id), newMoney()];
      await database.set(`early_renewal = '${arrived}'`);
      await early(paymentCaptured(money));
      await database.set(`early_renewal = '${applied}'`);
      for (let time = 0; time < 2; time++) {
        expect(await database.rpc('store_order', id, money.order_id)).toEqual({ outcome: 'stored' });
      }
      const [running, renewal] = [await order.row(), await readPayment(database, id)];
      expect(renewal).toMatchObject({ status: 'captured', gateway_payment_id: money.id });
      expect(renewal.period_start).toEqual(applied === 'extend' ? running.period_end : renewal.fulfilled_at);
      expect(await customer.mails()).toEqual([`payment-success/${order.id}`, `payment-success/${id}`]);
    },
  );
});
