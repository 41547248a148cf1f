import { describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent, seconds, type SubscriptionEvent } from '../helpers/gateway/events.ts';
import { customerOf } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { day, months, type Period } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

const [january, february] = [months(1), months(2)];
const amount = 99900;
const planId = 'plan_pro';
type Fields = Partial<SubscriptionEvent>;

/** Charges a cycle at its start, or at a later time. @returns the payment */
async function charge(cycle: Period, fields: Fields = {}, time = cycle.start) {
  const payment = { id: uniqueId('pay'), amount, ...fields.payment };
  expect(await customer.event('charged', time, { planId, ...cycle, ...fields, payment })).toBe('applied');
  return payment;
}
const refund = (payment: { id: string }, part = amount) => database.send(refundEvent(payment, part));
/** Expects the finding about a payment, until the payment is refunded in full. */
async function expectListed(finding: string, payment: { id: string }): Promise<void> {
  for (const part of [0, amount - 1]) {
    if (part > 0) await refund(payment, part);
    expect(await customer.findings()).toEqual([`${finding} ${payment.id}`]);
  }
  await refund(payment, 1);
  expect(await customer.findings()).toEqual([]);
}

async function bill(): Promise<void> {
  await customer.event('activated', '01-01', { planId, ...january });
  await charge(january);
}
/** Authorises, a moment after the end of January, a change to premium for the end of February. */
async function changeAtEnd() {
  const next = customerOf(database, customer);
  await database.at('2026-02-01T00:00:20Z');
  await database.query(
    `insert into billing.gateway_subscriptions (
       user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at, starts_at,
       replaces
     )
     select $1, tier, id, gateway_plan_id, billing.price_of(p), $2, billing.clock() + interval '1 day', $3, $4
     from public.plans p where tier = 'premium' and lookup_key is null`,
    [customer.id, next.gatewayId, february.end, customer.gatewayId],
  );
  await next.event('authenticated', '2026-02-01T00:00:20Z', {
    planId: 'plan_premium',
    createdAt: '2026-02-01T00:10:20Z',
  });
  return next;
}
const inFebruary = 'pro: pro active to 2026-03-01';
const basic = 'basic: basic active to 2026-02-10';

test.each<[string, () => Promise<unknown>]>([
  ['of an active subscription, and one before its cancellation at the gateway', async () => {
    await charge(february);
    expect(await customer.findings()).toEqual([]);
    await customer.event('cancelled', '02-02', { planId, createdAt: null });
  }],
  ['between a resumption and a later cancellation', async () => {
    await database.at('01-10');
    await customer.cancel('at the end');
    await database.rpc('resume_subscription', customer.id);
    await charge(february);
    await database.at('02-10');
    await customer.cancel('at the end');
  }],
  ['from before the cancellation that arrives after it', async () => {
    await database.at('01-10');
    await customer.cancel('at the end');
    await charge(february, { createdAt: '2026-01-09T23:59:55Z' }, '01-10');
  }],
  ['after a replacement that was refunded before', async () => {
    const replacement = await customer.buy('basic', { at: '01-10' });
    await database.at('01-11');
    await replacement.refund();
    expect(await customer.state()).toBe('pro: pro active to 2026-02-01');
    await charge(february);
  }],
  ['after a replacement at the gateway that was refunded before, and is cancelled later', async () => {
    const other = customerOf(database, customer);
    const cycle = { planId: 'plan_premium', start: day('01-10'), end: day('02-10') };
    await other.event('activated', '01-10', cycle);
    const payment = { id: uniqueId('pay'), amount: 199900 };
    await other.event('charged', '01-10', { ...cycle, payment });
    await database.send(refundEvent(payment, payment.amount));
    await charge(february);
    await other.event('cancelled', '02-05', { planId: 'plan_premium' });
  }],
  ['while the order of a purchase for afterwards waits to be paid', async () => {
    const order = await customer.order('premium', { at: '01-20', start: 'after_current' });
    await charge(february);
    await database.at('02-10');
    expect(await order.capture()).toBe('applied');
  }],
  ['for the time before a change of which it was told late, by a clock that is ahead', async () => {
    const next = await changeAtEnd();
    await charge(february, { createdAt: '2026-02-01T00:10:00Z' }, '2026-02-01T06:00:00Z');
    await database.at('03-01');
    await next.charge(months(3), 'premium');
  }],
])('a charge %s is no finding', async (_, act) => {
  await bill();
  await act();
  expect(await customer.findings()).toEqual([]);
});

test('a second charge of a cycle is a finding until it is refunded, and its refund leaves the access', async () => {
  await bill();
  const second = await charge(january, {}, '01-02');
  expect(await customer.findings()).toEqual([`charged_twice ${second.id}`]);
  await refund(second);
  expect(await customer.findings()).toEqual([]);
  expect(await customer.tier()).toBe('pro');
});

test('notes that name another user are a finding until the next charge has the right ones', async () => {
  await bill();
  const another = await database.customer();
  await customer.event('updated', '01-10', { planId, ...january, fields: { notes: { user_id: another.id } } });
  expect(await customer.findings()).toEqual([`notes_edited ${customer.gatewayId}`]);
  await charge(february);
  expect(await customer.findings()).toEqual([]);
  expect([await customer.tier(), await another.tier()]).toEqual(['pro', 'free']);
});

