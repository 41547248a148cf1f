import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent, paymentCaptured, refundEvent, seconds } from '../helpers/gateway/events.ts';
import type { PaymentFields, RefundFields } from '../helpers/gateway/events.ts';
import { type Customer, customerOf } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { endAccess } from '../helpers/records/support-actions.ts';
import { months, type Period } from '../helpers/records/time.ts';

// The charge of an unknown plan is about a subscription that does not count yet.
const database = useDatabase({ isEmptied: true, findings: { failed_events: 1 } });
const customer = useCustomer(database);

const [january, february, march] = [months(1), months(2), months(3)];
const planId = 'plan_basic';
const inJanuary = 'basic: basic active to 2026-02-01';
const inFebruary = 'basic: basic active to 2026-03-01';
const inMarch = 'basic: basic active to 2026-04-01';

const activate = (of = customer) => of.event('activated', '01-01', { planId, ...january });
/** Charges a cycle of basic, 99.00 unless stated otherwise. @returns the id of its payment */
async function charge(
  { cycle = january, of = customer, ...fields }: Partial<PaymentFields> & { cycle?: Period; of?: Customer } = {},
): Promise<string> {
  const payment = { id: uniqueId('pay'), amount: 4900, ...fields };
  await of.charge(cycle, 'basic', { payment });
  return payment.id;
}
const refund = (id: string, amount = 4900, which?: RefundFields) => database.send(refundEvent({ id }, amount, which));
const lose = (id: string) => database.send(disputeEvent('lost', 'lost', { id }));
const payments = async (of = customer) => (await database.rpc('get_subscription', of.id)).payments;
const reason = async () => (await database.one('select ended_reason as reason from public.subscriptions')).reason;
const preview = async () => Object((await database.rpc('preview_change', customer.id, 'pro', 'now')).change).credit;

async function reconcile(cycle: Period, fields: Record<string, unknown>): Promise<unknown> {
  const period = { current_start: seconds(cycle.start), current_end: seconds(cycle.end) };
  return await customer.reconcile({ id: customer.gatewayId, plan_id: planId, ...period, ...fields });
}

describe('a charge', () => {
  beforeEach(() => activate());

  test('is a payment of the customer, newest first, as it was charged', async () => {
    const first = await charge();
    const second = await charge({ cycle: february, amount: 1234, currency: 'JPY' });
    expect(await payments()).toMatchObject([{
      gateway_payment_id: second,
      user_id: customer.id,
      amount: 1234,
      currency: 'JPY',
      status: 'captured',
      tier: 'basic',
      gateway_order_id: null,
      gateway_subscription_id: customer.gatewayId,
      fulfilled_at: null,
      period_start: '2026-02-01T00:00:00+00:00',
      period_end: '2026-03-01T00:00:00+00:00',
      refunded_amount: 0,
    }, { gateway_payment_id: first, currency: 'INR' }]);
  });

  test('is no order: no reconciliation, no finding, no source is about it', async () => {
    const id = await charge();
    expect(await database.send(paymentCaptured({ id, amount: 4900 }))).toBe('already');
    await database.at('01-20');
    expect(await database.rpc('claim_payments_to_reconcile')).toEqual({ settled: 0, payments: [] });
    expect(await customer.findings()).toEqual([]);
    expect(await customer.sources()).toEqual(['gateway_subscription basic to 2026-02-01']);
  });

  test('whose payment id another row has does not fail', async () => {
    const other = await database.customer();
    await activate(other);
    const id = await charge();
    const payment = { id, amount: 4900 };
    expect(await other.charge(january, 'basic', { payment })).toBe('applied');
    expect(await payments()).toHaveLength(1);
    expect(await other.tier()).toBe('basic');
    expect(await database.query("select from billing.gateway_events where outcome like 'failed%'")).toEqual([]);
  });

  test('that arrives before its user waits, is refunded, and is adopted when the user signs up', async () => {
    await database.query('delete from auth.users');
    await database.query('delete from billing.deleted_users; delete from billing.gateway_subscriptions');
    await activate();
    const id = await charge();
    await refund(id, 100);
    expect(await database.one('select user_id, tier, refunded_amount from public.payments'))
      .toEqual({ user_id: null, tier: 'basic', refunded_amount: '100' });
    await database.query('insert into auth.users (id, email) values ($1, $2)', [customer.id, customer.email]);
    expect(await payments()).toMatchObject([{ gateway_payment_id: id, refunded_amount: 100 }]);
    expect(await customer.tier()).toBe('basic');
  });

  test('of a plan that exists later gets its tier', async () => {
    const other = customerOf(database, customer);
    expect(await other.charge(january, 'later')).toBe('mismatch');
    expect(await payments()).toMatchObject([{ tier: null, gateway_subscription_id: other.gatewayId }]);
    await database.setPlan('pro', "gateway_plan_id = 'plan_later'");
    await database.query('select billing.settle_waiting_subscriptions()');
    expect(await payments()).toMatchObject([{ tier: 'pro' }]);
  });

  test('in another currency than the plan’s gives no credit, and is shown in its own', async () => {
    const id = await charge({ currency: 'JPY' });
    expect(await customer.findings()).toEqual([`mismatch ${id}`]);
    expect(await preview()).toBe(0);
    expect(await database.one('select lifetime_amounts as amounts from billing.customers'))
      .toEqual({ amounts: { JPY: 4900 } });
  });

  test('that comes twice for a cycle is a finding until one is refunded, and one of them is credited', async () => {
    const first = await charge();
    const second = await charge();
    expect(await customer.findings()).toEqual([`charged_twice ${[first, second].toSorted()[1]}`]);
    expect(await preview()).toBe(4900);
    await refund(first);
    expect(await customer.findings()).toEqual([]);
    expect(await preview()).toBe(4900);
    expect(await customer.state()).toBe(inJanuary);
    await refund(second);
    expect(await customer.tier()).toBe('free');
  });
});

