import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { type Fields, orderPaid, paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { applyOrderPayments } from '../helpers/gateway/reconciliation.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { actAsOwner } from '../helpers/records/support-actions.ts';

// What was paid may differ from what was sold: the customer bears the gateway's fee, or has an offer.
const database = useDatabase({ isEmptied: true, findings: { failed_events: 'any', captured_not_fulfilled: 'any' } });
const customer = useCustomer(database);
const sold = 99900;
const entity = ({ orderId, paymentId }: CustomerOrder, amount: number) => ({
  ...{ id: paymentId, order_id: orderId, amount, currency: 'INR', status: 'captured' },
});
const orderOf = ({ orderId }: CustomerOrder, fields: Fields = {}) => ({
  ...{ id: orderId, amount: sold, amount_paid: sold, currency: 'INR', status: 'paid', ...fields },
});
const stored = () => database.one('select amount::int, paid_amount::int, refunded_amount::int from public.payments');

test.each([['the fee on top', 102258], ['an offer', 89910]])(
  'an order that the gateway calls paid is fulfilled, with %s: %i, whichever event comes first',
  async (_name, paid) => {
    const order = await customer.order('pro', { at: '01-01' });
    expect(await database.send(paymentCaptured(entity(order, paid)))).toBe('mismatch');
    const due = await database.one('select next_reconcile_at <= billing.clock() as due from public.payments');
    expect([await customer.tier(), due]).toEqual(['free', { due: true }]);
    expect(await database.send(orderPaid(entity(order, paid), orderOf(order)))).toBe('applied');
    expect(await customer.tier()).toBe('pro');
    expect(await stored()).toEqual({ amount: sold, paid_amount: paid, refunded_amount: 0 });
    expect(await customer.findings()).toEqual([]);
  },
);

test('an order that is read as paid is fulfilled, and not before', async () => {
  const order = await customer.order('pro', { at: '01-01' });
  const read = (fields: Fields) =>
    applyOrderPayments(database.service, order, [{ ...entity(order, 102258), order: orderOf(order, fields) }]);
  expect(await read({ status: 'attempted', amount_paid: 0 })).toMatchObject({ applied: 0 });
  expect(await customer.tier()).toBe('free');
  expect(await read({})).toMatchObject({ applied: 1 });
  expect(await customer.tier()).toBe('pro');
});

describe('the mail after a verification', () => {
  const mails = () =>
    database.query(
      `select payload -> 'amount' as amount, extract(epoch from next_attempt_at - billing.clock())::int as "waits"
       from billing.outbox where kind = 'payment-success' order by id`,
    );
  const capture = (order: CustomerOrder) => database.send(orderPaid(entity(order, 89910), orderOf(order)));
  const buy = async (of = customer) => {
    const order = await of.order('pro', { at: '01-01' });
    await order.verify();
    return order;
  };

  test('is due at once, and names the amount that is paid if that is known before it is sent', async () => {
    const order = await buy();
    expect(await mails()).toEqual([{ amount: sold, waits: 0 }]);
    await capture(order);
    expect(await mails()).toEqual([{ amount: 89910, waits: 0 }]);
  });

  test('waits a minute for it where the last payments had another amount than their orders', async () => {
    await capture(await buy());
    const order = await buy(await database.customer());
    expect((await mails())[1]).toEqual({ amount: sold, waits: 60 });
    await capture(order);
    expect((await mails())[1]).toEqual({ amount: 89910, waits: 0 });
  });

  test('is not changed once it was claimed', async () => {
    const order = await buy();
    await database.rpc('claim_outbox', 'email');
    const [claimed] = await mails();
    await capture(order);
    expect((await mails())[0]).toEqual({ ...claimed, amount: sold });
  });
});

test.each<[string, Fields]>([
  ['of another amount', { amount: 4900, amount_paid: 4900 }],
  ['that is not paid', { status: 'attempted' }],
  ['of another currency', { currency: 'USD' }],
  ['with another id', { id: 'order_of_another' }],
])('an order %s grants nothing', async (_name, fields) => {
  const order = await customer.order('pro', { at: '01-01' });
  const outcome = await database.send(orderPaid(entity(order, 102258), orderOf(order, fields)));
  expect(outcome).toBe('mismatch');
  expect(await customer.tier()).toBe('free');
});

test.each([[[50000]], [[20000, 30000]]])(
  'refunds %j that came before it was known what was paid end the purchase with its capture, and mail it',
  async (parts) => {
    const order = await customer.order('pro', { at: '01-01' });
    await order.verify();
    for (const part of parts) await database.send(refundEvent({ ...entity(order, 50000), amount: undefined }, part));
    expect([await customer.tier(), await stored()]).toEqual(['pro', {
      amount: sold,
      paid_amount: null,
      refunded_amount: 50000,
    }]);
    await database.send(paymentCaptured(entity(order, 50000)));
    expect([await customer.tier(), (await customer.row()).ended_reason]).toEqual(['free', 'refunded']);
    const mails = await database.query(
      "select payload ->> 'to' as to from billing.outbox where kind = 'subscription-ended'",
    );
    expect(mails).toEqual([{ to: customer.email }]);
  },
);

test.each(['before', 'after'])(
  'a purchase with an offer ends when all that was paid is refunded, %s its capture',
  async (when) => {
    const order = await customer.order('pro', { at: '01-01' });
    await order.verify();
    const payment = entity(order, 50000);
    if (when === 'after') await database.send(paymentCaptured(payment));
    await database.send(refundEvent(payment, 20000));
    expect(await customer.tier()).toBe('pro');
    await database.send(refundEvent(payment, 30000));
    if (when === 'before') await database.send(paymentCaptured(payment));
    expect([await customer.tier(), (await customer.row()).ended_reason]).toEqual(['free', 'refunded']);
    expect(await stored()).toEqual({ amount: sold, paid_amount: 50000, refunded_amount: 50000 });
  },
);

describe.each([['the fee on top', 102258], ['an offer', 89910]])(
  'a second payment on an order, with %s: %i',
  (_, paid) => {
    let one: CustomerOrder;
    let two: CustomerOrder;
    beforeEach(async () => {
      one = await customer.order('pro', { at: '01-01' });
      two = customer.again(one);
      for (const each of [one, two]) await database.send(orderPaid(entity(each, paid), orderOf(one)));
    });
    const refund = (order: CustomerOrder, amount: number) =>
      database.send(refundEvent({ id: order.paymentId, amount: paid }, amount));

    test('is refunded with what was paid', async () => {
      expect(Number((await actAsOwner(database, { action: 'refund', reference: two.paymentId })).amount)).toBe(paid);
    });

    test('is a finding until all of it is refunded; access ends when both are', async () => {
      await refund(two, paid - 1);
      expect(await customer.findings()).toEqual([`paid_twice ${two.paymentId}`]);
      await refund(two, 1);
      expect([await customer.findings(), await customer.tier()]).toEqual([[], 'pro']);
      await refund(one, paid);
      expect([await customer.findings(), await customer.tier()]).toEqual([[], 'free']);
    });
  },
);
