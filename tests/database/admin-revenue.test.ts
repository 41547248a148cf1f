import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { disputeEvent, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;

const at = (day: string) => setClock(database, `${day}T00:00:00Z`);

async function buy(day: string, tier: string, amount: number, user?: Purchase['user']): Promise<Purchase> {
  await at(day);
  const order = await placeOrder(database, { tier, amount, ...(user && { user }) });
  await verifyPurchase(service, order);
  return order;
}

/** Charges a cycle of basic on the first day of a month of 2026. */
async function charge(userId: string, id: string, month: number): Promise<void> {
  const start = `2026-0${month}-01T00:00:00Z`;
  await setClock(database, start);
  const end = `2026-0${month + 1}-01T00:00:00Z`;
  const payment = { id: uniqueId('pay'), amount: 9900 };
  await deliver(
    service,
    subscriptionEvent({ name: 'charged', userId, id, planId: 'plan_basic', start, end, createdAt: start, payment }),
  );
}

const revenue = (currency = 'INR') =>
  database.query(
    `select to_char(month, 'YYYY-MM') as month, gross::int, refunded::int, net::int, new_customers::int as new,
       renewed_customers::int as renewed, lapsed_customers::int as lapsed, active_customers::int as active, mrr::int
     from billing.revenue_monthly where currency = $1 order by month`,
    [currency],
  );
const active = async (): Promise<Row> =>
  Object.fromEntries(
    (await database.query(
      `select to_char(month, 'YYYY-MM') || ' ' || tier as key, active_customers::int as active
       from billing.active_monthly order by 1`,
    )).map(({ key, active }) => [key, active]),
  );

describe('with a year of pro in January, cycles of basic from February to April, and one month of basic in March', () => {
  let refunded: Purchase;
  beforeAll(async () => {
    database = await createTestDatabase({ findings: 'compared elsewhere' });
    service = await openSession(database, { role: 'service_role' });
    await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
    await buy('2026-01-10', 'pro', 120000);
    const [billed, id] = [await createUser(database), uniqueId('sub')];
    for (const month of [2, 3, 4]) await charge(billed.id, id, month);
    refunded = await buy('2026-03-20', 'basic', 9900);
    await buy('2026-04-05', 'basic', 9900, refunded.user);
    await at('2026-04-15');
  });
  afterAll(() => database.close());

  test('an empty database has no rows', async () => {
    const empty = await createTestDatabase();
    expect(await empty.query('select from billing.revenue_monthly')).toEqual([]);
    expect(await empty.query('select from billing.active_monthly')).toEqual([]);
    await empty.close();
  });

  test('each month has its revenue, new and renewed customers, and a year counts a twelfth a month', async () => {
    const none = { refunded: 0, renewed: 0, lapsed: 0 };
    expect(await revenue()).toEqual([
      { ...none, month: '2026-01', gross: 120000, net: 120000, new: 1, active: 1, mrr: 10000 },
      { ...none, month: '2026-02', gross: 9900, net: 9900, new: 1, active: 2, mrr: 19900 },
      { ...none, month: '2026-03', gross: 19800, net: 19800, new: 1, renewed: 1, active: 3, mrr: 29800 },
      { ...none, month: '2026-04', gross: 19800, net: 19800, new: 0, renewed: 2, active: 3, mrr: 29800 },
    ]);
    expect(await active()).toMatchObject({
      '2026-01 pro': 1,
      '2026-02 basic': 1,
      '2026-02 pro': 1,
      '2026-04 basic': 2,
      '2026-04 pro': 1,
    });
  });

  test('a refund counts in its own month and ends the period; a period that is over is lapsed', async () => {
    await at('2026-05-20');
    await deliver(service, refundEvent(paymentOf(refunded), 4000));
    const months = await revenue();
    expect(months).toHaveLength(5);
    // The last cycle ended on the first of May, the last month of basic on the fifth.
    expect(months[4]).toEqual({
      month: '2026-05',
      gross: 0,
      refunded: 4000,
      net: -4000,
      new: 0,
      renewed: 0,
      lapsed: 2,
      active: 1,
      mrr: 10000,
    });
    expect(months[3]).toMatchObject({ active: 3, mrr: 29800 });
    expect(await active()).toMatchObject({ '2026-05 pro': 1 });
  });

  test('another currency has rows of its own', async () => {
    await at('2026-05-21');
    const order = await placeOrder(database);
    await database.query("update public.payments set currency = 'USD', amount = 1200 where id = $1", [order.id]);
    await verifyPurchase(service, order);
    expect(await revenue('USD')).toMatchObject([{ month: '2026-05', gross: 1200, new: 1, active: 1, mrr: 100 }]);
    expect((await revenue())[4]).toMatchObject({ gross: 0, active: 1 });
  });

  test('the payments of today are in billing.service_state', async () => {
    const state = () =>
      database.one('select payments_today::int as payments, revenue_today as revenue from billing.service_state');
    expect(await state()).toEqual({ payments: 1, revenue: { USD: 1200 } });
    await at('2026-05-22');
    expect(await state()).toEqual({ payments: 0, revenue: {} });
  });

  test('a refund that failed leaves the amounts, and a payment that was lost in a dispute is taken off', async () => {
    const order = await buy('2026-06-10', 'premium', 50000);
    const june = async () => (await revenue()).find(({ month }) => month === '2026-06');
    await deliver(service, refundEvent(paymentOf(order), 50000, { status: 'failed' }));
    expect(await june()).toMatchObject({ gross: 50000, refunded: 0 });
    await deliver(service, disputeEvent('lost', 'lost', paymentOf(order)));
    // The dispute counts from the time of its event, which here is today.
    await database.query("update public.payments set dispute_event_at = '2026-06-10Z' where id = $1", [order.id]);
    expect(await june()).toMatchObject({ gross: 50000, refunded: 50000, net: 0 });
  });

  test('a credit counts as paid in the recurring revenue', async () => {
    await at('2026-06-11');
    const order = await placeOrder(database);
    const credited = "currency = 'EUR', amount = 1000, credit = 200";
    await database.query(`update public.payments set ${credited} where id = $1`, [order.id]);
    await verifyPurchase(service, order);
    expect(await revenue('EUR')).toMatchObject([{ gross: 1000, mrr: 100 }]);
  });

  test('a deleted user stays in the amounts', async () => {
    const before = await revenue();
    await database.query('delete from auth.users where id = $1', [refunded.user.id]);
    const gross = (months: Row[]) => months.map((month) => [month.gross, month.refunded]);
    expect(gross(await revenue())).toEqual(gross(before));
  });
});
