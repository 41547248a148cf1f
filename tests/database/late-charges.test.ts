import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readAccessFindings } from '../helpers/database/findings.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readCancellation, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
let id: string;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(() => deleteUsers(database));
afterAll(() => database.close());

const amount = 49900;
const february = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };
const march = { start: '2026-03-01T00:00:00Z', end: '2026-04-01T00:00:00Z' };
const paymentOf = ({ start }: typeof march) => ({ id: `pay_${start.slice(0, 7)}_${id}`, amount });

async function event(name: SubscriptionEvent['name'], time: string, fields: Partial<SubscriptionEvent>) {
  await setClock(database, time);
  const of = { userId: user.id, id, planId: 'plan_premium', createdAt: time };
  return await deliver(service, subscriptionEvent({ name, ...of, ...fields }));
}
const charge = (cycle: typeof march, fields: Partial<SubscriptionEvent> = {}) =>
  event('charged', cycle.start, { ...cycle, payment: paymentOf(cycle), ...fields });
const refund = (cycle: typeof march, part = amount) => deliver(service, refundEvent(paymentOf(cycle), part));

/** Creates a user with premium, billed monthly since 1 February, and sets the clock to 10 February. */
async function billed(): Promise<void> {
  user = await createUser(database);
  id = uniqueId('sub');
  await event('activated', february.start, february);
  await charge(february);
  await setClock(database, '2026-02-10T00:00:00Z');
}
async function buy(tier: string): Promise<void> {
  await verifyPurchase(service, await placeOrder(database, { user, tier }));
}
/** Simulates a refused call to cancel the subscription at the gateway. */
async function failCancellation(): Promise<void> {
  await database.query("update billing.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [id]);
  expect(await readCancellation(database, id)).toMatchObject({ state: 'pending' });
}
const subscription = () => readSubscription(database, user.id);
const findings = () => readAccessFindings(database);

test('a charge after the failed cancellation of a replaced subscription is a finding until it is refunded in full; the purchase still rules', async () => {
  await billed();
  await buy('pro');
  await failCancellation();
  const bought = await subscription();
  expect(await findings()).toEqual([]);

  expect(await charge(march)).toBe('applied');
  expect(await subscription()).toEqual(bought);
  expect(await readTier(database, user.id)).toBe('pro');
  const finding = ['charged_after_replacement', paymentOf(march).id];
  expect(await findings()).toEqual([finding]);
  await refund(march, amount - 1);
  expect(await findings()).toEqual([finding]);
  await refund(march, 1);
  expect(await findings()).toEqual([]);
  expect(await subscription()).toEqual(bought);
});

test('a charge of an attached subscription that its user cancelled at once gives access for the cycle, and is a finding', async () => {
  user = await createUser(database);
  id = uniqueId('sub');
  await setClock(database, '2026-01-31T00:00:00Z');
  await buy('pro');
  await event('activated', february.start, { ...february, planId: undefined });
  await setClock(database, '2026-02-10T00:00:00Z');
  await callRpc(service, 'cancel_subscription', user.id, false);
  expect(await readTier(database, user.id)).toBe('free');
  await charge(march, { planId: undefined });
  expect(await subscription()).toMatchObject({ tier: 'pro', status: 'active', end: '2026-04-01T00:00:00.000Z' });
  expect(await readTier(database, user.id)).toBe('pro');
  expect(await findings()).toEqual([['charged_after_cancellation', paymentOf(march).id]]);
});

test('a charge from before the cancellation that arrives after it is no finding', async () => {
  user = await createUser(database);
  id = uniqueId('sub');
  await event('activated', february.start, february);
  await setClock(database, '2026-02-10T00:00:00Z');
  await callRpc(service, 'cancel_subscription', user.id, true);
  await deliver(
    service,
    subscriptionEvent({
      name: 'charged',
      userId: user.id,
      id,
      planId: 'plan_premium',
      createdAt: '2026-02-01T00:00:05Z',
      ...february,
      payment: paymentOf(february),
    }),
  );
  expect(await findings()).toEqual([]);
});

test('a late charge of an earlier cycle does not shorten the period that a charge without a plan of ours set', async () => {
  await billed();
  expect(await charge(march, { planId: 'plan_unknown' })).toBe('applied');
  const paid = await subscription();
  expect(paid).toMatchObject({ tier: 'premium', end: '2026-04-01T00:00:00.000Z' });
  const late = { payment: { id: uniqueId('pay'), amount }, createdAt: '2026-02-15T00:00:00Z' };
  await event('charged', '2026-03-02T00:00:00Z', { ...february, ...late });
  expect(await subscription()).toEqual(paid);
});

test('a charge of a replaced subscription that an admin restored by hand withdraws its cancellation', async () => {
  await billed();
  await buy('pro');
  expect(await readCancellation(database, id)).toMatchObject({ state: 'pending' });
  await setClock(database, '2026-02-11T00:00:00Z');
  await database.query(
    `update public.subscriptions set gateway_subscription_id = $2, tier = 'premium',
       plan_id = (select p.id from public.plans p where p.tier = 'premium') where user_id = $1`,
    [user.id, id],
  );
  expect(await charge(march)).toBe('applied');
  expect(await subscription()).toMatchObject({ tier: 'premium', gateway_subscription_id: id });
  expect(await readCancellation(database, id)).toMatchObject({ state: 'withdrawn' });
});
