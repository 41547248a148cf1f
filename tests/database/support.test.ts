import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

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
  database.query('select billing.grant_tier($1, $2, $3, $4)', [userId, tier, until, reason]);

/** A verified order of pro. */
async function purchase(user?: Purchase['user']): Promise<Purchase> {
  const order = await placeOrder(database, user ? { user } : {});
  await verifyPurchase(service, order);
  return order;
}

describe('billing.grant_tier', () => {
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

  test('is closed to the service', async () => {
    const call = service.query("select billing.grant_tier(gen_random_uuid(), 'pro', now(), 'x')");
    await expect(call).rejects.toMatchObject({ code: '42501' });
  });
});

describe('billing.explain_user', () => {
  const explain = (userId: string) =>
    database.query('select at, what, reference, detail from billing.explain_user($1)', [userId]);

  /** Runs a function on a day of January. */
  async function on(day: number, act: () => Promise<unknown>): Promise<void> {
    await setClock(database, `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`);
    await act();
  }

  test('lists the events behind the tier in order', async () => {
    const user = await createUser(database);
    const orders: Purchase[] = [];
    await on(1, async () => orders.push(await placeOrder(database, { user, tier: 'basic' })));
    const [order] = orders;
    if (!order) throw new Error('no order');
    const money = paymentOf(order);
    await on(2, () => deliver(service, paymentFailed({ ...money, id: uniqueId('pay') })));
    await on(3, () => deliver(service, paymentCaptured(money)));
    await on(4, () => deliver(service, refundEvent(money, 99900)));
    await on(5, () => grant(user.id, 'pro', '2026-01-06T00:00:00Z'));
    await on(20, () => database.query('select billing.expire_subscriptions()'));

    const lines = (await explain(user.id)).map(({ at, what, reference, detail }) => [
      at instanceof Date ? at.getUTCDate() : at,
      what,
      reference,
      Object(detail).outcome ?? Object(detail).cause ?? Object(detail).tier,
    ]);
    expect(lines).toEqual([
      [1, 'payment created', order.orderId, 'basic'],
      [2, 'payment.failed', order.orderId, 'applied'],
      [3, 'payment.captured', order.orderId, 'applied'],
      [3, 'payment fulfilled', order.paymentId, 'basic'],
      [3, 'tier free to basic', order.orderId, 'payment.captured'],
      [4, 'refund.processed', order.orderId, 'applied'],
      [4, 'tier basic to free', order.orderId, 'refund.processed'],
      [4, 'source: payment', order.id, 'basic'],
      [5, 'tier granted', 'press copy', 'pro'],
      [5, 'tier free to pro', 'press copy', 'grant'],
      [5, 'source: grant', expect.any(String), 'pro'],
      [20, 'tier pro to free', null, 'expiry'],
    ]);
  });

  test('lists a grant that changed no tier', async () => {
    const user = await createUser(database);
    await on(1, () => grant(user.id, 'pro', '2126-01-01T00:00:00Z', 'a trial'));
    await on(2, () => grant(user.id, 'pro', '2126-02-01T00:00:00Z', 'a longer one'));
    expect(await explain(user.id)).toMatchObject([
      { what: 'tier granted', reference: 'a trial' },
      { what: 'tier free to pro', reference: 'a trial' },
      { what: 'source: grant', detail: { live: true, rules: false } },
      {
        what: 'tier granted',
        reference: 'a longer one',
        detail: { tier: 'pro', until: expect.stringContaining('2126-02-01') },
      },
      { what: 'source: grant', detail: { live: true, rules: true } },
    ]);
  });

  test('shows each source of access: what it gives, why it ended, whether it runs, and which one rules', async () => {
    const user = await createUser(database);
    const orders: Purchase[] = [];
    await on(1, async () => orders.push(await purchase(user), await purchase(user)));
    const [first, second] = orders;
    if (!first || !second) throw new Error('no orders');
    const id = uniqueId('sub');
    const period = { start: '2026-01-02T00:00:00Z', end: '2126-01-02T00:00:00Z' };
    await on(2, () =>
      deliver(
        service,
        subscriptionEvent({ name: 'activated', userId: user.id, id, planId: 'plan_premium', ...period }),
      ));
    await on(3, () => deliver(service, refundEvent(paymentOf(first), 99900)));
    await on(4, () => grant(user.id, 'basic', '2026-01-05T00:00:00Z'));
    await on(20, () => database.query('select billing.expire_subscriptions()'));

    const sources = (await explain(user.id)).filter(({ what }) => String(what).startsWith('source: '));
    const running = { live: true, ended_at: null, reason: null };
    expect(sources).toMatchObject([
      {
        what: 'source: payment',
        reference: second.id,
        detail: { tier: 'pro', ends_at: '2027-01-01T00:00:00+00:00', rules: false, ...running },
      },
      {
        what: 'source: gateway_subscription',
        reference: id,
        detail: { tier: 'premium', ends_at: '2126-01-02T00:00:00+00:00', rules: true, ...running },
      },
      {
        what: 'source: payment',
        reference: first.id,
        detail: { live: false, ended_at: '2026-01-03T00:00:00+00:00', reason: 'refunded', rules: false },
      },
      { what: 'source: grant', detail: { tier: 'basic', live: false, ended_at: null, reason: null, rules: false } },
    ]);
    expect(await readTier(database, user.id)).toBe('premium');
  });

  test('lists nothing of other users, and nothing for an unknown user', async () => {
    const [one, other] = [await placeOrder(database), await placeOrder(database)];
    await verifyPurchase(service, other);
    expect(await explain(one.user.id)).toMatchObject([{ what: 'payment created', reference: one.orderId }]);
    expect(await explain(crypto.randomUUID())).toEqual([]);
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
