import { beforeAll, describe, expect, test } from 'vitest';
import type { FileJob } from '../../scripts/console/file-maker.ts';
import { setClock } from '../helpers/database/clock.ts';
import { sumUp } from '../helpers/database/revenue.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { parseCsv } from '../helpers/records/parse-csv.ts';
import { readSheet, readTable } from '../helpers/records/read-sheet.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser } from '../helpers/records/records.ts';
import { until } from './gateway-simulator-rig.ts';
import { useConsole } from './console-rig.ts';

const support = useConsole();
/** Bought in April and again in May, with a name that a spreadsheet would run. */
let asha: Purchase;
/** Bought in yen. */
let ravi: Purchase;

// April: two purchases in rupees, one in yen. May: one again, one lapses, one first cycle is refunded in full.
beforeAll(async () => {
  const { database } = support;
  const session = await database.connect();
  const buy = async (at: string, columns: string, user?: Purchase['user']) => {
    await setClock(database, at);
    const order = await placeOrder(database, user ? { user } : {});
    await database.query(`update public.payments set ${columns} where id = $1`, [order.id]);
    await verifyPurchase(session, order);
    return order;
  };
  asha = await buy('2026-04-10T00:00:00Z', 'amount = 4950, duration_months = 1');
  await database.query(`update public.profiles set display_name = '=1+1' where user_id = $1`, [asha.user.id]);
  await buy('2026-04-11T00:00:00Z', 'amount = 4900, duration_months = 1');
  ravi = await buy('2026-04-12T00:00:00Z', "currency = 'JPY', amount = 1000, duration_months = 3");
  await buy('2026-05-09T00:00:00Z', 'amount = 4950, duration_months = 1', asha.user);
  const { id } = await createUser(database);
  await database.query(
    `insert into public.plans (tier, lookup_key, name, price, duration_months, gateway_plan_id)
     values ('basic', 'basic_monthly', 'Basic', 9900, 1, 'plan_basic_monthly')`,
  );
  await setClock(database, '2026-05-15T00:00:00Z');
  const cycle = { start: '2026-05-15T00:00:00Z', end: '2026-06-15T00:00:00Z', createdAt: '2026-05-15T00:00:00Z' };
  const payment = { id: 'pay_cycle', amount: 9900 };
  await deliver(
    session,
    subscriptionEvent({ name: 'charged', userId: id, planId: 'plan_basic_monthly', ...cycle, payment }),
  );
  await setClock(database, '2026-05-18T00:00:00Z');
  await deliver(session, refundEvent({ id: 'pay_cycle' }, 9900));
  await deliver(session, refundEvent({ ...paymentOf(ravi), amount: 1000, currency: 'JPY' }, 400));
  await setClock(database, '2026-05-20T00:00:00Z');
  await sumUp(database);
});

/** The lines of a figure, and their sums. */
async function linesOf(month: string, figure: string, currency: string) {
  const { body } = await support.read(`/revenue/${month}/lines?of=${figure}&currency=${currency}`);
  const { lines, amount } = Object(body.sums);
  expect(body.rows).toHaveLength(lines);
  return { lines, amount };
}

describe('a figure of revenue', () => {
  test.each([['2026-04', 'INR'], ['2026-05', 'INR'], ['2026-04', 'JPY'], ['2026-05', 'JPY']])(
    'of %s in %s opens lines that add up to it',
    async (month, currency) => {
      const { body } = await support.read('/revenue');
      const rows: Record<string, unknown>[] = Array.isArray(body.revenue) ? body.revenue : [];
      const row = rows.find((one) => one.month === `${month}-01` && one.currency === currency) ?? expect.fail();
      for (const figure of ['gross', 'refunded', 'net', 'mrr']) {
        expect([figure, (await linesOf(month, figure, currency)).amount]).toEqual([figure, row[figure]]);
      }
      for (const figure of ['new', 'renewed', 'lapsed', 'active']) {
        expect([figure, (await linesOf(month, figure, currency)).lines]).toEqual([figure, row[`${figure}_customers`]]);
      }
    },
  );

  test('names its customers: the refunded and the expired one lapsed in May', async () => {
    const { body } = await support.read('/revenue');
    expect(body.revenue).toContainEqual(expect.objectContaining({
      ...{ month: '2026-05-01', currency: 'INR', gross: 14850, refunded: 9900, new_customers: 1, renewed_customers: 1 },
      ...{ lapsed_customers: 2, active_customers: 1 },
    }));
    const { body: active } = await support.read('/revenue/2026-05/lines?of=active&currency=INR');
    expect(active.rows).toMatchObject([{ user_id: asha.user.id, tier: 'pro' }]);
  });

  test('that does not exist → 404; a month that does not → 422', async () => {
    expect((await support.read('/revenue/2026-05/lines?of=constructor&currency=INR')).status).toBe(404);
    expect((await support.read("/revenue/2026-13'/lines?of=gross&currency=INR")).status).toBe(422);
  });
});

