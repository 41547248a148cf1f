import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/clock.ts';
import { deliver, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway-events.ts';
import { deleteUsers, readCancellation } from '../helpers/gateway-subscriptions.ts';
import { refunded } from '../helpers/money-events.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/purchases.ts';
import { readAccessFindings } from '../helpers/read-findings.ts';
import { createUser, uniqueId } from '../helpers/records.ts';
import { callRpc, openSession } from '../helpers/session.ts';
import { readSubscription, readTier } from '../helpers/state.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

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
const refund = (cycle: typeof march, part = amount) => deliver(service, refunded(paymentOf(cycle), part));

/** Premium, billed monthly since 1 February; then it is 10 February. */
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
/** The call that cancels it at the gateway is refused. */
async function failCancellation(): Promise<void> {
  await database.query("update private.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [id]);
  expect(await readCancellation(database, id)).toMatchObject({ state: 'pending' });
}
async function expire(time: string): Promise<unknown> {
  await setClock(database, time);
  return (await database.one('select private.expire_subscriptions() as ended')).ended;
}
const subscription = () => readSubscription(database, user.id);
const findings = () => readAccessFindings(database);

describe('a gateway subscription that is charged although a purchase replaced it', () => {
  test('is a finding until the charge is refunded in full, and the purchase goes on', async () => {
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

  test('gives access for the cycle that it charged, after the purchase', async () => {
    await billed();
    await buy('basic');
    await failCancellation();
    await charge(march);
    expect(await expire('2026-03-13T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toMatchObject({ tier: 'premium', status: 'active', end: '2026-04-01T00:00:00.000Z' });
    expect(await readTier(database, user.id)).toBe('premium');
  });
});

describe('a gateway subscription that is charged although its user cancelled it', () => {
  test('at once, gives access for the cycle, and is a finding until the charge is refunded', async () => {
    await billed();
    await callRpc(service, 'cancel_subscription', user.id, false);
    expect(await readTier(database, user.id)).toBe('free');
    expect(await findings()).toEqual([]);
    await failCancellation();

    expect(await charge(march)).toBe('applied');
    expect(await subscription()).toMatchObject({
      tier: 'premium',
      status: 'active',
      gateway_subscription_id: id,
      start: '2026-03-01T00:00:00.000Z',
      end: '2026-04-01T00:00:00.000Z',
    });
    expect(await readTier(database, user.id)).toBe('premium');
    expect(await findings()).toEqual([['charged_after_cancellation', paymentOf(march).id]]);

    await refund(march);
    expect(await subscription()).toMatchObject({ status: 'cancelled' });
    expect(await readTier(database, user.id)).toBe('free');
    expect(await findings()).toEqual([]);
  });

  test('for its cycle’s end, gives access for the next cycle, and is a finding until it is refunded', async () => {
    await billed();
    await callRpc(service, 'cancel_subscription', user.id, true);
    await failCancellation();
    await charge(march);
    expect(await subscription()).toMatchObject({ tier: 'premium', status: 'active', end: '2026-04-01T00:00:00.000Z' });
    expect(await findings()).toEqual([['charged_after_cancellation', paymentOf(march).id]]);

    await event('cancelled', '2026-04-01T00:00:00Z', {});
    expect(await readTier(database, user.id)).toBe('free');
    expect(await findings()).toEqual([['charged_after_cancellation', paymentOf(march).id]]);
    await refund(march);
    expect(await findings()).toEqual([]);
  });

  test('at once, without a plan of ours, gives access for the cycle as well', async () => {
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
});

test('a charge of the first cycle that arrives after the cancellation is no finding', async () => {
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
