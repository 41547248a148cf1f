import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { freeBasePort, npmStart, type RunningStack } from '../stack/running-stack.ts';
import { send, shiftClock, subscribe } from '../stack/subscriber.ts';

/** A price of the plans `small` and `large`: 10.00 and 30.00 a month, ten times that a year, in two currencies. */
type Price = { key: string; tier: string; months: number; currency: string; amount: number };
const prices: Price[] = ['small', 'large'].flatMap((tier) =>
  ['INR', 'USD'].flatMap((currency) =>
    [1, 12].map((months) => ({
      key: currency === 'INR' && months === 1 ? tier : `${tier}_${months}_${currency.toLowerCase()}`,
      tier,
      months,
      currency,
      amount: (tier === 'small' ? 1000 : 3000) * (months === 1 ? 1 : 10),
    }))
  )
);
const pairs = prices.flatMap((from) => prices.filter((to) => to !== from).map((to) => ({ from, to })));

/** What a change is, by the contract's table. */
function scenarioOf(from: Price, to: Price): string {
  if (from.tier !== to.tier) return to.tier === 'large' ? 'upgrade' : 'downgrade';
  return to.months > from.months ? 'upgrade' : 'downgrade';
}

/** Why a change after 10 days can not begin at once. */
function reasonOf(from: Price, to: Price): string | null {
  if (from.currency !== to.currency) return 'currency';
  if (scenarioOf(from, to) === 'downgrade') return from.tier === to.tier ? 'downgrade' : null;
  return from.months > to.months && from.amount * 0.9 > to.amount ? 'credit' : null;
}

let stack: RunningStack;
let port: number;
let env: Record<string, string>;
let database: TestDatabase;
beforeAll(async () => {
  port = freeBasePort();
  stack = npmStart(['--port', String(port), '--ephemeral']);
  env = await stack.ready;
  database = openDatabase(env.DB_URL ?? '');
  await database.query(
    `insert into public.plans (tier, name, price, duration_months, rank, gateway_plan_id)
     values ('small', 'Small', 1000, 1, 1, 'plan_small'), ('large', 'Large', 3000, 1, 2, 'plan_large')`,
  );
  for (const { key, tier, months, currency, amount } of prices) {
    if (key !== tier) {
      await database.query(
        `insert into public.plans (tier, name, lookup_key, price, currency, duration_months, gateway_plan_id)
         values ($1, $1, $2, $3, $4, $5, $6)`,
        [tier, key, amount, currency, months, `plan_${key}`],
      );
    }
    const plan = { id: `plan_${key}`, name: key, amount, currency, period: 'monthly', interval: months };
    await send(`${env.GATEWAY_URL}/simulate/plan`, plan);
  }
});
afterAll(async () => {
  await database.close();
  await stack.end();
});

/** More than the pause after a delivery that failed three times. */
const patience = { timeout: 300_000, interval: 200 };

/** Shifts the clock when all webhooks and messages are delivered: one that is a day old is parked. */
async function shift(step: string): Promise<void> {
  // A cancellation at the gateway may be planned for a later time.
  const waiting = `select from billing.outbox
    where delivered_at is null and (destination <> 'gateway' or next_attempt_at <= billing.clock())`;
  await vi.waitFor(async () => {
    const { items } = await send(`${env.GATEWAY_URL}/simulate/deliveries`);
    expect(items.filter(({ state }: { state: string }) => /pending|retrying/.test(state))).toEqual([]);
    expect(await database.query(waiting)).toEqual([]);
  }, patience);
  await shiftClock(port, step);
}

/** Adds calendar months to a time in Unix milliseconds. */
function addMonths(time: number, months: number): number {
  const date = new Date(time);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}