describe('the tables of a month', () => {
  /** Makes the files, and reads them as records. */
  async function make(month: string) {
    const path = `/api/revenue/${month}/files`;
    const headers = { cookie: support.cookie, origin: support.url };
    await (await fetch(support.url + path, { method: 'POST', headers })).body?.cancel();
    const job: FileJob = await until(async () => {
      const now: FileJob = await (await support.get(path)).json();
      return now.state !== 'running' && now;
    });
    expect(job).toMatchObject({ state: 'done', error: null, at: '2026-05-20T00:00:00.000Z' });
    expect(job.done).toBe(job.total);
    const read = async (name: string) => {
      const text = await (await support.get(`${path}/${name}.csv`)).text();
      const { rows: cells } = await readSheet(await (await support.get(`${path}/${name}.xlsx`)).bytes());
      expect(cells, name).toEqual(readTable(text));
      const [columns = [], ...rows] = parseCsv(text);
      return rows.map((row) => Object.fromEntries(columns.map((column, place) => [column, row[place]])));
    };
    const [payments, refunds, customers, subscriptions] = await Promise.all(
      ['payments', 'refunds', 'customers', 'subscriptions'].map(read),
    );
    return { payments, refunds, customers, subscriptions };
  }

  test('have currency, amounts in major units and dates, as CSV and as a spreadsheet, a row for each payment and refund of the month', async () => {
    const april = await make('2026-04');
    expect(april.payments?.map(({ currency, paid, refunded }) => [currency, paid, refunded]))
      .toEqual([['INR', '49.50', '0.00'], ['INR', '49.00', '0.00'], ['JPY', '1000', '400']]);
    expect(april.payments?.[2]).toMatchObject({
      ...{ payment_id: ravi.paymentId, order_id: ravi.orderId, email: ravi.user.email, tier: 'pro', months: '3' },
      ...{ captured_at: '2026-04-12T00:00:00.000Z', period_end: '2026-07-12T00:00:00.000Z' },
    });
    expect(april.refunds).toEqual([]);
    const may = await make('2026-05');
    expect(may.payments?.map(({ paid, subscription_id }) => [paid, subscription_id !== '']))
      .toEqual([['49.50', false], ['99.00', true]]);
    expect(may.refunds?.map(({ at, kind, payment_id, currency, amount }) => [at, kind, payment_id, currency, amount]))
      .toEqual(expect.arrayContaining([
        ['2026-05-18T00:00:00.000Z', 'refund', 'pay_cycle', 'INR', '99.00'],
        ['2026-05-18T00:00:00.000Z', 'refund', ravi.paymentId, 'JPY', '400'],
      ]));
  });

  test('have all customers and subscriptions, and no text that a spreadsheet runs', async () => {
    const { customers, subscriptions } = await make('2026-05');
    expect(customers).toHaveLength(4);
    expect(customers?.find(({ user_id }) => user_id === asha.user.id))
      .toMatchObject({ name: "'=1+1", tier: 'pro', source: 'payment', currency: 'INR', received: '99.00' });
    expect(customers?.find(({ user_id }) => user_id === ravi.user.id)).toMatchObject({
      currency: 'JPY',
      received: '600',
    });
    expect(subscriptions?.find(({ user_id }) => user_id === ravi.user.id)).toMatchObject({
      ...{ tier: 'pro', status: 'active', ends_with_period: 'no', period_start: '2026-04-12T00:00:00.000Z' },
    });
    expect(subscriptions?.find(({ subscription_id }) => subscription_id !== ''))
      .toMatchObject({ price: 'basic_monthly', months: '1', currency: 'INR', price_amount: '99.00' });
  });
});

test('the recurring revenue of a customer whose upgrade was refunded is that of the older period, in the sum and in its lines', async () => {
  const { database } = support;
  const session = await database.connect();
  const of = async () => {
    await sumUp(database);
    const { body } = await support.read('/revenue');
    const rows: Record<string, unknown>[] = Array.isArray(body.revenue) ? body.revenue : [];
    const sum = Number(rows.find(({ month, currency }) => month === '2027-01-01' && currency === 'INR')?.mrr);
    return [sum, (await linesOf('2027-01', 'mrr', 'INR')).amount];
  };
  await setClock(database, '2027-01-05T00:00:00Z');
  const first = await placeOrder(database);
  await verifyPurchase(session, first);
  const before = await of();
  await setClock(database, '2027-01-06T00:00:00Z');
  const second = await placeOrder(database, { user: first.user, tier: 'premium' });
  await database.query('update public.payments set duration_months = 1 where id = $1', [second.id]);
  await verifyPurchase(session, second);
  expect(await of()).toEqual([99900, 99900]);
  await setClock(database, '2027-01-07T00:00:00Z');
  await deliver(session, refundEvent(paymentOf(second), 99900));
  expect([before, await of()]).toEqual([[8325, 8325], [8325, 8325]]);
});