describe('a refund of a charge', () => {
  beforeEach(() => activate());
  const ended = 'free: basic cancelled to';

  test('of the only cycle ends access, and one that fails restores it; partial and pending ones change nothing', async () => {
    const id = await charge();
    await database.at('01-10');
    await refund(id, 100);
    const rest = { id: uniqueId('rfnd') };
    await refund(id, 9800, { ...rest, status: 'pending' });
    expect(await customer.state()).toBe(inJanuary);
    const before = await customer.subscription();
    expect(await refund(id, 9800, rest)).toBe('applied');
    expect(await customer.state()).toMatch(ended);
    expect(await reason()).toBe('refunded');
    expect(await refund(id, 9800, { ...rest, status: 'failed' })).toBe('applied');
    expect([await customer.subscription(), await customer.tier()]).toEqual([before, 'basic']);
  });

  test('of a later cycle ends its access: the subscription ends with the cycle before, and goes on when charged again', async () => {
    await charge();
    const id = await charge({ cycle: february });
    await database.at('02-10');
    expect(await refund(id)).toBe('applied');
    expect(await customer.state()).toBe(`${ended} 2026-02-01`);
    expect(await reason()).toBe('refunded');
    await charge({ cycle: march });
    expect(await customer.state()).toBe(inMarch);
    expect(await customer.subscription()).toMatchObject({ start: '2026-03-01T00:00:00.000Z' });
  });

  test('of a cycle that was charged before its start leaves the running one, which ends with its grace', async () => {
    await charge();
    await customer.event('charged', '01-30', { planId, ...february, payment: { id: 'pay_early', amount: 4900 } });
    await refund('pay_early');
    expect(await customer.state()).toBe(inJanuary);
    await database.expire('2026-02-04T00:00:01Z');
    expect(await customer.state()).toBe(`${ended} 2026-02-01`);
    expect(await reason()).toBe('refunded');
  });

  test('of an earlier cycle does not change the newest', async () => {
    const id = await charge();
    await charge({ cycle: february });
    expect(await refund(id)).toBe('applied');
    expect(await customer.state()).toBe(inFebruary);
  });

  test('that arrives before it is unmatched, and the charge gives no access', async () => {
    await charge();
    await database.at('02-01');
    expect(await refund('pay_late')).toBe('unmatched');
    await charge({ cycle: february, id: 'pay_late' });
    expect(await customer.state()).toBe(`${ended} 2026-02-01`);
  });

  test('that only reconciliation found ends access with the cycle before', async () => {
    await charge();
    await database.at('02-01');
    const read = () => reconcile(february, { status: 'active', paid_count: 2 });
    expect(await read()).toEqual({ applied: true, lacks_payment: true });
    const [billing_start, billing_end] = [seconds(february.start), seconds(february.end)];
    const times = { billing_start, billing_end, paid_at: billing_start };
    const invoices = [
      { id: 'inv_3', payment_id: null, status: 'issued', amount: 4900, currency: 'INR' },
      { id: 'inv_2', payment_id: 'pay_found', status: 'paid', amount: 4900, currency: 'INR', ...times },
    ];
    const apply = () => database.rpc('apply_invoices', customer.gatewayId, JSON.stringify(invoices));
    expect([await apply(), await apply()]).toEqual([{ applied: 1 }, { applied: 0 }]);
    expect(await read()).toEqual({ applied: false, lacks_payment: false });
    expect(await payments()).toMatchObject([{ gateway_payment_id: 'pay_found', amount: 4900 }, {}]);
    expect(await customer.state()).toBe(inFebruary);
    await database.at('02-02');
    expect(await refund('pay_found')).toBe('applied');
    expect(await customer.state()).toBe(`${ended} 2026-02-01`);
    expect(await reason()).toBe('refunded');
  });
});

