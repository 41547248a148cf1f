import { beforeEach, describe, expect, test } from 'vitest';
import { openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent } from '../helpers/gateway/events.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

/** A price: those with the key of a tier are default prices. The gateway has a plan of each, as `plan_<key>`. */
type Price = {
  readonly tier: 'basic' | 'pro' | 'premium';
  readonly amount: number;
  readonly currency: string;
  readonly months: number;
};
const offered: Record<string, Price> = {
  basic: { tier: 'basic', amount: 4900, currency: 'INR', months: 1 },
  basic_year: { tier: 'basic', amount: 49000, currency: 'INR', months: 12 },
  basic_usd: { tier: 'basic', amount: 900, currency: 'USD', months: 1 },
  basic_usd_year: { tier: 'basic', amount: 9000, currency: 'USD', months: 12 },
  pro: { tier: 'pro', amount: 99900, currency: 'INR', months: 12 },
  pro_dear: { tier: 'pro', amount: 119900, currency: 'INR', months: 12 },
  pro_month: { tier: 'pro', amount: 9900, currency: 'INR', months: 1 },
  pro_usd: { tier: 'pro', amount: 1900, currency: 'USD', months: 1 },
  pro_usd_year: { tier: 'pro', amount: 19000, currency: 'USD', months: 12 },
  premium: { tier: 'premium', amount: 199900, currency: 'INR', months: 12 },
  premium_month: { tier: 'premium', amount: 9900, currency: 'INR', months: 1 },
};
const keys = Object.keys(offered);
const priceOf = (key: string): Price => offered[key] ?? expect.fail(`no price ${key}`);
const lengthOf = (key: string) => ({ interval: priceOf(key).months === 12 ? 'year' : 'month', interval_count: 1 });
const answered = (key: string) => {
  const { amount, currency } = priceOf(key);
  return { lookup_key: key, amount, currency, ...lengthOf(key) };
};
/** The key as rows store it: null for a default price. */
const storedKey = (key: string) => key === priceOf(key).tier ? null : key;

beforeEach(() =>
  database.query(
    `insert into public.plans (tier, lookup_key, name, price, currency, duration_months, gateway_plan_id)
     select p.tier, key, key, p.amount, p.currency, p.months, 'plan_' || key
     from json_each($1), json_to_record(value) p (tier text, amount int, currency text, months int)
     where key <> p.tier`,
    [JSON.stringify(offered)],
  )
);

const buy = (key: string, at = '01-01') => customer.buy(priceOf(key).tier, { at, price: key });
async function charge(key: string, first = 1, { amount, currency } = priceOf(key)): Promise<string> {
  const id = uniqueId('pay');
  const cycle = months(first, priceOf(key).months);
  await customer.event('charged', cycle.start, { planId: `plan_${key}`, ...cycle, payment: { id, amount, currency } });
  return id;
}
async function bill(key: string): Promise<void> {
  await customer.event('activated', '01-01', { planId: `plan_${key}`, ...months(1, priceOf(key).months) });
  await charge(key);
}
const read = async () => Object(await database.rpc('get_subscription', customer.id));