test(
  'a billed customer changes from each price to each other one, and is billed that one alone from then on',
  async () => {
    const changes = await inTurns(pairs, async ({ from, to }) => ({
      from,
      to,
      customer: await subscribe(env, { price: from.key }),
    }));
    await shift('10 days');
    const changed = await inTurns(changes, async ({ from, to, customer }) => {
      const scenario = scenarioOf(from, to);
      // Without scenarios where a busy auth server does not know the session within two seconds.
      await vi.waitFor(async () => {
        const { plans } = await customer.request('subscriptions/plans');
        const offered = plans.flatMap((plan: { prices: { lookup_key: string; scenario: string }[] }) => plan.prices);
        expect(offered).toContainEqual(expect.objectContaining({ lookup_key: to.key, scenario }));
      }, patience);

      const reason = reasonOf(from, to);
      const isNow = scenario === 'upgrade' && reason === null;
      if (reason !== null) {
        await expect(customer.request('subscriptions/change', { price: to.key, when: 'now' })).rejects
          .toThrow(`answered 409: {"error":"Only at the end of the period","reason":"${reason}"}`);
      }
      const { change, order, subscription } = await customer.request('subscriptions/change', {
        price: to.key,
        when: isNow ? 'now' : 'period_end',
      });
      const [start, end] = [customer.startedAt, addMonths(customer.startedAt, from.months)];
      const startsAt = Date.parse(change.starts_at);
      const unused = isNow ? Math.floor((from.amount * (end - startsAt)) / (end - start)) : 0;
      const credit = unused;
      expect({ ...change, pair: [from.key, to.key] }).toMatchObject({
        pair: [from.key, to.key],
        ...{ from_price: from.key, to_price: to.key },
        amount_due: to.amount - change.credit,
      });
      expect(Math.abs(change.credit - credit)).toBeLessThanOrEqual(1);
      expect(Boolean(order)).toBe(credit > 0);
      if (!isNow) expect(Math.abs(startsAt - end)).toBeLessThan(1000);
      if (order) await customer.pay(order.id);
      await customer.authorise(subscription.id);
      return { from, to, customer, startsAt };
    });

    // The gateway is told 48 hours before a cycle ends, so the clock stops between: after a month and after a year. Who is
    // billed by the month leaves after three.
    for (const step of ['18 days', '1 day', '4 days', '1 month', '1 month']) await shift(step);
    const now = await readClock();
    const { monthly = [], yearly = [] } = Object.groupBy(
      changed,
      ({ to, startsAt }) => to.months === 1 && startsAt < now ? 'monthly' : 'yearly',
    );
    await inTurns(monthly, async (one) => {
      await expectBilled(one, now);
      await one.customer.request('subscriptions/cancel', { at_period_end: false });
    });
    for (const step of ['8 months', '27 days', '3 days', '1 month']) await shift(step);
    const end = await readClock();
    await inTurns(yearly, (one) => expectBilled(one, end));
    // Of each of the four monthly prices to the three others.
    expect([monthly.length, yearly.length]).toEqual([12, 44]);
    // What was late on a busy machine was asked for again; no other fault may hide behind that.
    const faults = stack.stdout.concat(stack.stderr).filter((line) => line.includes('"event":"fault"'));
    expect(faults.filter((line) => !/TimeoutError|_TIMEOUT/.test(line))).toEqual([]);
    // 56 pairs, eight at a time, each with the renewals of a year.
  },
  900_000,
);

/** The clock of the stack, in Unix milliseconds. */
async function readClock(): Promise<number> {
  const sql = 'select extract(epoch from billing.clock())::float8 * 1000 as now';
  return Number((await database.one(sql)).now);
}

type Changed = { from: Price; to: Price; customer: Awaited<ReturnType<typeof subscribe>>; startsAt: number };

/** Expects one charge of the price before, and since the change one of the other price for each of its periods. */
async function expectBilled({ from, to, customer, startsAt }: Changed, now: number): Promise<void> {
  // With a credit the first period is an order; the gateway bills what follows it.
  let periods = 0;
  while (addMonths(startsAt, periods * to.months) < now) periods += 1;
  await customer.sees({ currentTier: to.tier, subscription: { price: { lookup_key: to.key }, status: 'active' } });
  const readPaid = () =>
    database.query(
      `select coalesce(price_key, tier) as key, count(*)::int, min(amount + coalesce(credit, 0))::int as least,
       max(amount + coalesce(credit, 0))::int as most, min(currency) as currency
     from public.payments where user_id = $1 and status = 'captured' group by 1`,
      [customer.userId],
    );
  const line = ({ key, amount, currency }: Price, count: number) => ({
    key,
    count,
    least: amount,
    most: amount,
    currency,
  });
  // The webhooks of the last step may still be on their way.
  await vi.waitFor(async () => {
    const paid = await readPaid();
    expect(paid.sort((a, b) => Number(b.key === from.key) - Number(a.key === from.key)))
      .toEqual([line(from, 1), line(to, periods)]);
  }, patience);
}

/** Does the work for all, eight at a time. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let k = 0; k < items.length; k += 8) results.push(...await Promise.all(items.slice(k, k + 8).map(work)));
  return results;
}