test('the invoice of a cycle before the plan changed at the gateway is a payment for the plan of that cycle', async () => {
  await activate();
  await customer.event('updated', '02-01', { planId: 'plan_pro', ...february });
  await customer.charge(february, 'pro', { fields: { paid_count: 2 } });
  const invoice = {
    status: 'paid',
    currency: 'INR',
    payment_id: 'pay_january',
    amount: 4900,
    paid_at: seconds(january.start),
  };
  const times = { billing_start: seconds(january.start), billing_end: seconds(january.end) };
  const found = await database.rpc('apply_invoices', customer.gatewayId, JSON.stringify([{ ...invoice, ...times }]));
  expect(found).toEqual({ applied: 1 });
  expect(await payments()).toMatchObject([{ tier: 'pro', amount: 99900 }, { tier: 'basic', amount: 4900 }]);
  expect(await customer.state()).toBe('pro: pro active to 2026-03-01');
});

describe('a lost dispute', () => {
  /** Pays for January, as a charge or a purchase. @returns the payment's id at the gateway and the subject of its finding */
  async function pay(kind: string): Promise<[string, string]> {
    if (kind === 'purchase') {
      const { id, paymentId, capture } = await customer.buy('basic', { at: '01-01' });
      await capture();
      return [paymentId, id];
    }
    await activate();
    const id = await charge();
    return [id, id];
  }
  const upgrade = async (tier: string) => {
    const order = await customer.buy(tier, { start: 'now' });
    await order.capture();
    return order;
  };

  test.each(['charge', 'purchase'])('of a %s before a purchase leaves no credit', async (kind) => {
    const [id] = await pay(kind);
    expect(await lose(id)).toBe('applied');
    await database.at('01-10');
    expect((await upgrade('pro')).answer.credit).toBe(0);
    expect((await customer.order('premium', { start: 'now' })).answer.credit).toBeGreaterThan(0);
  });

  test.each(['charge', 'purchase'])('of a credited %s is a finding while a purchase lives on it', async (kind) => {
    const [lost, subject] = await pay(kind);
    await database.at('01-10');
    const pro = await upgrade('pro');
    expect(pro.answer.credit).toBeGreaterThan(0);
    await lose(lost);
    const both = [`dispute_lost ${subject}`, `unearned_credit ${pro.id}`];
    expect(await customer.findings()).toEqual(both);
    if (kind === 'purchase') {
      await endAccess(database, lost);
      expect(await customer.findings()).toEqual(both);
    }
    // A purchase on top of the purchase lives on the lost money, too.
    const premium = await upgrade('premium');
    await database.query('update public.payments set period_end = billing.clock() where id = $1', [pro.id]);
    expect(await customer.findings()).toEqual(expect.arrayContaining(both));
    for (const order of [premium, pro]) await order.refund();
    expect(await customer.findings()).not.toContain(both[1]);
  });
});

test('a renewal that was the last one is mailed without a next payment, whatever charge_at says', async () => {
  await database.at('01-01');
  const made = await database.rpc('create_subscription', customer.id, 'pro', null);
  await database.rpc('store_subscription', made.id, customer.gatewayId, 'https://gateway.example/s/1');
  const fields = (count: number, at: string) => ({
    paid_count: count,
    remaining_count: 3 - count,
    charge_at: seconds(at),
  });
  await customer.charge(january, 'pro', { fields: fields(1, january.end) });
  await customer.charge(february, 'pro', { fields: fields(2, february.end) });
  await customer.charge(march, 'pro', { fields: fields(3, march.start) });
  const mails = await database.query(
    "select o.payload ->> 'next_charge_at' as at from billing.outbox o where o.kind = 'subscription-renewed' order by o.id",
  );
  expect(mails).toEqual([{ at: new Date(february.end).toISOString() }, { at: null }]);
});
