import { beforeEach, describe, expect, test } from 'vitest';
import { waitUntilBlocked } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent } from '../helpers/gateway/events.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

/** A price: `basic` and `pro` are default prices. The gateway has a plan of each, as `plan_<key>`. */
type Price = {
  readonly tier: 'basic' | 'pro';
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
  pro_month: { tier: 'pro', amount: 9900, currency: 'INR', months: 1 },
  pro_usd: { tier: 'pro', amount: 1900, currency: 'USD', months: 1 },
  pro_usd_year: { tier: 'pro', amount: 19000, currency: 'USD', months: 12 },
};
const keys = Object.keys(offered);
const priceOf = (key: string): Price => offered[key] ?? expect.fail(`no price ${key}`);
const answered = (key: string) => {
  const { amount, currency, months } = priceOf(key);
  return { lookup_key: key, amount, currency, interval: months === 12 ? 'year' : 'month', interval_count: 1 };
};
const sold = (key: string) => {
  const { currency, months } = priceOf(key);
  return { price_key: key, currency, duration_months: months };
};

beforeEach(async () => {
  for (const [key, { tier, amount, currency, months }] of Object.entries(offered)) {
    if (key === tier) continue;
    await database.query(
      `insert into public.prices (plan_id, lookup_key, amount, currency, "interval", gateway_plan_id)
       select p.id, $1, $3, $4, case $5::integer when 12 then 'year' else 'month' end, 'plan_' || $1
       from public.plans p where p.tier = $2`,
      [key, tier, amount, currency, months],
    );
  }
});

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

  /** What a change is, by the rules of the contract: "Scenarios". */
  function scenarioOf(from: Price, to: Price): string {
    if (from.currency !== to.currency) return 'other_currency';
    if (from.tier !== to.tier) return to.tier === 'pro' ? 'upgrade' : 'downgrade';
    if (from.months !== to.months) return from.months < to.months ? 'longer' : 'shorter';
    return 'current';
  }

  /** The credit for the time from 11 January to the end of the period. */
  function creditOf(from: Price, to: Price): number {
    if (!['upgrade', 'longer'].includes(scenarioOf(from, to))) return 0;
    const days = from.months === 12 ? 365 : 31;
    const unused = Math.floor((from.amount * (days - 10)) / days);
    return unused > to.amount ? 0 : Math.min(unused, to.amount - 100);
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
      const shown = Object.fromEntries(
        plans.flatMap(({ prices }: { prices: { lookup_key: string; scenario: string }[] }) => prices)
          .map(({ lookup_key, scenario }: { lookup_key: string; scenario: string }) => [lookup_key, scenario]),
      );
      for (const each of keys) {
        const to = priceOf(each);
        const [scenario, credit] = [scenarioOf(from, to), creditOf(from, to)];
        expect(shown[each], each).toBe(scenario);
        expect(plans.find(({ tier }: { tier: string }) => tier === to.tier).scenario).toBe(shown[to.tier]);
        for (const when of ['now', 'period_end']) {
          const parameters = [customer.id, to.tier, when] as const;
          const previewed = await database.rpc('preview_change', ...parameters, each);
          const changed = await database.rpc('create_change', ...parameters, null, null, each);
          const refused = when === 'now' && ['shorter', 'other_currency'].includes(scenario)
            ? 'not_now'
            : isBilled && scenario === 'current'
            ? 'already_subscribed'
            : null;
          if (refused) {
            expect([previewed, changed], `${each} ${when}`).toEqual(Array(2).fill({ outcome: refused }));
            continue;
          }
          const starts_at = when === 'now' ? new Date(now).toISOString() : end;
          const due = when === 'now' ? credit : 0;
          const orderStart = isBilled ? (due > 0 ? 'now' : null) : when === 'now' ? 'now' : 'after_current';
          expect(previewed, `${each} ${when}`).toEqual({
            ...{ outcome: 'change', order_start: orderStart, is_billed: isBilled },
            change: {
              ...{ amount_due: to.amount - due, credit: due, currency: to.currency, starts_at },
              ends_at: monthsLater(starts_at, to.months),
              ...{ from: from.tier, to: to.tier, scenario, price: answered(each) },
            },
          });
          expect(changed).toMatchObject(
            isBilled
              ? { outcome: 'created', gateway_plan_id: `plan_${each}`, price: answered(each) }
              : { outcome: 'plan_not_found' },
          );
        }
        const order = await customer.order(to.tier, { start: 'now', price: each });
        expect(order.answer).toMatchObject({ amount: to.amount - credit, credit, price: answered(each) });
        expect(await order.row()).toMatchObject({ ...sold(each), amount: `${to.amount - credit}` });
      }
    });
  });
});