describe('from a running price to another one, on 11 January', () => {
  const now = day('01-11');

  // premium has the rank of pro here.
  beforeEach(() => database.setPlan('premium', 'rank = 200'));
  const rankOf = ({ tier }: Price) => tier === 'basic' ? 100 : 200;

  /** What a change is. Contract: "Scenarios". */
  function scenarioOf(from: Price, to: Price): string {
    if (from === to) return 'current';
    const steps = [
      rankOf(to) - rankOf(from),
      to.months - from.months,
      to.currency === from.currency ? to.amount - from.amount : 0,
    ];
    return (steps.find((step) => step !== 0) ?? 0) > 0 ? 'upgrade' : 'downgrade';
  }

  /** The worth of the time from 11 January to the end of the period, for an upgrade in one currency. */
  function unusedOf(from: Price, to: Price): number {
    if (scenarioOf(from, to) !== 'upgrade' || from.currency !== to.currency) return 0;
    const days = from.months === 12 ? 365 : 31;
    return Math.floor((from.amount * (days - 10)) / days);
  }

  /** Why the change is possible at the end of the period only. */
  function reasonOf(from: Price, to: Price): string | undefined {
    if (from === to) return undefined;
    if (from.currency !== to.currency) return 'currency';
    if (from.tier === to.tier && scenarioOf(from, to) === 'downgrade') return 'downgrade';
    return unusedOf(from, to) > to.amount - 100 ? 'credit' : undefined;
  }

  const monthsLater = (time: string, count: number) => {
    const at = new Date(time);
    at.setUTCMonth(at.getUTCMonth() + count);
    return at.toISOString();
  };

  describe.each([['bought', buy, false], ['billed', bill, true]] as const)('%s', (_, start, isBilled) => {
    test.each(keys)('%s: each has its scenario and credit in plans, preview, order and change', async (key) => {
      await start(key);
      await database.at(now);
      const from = priceOf(key);
      const end = months(1, from.months).end;
      const { plans } = Object(await database.rpc('list_plans_for_user', customer.id));
      const shown = await scenarios();
      const forget = () =>
        database.query(`delete from billing.gateway_subscriptions where arrived_at is null;
          delete from public.payments where fulfilled_at is null and gateway_subscription_id is null`);
      for (const each of keys) {
        const to = priceOf(each);
        const [scenario, reason] = [scenarioOf(from, to), reasonOf(from, to)];
        const credit = reason === undefined ? unusedOf(from, to) : 0;
        expect(shown[each], each).toBe(scenario);
        expect(plans.find(({ tier }: { tier: string }) => tier === to.tier).scenario).toBe(shown[to.tier]);
        for (const when of ['now', 'period_end']) {
          const parameters = [customer.id, to.tier, when] as const;
          const previewed = await database.rpc('preview_change', ...parameters, each);
          const changed = await database.rpc('create_change', ...parameters, null, null, each);
          if (changed.outcome === 'created') await forget();
          const refused = isBilled && from === to
            ? { outcome: 'already_subscribed' }
            : when === 'now' && reason !== undefined
            ? { outcome: 'not_now', reason }
            : null;
          if (refused) {
            expect([previewed, changed], `${each} ${when}`).toEqual(Array(2).fill(refused));
            continue;
          }
          const starts_at = when === 'now' ? new Date(now).toISOString() : end;
          const due = when === 'now' ? credit : 0;
          const orderStart = isBilled ? (due > 0 ? 'now' : null) : when === 'now' ? 'now' : 'after_current';
          expect(previewed, `${each} ${when}`).toEqual({
            ...{ outcome: 'change', order_start: orderStart, is_billed: isBilled },
            change: {
              ...{ amount_due: to.amount - due, credit: due, currency: to.currency, starts_at },
              due_at: isBilled ? starts_at : new Date(now).toISOString(),
              ends_at: monthsLater(starts_at, to.months),
              ...{ from: from.tier, to: to.tier, from_price: key, to_price: each },
              renews: isBilled,
              next_charge: isBilled
                ? { at: when === 'now' ? monthsLater(starts_at, to.months) : starts_at, amount: to.amount }
                : null,
            },
          });
          expect(changed, `${each} ${when}`).toMatchObject(
            isBilled
              ? { outcome: 'created', gateway_plan_id: `plan_${each}`, price: answered(each) }
              : { outcome: 'not_at_gateway' },
          );
        }
        const ask = [customer.id, to.tier, null, null, 'now', each] as const;
        if (reason === 'credit') {
          expect(await database.rpc('create_order', ...ask), each).toEqual({ outcome: 'not_now', reason });
          continue;
        }
        const order = await customer.order(to.tier, { start: 'now', price: each });
        const running = { tier: from.tier, price: answered(key) };
        expect(order.answer).toMatchObject({ amount: to.amount - credit, credit, price: answered(each), running });
        expect(await order.row()).toMatchObject({
          ...{ price_key: storedKey(each), currency: to.currency, duration_months: to.months },
          amount: `${to.amount - credit}`,
        });
        await forget();
      }
    });
  });
});