describe('charged_after_cancellation', () => {
  test.each(['at once', 'at the end'] as const)('lists a charge after one %s until its full refund', async (when) => {
    await bill();
    await database.at('01-10');
    await customer.cancel(when);
    expect(await customer.tier()).toBe(when === 'at once' ? 'free' : 'pro');
    const payment = await charge(february);
    expect(await customer.state()).toBe(inFebruary);
    await expectListed('charged_after_cancellation', payment);
  });

  test('lists the charge of a subscription that the gateway had cancelled, which gives no access', async () => {
    await bill();
    await customer.event('cancelled', '01-10', { planId, createdAt: null });
    const { id } = await charge(february, { createdAt: null });
    expect(await customer.tier()).toBe('free');
    expect(await customer.findings()).toEqual([`charged_after_cancellation ${id}`]);
  });
});

test.each<[string, () => Promise<unknown>]>([
  ['an event says that the subscription is completed', () => customer.event('completed', '02-02', { planId })],
  ['reconciliation reads that it is completed', () => customer.reconcile({ status: 'completed' })],
  ['reconciliation reads that it is expired', () => customer.reconcile({ status: 'expired' })],
])('a charge after a cancellation is listed also once %s', async (_, complete) => {
  await bill();
  await database.at('01-10');
  await customer.cancel('at once');
  const { id } = await charge(february);
  await complete();
  expect(await customer.findings()).toEqual([`charged_after_cancellation ${id}`]);
});

describe('charged_after_replacement', () => {
  test.each([3, 4])(
    'lists the charge for a time after a change began, and not the one before: month %i',
    async (month) => {
      await bill();
      const next = await changeAtEnd();
      await charge(february, { createdAt: '2026-02-01T00:10:00Z' }, '2026-02-01T06:00:00Z');
      await database.at('03-01');
      await next.charge(months(3), 'premium');
      const late = await charge(months(month));
      expect(await customer.findings()).toEqual([`charged_after_replacement ${late.id}`]);
    },
  );

  test('lists the charge of a subscription that a purchase replaced, until its full refund; it gives access below', async () => {
    await bill();
    await customer.buy('basic', { at: '01-10' });
    expect(await customer.findings()).toEqual([]);
    const payment = await charge(february);
    expect(await customer.state()).toBe(basic);
    await database.expire('2026-02-13T00:00:01Z');
    expect(await customer.state()).toBe(inFebruary);
    await expectListed('charged_after_replacement', payment);
    expect(await customer.tier()).toBe('free');
  });

  test.each(['premium', 'basic'])(
    'lists the charge of what a purchase of %s for afterwards replaces, which runs',
    async (tier) => {
      await bill();
      await customer.buy(tier, { at: '01-20', start: 'after_current' });
      const { id } = await charge(february, {}, '2026-02-01T00:00:05Z');
      expect(await customer.state()).toMatch(new RegExp(`^${tier}: ${tier} active`));
      expect(await customer.findings()).toEqual([`charged_after_replacement ${id}`]);
    },
  );

  test('lists the charge of a replaced subscription also after the next activation of its replacement', async () => {
    await bill();
    const other = customerOf(database, customer);
    const activation = { planId: 'plan_premium', start: day('01-10'), end: day('2027-01-10'), createdAt: null };
    await other.event('activated', '01-10', activation);
    const { id } = await charge(february, { createdAt: null });
    expect(await customer.findings()).toEqual([`charged_after_replacement ${id}`]);
    await other.event('activated', '02-10', activation);
    expect(await customer.findings()).toEqual([`charged_after_replacement ${id}`]);
  });
});

test.each<[string, () => Promise<unknown>, string]>([
  ['cancellation', () => customer.cancel('at once'), 'free'],
  ['replacement', () => customer.buy('basic'), 'basic'],
])('a cycle from before its %s that reconciliation finds weeks later is no finding', async (_, end, tier) => {
  await bill();
  await database.at('02-05');
  await end();
  await database.at('02-20');
  const cycle = { current_start: seconds(february.start), current_end: seconds(february.end) };
  const answer = { id: customer.gatewayId, status: 'active', plan_id: planId, ...cycle };
  expect(await customer.reconcile(answer)).toMatchObject({ applied: true });
  expect(await customer.findings()).toEqual([]);
  expect(await customer.tier()).toBe(tier);
});

test.each([
  ['at the start of its cycle', '02-01'],
  ['a day and a half before', '2026-01-30T12:00:00Z'],
])('a charge of a replaced subscription that was restored by hand, %s, withdraws its cancellation', async (_, time) => {
  await bill();
  await customer.buy('basic', { at: '01-10' });
  expect(await customer.cancellation()).toMatchObject({ state: 'pending' });
  await database.at('01-11');
  await database.query(
    `update public.subscriptions set gateway_subscription_id = $1, tier = 'pro',
       plan_id = (select p.id from public.plans p where p.tier = 'pro')`,
    [customer.gatewayId],
  );
  await charge(february, { createdAt: day(time) });
  expect(await customer.subscription()).toMatchObject({ tier: 'pro', gateway_subscription_id: customer.gatewayId });
  expect(await customer.cancellation()).toMatchObject({ state: 'withdrawn' });
});
