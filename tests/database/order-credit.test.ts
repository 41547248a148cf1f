import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent, seconds } from '../helpers/gateway/events.ts';
import { applyOrderPayments } from '../helpers/gateway/reconciliation.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { actAsOwner, endAccess, grantTier } from '../helpers/records/support-actions.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

const now = { start: 'now' } as const;

// Basic runs from 1 January to 1 February for 49.00. On 11 January, 21 of its 31 days are left: 33.19.
const unused = 3319;
const rest = 199900 - unused;

type Status = 'pending' | 'processed';
async function bought() {
  const { id, paymentId, refund: refunded } = await customer.buy('basic', { at: '01-01' });
  const refund = (amount = 4900, status: Status = 'processed') => refunded(amount, { status });
  return { kind: 'payment', id, paymentId, refund };
}
async function billed() {
  const payment = { id: uniqueId('pay'), amount: 4900 };
  const cycle = { planId: 'plan_basic', ...months(1) };
  await customer.event('activated', '01-01', cycle);
  await customer.event('charged', '01-01', { ...cycle, payment });
  const refund = (amount = 4900, status: Status = 'processed') =>
    database.send(refundEvent(payment, amount, { status }));
  return { kind: 'gateway_subscription', id: customer.gatewayId, paymentId: payment.id, refund, payment };
}
const orderDearer = (tier = 'premium'): Promise<CustomerOrder> => customer.order(tier, { at: '01-11', ...now });
const buyDearer = (): Promise<CustomerOrder> => customer.buy('premium', { at: '01-11', ...now });

const replaced = async () => (await customer.sources())[0]?.endsWith('basic to 2026-02-01 replaced');
const reasons = async () =>
  (await database.query("select detail ->> 'reason' as r from billing.findings where finding = 'unearned_credit'"))
    .map(({ r }) => r);