const scenarios = async () => {
  const { plans } = Object(await database.rpc('list_plans_for_user', customer.id));
  type Offered = { lookup_key: string; scenario: string };
  const prices = plans.flatMap(({ prices }: { prices: Offered[] }) => prices);
  return Object.fromEntries(prices.map(({ lookup_key, scenario }: Offered) => [lookup_key, scenario]));
};

test('the rank orders the tiers, whatever they cost; of one rank the longer, then the dearer price is an upgrade', async () => {
  await buy('basic');
  await database.at('01-11');
  for (const [rank, expected] of [[101, 'upgrade'], [99, 'downgrade'], [100, 'upgrade']]) {
    await database.setPlan('pro', `rank = ${rank}`);
    expect((await scenarios()).pro, String(rank)).toBe(expected);
  }
  expect((await scenarios()).pro_usd).toBe('downgrade');
  expect((await scenarios()).pro_month).toBe('upgrade');
});

test('what runs without a price counts as the default price of its tier; without a plan of its tier all is buy', async () => {
  await database.at('01-11');
  await database.query(
    `insert into public.subscriptions (user_id, plan_id, tier, status, current_period_end)
     select $1, p.id, 'pro', 'active', $2 from public.plans p where p.lookup_key = 'pro_month'`,
    [customer.id, day('06-01')],
  );
  expect(await scenarios()).toMatchObject({ pro: 'current', pro_month: 'downgrade', pro_dear: 'upgrade' });
  expect((await read()).subscription.price).toBeNull();
  const { change } = Object(await database.rpc('preview_change', customer.id, 'premium', 'now'));
  expect(change).toMatchObject({ from: 'pro', from_price: null, to_price: 'premium' });
  await database.query("update public.subscriptions set tier = 'gold', plan_id = null where user_id = $1", [
    customer.id,
  ]);
  expect(new Set(Object.values(await scenarios()))).toEqual(new Set(['buy']));
  expect(await database.rpc('preview_change', customer.id, 'premium', 'now')).toEqual({
    outcome: 'subscription_not_found',
  });
});

test('a change that waits for the end of the cycle is scheduled and shown until it is undone', async () => {
  await bill('pro_month');
  await database.at('01-11');
  expect((await read()).billing.next).toBeNull();
  const { id } = await database.rpc('create_change', customer.id, null, 'period_end', null, null, 'basic_year');
  const later = uniqueId('sub');
  await database.rpc('store_subscription', id, later, 'https://gateway.example/s/2');
  expect((await scenarios()).basic_year).toBe('downgrade');
  await customer.event('authenticated', '01-12', { id: later, planId: 'plan_basic_year' });
  expect(await scenarios()).toMatchObject({ pro_month: 'current', basic_year: 'scheduled', basic: 'downgrade' });
  expect((await read()).billing.next).toEqual({
    ...{ tier: 'basic', price: answered('basic_year'), amount: 49000, currency: 'INR' },
    ...{ starts_at: months(1).end, undo_until: new Date(day('01-30')).toISOString() },
  });
  expect(await database.rpc('create_change', customer.id, null, 'now', null, null, 'pro_month'))
    .toEqual({ outcome: 'undone' });
  expect((await read()).billing.next).toBeNull();
  expect((await scenarios()).basic_year).toBe('downgrade');
});

