import { beforeEach, describe, expect, test } from 'vitest';
import { expectExactSums, sumUp } from '../helpers/database/revenue.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { suite } from '../helpers/project/suite.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

const india = 'Asia/Kolkata';
const inZone = (zone: string) => database.set(`time_zone = '${zone}'`);
/** Midnight of 1 March in India, and of 1 April. */
const [cycleEnd, nextEnd] = ['2027-02-28T18:30:00.000Z', '2027-03-31T18:30:00.000Z'];
/** Half an hour later on both days. */
const [march, april] = ['2027-02-28T19:00:00.000Z', '2027-03-31T19:00:00.000Z'];

/** Of the 50,000 half hours the gate takes some that come to each time of the day: more where the clocks change. */
const every = (hasSummerTime: boolean) => suite !== 'gate' ? 1 : hasSummerTime ? 5 : 35;

/**
 * Months from 50,000 half hours on, beside a calendar that computes with years, months and days alone. A time that the
 * clocks skip is as much later, and of one that comes twice the second counts.
 */
const countMonths = `
  with given as materialized (
    select at, at at time zone $1 as local, months, billing.add_months(at, months) as ends_at
    from (select timestamptz '2027-01-01 00:00:00.123456Z' + n * interval '30 minutes' as at from generate_series(0, 49999, $2) n) t
    cross join unnest(array[1, 3, 6, 12, 24]) months
  ),
  numbered as materialized (
    select g.*, extract(year from local)::integer * 12 + extract(month from local)::integer - 1 + months as month,
      extract(day from local)::integer as day
    from given g
  ),
  due as materialized (
    select n.*, make_date(month / 12, month % 12 + 1, least(
      day, make_date((month + 1) / 12, (month + 1) % 12 + 1, 1) - make_date(month / 12, month % 12 + 1, 1)
    )) + local::time as local_end
    from numbered n
  ),
  judged as materialized (
    select d.*, (local_end at time zone $1) at time zone $1 as shown, ends_at at time zone $1 as local_of_end from due d
  )
  select count(*)::integer as moments,
    count(*) filter (where shown = local_end and local_of_end <> local_end)::integer as wrong,
    count(*) filter (where shown <> local_end)::integer as skipped,
    count(*) filter (where shown <> local_end and local_of_end <> local_end + interval '1 hour')::integer as wrong_of_skipped,
    count(*) filter (where (ends_at + interval '1 hour') at time zone $1 = local_of_end)::integer as first_of_two,
    count(*) filter (where (ends_at - interval '1 hour') at time zone $1 = local_of_end)::integer as second_of_two,
    count(*) filter (where $1 = 'UTC' and ends_at <> at + make_interval(months => months))::integer as unlike_postgres
  from judged`;

describe.each([
  ['UTC', '2026-01-31T00:00:00Z', ['2026-02-28T00:00:00Z', '2026-03-31T00:00:00Z', '2026-04-30T00:00:00Z']],
  [india, '2026-01-30T19:00:00Z', ['2026-02-27T19:00:00Z', '2026-03-30T19:00:00Z', '2026-04-29T19:00:00Z']],
  // Summer time begins in March: 00:30 is then 04:30 in UTC.
  ['America/New_York', '2026-01-31T05:30:00Z', [
    '2026-02-28T05:30:00Z',
    '2026-03-31T04:30:00Z',
    '2026-04-30T04:30:00Z',
  ]],
])('in %s', (zone, first, ends) => {
  beforeEach(() => inZone(zone));

  test('1, 3, 6, 12 and 24 months end at the same time of the same day, or of the last day of a shorter month', async () => {
    const hasSummerTime = zone === 'America/New_York';
    const step = every(hasSummerTime);
    const { skipped, second_of_two, ...counts } = await database.one(countMonths, [zone, step]);
    const none = { wrong: 0, wrong_of_skipped: 0, first_of_two: 0, unlike_postgres: 0 };
    expect(counts).toEqual({ moments: 5 * Math.ceil(50_000 / step), ...none });
    expect([Number(skipped) > 0, Number(second_of_two) > 0]).toEqual([hasSummerTime, hasSummerTime]);
  });

  test('a chain counts from its first day', async () => {
    await database.set("early_renewal = 'extend'");
    const orders = [];
    for (const at of [first, '2026-02-10T00:00:00Z', '2026-02-20T00:00:00Z']) {
      orders.push(await customer.buy('basic', { at }));
    }
    const rows = await Promise.all(orders.map((order) => order.row()));
    expect(rows.map(({ period_end }) => period_end)).toEqual(ends.map((end) => new Date(end)));
  });
});

test.each(['Mars/Olympus', '+05:30', 'IST', ''])('the setting time_zone is not %j', async (zone) => {
  await expect(inZone(zone)).rejects.toThrow('settings_time_zone_check');
});

