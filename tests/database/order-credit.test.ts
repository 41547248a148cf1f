import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent } from '../helpers/gateway/events.ts';
import { applyOrderPayments } from '../helpers/gateway/reconciliation.ts';
import type { Customer, CustomerOrder } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
let customer: Customer;
beforeEach(async () => {
  customer = await database.customer();
});

const now = { start: 'now' } as const;

// Basic runs from 1 January to 1 February for 99.00. On 11 January, 21 of its 31 days are left: 67.06.
const unused = 6706;
const rest = 199900 - unused;

/** Buys basic on 1 January, and premium with the credit on 11 January. */
async function replace(): Promise<CustomerOrder> {
  await customer.buy('basic', { at: '01-01' });
  return await customer.buy('premium', { at: '01-11', ...now });
}
/** Buys basic on 1 January, and orders premium with the credit on 11 January. */
async function orderDearer(tier = 'premium'): Promise<CustomerOrder> {
  await customer.buy('basic', { at: '01-01' });
  return await customer.order(tier, { at: '01-11', ...now });
}

const reasons = async () =>
  (await database.query("select detail ->> 'reason' as r from billing.findings where finding = 'unearned_credit'"))
    .map(({ r }) => r);

describe('an order of a dearer tier that starts now', () => {
  test('gets a credit for the unused seconds of the running period, and changes nothing until it is paid', async () => {
    const basic = await customer.buy('basic', { at: '01-01' });
    const premium = await customer.order('premium', { at: '01-11', ...now });
    const [starts_at, until] = ['2026-01-11T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];
    expect(premium.answer).toMatchObject({ outcome: 'created', amount: rest, credit: unused, starts_at });
    expect(premium.answer).toMatchObject({ ends_at: '2027-01-11T00:00:00.000Z', running: { tier: 'basic', until } });
    const credited = { credited_kind: 'payment', credited_id: basic.id, credited_amount: '9900' };
    const stored = { starts: 'now', amount: `${rest}`, credit: `${unused}`, credited_until: new Date(until) };
    expect(await premium.row()).toMatchObject({ ...stored, ...credited });
    expect(await customer.sources()).toEqual(['payment basic to 2026-02-01']);
  });

  test.each(['verify', 'capture'] as const)('paid by %s rules, and the replaced period has ended', async (way) => {
    const premium = await orderDearer();
    await premium[way]();
    expect(await customer.sources()).toEqual([
      'payment basic to 2026-02-01 replaced',
      'payment premium to 2027-01-11',
    ]);
    expect(await customer.state()).toBe('premium: premium active to 2027-01-11');
    expect(await customer.findings()).toEqual([]);
  });

  test('that ends before the replaced period does not give that period back', async () => {
    await database.setPlan('basic', 'price = 9950, duration_months = 12');
    await database.setPlan('pro', 'duration_months = 1');
    await customer.buy('basic', { at: '01-01' });
    await customer.buy('pro', { at: '01-11', ...now });
    await database.sweep('02-20');
    expect(await customer.state()).toBe('free: pro cancelled to 2026-02-11');
    expect(await customer.findings()).toEqual([]);
  });

  test('that was made earlier keeps its credit, however late it is captured', async () => {
    const premium = await orderDearer();
    await database.at('01-12');
    expect(await premium.capture()).toBe('applied');
    expect(await customer.state()).toBe('premium: premium active to 2027-01-12');
  });

  test('of the price of the order without its credit is a mismatch', async () => {
    const premium = await orderDearer();
    expect(await premium.capture({ amount: 199900 })).toBe('mismatch');
    expect(await customer.tier()).toBe('basic');
  });
});

describe('a refund of the purchase that replaced a period', () => {
  test('before the end of that period gives the period back, and a refund that fails takes it away', async () => {
    const premium = await replace();
    const id = uniqueId('rfnd');
    await database.at('01-20');
    await premium.refund(rest, { id });
    expect(await customer.state()).toBe('basic: basic active to 2026-02-01');
    await premium.refund(rest, { id, status: 'failed' });
    expect(await customer.state()).toBe('premium: premium active to 2027-01-11');
    expect(await customer.mails()).not.toContainEqual(expect.stringContaining('subscription-ended'));
  });

  test('after the end of that period ends the access', async () => {
    const premium = await replace();
    await database.at('03-01');
    await premium.refund();
    expect(await customer.state()).toBe('free: premium cancelled to 2027-01-11');
    expect(await customer.mails()).toContainEqual(expect.stringContaining('subscription-ended'));
  });

  test('in part leaves the period replaced', async () => {
    const premium = await replace();
    await premium.refund(1000);
    expect(await customer.tier()).toBe('premium');
    expect((await customer.sources())[0]).toBe('payment basic to 2026-02-01 replaced');
  });

  test('after the user cancelled at once does not give the period back', async () => {
    const premium = await replace();
    await database.at('01-12');
    expect(await customer.cancel('at once')).toMatchObject({ outcome: 'cancelled' });
    await premium.refund();
    expect(await customer.state()).toMatch(/^free: .* cancelled/);
  });
});

test('a replaced period comes back if the purchase is never captured', async () => {
  const premium = await replace();
  await database.at('01-17');
  expect(await applyOrderPayments(database.service, premium, null)).toMatchObject({ ended: true });
  expect(await customer.state()).toBe('basic: basic active to 2026-02-01');
});

describe('there is no credit', () => {
  test.each<[string, string, (() => Promise<unknown>)?]>([
    ['without a running period', 'premium'],
    ['for a cheaper tier', 'basic', () => customer.buy('pro', { at: '01-01' })],
    ['for the same tier', 'basic', () => customer.buy('basic', { at: '01-01' })],
    ['for a tier of another currency', 'premium', async () => {
      await customer.buy('basic', { at: '01-01' });
      await database.setPlan('premium', "currency = 'USD'");
    }],
    ['in the days of grace', 'premium', () => customer.buy('basic', { at: '2025-12-10' })],
    ['for a grant', 'premium', async () => {
      await database.at('01-01');
      await grantTier(database, customer.id, 'basic', '2026-02-01T00:00:00Z', 'thanks');
    }],
    ['for a row written by hand', 'premium', async () => {
      await database.at('01-01');
      await database.query(
        `insert into public.subscriptions (user_id, tier, plan_id, status, current_period_start, current_period_end)
         select $1, tier, id, 'active', '2026-01-01Z', '2026-02-01Z' from public.plans where tier = 'basic'`,
        [customer.id],
      );
      await database.query("update public.profiles set subscription_tier = 'basic' where user_id = $1", [customer.id]);
    }],
    ['for a payment whose dispute was lost', 'premium', async () => {
      await (await customer.buy('basic', { at: '01-01' })).dispute('lost');
    }],
    ['with CREDIT=off', 'premium', async () => {
      await customer.buy('basic', { at: '01-01' });
      await database.set("credit = 'off'");
    }],
  ])('%s', async (_, tier, prepare) => {
    await prepare?.();
    const order = await customer.order(tier, { at: '01-11', ...now });
    const { price } = Object(order.answer.plan);
    expect(order.answer).toMatchObject({ amount: price, credit: 0, starts_at: '2026-01-11T00:00:00.000Z' });
    expect(await order.row()).toMatchObject({ credit: null, credited_kind: null, credited_id: null });
  });

  test('without start: the answer and the payment are as before, and the old period runs on below', async () => {
    await customer.buy('basic', { at: '01-01' });
    const premium = await customer.order('premium', { at: '01-11' });
    expect(Object.keys(premium.answer).sort()).toEqual(
      ['amount', 'currency', 'order_id', 'outcome', 'payment_id', 'plan', 'prefill', 'running'],
    );
    expect(await premium.row()).toMatchObject({ amount: '199900', starts: null, credit: null });
    await premium.verify();
    expect(await customer.sources()).toEqual(['payment basic to 2026-02-01', 'payment premium to 2027-01-11']);
  });
});

describe('the credit', () => {
  test.each([
    ['a millisecond after the purchase is rounded down', '2026-01-01T00:00:00.001Z', 9899],
    ['at the moment of the purchase is all that was paid', '01-01', 9900],
    ['in the last second is rounded down to nothing', '2026-01-31T23:59:59.000Z', 0],
    ['in the last hour is some units', '2026-01-31T23:00:00.000Z', 13],
  ])('%s', async (_, at, credit) => {
    await customer.buy('basic', { at: '01-01' });
    expect((await customer.order('premium', { at, ...now })).answer).toMatchObject({ credit, amount: 199900 - credit });
  });

  test.each([[9901, 9801], [10000, 9900], [9999, 9899]])(
    'leaves at least 100 of a price of %i to pay',
    async (price, credit) => {
      await customer.buy('basic', { at: '01-01' });
      await database.setPlan('premium', `price = ${price}`);
      expect((await customer.order('premium', now)).answer).toMatchObject({ credit, amount: price - credit });
    },
  );

  test('is for what was paid: a partial refund is subtracted, a full one leaves none', async () => {
    const basic = await customer.buy('basic', { at: '01-01' });
    const credit = async (at: string) => (await customer.order('premium', { at, ...now })).answer.credit;
    await basic.refund(3700);
    expect(await credit('01-11')).toBe(Math.floor((6200 * 21) / 31));
    await basic.refund(6200);
    expect(await credit('01-12')).toBe(0);
  });

  test('of a purchase that was itself credited counts what that credit was paid with', async () => {
    await customer.buy('basic', { at: '01-01' });
    const pro = await customer.buy('pro', now);
    expect(await pro.row()).toMatchObject({ amount: '90000', credit: '9900' });
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
    expect(await later.row()).toMatchObject({ credited_id: second.id, credit: '4950' });
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
    const first = await orderDearer();
    const again = await customer.order('premium', { at: '2026-01-11T00:29:00Z', ...now });
    expect(again.answer).toMatchObject({ outcome: 'existing', payment_id: first.id, credit: unused });
    expect((await customer.order('premium', { at: '2026-01-11T00:30:00Z', ...now })).id).not.toBe(first.id);
  });

  test('of another start, of another credited source or without start is not returned', async () => {
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

  test('of an idempotency key is a conflict for another start', async () => {
    const create = (start: string | null) => database.rpc('create_order', customer.id, 'pro', 'key', null, start);
    const { payment_id } = await create('now');
    await database.rpc('store_order', payment_id, uniqueId('order'));
    expect(await create('after_current')).toEqual({ outcome: 'key_conflict' });
    expect(await create(null)).toEqual({ outcome: 'key_conflict' });
    expect(await create('now')).toMatchObject({ outcome: 'existing', payment_id });
  });
});

describe('the finding unearned_credit', () => {
  test('names the second of two payments with the same credit until it is refunded', async () => {
    const first = await orderDearer();
    const second = await customer.order('pro', now);
    expect(second.answer).toMatchObject({ credit: unused });
    for (const paid of [first, second]) expect(await paid.verify()).toMatchObject({ outcome: 'applied' });
    expect(await customer.findings()).toEqual([`unearned_credit ${second.id}`]);
    expect(await reasons()).toEqual(['another payment has the same credit']);
    await second.refund();
    expect(await customer.findings()).toEqual([]);
    expect((await customer.sources())[0]).toBe('payment basic to 2026-02-01 replaced');
  });

  test.each<[string, (basic: CustomerOrder) => Promise<unknown>, string[]]>([
    ['refunded in full', (basic) => basic.refund(), []],
    ['refunded in part', (basic) => basic.refund(100), []],
    ['lost', (basic) => basic.dispute('lost'), ['dispute_lost']],
  ])('names a payment whose credited payment was %s afterwards', async (_, lose, others) => {
    const kinds = async () => (await customer.findings()).map((finding) => finding.split(' ')[0]);
    const basic = await customer.buy('basic', { at: '01-01' });
    const premium = await customer.order('premium', { at: '01-11', ...now });
    await lose(basic);
    expect(await kinds()).toEqual(others);
    expect(await premium.verify()).toMatchObject({ outcome: 'applied', tier: 'premium' });
    expect(await reasons()).toEqual(['the credited payment was refunded or lost']);
    await database.at('2027-01-11T00:00:01Z');
    expect(await kinds()).toEqual(others);
  });

  test('names a payment that came more than a day after its order, and no other', async () => {
    const premium = await orderDearer();
    await database.at('01-13');
    await premium.verify();
    expect(await customer.findings()).toEqual([`unearned_credit ${premium.id}`]);
    expect(await reasons()).toEqual(['paid more than a day after the order']);
  });
});

test('a purchase of the replaced tier is not paid twice', async () => {
  await customer.buy('pro', { at: '01-01' });
  await customer.buy('premium', { at: '01-11', ...now });
  await customer.buy('pro', { at: '01-20' });
  expect(await customer.findings()).toEqual([]);
});

test('a deleted user: the payment keeps the credit, and the id of the credited source is erased', async () => {
  const premium = await replace();
  await database.query('delete from auth.users where id = $1', [customer.id]);
  const erased = { user_id: null, credited_id: null, settle_at: null };
  expect(await premium.row()).toMatchObject({ ...erased, credit: `${unused}` });
});

describe('a cycle of basic that the gateway billed', () => {
  const january = { planId: 'plan_basic', ...months(1) };
  const paid = { id: '', amount: 9900 };
  const order = (tier = 'premium') => customer.order(tier, { at: '01-11', ...now });
  const buy = () => customer.buy('premium', { at: '01-11', ...now });
  const refundCycle = (amount: number) => database.send(refundEvent(paid, amount));
  beforeEach(async () => {
    paid.id = uniqueId('pay');
    await customer.event('activated', '01-01', january);
    await customer.event('charged', '01-01', { ...january, payment: paid });
  });

  test('is credited for its unused time', async () => {
    const { answer, row } = await order();
    expect(answer).toMatchObject({ credit: unused, amount: rest, running: { tier: 'basic' } });
    expect(await row()).toMatchObject({
      credited_kind: 'gateway_subscription',
      credited_id: customer.gatewayId,
      credited_until: new Date(january.end),
      credited_amount: '9900',
    });
  });

  test('is replaced by the purchase, also if it is announced again, and the gateway is told to stop at its end', async () => {
    await buy();
    await customer.event('charged', '01-12', { ...january, createdAt: january.start, payment: paid });
    expect(await customer.subscription()).toMatchObject({ tier: 'premium', gateway_subscription_id: null });
    expect(await customer.cancellation()).toEqual({ at: 'cycle end', state: 'pending' });
    expect((await customer.sources())[0]).toBe('gateway_subscription basic to 2026-02-01 replaced');
    expect(await customer.findings()).toEqual([]);
  });

  test.each([['pending', 'withdrawn', false], ['sent', 'delivered', true]])(
    'comes back by a refund of the purchase; its cancellation, which is %s, is %s',
    async (sent, state, cancel_at_period_end) => {
      const premium = await buy();
      const deliver =
        "update billing.outbox set attempts = 1, delivered_at = billing.clock() where kind like 'cancel%'";
      if (sent === 'sent') await database.query(deliver);
      await database.at('01-12');
      await premium.refund();
      expect(await customer.state()).toBe('basic: basic active to 2026-02-01');
      expect(await customer.cancellation()).toEqual({ at: 'cycle end', state });
      expect(await database.one('select * from public.subscriptions where user_id = $1', [customer.id]))
        .toMatchObject({ gateway_subscription_id: customer.gatewayId, cancel_at_period_end });
    },
  );

  test('is followed by a later cycle, which is a source again', async () => {
    const premium = await buy();
    await customer.charge(months(2), 'basic');
    expect(await customer.tier()).toBe('premium');
    expect(await customer.findings()).toEqual([expect.stringMatching(/^charged_after_replacement /)]);
    await premium.refund();
    expect(await customer.state()).toBe('basic: basic active to 2026-03-01');
  });

  test('gets no credit without a known payment', async () => {
    customer = await database.customer();
    await customer.event('activated', '01-01', january);
    expect((await order()).answer).toMatchObject({ credit: 0, running: { tier: 'basic' } });
  });

  test('that was refunded in part is credited in part, one that was refunded in full not at all', async () => {
    await refundCycle(3700);
    expect((await order()).answer).toMatchObject({ credit: Math.floor((6200 * 21) / 31) });
    await refundCycle(6200);
    expect((await order()).answer).toMatchObject({ credit: 0 });
  });

  test('that is refunded after its credit is a finding', async () => {
    await buy();
    await refundCycle(9900);
    expect(await customer.state()).toBe('premium: premium active to 2027-01-11');
    expect(await reasons()).toEqual(['the credited payment was refunded or lost']);
  });

  test('billed, bought once and billed again: the credited purchase comes back after the last cycle', async () => {
    await buy();
    await customer.event('cancelled', '02-01', { planId: 'plan_basic' });
    const month = { id: uniqueId('sub'), planId: 'plan_pro', start: day('02-10'), end: day('03-10') };
    await customer.event('activated', '02-10', month);
    await customer.event('charged', '02-10', { ...month, payment: { id: uniqueId('pay'), amount: 99900 } });
    expect(await customer.subscription()).toMatchObject({ tier: 'pro', gateway_subscription_id: month.id });
    await customer.event('cancelled', '03-10', { id: month.id, planId: 'plan_pro' });
    expect(await customer.state()).toBe('premium: premium active to 2027-01-11');
    expect(await customer.findings()).toEqual([]);
  });

  test('ends for good with a cancellation at once', async () => {
    const premium = await buy();
    await database.at('01-12');
    expect(await customer.cancel('at once')).toMatchObject({ outcome: 'cancelled' });
    await premium.refund();
    expect(await customer.tier()).toBe('free');
  });

  test('that two orders credit is fulfilled for both, and the second is a finding', async () => {
    for (const { verify } of [await order(), await order('pro')]) {
      expect(await verify()).toMatchObject({ outcome: 'applied' });
    }
    expect(await reasons()).toEqual(['another payment has the same credit']);
  });
});
