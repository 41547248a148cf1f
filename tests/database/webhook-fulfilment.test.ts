import { describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, paymentFailed, type PaymentFields } from '../helpers/gateway/events.ts';
import {
  extraPayments,
  mailsTo,
  paymentOf,
  placeOrder,
  type Purchase,
  readPurchase,
  verifyPurchase,
} from '../helpers/records/purchases.ts';
import { readLedger, readOutbox, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

// Captures of another amount or currency, orders that are paid twice, and a renewal that replaces.
const database = useDatabase({ findings: { failed_events: 9, paid_twice: 4 } });

const verify = (order: Purchase) => verifyPurchase(database.service, order);
const receiptOf = ({ id }: { id: string }) => id.replaceAll('-', '');
const ledger = async (body: string) => (await readLedger(database, sha256(body))).outcome;
/** An order whose id at the gateway is not stored yet. */
async function orderWithoutId(): Promise<Purchase> {
  const order = await placeOrder(database);
  await database.query('update public.payments set gateway_order_id = null where id = $1', [order.id]);
  return order;
}

describe.each([
  ['payment.captured', paymentCaptured],
  ['order.paid', (money: PaymentFields) => orderPaid(money, { id: String(money.order_id) })],
])('%s', (_, event) => {
  test('alone fulfils as a verify does: subscription, tier, mail; a later verify changes nothing', async () => {
    const order = await placeOrder(database);
    expect(await database.send(event(paymentOf(order)))).toBe('applied');
    const paid = { status: 'captured', tier: 'pro', gateway_payment_id: order.paymentId, gateway_signature: null };
    const times = { confirmed_at: expect.any(Date), fulfilled_at: expect.any(Date) };
    expect(await readPayment(database, order.id)).toMatchObject({ ...paid, ...times });
    const valid_until = (await readSubscription(database, order.user.id))?.end;
    const payload = { amount: 99900, plan_name: 'Pro', transaction_id: order.paymentId, valid_until };
    expect(await readOutbox(database, 'email', order.user.email))
      .toMatchObject([{ key: `payment-success/${order.id}`, payload }]);
    const before = await readPurchase(database, order);
    expect(before).toMatchObject({ subscription: { tier: 'pro', status: 'active' }, tier: 'pro' });
    expect(await verify(order)).toEqual({ outcome: 'already_applied', tier: 'pro', valid_until });
    expect(await readPurchase(database, order)).toEqual(before);
    expect(await extraPayments(database, order)).toEqual([]);
  });

  test('after verify confirms the payment; neither it nor another payment on the order grants anything again', async () => {
    const order = await placeOrder(database);
    const { valid_until } = await verify(order);
    const before = await readPurchase(database, order);
    expect(await database.send(event(paymentOf(order)))).toBe('applied');
    expect(await readPurchase(database, order)).toEqual(before);
    const confirmed = await readPayment(database, order.id);
    expect(confirmed).toMatchObject({ confirmed_at: expect.any(Date) });
    const other = { id: uniqueId('pay'), order_id: order.orderId };
    for (let time = 0; time < 2; time++) expect(await database.send(event(other))).toBe('already');
    expect(await readPurchase(database, order)).toEqual(before);
    expect(await readPayment(database, order.id)).toEqual(confirmed);
    expect(await extraPayments(database, order)).toEqual([other.id]);
    expect(await readSubscription(database, order.user.id)).toMatchObject({ end: valid_until });
  });

  test('is never matched by the notes of the payment', async () => {
    const order = await placeOrder(database);
    const notes = { user_id: order.user.id, order_id: order.orderId, receipt: receiptOf(order) };
    const body = event({ id: uniqueId('pay'), order_id: uniqueId('order'), receipt: notes.receipt, notes });
    expect(await database.send(body)).toBe('unmatched');
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
    const order = await placeOrder(database);
    const before = await readPayment(database, order.id);
    expect(await database.send(event({ ...paymentOf(order), ...fields }))).toBe(outcome);
    expect(await readTier(database, order.user.id)).toBe(outcome === 'applied' ? 'pro' : 'free');
    if (outcome !== 'applied') expect(await readPayment(database, order.id)).toEqual(before);
  });
});

describe('payment.captured', () => {
  test.each([['the same payment id', true], ['another payment id', false]])(
    'after a failed attempt with %s fulfils, with a mail for each event; a further failure changes nothing',
    async (_, isSame) => {
      const order = await placeOrder(database, { tier: 'premium' });
      const failed = paymentFailed({ ...paymentOf(order), ...(!isSame && { id: 'pay_other' }) });
      expect(await database.send(failed)).toBe('applied');
      expect(await database.send(paymentCaptured(paymentOf(order)))).toBe('applied');
      const purchase = await readPurchase(database, order);
      const mails = [`payment-failed/${isSame ? order.paymentId : 'pay_other'}`, `payment-success/${order.id}`];
      const access = { isFulfilled: true, subscription: { tier: 'premium', status: 'active' }, tier: 'premium' };
      expect(purchase).toEqual({ status: 'captured', paymentId: order.paymentId, ...access, mails });
      expect(await database.send(orderPaid(paymentOf(order), { id: order.orderId }))).toBe('already');
      await verify(order);
      expect(await database.send(paymentFailed({ ...paymentOf(order), ...(!isSame && { id: uniqueId('pay') }) })))
        .toBe('stale');
      expect(await readPurchase(database, order)).toEqual(purchase);
    },
  );

  test('fulfils an order whose plan was missing, instead of the first payment, which is only verified', async () => {
    const tier = uniqueId('team');
    const order = await placeOrder(database, { tier });
    expect(await verify(order)).toMatchObject({ outcome: 'plan_not_found' });
    await database.query("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", [tier]);
    const other = uniqueId('pay');
    expect(await database.send(paymentCaptured({ id: other, order_id: order.orderId }))).toBe('applied');
    const times = { confirmed_at: expect.any(Date), fulfilled_at: expect.any(Date) };
    expect(await readPayment(database, order.id)).toMatchObject({ gateway_payment_id: other, ...times });
    expect(await extraPayments(database, order)).toEqual([order.paymentId]);
  });
});

describe('order.paid with a receipt', () => {
  test('fulfils before the id of the order is stored, stores it, and settles the events that came before it', async () => {
    const order = await orderWithoutId();
    const money = paymentOf(order);
    const [late, attempt] = [paymentCaptured(money), paymentFailed({ ...money, id: uniqueId('pay') })];
    for (const body of [attempt, late]) expect(await database.send(body)).toBe('unmatched');
    expect(await database.send(orderPaid(money, { id: order.orderId, receipt: receiptOf(order) }))).toBe('applied');
    expect([await ledger(late), await ledger(attempt)]).toEqual(['already', 'stale']);
    expect(await readPayment(database, order.id))
      .toMatchObject({ gateway_order_id: order.orderId, fulfilled_at: expect.any(Date) });
    expect(await readPurchase(database, order)).toMatchObject({ tier: 'pro', mails: [`payment-success/${order.id}`] });
  });

  test.each(['', 'x'.repeat(32), null])(
    '%j matches no payment, nor does that of a payment with another order',
    async (receipt) => {
      const order = await placeOrder(database);
      for (const other of [receipt, receiptOf(order)]) {
        const paid = orderPaid({ id: uniqueId('pay') }, { id: uniqueId('order'), receipt: other });
        expect(await database.send(paid)).toBe('unmatched');
      }
      expect(await readTier(database, order.user.id)).toBe('free');
    },
  );
});

describe('events that arrive before their order', () => {
  const newMoney = () => ({ id: uniqueId('pay'), order_id: uniqueId('order') });
  async function early(...bodies: string[]): Promise<void> {
    for (const body of bodies) expect(await database.send(body)).toBe('unmatched');
  }

  test.each(['failed, captured', 'captured, failed'])(
    '%s are applied when the app inserts the order',
    async (names) => {
      const [user, money] = [await createUser(database), newMoney()];
      const bodies = names.split(', ').map((name) =>
        name === 'captured' ? paymentCaptured(money) : paymentFailed({ ...money, id: 'pay_other' })
      );
      await early(...bodies);
      const { rows: [{ id }] } = await database.service.query(
        `insert into public.payments (user_id, amount, gateway_order_id, meta)
       values ($1, 99900, $2, '{"tier": "pro"}') returning id`,
        [user.id, money.order_id],
      );
      const fulfilled = { gateway_payment_id: money.id, fulfilled_at: expect.any(Date) };
      expect(await readPayment(database, id)).toMatchObject({ status: 'captured', tier: 'pro', ...fulfilled });
      expect(await readTier(database, user.id)).toBe('pro');
      expect((await mailsTo(database, user)).filter((key) => key === `payment-success/${id}`)).toHaveLength(1);
      for (const body of bodies) expect(await ledger(body)).toMatch(/^(applied|stale)$/);
    },
  );

  test('are applied when the order id is written to a payment', async () => {
    const order = await orderWithoutId();
    await early(paymentFailed(paymentOf(order)), paymentCaptured(paymentOf(order)));
    await database.query('update public.payments set gateway_order_id = $2 where id = $1', [order.id, order.orderId]);
    expect(await readPurchase(database, order)).toMatchObject({ isFulfilled: true, tier: 'pro' });
  });

  test('of another amount become a mismatch: the insert succeeds and grants nothing', async () => {
    const [user, money] = [await createUser(database), newMoney()];
    const body = paymentCaptured({ ...money, amount: 1 });
    await early(body);
    const { id } = await createPayment(database, { userId: user.id, orderId: money.order_id });
    expect(await readPayment(database, id)).toMatchObject({ status: 'created' });
    expect(await ledger(body)).toBe('mismatch');
  });

  test.each([['replace', 'extend'], ['extend', 'replace']])(
    'under %s are applied by store_order, once, under the later setting %s',
    async (arrived, applied) => {
      const first = await placeOrder(database);
      await verify(first);
      const { payment_id } = await database.rpc('create_order', first.user.id, 'pro');
      const [id, money] = [String(payment_id), newMoney()];
      await database.set(`early_renewal = '${arrived}'`);
      await early(paymentCaptured(money));
      await database.set(`early_renewal = '${applied}'`);
      for (let time = 0; time < 2; time++) {
        expect(await database.rpc('store_order', id, money.order_id)).toEqual({ outcome: 'stored' });
      }
      const [running, renewal] = [await readPayment(database, first.id), await readPayment(database, id)];
      expect(renewal).toMatchObject({ status: 'captured', gateway_payment_id: money.id });
      expect(renewal.period_start).toEqual(applied === 'extend' ? running.period_end : renewal.fulfilled_at);
      expect(await mailsTo(database, first.user)).toEqual([`payment-success/${first.id}`, `payment-success/${id}`]);
    },
  );
});
