import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One payment for each reason.
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 3 } });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(() => setClock(database, null));
afterAll(() => database.close());

const grant = (userId: string, tier: string, until: string | null, reason = 'press copy') =>
  grantTier(database, userId, tier, until, reason);

/** A verified order of pro. */
async function purchase(user?: Purchase['user']): Promise<Purchase> {
  const order = await placeOrder(database, user ? { user } : {});
  await verifyPurchase(service, order);
  return order;
}

describe('a grant', () => {
  test('gives a tier until a time, without a payment, and stores the reason', async () => {
    const { id: userId } = await createUser(database);
    await setClock(database, '2026-01-01T00:00:00Z');
    await grant(userId, 'premium', '2026-02-01T00:00:00Z');
    expect(await readSubscription(database, userId)).toEqual({
      tier: 'premium',
      status: 'active',
      plan_tier: 'premium',
      gateway_subscription_id: null,
      start: '2026-01-01T00:00:00.000Z',
      end: '2026-02-01T00:00:00.000Z',
    });
    expect(await readTier(database, userId)).toBe('premium');
    expect(
      await database.query('select to_tier, cause, reference from billing.tier_changes where user_id = $1', [
        userId,
      ]),
    ).toEqual([{ to_tier: 'premium', cause: 'grant', reference: 'press copy' }]);
    expect(await database.query('select from public.payments where user_id = $1', [userId])).toEqual([]);
  });

  test('ends after its time and the grace days, like a paid one', async () => {
    const { id: userId } = await createUser(database);
    await setClock(database, '2026-01-01T00:00:00Z');
    await grant(userId, 'premium', '2026-02-01T00:00:00Z');
    await setClock(database, '2026-02-04T00:00:01Z');
    await database.query('select billing.expire_subscriptions()');
    expect(await readTier(database, userId)).toBe('free');
  });

  test.each(['pro', 'premium'])('of %s rules over a longer paid period, which rules again after it', async (tier) => {
    await setClock(database, '2024-01-01T00:00:00Z');
    const { user } = await purchase();
    await grant(user.id, tier, '2024-06-01T00:00:00Z');
    expect(await readSubscription(database, user.id)).toMatchObject({ tier, end: '2024-06-01T00:00:00.000Z' });
    expect(await readTier(database, user.id)).toBe(tier);
    await setClock(database, '2024-06-04T00:00:01Z');
    await database.query('select billing.expire_subscriptions()');
    expect(await readSubscription(database, user.id)).toMatchObject({
      tier: 'pro',
      status: 'active',
      start: '2024-01-01T00:00:00.000Z',
      end: '2025-01-01T00:00:00.000Z',
    });
    expect(await readTier(database, user.id)).toBe('pro');
  });

  test('still rules after the end of the paid period below it', async () => {
    await setClock(database, '2024-01-01T00:00:00Z');
    const { user } = await purchase();
    await grant(user.id, 'premium', '2025-06-01T00:00:00Z');
    await setClock(database, '2025-02-01T00:00:00Z');
    await database.query('select billing.expire_subscriptions()');
    expect(await readSubscription(database, user.id)).toMatchObject({
      tier: 'premium',
      status: 'active',
      end: '2025-06-01T00:00:00.000Z',
    });
  });

  test('gives access after a refund ended it', async () => {
    const order = await purchase();
    await deliver(service, refundEvent(paymentOf(order), 99900));
    await grant(order.user.id, 'pro', '2126-01-01T00:00:00Z');
    expect(
      await database.one(
        'select status, cancelled_at, ended_reason from public.subscriptions where user_id = $1',
        [order.user.id],
      ),
    ).toEqual({ status: 'active', cancelled_at: null, ended_reason: null });
  });

  test('after a cancelled gateway subscription ends with its own time, and ignores late events of that subscription', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const { user } = await placeOrder(database);
    const of = { userId: user.id, id: uniqueId('sub'), planId: 'plan_pro' };
    const period = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
    await deliver(service, subscriptionEvent({ name: 'activated', ...of, ...period }));
    await deliver(service, subscriptionEvent({ name: 'cancelled', ...of }));
    await grant(user.id, 'pro', '2026-03-01T00:00:00Z');
    expect(await deliver(service, subscriptionEvent({ name: 'cancelled', ...of }))).toBe('stale');
    expect(await readTier(database, user.id)).toBe('pro');
    await setClock(database, '2026-03-04T00:00:01Z');
    await database.query('select billing.expire_subscriptions()');
    expect(await readTier(database, user.id)).toBe('free');
  });

  test.each([['2020-01-01T00:00:00Z'], [null]])('until %s is refused and writes nothing', async (until) => {
    const { id: userId } = await createUser(database);
    await expect(grant(userId, 'pro', until)).rejects.toMatchObject({ code: 'PS400' });
    expect(await readTier(database, userId)).toBe('free');
  });

  test('to an unknown user is refused', async () => {
    await expect(grant(crypto.randomUUID(), 'pro', '2126-01-01T00:00:00Z')).rejects.toMatchObject({ code: 'PS404' });
  });
});

describe('billing.captured_not_fulfilled', () => {
  const reasonOf = async (id: string) =>
    (await database.query('select reason from billing.captured_not_fulfilled where payment_id = $1', [id]))
      .map(({ reason }) => reason);

  test('lists captured payments that granted nothing, with the reason', async () => {
    const fulfilled = await placeOrder(database);
    await verifyPurchase(service, fulfilled);
    const open = await placeOrder(database);
    const unplanned = await placeOrder(database, { tier: uniqueId('team') });
    await verifyPurchase(service, unplanned);
    const deletedUser = await placeOrder(database);
    await database.query('delete from auth.users where id = $1', [deletedUser.user.id]);
    await deliver(service, paymentCaptured(paymentOf(deletedUser)));
    const refundedOrder = await placeOrder(database);
    await deliver(service, refundEvent(paymentOf(refundedOrder), 99900));
    await verifyPurchase(service, refundedOrder);

    expect(await reasonOf(fulfilled.id)).toEqual([]);
    expect(await reasonOf(open.id)).toEqual([]);
    expect(await reasonOf(unplanned.id)).toEqual(['no plan of this tier']);
    expect(await reasonOf(deletedUser.id)).toEqual(['paid, user gone']);
    expect(await reasonOf(refundedOrder.id)).toEqual([]);
  });

  test('lists a payment whose capture had no amount', async () => {
    const order = await placeOrder(database);
    await database.query('update public.payments set gateway_payment_id = $2 where id = $1', [
      order.id,
      order.paymentId,
    ]);
    const body = paymentCaptured({ id: order.paymentId, amount: undefined });
    await deliver(service, body);
    expect(await reasonOf(order.id)).toEqual(['not confirmed with its amount']);
    expect(await database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)])).toEqual({
      outcome: 'already',
    });
  });
});
