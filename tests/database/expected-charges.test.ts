import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/clock.ts';
import { deliver, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway-events.ts';
import { deleteUsers } from '../helpers/gateway-subscriptions.ts';
import { refunded } from '../helpers/money-events.ts';
import { placeOrder, verifyPurchase } from '../helpers/purchases.ts';
import { readAccessFindings } from '../helpers/read-findings.ts';
import { createUser, uniqueId } from '../helpers/records.ts';
import { openSession } from '../helpers/session.ts';
import { readSubscription, readTier } from '../helpers/state.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

const at = (time: string) => setClock(database, `2026-${time}Z`);
const january = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const february = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };

/** A gateway subscription of pro, activated and charged for January. */
async function subscriber() {
  await at('01-01T00:00:00');
  const user = await createUser(database);
  const id = uniqueId('sub');
  const send = (event: Pick<SubscriptionEvent, 'name'> & Partial<SubscriptionEvent>) =>
    deliver(service, subscriptionEvent({ userId: user.id, id, planId: 'plan_pro', ...event }));
  const charge = async (period: { start: string; end: string }) => {
    const payment = { id: uniqueId('pay'), amount: 99900 };
    expect(await send({ name: 'charged', ...period, payment })).toBe('applied');
    return payment;
  };
  await send({ name: 'activated', ...january });
  await charge(january);
  return { user, id, send, charge };
}

test('the charge of a subscription that runs is no finding, also when it is cancelled after the charge', async () => {
  const { send, charge } = await subscriber();
  await at('02-01T00:00:00');
  await charge(february);
  expect(await readAccessFindings(database)).toEqual([]);
  await at('02-02T00:00:00');
  await send({ name: 'cancelled' });
  expect(await readAccessFindings(database)).toEqual([]);
});

test('the charge of a subscription that the gateway had cancelled is a finding and gives no access', async () => {
  const { user, send, charge } = await subscriber();
  await at('01-10T00:00:00');
  await send({ name: 'cancelled' });
  await at('02-01T00:00:00');
  const { id } = await charge(february);
  expect(await readTier(database, user.id)).toBe('free');
  expect(await readAccessFindings(database)).toEqual([['charged_after_cancellation', id]]);
});

test('the charge of a subscription whose replacement was refunded before it is no finding', async () => {
  const { user, charge } = await subscriber();
  await at('01-10T00:00:00');
  const basic = await placeOrder(database, { user, tier: 'basic' });
  await verifyPurchase(service, basic);
  await at('01-11T00:00:00');
  await deliver(service, refunded({ id: basic.paymentId, order_id: basic.orderId }, 99900));
  expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'pro', status: 'active' });
  await at('02-01T00:00:00');
  await charge(february);
  expect(await readAccessFindings(database)).toEqual([]);
});