test('the rank orders the tiers, whatever they cost; of two of the same rank the other one is an upgrade', async () => {
  await buy('basic');
  await database.at('01-11');
  const scenario = async () => Object(await database.rpc('preview_change', customer.id, 'pro', 'now')).change.scenario;
  for (const [rank, expected] of [[4900, 'upgrade'], [4899, 'downgrade'], [4901, 'upgrade']]) {
    await database.setPlan('pro', `rank = ${rank}`);
    expect(await scenario(), String(rank)).toBe(expected);
  }
});

test('unused time that a price does not cover goes on after its period', async () => {
  await buy('basic_year');
  await customer.buy('pro', { at: '01-11', start: 'now', price: 'pro_month' });
  expect(await customer.state()).toBe('pro: pro active to 2026-02-11');
  await database.sweep('02-20');
  expect(await customer.state()).toBe('basic: basic active to 2027-01-01');
});

test.each([
  ['pro', 'pro_month', 'shorter'],
  ['pro_month', 'pro_usd', 'other_currency'],
])('a purchase after the current period begins with its own: from %s to %s', async (from, to, scenario) => {
  await buy(from);
  const change = async (key: string) => {
    const { plans } = Object(await database.rpc('list_plans_for_user', customer.id));
    const { prices } = plans.find(({ tier }: { tier: string }) => tier === 'pro');
    return prices.find((price: { lookup_key: string }) => price.lookup_key === key).scenario;
  };
  await customer.buy('pro', { at: '01-11', start: 'after_current', price: to });
  expect((await read()).subscription).toMatchObject(sold(from));
  expect([await change(from), await change(to)]).toEqual(['current', scenario]);
  await database.sweep(`${months(1, priceOf(from).months).end}`);
  expect((await read()).subscription).toMatchObject(sold(to));
  expect(await change(to)).toBe('current');
});