test('a change is undone to what was sold, also if that price has another amount, currency and length since', async () => {
  await bill('pro_month');
  await database.at('01-11');
  const { id } = await database.rpc('create_change', customer.id, null, 'period_end', null, null, 'basic_year');
  const later = uniqueId('sub');
  await database.rpc('store_subscription', id, later, 'https://gateway.example/s/2');
  await customer.event('authenticated', '01-12', { id: later, planId: 'plan_basic_year' });
  await database.query(
    "update public.plans set price = 500, currency = 'USD', duration_months = 12 where lookup_key = 'pro_month'",
  );
  expect(await database.rpc('preview_change', customer.id, null, 'period_end', 'pro_month')).toMatchObject({
    outcome: 'undo',
    change: {
      ...{ currency: 'INR', starts_at: months(1).end, ends_at: months(2).end, amount_due: 0 },
      next_charge: { at: months(1).end, amount: 9900 },
    },
  });
});

test.each(['credit on', 'credit off'])(
  'under extend a change now to a longer price starts now, with %s',
  async (credit) => {
    await database.set(`early_renewal = 'extend', credit = '${credit === 'credit on' ? 'on' : 'off'}'`);
    await buy('pro_month');
    await customer.buy('pro', { at: '01-11', start: 'now' });
    expect(await customer.state()).toBe('pro: pro active to 2027-01-11');
    await customer.buy('pro', { at: '01-12' });
    expect(await customer.state()).toBe('pro: pro active to 2028-01-11');
  },
);

test.each([
  ['pro', 'pro_month'],
  ['pro_month', 'pro_usd'],
])('a purchase after the current period begins with its own: from %s to %s', async (from, to) => {
  await buy(from);
  await customer.buy('pro', { at: '01-11', start: 'after_current', price: to });
  expect((await read()).subscription.price).toEqual(answered(from));
  expect(await scenarios()).toMatchObject({ [from]: 'current', [to]: 'scheduled' });
  await database.sweep(`${months(1, priceOf(from).months).end}`);
  expect((await read()).subscription.price).toEqual(answered(to));
  expect((await scenarios())[to]).toBe('current');
});

describe.each(['pro', 'pro_month'])('%s, edited after it was sold', (key) => {
  const { tier, months: length } = priceOf(key);
  const edit = (assignment: string) =>
    database.query(`update public.plans set ${assignment} where coalesce(lookup_key, tier) = $1`, [key]);
  const edits: [string, () => Promise<unknown>][] = [
    ['to another amount', () => edit('price = 100')],
    ['to another currency', () => edit("currency = 'EUR'")],
    ['to another interval', () => edit('duration_months = 3')],
    ['off sale', () => edit('is_active = false')],
    ['without its plan at the gateway', () => edit('gateway_plan_id = null')],
    ['whose plan at the gateway is now that of another tier', async () => {
      await edit('gateway_plan_id = null');
      await database.query("update public.plans set gateway_plan_id = $1 where lookup_key = 'basic_year'", [
        `plan_${key}`,
      ]);
    }],
  ];

  test.each(edits)('%s, is fulfilled as ordered', async (_, change) => {
    const order = await customer.order(tier, { at: '01-01', price: key });
    await change();
    expect(await order.capture()).toBe('applied');
    expect(await customer.state()).toBe(`pro: pro active to ${months(1, length).end.slice(0, 10)}`);
    const { subscription, payments } = await read();
    expect([subscription, payments[0]]).toMatchObject([
      { price: answered(key) },
      { amount: priceOf(key).amount, price_key: storedKey(key), ...lengthOf(key) },
    ]);
  });

  const ways = ['here', 'by the app'] as const;
  const renewals = ways.flatMap((where) => edits.map(([edit, change]) => [edit, where, change] as const));
  test.each(renewals)('%s, renews as it was asked for %s', async (_, where, change) => {
    if (where === 'here') {
      await database.at('01-01');
      const { id } = await database.rpc('create_subscription', customer.id, tier, null, null, key);
      await database.rpc('store_subscription', id, customer.gatewayId, 'https://gateway.example/s/1');
      await change();
      await bill(key);
    } else {
      await bill(key);
      await change();
      await customer.event('updated', '01-20', { planId: `plan_${key}`, ...months(1, length) });
    }
    for (const cycle of [1, 2]) await charge(key, 1 + cycle * length);
    const { subscription, payments, billing } = await read();
    expect(billing.price).toEqual(answered(key));
    expect(subscription).toMatchObject({ tier, price: answered(key) });
    expect(payments).toMatchObject(Array(3).fill({ tier, price_key: storedKey(key), currency: 'INR' }));
    const charges = await database.query('select plan_id, duration_months from public.payments');
    expect(charges).toEqual(Array(3).fill({ plan_id: subscription.plan_id, duration_months: length }));
    expect(await customer.findings()).toEqual([]);
  });
});

