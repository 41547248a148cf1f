import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readAccessFindings } from '../helpers/database/findings.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(async () => {
  await setClock(database, null);
  await database.query(
    `truncate auth.users, public.payments, billing.outbox, billing.gateway_events,
       billing.gateway_subscriptions cascade`,
  );
});
afterAll(() => database.close());

type User = Awaited<ReturnType<typeof createUser>>;

const at = (time: string) => setClock(database, `2026-${time}Z`);
const januaryOn = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const februaryOn = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };

const findings = () => readAccessFindings(database);

/** A gateway subscription of pro, activated and charged for January. */
async function subscriber() {
  await at('01-01T00:00:00');
  const user = await createUser(database);
  const id = uniqueId('sub');
  const deliverEvent = (event: Pick<SubscriptionEvent, 'name'> & Partial<SubscriptionEvent>) =>
    deliver(service, subscriptionEvent({ userId: user.id, id, planId: 'plan_pro', ...event }));
  const charge = async (period: { start: string; end: string }) => {
    const payment = { id: uniqueId('pay'), amount: 99900 };
    expect(await deliverEvent({ name: 'charged', ...period, payment })).toBe('applied');
    return payment;
  };
  await deliverEvent({ name: 'activated', ...januaryOn });
  await charge(januaryOn);
  return { user, id, deliverEvent, charge };
}

test('a charge of an active subscription is no finding, nor is one before its cancellation', async () => {
  const { deliverEvent, charge } = await subscriber();
  await at('02-01T00:00:00');
  await charge(februaryOn);
  expect(await findings()).toEqual([]);
  await at('02-02T00:00:00');
  await deliverEvent({ name: 'cancelled' });
  expect(await findings()).toEqual([]);
});

test('a charge between a resumption and a later cancellation is no finding', async () => {
  const { user, charge } = await subscriber();
  await at('01-10T00:00:00');
  await callRpc(service, 'cancel_subscription', user.id, true);
  await callRpc(service, 'resume_subscription', user.id);
  await at('02-01T00:00:00');
  await charge(februaryOn);
  await at('02-10T00:00:00');
  await callRpc(service, 'cancel_subscription', user.id, true);
  expect(await findings()).toEqual([]);
});

test('a second charge of a cycle is a finding until it is refunded, and its refund leaves the access', async () => {
  const { user, charge } = await subscriber();
  await at('01-02T00:00:00');
  const { id } = await charge(januaryOn);
  expect(await findings()).toEqual([['charged_twice', id]]);
  await deliver(service, refundEvent({ id }, 99900));
  expect(await findings()).toEqual([]);
  expect(await readTier(database, user.id)).toBe('pro');
});

test('a renewal in another currency than that of the plan is a mismatch, until it is refunded', async () => {
  const { deliverEvent } = await subscriber();
  await at('02-01T00:00:00');
  const payment = { id: uniqueId('pay'), amount: 99900, currency: 'USD' };
  await deliverEvent({ name: 'charged', ...februaryOn, createdAt: februaryOn.start, payment });
  expect(await findings()).toEqual([['mismatch', payment.id]]);
  await deliver(service, refundEvent(payment, 99900));
  expect(await findings()).toEqual([]);
});

describe('charged_after_cancellation', () => {
  test.each([['at once', false], ['at the end of the period', true]])(
    'lists the charge of a subscription that its user cancelled %s, until it is refunded; its cycle gives access',
    async (_, atPeriodEnd) => {
      const { user, charge } = await subscriber();
      await at('01-10T00:00:00');
      await callRpc(service, 'cancel_subscription', user.id, atPeriodEnd);
      expect(await readTier(database, user.id)).toBe(atPeriodEnd ? 'pro' : 'free');
      await at('02-01T00:00:00');
      const { id } = await charge(februaryOn);
      expect(await readTier(database, user.id)).toBe('pro');
      expect(await findings()).toEqual([['charged_after_cancellation', id]]);
      await deliver(service, refundEvent({ id }, 99899));
      expect(await findings()).toEqual([['charged_after_cancellation', id]]);
      await deliver(service, refundEvent({ id }, 1));
      expect(await findings()).toEqual([]);
    },
  );

  test('lists the charge of a subscription that the gateway had cancelled, which gives no access', async () => {
    const { user, deliverEvent, charge } = await subscriber();
    await at('01-10T00:00:00');
    await deliverEvent({ name: 'cancelled' });
    await at('02-01T00:00:00');
    const { id } = await charge(februaryOn);
    expect(await readTier(database, user.id)).toBe('free');
    expect(await findings()).toEqual([['charged_after_cancellation', id]]);
  });
});