describe.each(['pro', 'pro_month'])('%s, edited after it was sold', (key) => {
  const { tier, months: length } = priceOf(key);
  const edit = async (assignment: string) => {
    if (key === tier) return await database.setPlan(tier, assignment);
    await database.query(`update public.prices set ${assignment} where lookup_key = $1`, [key]);
  };
  const isDefault = key === tier;
  const edits: [string, () => Promise<unknown>][] = [
    ['to another amount', () => edit(isDefault ? 'price = 1' : 'amount = 1')],
    ['to another currency', () => edit("currency = 'EUR'")],
    ['to another interval', () => edit(isDefault ? 'duration_months = 3' : 'interval_count = 3')],
    ['off sale', () => edit('is_active = false')],
    ['without its plan at the gateway', () => edit('gateway_plan_id = null')],
    ['whose plan at the gateway is now that of another tier', async () => {
      await edit('gateway_plan_id = null');
      await database.query("update public.prices set gateway_plan_id = $1 where lookup_key = 'basic_year'", [
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
    expect([subscription, payments[0]]).toMatchObject([sold(key), { amount: priceOf(key).amount, price_key: key }]);
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
    expect(subscription).toMatchObject({ tier, ...sold(key) });
    expect(payments).toMatchObject(Array(3).fill({ tier, price_key: key, currency: 'INR' }));
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
    await database.query("update public.prices set is_active = false where lookup_key = 'pro_month'");
    expect(await outcome(null, 'pro_month')).toBe('plan_not_found');
    await database.setPlan('pro', 'is_active = false');
    expect(await outcome(null, 'pro_usd')).toBe('plan_not_found');
  });

  test('without a plan at the gateway can be bought, and a change to it is an order, but it cannot be billed', async () => {
    await bill('basic');
    await database.at('01-11');
    await database.query("update public.prices set gateway_plan_id = null where lookup_key = 'pro_month'");
    expect(await order(null, 'pro_month')).toMatchObject({ outcome: 'created', price: answered('pro_month') });
    expect(await subscribe(null, 'pro_month')).toEqual({ outcome: 'not_at_gateway' });
    expect(await preview(null, 'pro_month')).toMatchObject({ order_start: 'after_current', is_billed: false });
    expect(await change(null, 'pro_month')).toEqual({ outcome: 'plan_not_found' });
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
      await database.query("update public.prices set is_active = false where lookup_key = 'pro_month'");
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
    await database.query("update public.prices set amount = 8900 where lookup_key = 'pro_month'");
    expect([await made(), await made()]).toEqual(['created', 'existing']);
    await database.query("update public.prices set gateway_plan_id = null where lookup_key = 'pro_month'");
    await database.query("update public.prices set gateway_plan_id = 'plan_pro_month' where lookup_key = 'pro_usd'");
    expect(await subscribe(null, 'pro_usd')).toMatchObject({ outcome: 'created', price: answered('pro_usd') });
  });

  test('already subscribed is who is billed the tier with the same interval and currency', async () => {
    await bill('pro_month');
    expect(await subscribe(null, 'pro_month')).toEqual({ outcome: 'already_subscribed' });
    for (const other of ['pro', 'pro_usd', 'basic']) {
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
    await database.send(refundEvent({ id }, 9900));
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

describe('a name or a plan at the gateway that another price has is refused', () => {
  const insertPrice = (key: string, gatewayPlan: string | null) =>
    [
      `insert into public.prices (plan_id, lookup_key, amount, "interval", gateway_plan_id)
     select id, $1, 100, 'month', $2 from public.plans where tier = 'basic'`,
      [key, gatewayPlan],
    ] as const;
  const insertPlan = (tier: string, gatewayPlan: string | null) =>
    [
      `insert into public.plans (tier, name, price, gateway_plan_id) values ($1, $1, 100, $2)`,
      [tier, gatewayPlan],
    ] as const;
  const set = (table: string, assignment: string, where: string) =>
    [`update public.${table} set ${assignment} where ${where}`, []] as const;
  const [ofPrice, ofPlan] = ["lookup_key = 'pro_month'", "tier = 'pro'"];

  test.each(
    [
      ['name "pro"', 'of a new price', insertPrice('pro', null)],
      ['gateway_plan_id "plan_pro"', 'of a new price', insertPrice('new', 'plan_pro')],
      ['name "pro"', 'of a price', set('prices', "lookup_key = 'pro'", ofPrice)],
      ['gateway_plan_id "plan_pro"', 'of a price', set('prices', "gateway_plan_id = 'plan_pro'", ofPrice)],
      ['name "pro_month"', 'of a new plan', insertPlan('pro_month', null)],
      ['gateway_plan_id "plan_pro_month"', 'of a new plan', insertPlan('new', 'plan_pro_month')],
      ['name "pro_month"', 'of a plan', set('plans', "tier = 'pro_month'", ofPlan)],
      ['gateway_plan_id "plan_pro_month"', 'of a plan', set('plans', "gateway_plan_id = 'plan_pro_month'", ofPlan)],
    ] as const,
  )('%s %s', async (taken, _, [text, values]) => {
    const expected = { code: '23505', message: `another price has the ${taken}` };
    await expect(database.query(text, [...values])).rejects.toMatchObject(expected);
  });

  test.each([
    ['the name', insertPrice('gold', null), insertPlan('gold', null)],
    ['the plan', insertPlan('gold', 'plan_gold'), insertPrice('gold_month', 'plan_gold')],
  ])('also of two transactions at once: %s', async (_, first, second) => {
    const [one, other] = [await database.connect(), await database.connect()];
    await one.query('begin');
    await one.query(first[0], [...first[1]]);
    const refused = other.query(second[0], [...second[1]]).catch((error) => error.code);
    await waitUntilBlocked(database, other);
    await one.query('commit');
    expect(await refused).toBe('23505');
  });
});