describe('a request for a price', () => {
  type Ask = (tier: string | null, price: string | null, key?: string) => Promise<Record<string, unknown>>;
  const order: Ask = (tier, price, key) =>
    database.rpc('create_order', customer.id, tier, key ?? null, null, null, price);
  const subscribe: Ask = (tier, price, key) =>
    database.rpc('create_subscription', customer.id, tier, key ?? null, null, price);
  const preview: Ask = (tier, price) => database.rpc('preview_change', customer.id, tier, 'period_end', price);
  const change: Ask = (tier, price) =>
    database.rpc('create_change', customer.id, tier, 'period_end', null, null, price);
  const asks = Object.entries({ order, subscribe, preview, change });

  test.each(asks)('(%s) is refused: a price of another tier, unknown, or it or its plan off sale', async (_, ask) => {
    await bill('basic');
    await database.at('01-11');
    const outcome = async (tier: string | null, price: string) => (await ask(tier, price)).outcome;
    expect(await outcome('pro', 'basic_year')).toBe('price_conflict');
    expect(await outcome('pro', 'basic')).toBe('price_conflict');
    for (const tier of ['pro', null]) expect(await outcome(tier, 'pro_week')).toBe('plan_not_found');
    expect(await outcome('pro', 'pro_month')).toMatch(/^(created|change)$/);
    await database.query("update public.plans set is_active = false where lookup_key = 'pro_month'");
    expect(await outcome(null, 'pro_month')).toBe('plan_not_found');
    await database.setPlan('pro', 'is_active = false');
    expect(await outcome(null, 'pro_usd')).toBe('plan_not_found');
    const { plans } = Object(await database.rpc('list_plans'));
    expect(plans.map((plan: { tier: string }) => plan.tier)).not.toContain('pro');
  });

  test('without a plan at the gateway can be bought, and a change to it is an order, but it cannot be billed', async () => {
    await bill('basic');
    await database.at('01-11');
    await database.query("update public.plans set gateway_plan_id = null where lookup_key = 'pro_month'");
    expect(await order(null, 'pro_month')).toMatchObject({ outcome: 'created', price: answered('pro_month') });
    expect(await subscribe(null, 'pro_month')).toEqual({ outcome: 'not_at_gateway' });
    expect(await preview(null, 'pro_month')).toMatchObject({ order_start: 'after_current', is_billed: false });
    expect(await change(null, 'pro_month')).toEqual({ outcome: 'not_at_gateway' });
  });

  test.each([['an order', order], ['a subscription', subscribe]])(
    '(%s) is the same with or without its tier; a key names one price, also once that is off sale',
    async (_, ask) => {
      const made = await ask(null, 'pro_month', 'key');
      expect(made).toMatchObject({ outcome: 'created', price: answered('pro_month') });
      const store = ask === order ? 'store_order' : 'store_subscription';
      await database.rpc(store, made.payment_id ?? made.id, uniqueId('id'));
      const known = { outcome: 'existing', price: answered('pro_month') };
      expect(await ask('pro', 'pro_month', 'key')).toMatchObject(known);
      expect(await ask('pro', 'pro_month')).toMatchObject(known);
      for (const [tier, price] of [['pro', null], [null, 'pro'], [null, 'pro_usd'], ['basic', null]] as const) {
        expect(await ask(tier, price, 'key'), `${tier} ${price}`).toEqual({ outcome: 'key_conflict' });
        expect((await ask(tier, price)).outcome).toBe(price === 'pro' ? 'in_flight' : 'created');
      }
      await database.query("update public.plans set is_active = false where lookup_key = 'pro_month'");
      expect(await ask(null, 'pro_month', 'key')).toMatchObject(known);
      expect(await ask(null, 'pro_month')).toEqual({ outcome: 'plan_not_found' });
    },
  );

  test('does not return what is open for a price that had its plan at the gateway before, or before it was edited', async () => {
    const made = async () => {
      const made = await subscribe(null, 'pro_month');
      await database.rpc('store_subscription', made.id, uniqueId('sub'));
      return made.outcome;
    };
    expect([await made(), await made()]).toEqual(['created', 'existing']);
    await database.query("update public.plans set price = 8900 where lookup_key = 'pro_month'");
    expect([await made(), await made()]).toEqual(['created', 'existing']);
    await database.query("update public.plans set gateway_plan_id = null where lookup_key = 'pro_month'");
    await database.query("update public.plans set gateway_plan_id = 'plan_pro_month' where lookup_key = 'pro_usd'");
    expect(await subscribe(null, 'pro_usd')).toMatchObject({ outcome: 'created', price: answered('pro_usd') });
  });

  test('already subscribed is who is billed this very price', async () => {
    await bill('pro_month');
    expect(await subscribe(null, 'pro_month')).toEqual({ outcome: 'already_subscribed' });
    for (const other of ['pro', 'pro_usd', 'pro_dear', 'basic']) {
      expect((await subscribe(null, other)).outcome, other).toBe('created');
    }
  });
});

