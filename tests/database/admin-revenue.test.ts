import { afterEach, beforeAll, expect, test } from 'vitest';
import { expectExactSums, sumUp } from '../helpers/database/revenue.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent, refundEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ findings: 'compared elsewhere' });
let refunded: Purchase;
afterEach(() => expectExactSums(database));

async function buy(at: string, tier: string, columns: string, user?: Purchase['user']): Promise<Purchase> {
  await database.at(at);
  const order = await placeOrder(database, { tier, ...(user && { user }) });
  await database.query(`update public.payments set ${columns} where id = $1`, [order.id]);
  await verifyPurchase(database.service, order);
  return order;
}

/** `2026-01: 120000 - 0 = 120000, 1 new, 0 renewed, 0 lapsed, 1 active, mrr 10000` */
const revenue = async (currency = 'INR') =>
  (await sumUp(database),
    await database.query(
      `select format('%s: %s - %s = %s, %s new, %s renewed, %s lapsed, %s active, mrr %s', to_char(month, 'YYYY-MM'), gross,
       refunded, net, new_customers, renewed_customers, lapsed_customers, active_customers, mrr) as text
     from billing.revenue_monthly where currency = $1 order by month`,
      [currency],
    )).map(({ text }) => text);
/** `2026-01 pro 1` */
const active = async (month: string) =>
  (await sumUp(database),
    await database.query(
      `select format('%s %s', tier, active_customers) as text from billing.active_monthly
     where to_char(month, 'YYYY-MM') = $1 order by 1`,
      [month],
    )).map(({ text }) => text);

// A year of pro in January, cycles of basic from February to April, and one month of basic in March and in April.
beforeAll(async () => {
  expect(await database.query('select from billing.revenue_monthly')).toEqual([]);
  expect(await database.query('select from billing.active_monthly')).toEqual([]);
  await buy('01-10', 'pro', 'amount = 120000');
  const billed = await database.customer();
  for (const month of [2, 3, 4]) await billed.charge(months(month), 'basic');
  refunded = await buy('03-20', 'basic', 'amount = 4900');
  await buy('04-05', 'basic', 'amount = 4900', refunded.user);
});

test('each month has its revenue, new and renewed customers, and a year counts a twelfth a month', async () => {
  await database.at('04-15');
  expect(await revenue()).toEqual([
    '2026-01: 120000 - 0 = 120000, 1 new, 0 renewed, 0 lapsed, 1 active, mrr 10000',
    '2026-02: 4900 - 0 = 4900, 1 new, 0 renewed, 0 lapsed, 2 active, mrr 14900',
    '2026-03: 9800 - 0 = 9800, 1 new, 1 renewed, 0 lapsed, 3 active, mrr 19800',
    '2026-04: 9800 - 0 = 9800, 0 new, 2 renewed, 0 lapsed, 3 active, mrr 19800',
  ]);
  expect([await active('2026-01'), await active('2026-02')]).toEqual([['pro 1'], ['basic 1', 'pro 1']]);
  expect(await active('2026-04')).toEqual(['basic 2', 'pro 1']);
});

test('a refund counts in its own month and ends the period; a period that is over is lapsed', async () => {
  await database.at('05-20');
  await database.send(refundEvent(paymentOf(refunded), 4000));
  expect((await revenue()).slice(3)).toEqual([
    '2026-04: 9800 - 0 = 9800, 0 new, 2 renewed, 0 lapsed, 3 active, mrr 19800',
    // The last cycle ended on the first of May, the last month of basic on the fifth.
    '2026-05: 0 - 4000 = -4000, 0 new, 0 renewed, 2 lapsed, 1 active, mrr 10000',
  ]);
  expect(await active('2026-05')).toEqual(['basic 0', 'pro 1']);
});

test('another currency has rows of its own, and a credit counts as paid in the recurring revenue', async () => {
  await buy('05-21', 'pro', "currency = 'USD', amount = 1000, credit = 200");
  expect(await revenue('USD')).toEqual(['2026-05: 1000 - 0 = 1000, 1 new, 0 renewed, 0 lapsed, 1 active, mrr 100']);
  expect((await revenue())[4]).toMatch(/^2026-05: 0 - 4000.* 1 active/);
});

test('billing.service_state has the payments of today', async () => {
  const stateAt = async (time: string) => {
    await database.at(time);
    await sumUp(database);
    return await database.one('select payments_today, revenue_today from billing.service_state');
  };
  expect(await stateAt('2026-05-21T23:59:59Z')).toEqual({ payments_today: '1', revenue_today: { USD: 1000 } });
  expect(await stateAt('05-22')).toEqual({ payments_today: '0', revenue_today: {} });
});

test('a refund that failed leaves the amounts, and a payment that was lost in a dispute is taken off', async () => {
  const order = await buy('06-10', 'premium', 'amount = 50000, paid_amount = 50000');
  const june = async () => (await revenue()).find((month) => String(month).startsWith('2026-06'));
  await database.send(refundEvent(paymentOf(order), 50000, { status: 'failed' }));
  expect(await june()).toMatch(/: 50000 - 0 = 50000, /);
  // A dispute counts from the time of its event.
  await database.send(disputeEvent('lost', 'lost', paymentOf(order), {}, { createdAt: '2026-06-10T00:00:00Z' }));
  expect(await june()).toMatch(/: 50000 - 50000 = 0, /);
});

test('a deleted user stays in the amounts', async () => {
  await database.at('06-11');
  const amounts = async () => (await revenue()).map((month) => String(month).split(',')[0]);
  const before = await amounts();
  await database.query('delete from auth.users where id = $1', [refunded.user.id]);
  expect(await amounts()).toEqual(before);
});

test('a first cycle that is refunded in full is one new and one lapsed customer, active until then', async () => {
  await database.at('07-01');
  const billed = await database.customer();
  const cycle = { start: '2026-07-02T00:00:00Z', end: '2026-08-02T00:00:00Z' };
  const id = `pay_2026-07_${billed.gatewayId}`;
  await billed.charge(cycle, 'basic');
  const before = await active('2026-07');
  expect((await revenue()).at(-1)).toMatch(/1 new, 0 renewed, 0 lapsed, 3 active, mrr 19067$/);
  await database.at('07-05');
  await database.send(refundEvent({ id }, 4900));
  expect(await revenue()).toContainEqual(
    '2026-07: 4900 - 4900 = 0, 1 new, 0 renewed, 1 lapsed, 2 active, mrr 14167',
  );
  expect([before, await active('2026-07')]).toEqual([['basic 1', 'premium 1', 'pro 2'], [
    'basic 0',
    'premium 1',
    'pro 2',
  ]]);
});

test('after the refund of later purchases the one that still runs counts for the recurring revenue again', async () => {
  const mrr = async () => Number(String((await revenue()).at(-1)).replace(/.* mrr /, ''));
  await database.at('08-05');
  const before = await mrr();
  const first = await buy('08-06', 'pro', 'amount = 120000');
  const second = await buy('08-07', 'premium', 'amount = 240000', first.user);
  const third = await buy('08-08', 'basic', 'amount = 99900', first.user);
  const shares = [await mrr() - before];
  for (const [time, order, amount] of [['08-09', second, 240000], ['08-10', third, 99900]] as const) {
    await database.at(time);
    await database.send(refundEvent(paymentOf(order), amount));
    shares.push(await mrr() - before);
  }
  expect(shares).toEqual([99900, 99900, 10000]);
  expect((await revenue()).at(-1)).toMatch(/ 1 new, 0 renewed, /);
});