describe('what is sold on 1 March in India', () => {
  beforeEach(() => inZone(india));
  const why = async () =>
    (await database.one('select why from billing.customers where user_id = $1', [customer.id])).why;

  test('is for a month: the order, the verification, the mail, the reason and the timeline name 1 April', async () => {
    const order = await customer.order('basic', { at: march, start: 'now' });
    expect(order.answer).toMatchObject({ starts_at: march, ends_at: april });
    expect(await order.verify()).toMatchObject({ valid_until: april });
    expect(await order.period()).toBe(`${march} to ${april}`);
    const { payload } = await database.one("select payload from billing.outbox where kind = 'payment-success'");
    expect(payload).toMatchObject({ valid_until: april });
    expect(await why()).toBe(`Payment ${order.paymentId} of 1 Mar 2027 gives basic until 1 Apr 2027.`);
    const { detail } = await database.one("select detail from billing.timeline where detail like '%captured for%'");
    expect(detail).toContain('captured for basic, 1 Mar 2027 to 1 Apr 2027.');
  });

  test('is for a year: it does not end on 29 February 2028', async () => {
    const order = await customer.buy('pro', { at: march });
    expect(await order.period()).toBe(`${march} to 2028-02-29T19:00:00.000Z`);
    expect(await why()).toContain('until 1 Mar 2028');
  });

  test('stands in the revenue of March, and counts as sold today', async () => {
    await customer.buy('basic', { at: '2027-02-28T18:20:00Z' });
    await sumUp(database);
    await customer.buy('pro', { at: march });
    await sumUp(database);
    const months = await database.query(
      `select to_char(month, 'YYYY-MM') as month, gross, mrr from billing.revenue_monthly order by month`,
    );
    expect(months).toEqual([
      { month: '2027-02', gross: '4900', mrr: '4900' },
      { month: '2027-03', gross: '99900', mrr: '8325' },
    ]);
    expect(
      await database.query(
        "select to_char(month, 'MM') || ' ' || tier || ' ' || active_customers as text from billing.active_monthly order by 1",
      ),
    )
      .toEqual(['02 basic 1', '03 basic 1', '03 pro 1'].map((text) => ({ text })));
    const today = { payments_today: '1', revenue_today: { INR: 99900 } };
    expect(await database.one('select payments_today, revenue_today from billing.service_state')).toEqual(today);
    await expectExactSums(database);
  });

  test('lapses in the month of its end, and is renewed in the month of the renewal', async () => {
    await customer.buy('basic', { at: march });
    await database.sweep(april);
    await database.sweep('2027-04-08T00:00:00Z');
    await sumUp(database);
    const lapsed =
      "select to_char(month, 'YYYY-MM') as month, lapsed_customers from billing.revenue_monthly order by month";
    expect(await database.query(lapsed)).toEqual([
      { month: '2027-03', lapsed_customers: '0' },
      { month: '2027-04', lapsed_customers: '1' },
    ]);
    // In UTC it is still April.
    await customer.buy('basic', { at: '2027-04-30T18:30:00Z' });
    await sumUp(database);
    const may = await database.one(
      "select renewed_customers, lapsed_customers from billing.revenue_monthly where month = '2027-05-01'",
    );
    expect(may).toEqual({ renewed_customers: '1', lapsed_customers: '0' });
    expect(await database.query(lapsed)).toContainEqual({ month: '2027-04', lapsed_customers: '1' });
  });

  test('follows a billed cycle that ends at midnight of the 1st, to midnight of the next 1st', async () => {
    const cycle = { start: '2027-01-31T18:30:00Z', end: cycleEnd };
    await customer.bill(cycle, 'basic');
    await database.at('2027-02-10T00:00:00Z');
    expect(await database.rpc('preview_change', customer.id, 'pro', 'period_end')).toMatchObject({
      change: { starts_at: cycleEnd, ends_at: '2028-02-29T18:30:00.000Z' },
    });
    await database.setPlan('premium', 'duration_months = 1');
    const order = await customer.buy('premium', { start: 'after_current' });
    expect(order.answer).toMatchObject({ starts_at: cycleEnd });
    expect(await order.period()).toBe(`${cycleEnd} to ${nextEnd}`);
  });

  test('is renewed by the gateway after an Indian month, when a credit paid for the first one', async () => {
    await database.setPlan('premium', 'duration_months = 1');
    const cycle = { start: '2027-01-31T18:30:00Z', end: cycleEnd };
    await customer.bill(cycle, 'basic');
    await database.at('2027-02-28T18:00:00Z');
    // 23:30 of 28 February: the same time of 28 March.
    expect(await database.rpc('preview_change', customer.id, 'premium', 'now')).toMatchObject({
      change: { next_charge: { at: '2027-03-28T18:00:00.000Z' } },
    });
  });

  test('names Indian days in what support reads', async () => {
    await database.at('2027-02-01T00:00:00Z');
    const { result } = await database.one(
      `insert into billing.support_actions (action, email, tier, until, reason) values ('grant', $1, 'pro', $2, 'thanks')
       returning result`,
      [customer.email, cycleEnd],
    );
    expect(result).toContain('gives pro until 1 Mar 2027.');
  });
});

test('a month with the begin of summer time is no shorter than four weeks in the recurring revenue', async () => {
  await inZone('America/New_York');
  await customer.buy('basic', { at: '2027-02-20T12:00:00Z' });
  await sumUp(database);
  expect(await database.query('select mrr from billing.revenue_monthly')).toEqual([{ mrr: '4900' }]);
});