describe('a charge of another amount or currency than what was sold', () => {
  test.each([
    ['a cent less', { amount: 9899 }],
    ['a cent more', { amount: 9901 }],
    ['another currency', { currency: 'USD' }],
  ])('(%s) is a finding, until it is refunded or its cycle is over', async (_, wrong) => {
    await bill('pro_month');
    expect(await customer.findings()).toEqual([]);
    const id = await charge('pro_month', 2, { ...priceOf('pro_month'), ...wrong });
    expect(await customer.findings()).toEqual([`mismatch ${id}`]);
    await database.send(refundEvent({ id }, 1));
    expect(await customer.findings()).toEqual([`mismatch ${id}`]);
    await database.send(refundEvent({ id }, ('amount' in wrong ? wrong.amount : 9900) - 1));
    expect(await customer.findings()).toEqual([]);
    const later = await charge('pro_month', 3, { ...priceOf('pro_month'), ...wrong });
    expect(await customer.findings()).toEqual([`mismatch ${later}`]);
    await charge('pro_month', 4);
    expect(await customer.findings()).toEqual([]);
  });

  test('is not one at the price that the subscription was changed to at the gateway', async () => {
    await bill('pro_month');
    await customer.event('updated', '01-20', { planId: 'plan_basic', ...months(1) });
    await charge('basic', 2);
    expect(await customer.findings()).toEqual([]);
    expect((await read()).billing.price).toEqual(answered('basic'));
  });
});