describe.each([['a purchase', bought], ['a billed cycle', billed]])('with %s', (_, start) => {
  test.each(['verify', 'capture'] as const)('a dearer order gets a credit; paid by %s it rules', async (way) => {
    const { kind, id } = await start();
    const premium = await orderDearer();
    const [starts_at, until] = ['2026-01-11T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];
    expect(premium.answer).toMatchObject({ outcome: 'created', amount: rest, credit: unused, starts_at });
    expect(premium.answer).toMatchObject({ ends_at: '2027-01-11T00:00:00.000Z', running: { tier: 'basic', until } });
    const credited = {
      credited_kind: kind,
      credited_id: id,
      credited_amount: '4900',
      credited_until: new Date(until),
    };
    expect(await premium.row()).toMatchObject({ starts: 'now', amount: `${rest}`, credit: `${unused}`, ...credited });
    expect(await customer.sources()).toEqual([`${kind} basic to 2026-02-01`]);

    await premium[way]();
    const both = [`${kind} basic to 2026-02-01 replaced`, 'payment premium to 2027-01-11'];
    expect(await customer.sources()).toEqual(both);
    expect(await customer.state()).toBe('premium: premium active to 2027-01-11');
    expect(await customer.findings()).toEqual([]);
  });

  test('the period is not what ended last, also where the gateway says later that it ended', async () => {
    const { kind, id } = await start();
    const premium = await buyDearer();
    await database.at('01-20');
    await endAccess(database, premium.paymentId);
    const ended = 'free: premium cancelled to 2027-01-11';
    expect(await customer.state()).toBe(ended);
    if (kind === 'gateway_subscription') {
      await customer.event('cancelled', '02-01', { planId: 'plan_basic', fields: { id } });
    }
    expect(await customer.stateAt('02-02')).toBe(ended);
  });

  test('a refund of the order gives the period back before its end, and one that fails takes it away', async () => {
    await start();
    const premium = await buyDearer();
    const id = uniqueId('rfnd');
    await database.at('01-20');
    await premium.refund(rest, { id });
    expect(await customer.state()).toBe('basic: basic active to 2026-02-01');
    await premium.refund(rest, { id, status: 'failed' });
    expect(await customer.state()).toBe('premium: premium active to 2027-01-11');
    expect(await customer.mails()).not.toContainEqual(expect.stringContaining('subscription-ended'));
  });

  test('a refund of the order does not give it back after the user cancelled at once', async () => {
    await start();
    const premium = await buyDearer();
    await database.at('01-12');
    expect(await customer.cancel('at once')).toMatchObject({ outcome: 'cancelled' });
    await premium.refund();
    expect(await customer.state()).toMatch(/^free: .* cancelled/);
  });

  test('the credit is for what was paid: a partial refund is subtracted, a full one leaves none', async () => {
    const { refund } = await start();
    await refund(3700);
    expect((await orderDearer()).answer.credit).toBe(Math.floor((1200 * 21) / 31));
    await refund(1200);
    expect((await orderDearer()).answer.credit).toBe(0);
  });

  test.each(['asked for', 'pending'] as const)('a refund of it that is %s leaves no credit', async (state) => {
    const { paymentId, refund } = await start();
    if (state === 'pending') await refund(4900, 'pending');
    else await actAsOwner(database, { action: 'refund', reference: paymentId });
    expect((await orderDearer()).answer.credit).toBe(0);
  });

  test('the second of two orders with the same credit is fulfilled, and a finding until it is refunded', async () => {
    await start();
    const [first, second] = [await orderDearer(), await orderDearer('pro')];
    expect(second.answer).toMatchObject({ credit: unused });
    for (const paid of [first, second]) expect(await paid.verify()).toMatchObject({ outcome: 'applied' });
    expect(await customer.findings()).toEqual([`unearned_credit ${second.id}`]);
    const { detail } = await database.one("select detail from billing.findings where finding = 'unearned_credit'");
    expect(detail).toMatchObject({ gateway_payment_id: second.paymentId, amount: expect.any(Number), currency: 'INR' });
    expect(await reasons()).toEqual(['another payment has the same credit']);
    await second.refund();
    expect(await customer.findings()).toEqual([]);
    expect(await replaced()).toBe(true);
  });

  test('it is a finding if a part of the credited payment is refunded later', async () => {
    const { refund } = await start();
    const premium = await orderDearer();
    await refund(100);
    expect(await customer.findings()).toEqual([]);
    expect(await premium.verify()).toMatchObject({ outcome: 'applied', tier: 'premium' });
    expect(await customer.state()).toBe('premium: premium active to 2027-01-11');
    expect(await reasons()).toEqual(['the credited payment was refunded or lost']);
    await database.at('2027-01-11T00:00:01Z');
    expect(await customer.findings()).toEqual([]);
  });
});

test('an order stops the billed cycle at its end, and a charge that is announced again changes nothing', async () => {
  const { payment } = await billed();
  await buyDearer();
  await customer.event('charged', '01-12', { planId: 'plan_basic', ...months(1), createdAt: day('01-01'), payment });
  expect(await customer.subscription()).toMatchObject({ tier: 'premium', gateway_subscription_id: null });
  expect(await customer.cancellation()).toEqual({ at: 'cycle end', state: 'pending' });
  expect(await replaced()).toBe(true);
});

describe('with a purchase', () => {
  beforeEach(async () => void await bought());

  test('a refund of the order in part leaves the period replaced; in full after its end, it ends the access', async () => {
    const premium = await buyDearer();
    await premium.refund(1000);
    expect(await customer.tier()).toBe('premium');
    expect(await replaced()).toBe(true);
    await database.at('03-01');
    await premium.refund(rest - 1000);
    expect(await customer.state()).toBe('free: premium cancelled to 2027-01-11');
    expect(await customer.mails()).toContainEqual(expect.stringContaining('subscription-ended'));
  });

  test('an order that is never captured gives the period back', async () => {
    const premium = await buyDearer();
    await database.at('01-17');
    expect(await applyOrderPayments(database.service, premium, null)).toMatchObject({ ended: true });
    expect(await customer.state()).toBe('basic: basic active to 2026-02-01');
  });

  const late = 'paid more than a day after the order';
  test.each([['01-12', []], ['01-13', [late]]])('an order keeps its credit, paid on %s: %j', async (time, found) => {
    const premium = await orderDearer();
    await database.at(time);
    expect(await premium.capture()).toBe('applied');
    expect(await customer.state()).toBe(`premium: premium active to 2027-${time}`);
    expect(await customer.findings()).toEqual(found.map(() => `unearned_credit ${premium.id}`));
    expect(await reasons()).toEqual(found);
  });

  test('the price without the credit is a mismatch', async () => {
    expect(await (await orderDearer()).capture({ amount: 199900 })).toBe('mismatch');
    expect(await customer.tier()).toBe('basic');
  });

  test('of a deleted user the order keeps the credit, and the id of the credited source is erased', async () => {
    const premium = await buyDearer();
    await database.query('delete from auth.users where id = $1', [customer.id]);
    const erased = { user_id: null, credited_id: null, settle_at: null };
    expect(await premium.row()).toMatchObject({ ...erased, credit: `${unused}` });
  });
});

test('a replaced period that would end after the order does not come back then', async () => {
  await database.setPlan('basic', 'price = 9950, duration_months = 12');
  await database.setPlan('pro', 'duration_months = 1');
  await customer.buy('basic', { at: '01-01' });
  await customer.buy('pro', { at: '01-11', ...now });
  await database.sweep('02-20');
  expect(await customer.state()).toBe('free: pro cancelled to 2026-02-11');
  expect(await customer.findings()).toEqual([]);
});

test('a purchase of the replaced tier is not paid twice', async () => {
  await customer.buy('pro', { at: '01-01' });
  await buyDearer();
  await customer.buy('pro', { at: '01-20' });
  expect(await customer.findings()).toEqual([]);
});

test.each([
  ['refunded in part', 4900, 4000, 450],
  ['charged for less', 2900, 0, 1450],
])(
  'a cycle that was %s is credited by its own payment, not by that of the cycle before',
  async (_, amount, given, credit) => {
    await billed();
    const payment = { id: uniqueId('pay'), amount };
    await customer.charge(months(2), 'basic', { payment });
    if (given > 0) await database.send(refundEvent(payment, given));
    expect((await customer.order('premium', { at: '02-15', ...now })).answer).toMatchObject({ credit });
  },
);

test.each(['pro', 'premium'])(
  'after support ended an upgrade to %s, the month that was credited for it is not credited again',
  async (tier) => {
    await database.set("early_renewal = 'extend'");
    await customer.buy('basic', { at: '01-01' });
    await customer.buy('basic', { at: '01-05' });
    // It runs where the credited month has ended, so that the next one need not wait.
    await grantTier(database, customer.id, 'basic', '2026-03-15Z');
    const first = await customer.buy(tier, { at: '01-11', ...now });
    expect(await first.row()).toMatchObject({ credit: String(unused) });
    await endAccess(database, first.id);
    expect((await customer.order('premium', { at: '01-15', ...now })).answer).toMatchObject({ credit: 4900 });
  },
);

describe('the payment of a running cycle that is not known is to be read first', () => {
  const asks = async (isRead: boolean) => {
    const own = [customer.id, 'premium'];
    return [
      await database.rpc('create_order', ...own, null, null, 'now', null, isRead),
      await database.rpc('preview_change', ...own, 'now', null, isRead),
      await database.rpc('preview_change', ...own, 'period_end', null, isRead),
    ].map(({ outcome }) => outcome);
  };
  const cycle = { planId: 'plan_basic', ...months(1) };
  const mirrored = () => database.one('select id, gateway_subscription_id from billing.gateway_subscriptions');

  test('after a webhook that named none, for three days', async () => {
    await customer.event('activated', '01-01', cycle);
    await database.at('2026-01-03T23:59:59Z');
    const payments = await database.query('select * from public.payments');
    expect(await asks(false)).toEqual(['unread', 'unread', 'change']);
    const unread = { outcome: 'unread', subscription: await mirrored() };
    expect(await database.rpc('preview_change', customer.id, 'premium', 'now', null, false)).toMatchObject(unread);
    expect(await database.query('select * from public.payments')).toEqual(payments);
    await database.at('01-04');
    expect(await asks(false)).toEqual(['created', 'change', 'change']);
    await customer.event('charged', '01-11', { ...cycle, payment: { id: uniqueId('pay'), amount: 4900 } });
    expect(await asks(false)).toEqual(['created', 'change', 'change']);
  });

  test.each([
    ['plan_basic', 'active', '02-01', { paid_count: 3 }, unused],
    ['plan_of_before', 'active', '02-01', { paid_count: 3 }, unused],
    ['plan_basic', 'active', '02-15', { paid_count: 3 }, unused],
    ['plan_basic', 'active', '01-25', { paid_count: 3 }, unused],
    ['plan_basic', 'authenticated', '02-01', { current_start: null, current_end: null }, 0],
  ])('of an import with %s that is %s and was written to end on %s', async (planId, status, end, fields, credit) => {
    await database.at('01-05');
    await database.query(
      `insert into public.subscriptions (user_id, plan_id, tier, status, current_period_end, gateway_subscription_id)
       select $1, id, tier, 'active', $3, $2 from public.plans where tier = 'basic' and lookup_key is null`,
      [customer.id, customer.gatewayId, day(end)],
    );
    await database.at('01-11');
    expect(await asks(false)).toEqual(['unread', 'unread', 'change']);
    const { id } = await mirrored();
    const [billing_start, billing_end] = [seconds(months(1).start), seconds(months(1).end)];
    const read = { plan_id: planId, status, current_start: billing_start, current_end: billing_end, ...fields };
    const { lacks_payment } = await database.rpc('apply_gateway_subscription', id, JSON.stringify(read));
    expect(lacks_payment).toBe(credit > 0);
    const paid = { payment_id: uniqueId('pay'), status: 'paid', amount: 4900, currency: 'INR' };
    const invoices = JSON.stringify([{ ...paid, billing_start, billing_end, paid_at: billing_start }]);
    if (lacks_payment) {
      // Its invoices were not read yet.
      expect(await asks(false)).toEqual(['unread', 'unread', 'change']);
      await database.rpc('apply_invoices', customer.gatewayId, invoices);
    }
    expect((await customer.order('premium', { at: '01-11', ...now })).answer).toMatchObject({ credit });
    expect(await asks(false)).toEqual(['existing', 'change', 'change']);
    expect(await customer.state()).toMatch(/basic active to 2026-02-01$/);
  });
});

describe('there is no credit', () => {
  test.each<[string, string, () => Promise<unknown>]>([
    ['for a cheaper tier', 'basic', () => customer.buy('pro', { at: '01-01' })],
    ['for the same tier', 'basic', bought],
    ['for a tier of another currency', 'premium', async () => {
      await bought();
      await database.setPlan('premium', "currency = 'USD'");
    }],
    ['in the days of grace', 'premium', () => customer.buy('basic', { at: '2025-12-10' })],
    ['for a grant', 'premium', async () => {
      await database.at('01-01');
      await grantTier(database, customer.id, 'basic', '2026-02-01T00:00:00Z', 'thanks');
    }],
    ['for a payment whose dispute was lost', 'premium', async () => {
      await (await customer.buy('basic', { at: '01-01' })).dispute('lost');
    }],
    ['for a cycle without a known payment', 'premium', async () => {
      await customer.event('activated', '01-01', { planId: 'plan_basic', ...months(1) });
    }],
    ['with CREDIT=off', 'premium', async () => {
      await bought();
      await database.set("credit = 'off'");
    }],
  ])('%s', async (_, tier, prepare) => {
    await prepare();
    const order = await customer.order(tier, { at: '01-11', ...now });
    const { price } = Object(order.answer.plan);
    expect(order.answer).toMatchObject({ amount: price, credit: 0, starts_at: '2026-01-11T00:00:00.000Z' });
    expect(await order.row()).toMatchObject({ credit: null, credited_kind: null, credited_id: null });
  });

  test('without start: the answer and the payment are as before, and the old period runs on below', async () => {
    await customer.buy('basic', { at: '01-01' });
    const premium = await customer.order('premium', { at: '01-11' });
    expect(Object.keys(premium.answer).sort()).toEqual(
      ['amount', 'currency', 'order_id', 'outcome', 'payment_id', 'plan', 'prefill', 'price', 'running'],
    );
    expect(await premium.row()).toMatchObject({ amount: '199900', starts: null, credit: null });
    await premium.verify();
    expect(await customer.sources()).toEqual(['payment basic to 2026-02-01', 'payment premium to 2027-01-11']);
  });
});

describe('the credit', () => {
  test('of a purchase counts a refund that was asked for here once, also before the answer is known', async () => {
    const order = await customer.buy('basic', { at: '01-01' });
    const { id } = await actAsOwner(database, { action: 'refund', reference: order.paymentId, amount: 2000 });
    await order.refund(2000, { notes: { support_action: String(id) } });
    expect((await orderDearer()).answer.credit).toBe(Math.floor((2900 * 21) / 31));
  });

  test.each([
    ['at the moment of the purchase is all that was paid', '01-01', 199900, 4900],
    ['a millisecond after the purchase is rounded down', '2026-01-01T00:00:00.001Z', 199900, 4899],
    ['in the last second is rounded down to nothing', '2026-01-31T23:59:59.000Z', 199900, 0],
    ['leaves 100 of a price of 50.00 to pay', '01-01', 5000, 4900],
  ])('%s', async (_, at, price, credit) => {
    await bought();
    await database.setPlan('premium', `price = ${price}, rank = 5000`);
    expect((await customer.order('premium', { at, ...now })).answer).toMatchObject({ credit, amount: price - credit });
  });

  test.each([4999, 4900, 100])(
    'over the price of %i less 100 refuses an order that starts now, and no other',
    async (price) => {
      await bought();
      await database.setPlan('premium', `price = ${price}, rank = 5000`);
      const ask = (start: string | null) => database.rpc('create_order', customer.id, 'premium', null, null, start);
      expect(await ask('now')).toEqual({ outcome: 'not_now', reason: 'credit' });
      expect(await ask('after_current')).toMatchObject({ outcome: 'created', amount: price, credit: 0 });
      expect(await ask(null)).toMatchObject({ outcome: 'created', amount: price });
      await database.set("credit = 'off'");
      expect(await ask('now')).toMatchObject({ outcome: 'created', amount: price, credit: 0 });
    },
  );

  test('of a purchase that was itself credited counts what that credit was paid with', async () => {
    await customer.buy('basic', { at: '01-01' });
    const pro = await customer.buy('pro', now);
    expect(await pro.row()).toMatchObject({ amount: '95000', credit: '4900' });
    const premium = await customer.buy('premium', now);
    expect(premium.answer).toMatchObject({ credit: 99900, amount: 100000 });
    expect(await customer.sources()).toEqual([
      'payment basic to 2026-02-01 replaced',
      'payment pro to 2027-01-01 replaced',
      'payment premium to 2027-01-01',
    ]);
    await premium.refund();
    expect(await customer.tier()).toBe('pro');
    await pro.refund();
    expect(await customer.tier()).toBe('basic');
  });

  test('of a chain of early renewals is for the running payment alone', async () => {
    await database.set("early_renewal = 'extend'");
    const first = await customer.buy('basic', { at: '01-01' });
    const second = await customer.buy('basic', { at: '01-02' });
    const premium = await customer.buy('premium', { at: '01-11', ...now });
    expect(premium.answer).toMatchObject({ credit: unused, running: { until: '2026-03-01T00:00:00.000Z' } });
    expect(await premium.row()).toMatchObject({ credited_id: first.id });
    expect(await customer.sources()).toMatchObject([/ replaced$/, /^payment basic.*-01$/, /^payment premium/]
      .map((source) => expect.stringMatching(source)));
    await premium.refund();
    expect(await customer.state()).toBe('basic: basic active to 2026-03-01');
    const later = await customer.order('premium', { at: '02-15', ...now });
    expect(await later.row()).toMatchObject({ credited_id: second.id, credit: '2450' });
  });

  test('does not shorten a renewal under extend: the same tier now follows what runs', async () => {
    await database.set("early_renewal = 'extend'");
    await customer.buy('basic', { at: '01-01' });
    const { answer } = await customer.buy('basic', { at: '01-11', ...now });
    expect(answer).toMatchObject({ credit: 0, starts_at: '2026-02-01T00:00:00.000Z' });
    expect(await customer.state()).toBe('basic: basic active to 2026-03-01');
  });
});

describe('an open order', () => {
  test('with the same start and credit is returned for 30 minutes with its own credit', async () => {
    await bought();
    const first = await orderDearer();
    const again = await customer.order('premium', { at: '2026-01-11T00:29:00Z', ...now });
    expect(again.answer).toMatchObject({ outcome: 'existing', payment_id: first.id, credit: unused });
    expect((await customer.order('premium', { at: '2026-01-11T00:30:00Z', ...now })).id).not.toBe(first.id);
  });

  test('of another start, of another credited source or without start is not returned', async () => {
    await bought();
    const ids = [
      (await orderDearer()).id,
      (await customer.order('premium', { start: 'after_current' })).id,
      (await customer.order('premium')).id,
    ];
    await database.set("credit = 'off'");
    ids.push((await customer.order('premium', now)).id);
    await database.set("credit = 'on'");
    await customer.buy('pro');
    ids.push((await customer.order('premium', now)).id);
    expect(new Set(ids).size).toBe(5);
  });
});

test('in a currency with three decimals the credit and what remains end in 0', async () => {
  await database.query("update public.plans set currency = 'KWD'");
  await bought();
  const { answer } = await orderDearer();
  expect(answer).toMatchObject({ outcome: 'created', currency: 'KWD', credit: 3310, amount: 196590 });
});