test.each([
  ['cancellation', (user: User) => callRpc(service, 'cancel_subscription', user.id, false), 'free'],
  [
    'replacement',
    async (user: User) => verifyPurchase(service, await placeOrder(database, { user, tier: 'basic' })),
    'basic',
  ],
])(
  'a cycle that started before its %s and becomes known by a reconciliation weeks later is no finding',
  async (_, end, tier) => {
    const { user, id } = await subscriber();
    await at('02-05T00:00:00');
    await end(user);
    await at('02-20T00:00:00');
    const subscription = await database.one('select id from public.subscriptions where user_id = $1', [user.id]);
    const [start, over] = [februaryOn.start, februaryOn.end].map((time) => Date.parse(time) / 1000);
    const answer = { id, status: 'active', plan_id: 'plan_pro', current_start: start, current_end: over };
    expect(await callRpc(service, 'apply_gateway_subscription', subscription['id'], id, JSON.stringify(answer)))
      .toMatchObject({ applied: true });
    expect(await findings()).toEqual([]);
    expect(await readTier(database, user.id)).toBe(tier);
  },
);

describe('charged_after_replacement', () => {
  test('lists the charge of a subscription that a purchase replaced, until it is refunded; its cycle gives access', async () => {
    const { user, charge } = await subscriber();
    await at('01-10T00:00:00');
    await verifyPurchase(service, await placeOrder(database, { user, tier: 'basic' }));
    expect(await findings()).toEqual([]);
    await at('02-01T00:00:00');
    const { id } = await charge(februaryOn);
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'basic', status: 'active' });
    expect(await findings()).toEqual([['charged_after_replacement', id]]);

    await at('02-13T00:00:01');
    await database.query('select billing.expire_subscriptions()');
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'pro', end: '2026-03-01T00:00:00.000Z' });
    await deliver(service, refundEvent({ id }, 99900));
    expect(await findings()).toEqual([]);
    expect(await readTier(database, user.id)).toBe('free');
  });

  test('lists the charge of a replaced subscription also after the next activation of its replacement', async () => {
    const { user, charge } = await subscriber();
    const other = { userId: user.id, id: uniqueId('sub'), planId: 'plan_premium' };
    const period = { start: '2026-01-10T00:00:00Z', end: '2027-01-10T00:00:00Z' };
    await at('01-10T00:00:00');
    await deliver(service, subscriptionEvent({ ...other, name: 'activated', ...period }));
    await at('02-01T00:00:00');
    const { id } = await charge(februaryOn);
    expect(await findings()).toEqual([['charged_after_replacement', id]]);
    await at('02-10T00:00:00');
    await deliver(service, subscriptionEvent({ ...other, name: 'activated', ...period }));
    expect(await findings()).toEqual([['charged_after_replacement', id]]);
  });

  test('lists no charge of a subscription whose replacement was refunded before the charge', async () => {
    const { user, charge } = await subscriber();
    await at('01-10T00:00:00');
    const basic = await placeOrder(database, { user, tier: 'basic' });
    await verifyPurchase(service, basic);
    await at('01-11T00:00:00');
    await deliver(service, refundEvent(paymentOf(basic), 99900));
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'pro', status: 'active' });
    await at('02-01T00:00:00');
    await charge(februaryOn);
    expect(await findings()).toEqual([]);
  });
});