describe('rows of public.plans', () => {
  const insert = (columns: Record<string, unknown>) => {
    const row = { name: 'New', price: 100, ...columns };
    const names = Object.keys(row);
    return [
      `insert into public.plans (${names}) values (${names.map((_, index) => `$${index + 1}`)})`,
      Object.values(row),
    ] as const;
  };
  const further = (columns: Record<string, unknown>) => insert({ tier: 'basic', lookup_key: 'new', ...columns });
  const update = (assignment: string, key: string) =>
    [`update public.plans set ${assignment} where coalesce(lookup_key, tier) = $1`, [key]] as const;

  test.each(
    [
      ['a second plan of a tier', '23505', insert({ tier: 'pro' })],
      ['a second price of a key', '23505', further({ lookup_key: 'pro_month' })],
      ['a key that is a tier', '23505', further({ lookup_key: 'pro' })],
      ['a key that becomes a tier', '23505', update("lookup_key = 'pro'", 'pro_month')],
      ['a key that is the tier of its price', '23505', further({ lookup_key: 'basic' })],
      ['a tier that is a key', '23505', insert({ tier: 'pro_month' })],
      ['a tier that becomes a key', '23505', update("tier = 'pro_month'", 'basic')],
      ['a plan at the gateway of another price', '23505', further({ gateway_plan_id: 'plan_pro' })],
      ['a price of a tier without a plan', '23503', further({ tier: 'gold' })],
      ['a price that moves to a tier without a plan', '23503', update("tier = 'gold'", 'pro_month')],
      ['the plan of a tier with prices that becomes a price', '23503', update("lookup_key = 'x', rank = null", 'pro')],
      ['another tier of a plan with prices', '23503', update("tier = 'gold'", 'pro')],
      ['the deletion of a plan with prices', '23503', [
        "delete from public.plans where tier = 'pro' and lookup_key is null",
        [],
      ]],
      ['a key with a capital letter', '23514', further({ lookup_key: 'New' })],
      ['a key of 65 characters', '23514', further({ lookup_key: 'k'.repeat(65) })],
      ['a further price of 0', '23514', further({ price: 0 })],
      ['a price below the gateway’s minimum', '23514', further({ price: 99 })],
      ['a plan below the gateway’s minimum', '23514', insert({ tier: 'gold', price: 99 })],
      ['a price that falls below the minimum', '23514', update('price = 99', 'pro')],
      ['a price in KWD that does not end in 0', '23514', insert({ tier: 'gold', price: 5005, currency: 'KWD' })],
      ['a currency of three decimals for such a price', '23514', update("price = 99905, currency = 'KWD'", 'pro')],
      ['a further price with features', '23514', further({ features: '["x"]' })],
      ['a further price with a rank', '23514', further({ rank: 1 })],
      ['a further price with entitlements', '23514', further({ entitlements: '{"x": true}' })],
      ['a plan that loses its rank', '23514', update('rank = null', 'pro')],
    ] as const,
  )('refuse %s: %s', async (_, code, [text, values]) => {
    await expect(database.query(text, [...values])).rejects.toMatchObject({ code });
  });

  test('may have an amount that the gateway does not take only while they are free or off sale', async () => {
    for (const columns of [{ price: 0 }, { price: 99, is_active: false }, { price: 5010, currency: 'KWD' }]) {
      const [text, values] = insert({ tier: 'gold', ...columns });
      await database.query(text, values);
      if (columns.is_active === false) {
        await expect(database.query("update public.plans set is_active = true where tier = 'gold'")).rejects
          .toThrow('the gateway takes no payment of 99 INR: at least 100 minor units');
      }
      await database.query("delete from public.plans where tier = 'gold'");
    }
  });

  test.each([
    ['the name', insert({ tier: 'gold' }), further({ lookup_key: 'gold' })],
    ['the plan', further({ gateway_plan_id: 'plan_gold' }), insert({ tier: 'gold', gateway_plan_id: 'plan_gold' })],
  ])('refuse it also of two transactions at once: %s', async (_, first, second) => {
    const [one, other] = [await database.connect(), await database.connect()];
    await one.query('begin');
    await one.query(first[0], [...first[1]]);
    const refused = other.query(second[0], [...second[1]]).catch((error) => error.code);
    await waitUntilBlocked(database, other);
    await one.query('commit');
    expect(await refused).toBe('23505');
  });

  test.each([
    ['that costs as much a month as one: 1 above it', { price: 99900, duration_months: 12 }, 201],
    ['between two: 1 above the cheaper one', { price: 4901, duration_months: 1 }, 101],
    ['dearer than all: 1 above the highest that is not dearer', { price: 99900, duration_months: 1 }, 301],
    ['cheaper than all: 1 below the lowest', { price: 0 }, 99],
    ['in a currency of its own: 1 above all', { price: 100, currency: 'EUR' }, 301],
    ['with a rank: that', { price: 100, rank: 7 }, 7],
  ])('give a new plan %s', async (_, columns, rank) => {
    const [text, values] = insert({ tier: 'gold', ...columns });
    await database.query("update public.plans set price = 99900 where tier = 'pro' and lookup_key is null");
    await database.query(text, values);
    expect(await database.one("select rank from public.plans where tier = 'gold'")).toEqual({ rank });
    await database.query("update public.plans set price = 100 where tier = 'gold'");
    expect(await database.one("select rank from public.plans where tier = 'gold'")).toEqual({ rank });
  });

  /** Makes something that needs a plan, below a grant of another tier. @returns how it ends */
  const uses: [string, () => Promise<() => Promise<unknown>>][] = [
    ['is bought', async () => {
      const order = await customer.buy('gold', { at: '01-01' });
      await order.capture();
      return () => order.refund();
    }],
    ['is bought for the second time', async () => {
      const orders = [await customer.buy('gold', { at: '01-01' }), await customer.buy('gold', { at: '01-02' })];
      for (const order of orders) await order.capture();
      return async () => {
        for (const order of orders) await order.refund();
      };
    }],
    ['is billed', async () => {
      const cycle = months(1);
      await customer.event('activated', cycle.start, { planId: 'plan_gold', ...cycle });
      return async () => {
        await customer.event('cancelled', '01-02', { planId: 'plan_gold' });
        await database.at('02-02');
      };
    }],
    ['may be authorised', async () => {
      const { id } = await database.rpc('create_subscription', customer.id, 'gold');
      await database.rpc('store_subscription', id, customer.gatewayId, 'https://gateway.example/s/1');
      return () => database.at('2026-01-02T00:00:01Z');
    }],
    ['is waited for', async () => {
      const { id } = await database.rpc('create_subscription', customer.id, 'gold');
      await database.rpc('store_subscription', id, customer.gatewayId, 'https://gateway.example/s/1');
      await customer.event('authenticated', '01-01', { planId: 'plan_gold' });
      return () => customer.event('cancelled', '01-02', { planId: 'plan_gold' });
    }],
  ];

  test.each(uses)('stay with their tier while one %s, and no longer', async (_, use) => {
    const [text, values] = insert({ tier: 'gold', gateway_plan_id: 'plan_gold', duration_months: 1 });
    await database.query(text, values);
    await database.at('01-01');
    const end = await use();
    await grantTier(database, customer.email, 'premium', '2026-06-01T00:00:00Z');
    const refused = { code: '23503', message: expect.stringContaining('the plan "gold" is in use') };
    const remove = () => database.query("delete from public.plans where tier = 'gold'");
    await expect(remove()).rejects.toMatchObject(refused);
    const rename = () => database.query("update public.plans set tier = 'silver' where tier = 'gold'");
    await expect(rename()).rejects.toMatchObject(refused);
    await database.query("update public.plans set is_active = false where tier = 'gold'");
    await end();
    await remove();
    // What is past needs no plan.
    await database.sweep('2026-06-10T00:00:00Z');
    expect(await database.query("select detail from billing.marks where kind = 'settle_failure'")).toEqual([]);
  });

  test('are seen over REST where they and the plan of their tier are active', async () => {
    const seen = async () => {
      const session = await openSession(database, { role: 'anon' });
      const { rows } = await session.query(
        "select coalesce(lookup_key, tier) as key from public.plans where tier = 'pro'",
      );
      return rows.map(({ key }) => key).sort();
    };
    expect(await seen()).toEqual(keys.filter((key) => priceOf(key).tier === 'pro').sort());
    await database.query("update public.plans set is_active = false where lookup_key = 'pro_month'");
    expect(await seen()).toEqual(['pro', 'pro_dear', 'pro_usd', 'pro_usd_year']);
    await database.setPlan('pro', 'is_active = false');
    expect(await seen()).toEqual([]);
  });
});
