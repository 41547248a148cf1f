import { beforeEach, describe, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { actAsOwner, endAccess, grantTier } from '../helpers/records/support-actions.ts';
import { shortTime } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

/** An order that the app inserts, verified at a time. @returns the end of the paid period */
async function buyInserted(at: string, session = database.service): Promise<unknown> {
  await database.at(at);
  const order = await placeOrder(database, { user: customer, tier: 'basic' });
  return (await verifyPurchase(session, order)).valid_until;
}
async function buyBasic(at: string, way: 'verify' | 'capture' = 'verify'): Promise<CustomerOrder> {
  const order = await customer.order('basic', { at });
  await order[way]();
  return order;
}
async function buyChain(way: 'verify' | 'capture' = 'verify') {
  const [first, second] = [await buyBasic('01-31', way), await buyBasic('02-10', way)];
  return [first, second, await buyBasic('02-20', way), await buyBasic('02-21', way)] as const;
}
async function shown(): Promise<string> {
  const { start, end } = await customer.subscription() ?? {};
  return `${shortTime(start)} to ${shortTime(end)}`;
}
const periods = (...orders: CustomerOrder[]) => Promise.all(orders.map((order) => order.period()));

describe('a period of calendar months in UTC', () => {
  test.each<[string, number | null, string]>([
    ['2026-01-15T10:20:30.123Z', 1, '2026-02-15T10:20:30.123Z'],
    ['2026-01-31T00:00:00.000Z', 1, '2026-02-28T00:00:00.000Z'],
    ['2028-01-31T12:00:00.000Z', 1, '2028-02-29T12:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', 12, '2029-02-28T12:00:00.000Z'],
    ['2026-08-31T23:59:59.999Z', 6, '2027-02-28T23:59:59.999Z'],
    ['2026-03-01T00:00:00.000Z', null, '2027-03-01T00:00:00.000Z'],
    ['2026-03-01T00:00:00.000Z', 0, '2027-03-01T00:00:00.000Z'],
  ])('from %s of %s months ends %s', async (start, months, end) => {
    await database.setPlan('basic', `duration_months = ${months}`);
    expect(await buyInserted(start)).toBe(end);
    expect(await customer.subscription()).toMatchObject({ start, end });
  });

  // In UTC it is 31 January, in Kolkata already 1 February. The first hours of a month in UTC are the previous month
  // in New York.
  test.each(['Asia/Kolkata', 'America/New_York', 'Pacific/Apia'])('is the same in the time zone %s', async (zone) => {
    const session = await openSession(database, { role: 'service_role' });
    await session.query(`set timezone = '${zone}'`);
    expect(await buyInserted('2026-01-31T20:00:00Z', session)).toBe('2026-02-28T20:00:00.000Z');
    expect(await buyInserted('2026-03-01T02:00:00Z', session)).toBe('2026-04-01T02:00:00.000Z');
    // Clocks go back on 1 November in New York: a month of local time would end an hour off.
    expect(await buyInserted('2026-10-15T12:00:00Z', session)).toBe('2026-11-15T12:00:00.000Z');
  });

  test('has the stored end that is returned, cut to milliseconds', async () => {
    const { id, ...order } = await customer.order('basic');
    await database.at('01-15');
    await database.query("update stopped.clock set at = '2026-01-15T10:20:30.123999Z'");
    const { valid_until } = await order.verify();
    expect(valid_until).toBe('2026-02-15T10:20:30.123Z');
    const row = await database.one(
      `select p.period_end = $2 and s.current_period_end = $2 and s.current_period_start = $3 as exact
       from public.payments p join public.subscriptions s on s.id = p.subscription_id where p.id = $1`,
      [id, valid_until, '2026-01-15T10:20:30.123Z'],
    );
    expect(row).toEqual({ exact: true });
  });
});

describe('under "extend"', () => {
  beforeEach(() => database.set("early_renewal = 'extend'"));
  const chain = ['2026-01-31 to 2026-02-28', '2026-02-28 to 2026-03-31', '2026-03-31 to 2026-04-30'];

  test.each(['verify', 'capture'] as const)('a chain paid by %s counts from its first start', async (way) => {
    const orders = await buyChain(way);
    expect(await periods(...orders)).toEqual([...chain, '2026-04-30 to 2026-05-31']);
    expect(await shown()).toBe('2026-01-31 to 2026-05-31');
    const last = { outcome: 'already_applied', valid_until: '2026-05-31T00:00:00.000Z' };
    expect(await orders[3].verify()).toMatchObject(last);
    expect(await shown()).toBe('2026-01-31 to 2026-05-31');
  });

  test.each([
    ['through a leap year and on', ['2028-01-30', '2028-02-01', '2028-02-02'], '2028-01-30 to 2028-04-30'],
    ['shortly before its end', ['01-31', '02-10', '03-30'], '2026-01-31 to 2026-04-30'],
    ['in the days of grace, and again', ['01-31', '03-01', '03-30'], '2026-03-01 to 2026-05-01'],
    ['at the end, now', ['01-31', '02-28'], '2026-02-28 to 2026-03-28'],
  ])('a renewal %s, with the purchases %j: %s', async (_, times, period) => {
    for (const at of times) await buyBasic(at);
    expect(await shown()).toBe(period);
  });

  test.each([['another tier', 'pro'], ['a cancelled one', 'basic']])('beside %s starts now', async (_, running) => {
    await customer.buy(running, { at: '01-31' });
    if (running === 'basic') await database.query("update public.subscriptions set status = 'cancelled'");
    await buyBasic('02-10');
    expect(await shown()).toBe('2026-02-10 to 2026-03-10');
    expect(await customer.subscription()).toMatchObject({ status: 'active' });
  });

  test('extends the source that rules after another one lapsed, although the sweep did not expire that one yet', async () => {
    await database.at('01-01');
    await grantTier(database, customer.id, 'basic', '2026-06-01Z');
    await database.at('01-02');
    await grantTier(database, customer.id, 'premium', '2026-03-01Z');
    const order = await buyBasic('2026-03-04T00:00:01Z');
    expect(await order.period()).toBe('2026-06-01 to 2026-07-01');
    expect(await shown()).toBe('2026-01-01 to 2026-07-01');
  });

  test.each(['03-01', '05-31'])('a renewal of a grant gives no time of it once it is revoked on %s', async (time) => {
    await database.at('01-01');
    const reference = await grantTier(database, customer.id, 'basic', '2026-06-01Z');
    await buyBasic('02-10');
    expect(await shown()).toBe('2026-01-01 to 2026-07-01');
    await database.at(time);
    await actAsOwner(database, { action: 'revoke_grant', reference });
    expect(await customer.tier()).toBe('free');
    await database.sweep('06-01');
    expect(await customer.state()).toBe('basic: basic active to 2026-07-01');
  });

  test.each<[string, (order: CustomerOrder) => Promise<unknown>]>([
    ['is refunded', (order) => order.refund()],
    ['loses its access by an admin', (order) => endAccess(database, order.id)],
  ])('a payment of the chain that %s leaves no gap', async (_, lose) => {
    const [first, second, third, fourth] = await buyChain();
    await database.at('02-27');
    await lose(second);
    expect(await periods(first, third, fourth)).toEqual(chain);
    await lose(fourth);
    expect(await shown()).toBe('2026-01-31 to 2026-03-31');
    await lose(first);
    expect(await third.period()).toBe('2026-02-20 to 2026-03-20');
    expect(await customer.state()).toBe('basic: basic active to 2026-03-20');
    await lose(third);
    expect(await customer.state()).toMatch(/^free: basic cancelled/);
  });
});

describe('an order grants what was sold', () => {
  const changes = "price = 100, currency = 'EUR', duration_months = 1, is_active = false";

  test.each<[string, string, string, 'verify' | 'capture']>([
    ['costs and lasts less, and is not on offer', changes, 'team', 'verify'],
    ['has another tier', "tier = 'professional'", 'team', 'capture'],
    ['has another tier, and another plan has its tier', "tier = 'professional'", 'pro', 'verify'],
  ])('after its plan %s', async (_, change, added, way) => {
    const order = await customer.order('pro', { at: '05-01' });
    await database.setPlan('pro', change);
    const insertion = 'insert into public.plans (tier, name, price, duration_months) values ($1, $1, 100, 1)';
    await database.query(insertion, [added]);
    await order[way]();
    const sold = { amount: '99900', currency: 'INR', tier: 'pro', duration_months: 12 };
    expect(await order.row()).toMatchObject({ ...sold, plan_id: Object(order.answer.plan).id });
    expect(await order.period()).toBe('2026-05-01 to 2027-05-01');
    expect(await customer.state()).toBe('pro: pro active to 2027-05-01');
  });

  test('so the new price of its plan does not pay it', async () => {
    const order = await customer.order('pro', { at: '05-01' });
    await database.setPlan('pro', 'price = 100');
    expect(await order.capture({ amount: 100 })).toBe('mismatch');
    expect(await customer.tier()).toBe('free');
  });

  test('unless the app inserted it: then it is for the current plan of its tier', async () => {
    await database.at('05-01');
    const order = await placeOrder(database, { user: customer });
    await database.setPlan('pro', 'duration_months = 6');
    expect(await verifyPurchase(database.service, order)).toMatchObject({ valid_until: '2026-11-01T00:00:00.000Z' });
  });
});
