import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let planId: unknown;
beforeAll(async () => {
  // One capture has another amount than its order.
  database = await createTestDatabase({ at: '2126-06-01T00:00:00Z', findings: { failed_events: 1 } });
  service = await openSession(database, { role: 'service_role' });
  planId = (await database.one("select id from public.plans where tier = 'pro'")).id;
});
afterEach(async () => {
  await setClock(database, null);
  await database.query(
    `update public.plans
     set tier = 'pro', name = 'Pro', price = 99900, currency = 'INR', duration_months = 12, is_active = true
     where id = $1`,
    [planId],
  );
});
afterAll(() => database.close());

const changePlan = (assignment: string) =>
  database.query(`update public.plans set ${assignment} where id = $1`, [planId]);

/** An order of pro on 1 May 2126, created as by POST /api/payments/orders. */
async function orderPro() {
  await setClock(database, '2126-05-01T00:00:00Z');
  const user = await createUser(database);
  const { payment_id: id } = await callRpc(service, 'create_order', user.id, 'pro');
  const order = { user, id: String(id), orderId: uniqueId('order'), paymentId: uniqueId('pay') };
  await callRpc(service, 'store_order', id, order.orderId);
  return order;
}
type Order = Awaited<ReturnType<typeof orderPro>>;

const ways: [string, (order: Order) => Promise<unknown>][] = [
  ['verify', async (order) => (await verifyPurchase(service, order)).outcome],
  ['payment.captured', (order) => deliver(service, paymentCaptured(paymentOf(order)))],
];

describe.each(ways)('%s of an order grants what was sold', (_, pay) => {
  test.each([
    ['its price', 'price = 1'],
    ['its currency', "currency = 'EUR'"],
    ['its length', 'duration_months = 1'],
    ['its tier', "tier = 'professional'"],
    ['its offer', 'is_active = false'],
    ['everything', "price = 1, currency = 'EUR', duration_months = 1, tier = 'professional', is_active = false"],
  ])('when the plan changes %s before the payment', async (_, assignment) => {
    const order = await orderPro();
    await changePlan(assignment);
    expect(await pay(order)).toBe('applied');
    expect(await readPayment(database, order.id)).toMatchObject({
      amount: '99900',
      currency: 'INR',
      tier: 'pro',
      plan_id: planId,
      duration_months: 12,
      period_start: new Date('2126-05-01T00:00:00Z'),
      period_end: new Date('2127-05-01T00:00:00Z'),
    });
    expect(await readSubscription(database, order.user.id)).toMatchObject({
      tier: 'pro',
      status: 'active',
      end: '2127-05-01T00:00:00.000Z',
    });
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('when another plan takes the tier of its renamed plan', async () => {
    const order = await orderPro();
    await changePlan("tier = 'professional'");
    await database.query("insert into public.plans (tier, name, price, duration_months) values ('pro', 'Cheap', 1, 1)");
    expect(await pay(order)).toBe('applied');
    await database.query("delete from public.plans where name = 'Cheap'");
    expect(await readPayment(database, order.id)).toMatchObject({ plan_id: planId, duration_months: 12 });
    expect(await readTier(database, order.user.id)).toBe('pro');
  });
});

test('the new price of a plan does not pay an order that was sold at the old price', async () => {
  const order = await orderPro();
  await changePlan('price = 1');
  expect(await deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id: order.orderId, amount: 1 }))).toBe(
    'mismatch',
  );
  expect(await readTier(database, order.user.id)).toBe('free');
});

test('an open order is not returned after the length of its plan changed', async () => {
  const order = await orderPro();
  await changePlan('duration_months = 6');
  expect(await callRpc(service, 'create_order', order.user.id, 'pro')).toMatchObject({ outcome: 'created' });
});

test('an order that the app inserts is fulfilled with the current plan of its tier', async () => {
  await setClock(database, '2126-05-01T00:00:00Z');
  const order = await placeOrder(database);
  await changePlan('duration_months = 6');
  expect(await verifyPurchase(service, order)).toMatchObject({ valid_until: '2126-11-01T00:00:00.000Z' });
  expect(await readPayment(database, order.id)).toMatchObject({ plan_id: planId, duration_months: 6 });
});
