import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/clock.ts';
import { deliver, sha256, subscriptionEvent } from '../helpers/gateway-events.ts';
import { captured, failed, refunded } from '../helpers/money-events.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/purchases.ts';
import { createUser, uniqueId } from '../helpers/records.ts';
import { openSession } from '../helpers/session.ts';
import { readSubscription, readTier } from '../helpers/state.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One for each reason.
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 3 } });
  service = await openSession(database, { role: 'service_role' });
});
afterEach(() => setClock(database, null));
afterAll(() => database.close());

const grant = (userId: string, tier: string, until: string | null, reason = 'press copy') =>
  database.query('select private.grant_tier($1, $2, $3, $4)', [userId, tier, until, reason]);

describe('private.grant_tier', () => {
  test('gives a tier until a time, without a payment, and says why', async () => {
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
      await database.query('select to_tier, cause, reference from private.tier_changes where user_id = $1', [
        userId,
      ]),
    ).toEqual([{ to_tier: 'premium', cause: 'grant', reference: 'press copy' }]);
    expect(await database.query('select from public.payments where user_id = $1', [userId])).toEqual([]);
  });

  test('ends with its time and the grace days, as a paid one does', async () => {
    const { id: userId } = await createUser(database);
    await setClock(database, '2026-01-01T00:00:00Z');
    await grant(userId, 'premium', '2026-02-01T00:00:00Z');
    await setClock(database, '2026-02-04T00:00:01Z');
    await database.query('select private.expire_subscriptions()');
    expect(await readTier(database, userId)).toBe('free');
  });

  test('adds to what was paid and never shortens it', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const order = await placeOrder(database);
    await verifyPurchase(service, order);
    await grant(order.user.id, 'pro', '2026-06-01T00:00:00Z');
    expect(await readSubscription(database, order.user.id)).toMatchObject({ end: '2027-01-01T00:00:00.000Z' });
    const shorter = grant(order.user.id, 'premium', '2026-06-01T00:00:00Z');
    await expect(shorter).rejects.toMatchObject({ code: 'PS409' });
    expect(await readTier(database, order.user.id)).toBe('pro');
    await grant(order.user.id, 'premium', '2027-06-01T00:00:00Z');
    expect(await readSubscription(database, order.user.id)).toMatchObject({
      tier: 'premium',
      end: '2027-06-01T00:00:00.000Z',
    });
  });

  test('brings access back that had ended', async () => {
    const order = await placeOrder(database);
    await verifyPurchase(service, order);
    await deliver(service, refunded({ id: order.paymentId, order_id: order.orderId }, 99900));
    await grant(order.user.id, 'pro', '2126-01-01T00:00:00Z');
    expect(
      await database.one(
        'select status, cancelled_at, ended_reason from public.subscriptions where user_id = $1',
        [order.user.id],
      ),
    ).toEqual({ status: 'active', cancelled_at: null, ended_reason: null });
  });

  test('after a gateway subscription that was cancelled ends with its time, whatever comes late of that one', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const { user } = await placeOrder(database);
    await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
    const of = { userId: user.id, id: uniqueId('sub'), planId: 'plan_pro' };
    const period = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
    await deliver(service, subscriptionEvent({ name: 'activated', ...of, ...period }));
    await deliver(service, subscriptionEvent({ name: 'cancelled', ...of }));
    await grant(user.id, 'pro', '2026-03-01T00:00:00Z');
    expect(await deliver(service, subscriptionEvent({ name: 'cancelled', ...of }))).toBe('stale');
    expect(await readTier(database, user.id)).toBe('pro');
    await setClock(database, '2026-03-04T00:00:01Z');
    await database.query('select private.expire_subscriptions()');
    expect(await readTier(database, user.id)).toBe('free');
  });

  test.each([['2020-01-01T00:00:00Z'], [null]])('until %s is refused and writes nothing', async (until) => {
    const { id: userId } = await createUser(database);
    await expect(grant(userId, 'pro', until)).rejects.toMatchObject({ code: 'PS400' });
    expect(await readTier(database, userId)).toBe('free');
  });

  test('to nobody is refused', async () => {
    await expect(grant(crypto.randomUUID(), 'pro', '2126-01-01T00:00:00Z')).rejects.toMatchObject({ code: 'PS404' });
  });

  test('is closed to the service', async () => {
    const call = service.query("select private.grant_tier(gen_random_uuid(), 'pro', now(), 'x')");
    await expect(call).rejects.toMatchObject({ code: '42501' });
  });
});

describe('private.explain_user', () => {
  const explain = (userId: string) =>
    database.query('select at, what, reference, detail from private.explain_user($1)', [userId]);

  /** One thing that happens on a day of January. */
  async function on(day: number, happens: () => Promise<unknown>): Promise<void> {
    await setClock(database, `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`);
    await happens();
  }

  test('says in order what made the tier what it is', async () => {
    const user = await createUser(database);
    const orders: Purchase[] = [];
    await on(1, async () => orders.push(await placeOrder(database, { user, tier: 'basic' })));
    const [order] = orders;
    if (!order) throw new Error('no order');
    const money = { id: order.paymentId, order_id: order.orderId };
    await on(2, () => deliver(service, failed({ ...money, id: uniqueId('pay') })));
    await on(3, () => deliver(service, captured(money)));
    await on(4, () => deliver(service, refunded(money, 99900)));
    await on(5, () => grant(user.id, 'pro', '2026-01-06T00:00:00Z'));
    await on(20, () => database.query('select private.expire_subscriptions()'));

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
      [5, 'tier granted', 'press copy', 'pro'],
      [5, 'tier free to pro', 'press copy', 'grant'],
      [20, 'tier pro to free', null, 'expiry'],
    ]);
  });

  test('tells of a grant that changed no tier', async () => {
    const user = await createUser(database);
    await on(1, () => grant(user.id, 'pro', '2126-01-01T00:00:00Z', 'a trial'));
    await on(2, () => grant(user.id, 'pro', '2126-02-01T00:00:00Z', 'a longer one'));
    expect(await explain(user.id)).toMatchObject([
      { what: 'tier granted', reference: 'a trial' },
      { what: 'tier free to pro', reference: 'a trial' },
      {
        what: 'tier granted',
        reference: 'a longer one',
        detail: { tier: 'pro', until: expect.stringContaining('2126-02-01') },
      },
    ]);
  });

  test('tells nothing of others, and nothing of a stranger', async () => {
    const [one, other] = [await placeOrder(database), await placeOrder(database)];
    await verifyPurchase(service, other);
    expect(await explain(one.user.id)).toMatchObject([{ what: 'payment created', reference: one.orderId }]);
    expect(await explain(crypto.randomUUID())).toEqual([]);
  });
});

describe('private.captured_not_fulfilled', () => {
  const reasonOf = async (id: string) =>
    (await database.query('select reason from private.captured_not_fulfilled where payment_id = $1', [id]))
      .map(({ reason }) => reason);

  test('lists what was captured and granted nothing, with the reason', async () => {
    const fulfilled = await placeOrder(database);
    await verifyPurchase(service, fulfilled);
    const open = await placeOrder(database);
    const unplanned = await placeOrder(database, { tier: uniqueId('team') });
    await verifyPurchase(service, unplanned);
    const gone = await placeOrder(database);
    await database.query('delete from auth.users where id = $1', [gone.user.id]);
    await deliver(service, captured({ id: gone.paymentId, order_id: gone.orderId }));
    const back = await placeOrder(database);
    await deliver(service, refunded({ id: back.paymentId, order_id: back.orderId }, 99900));
    await verifyPurchase(service, back);

    expect(await reasonOf(fulfilled.id)).toEqual([]);
    expect(await reasonOf(open.id)).toEqual([]);
    expect(await reasonOf(unplanned.id)).toEqual(['no plan of this tier']);
    expect(await reasonOf(gone.id)).toEqual(['paid, user gone']);
    expect(await reasonOf(back.id)).toEqual([]);
  });

  test('names a capture that did not say its amount', async () => {
    const order = await placeOrder(database);
    await database.query('update public.payments set gateway_payment_id = $2 where id = $1', [
      order.id,
      order.paymentId,
    ]);
    const body = captured({ id: order.paymentId, amount: undefined });
    await deliver(service, body);
    expect(await reasonOf(order.id)).toEqual(['not confirmed with its amount']);
    expect(await database.one("select private.replay_event(decode($1, 'hex')) as outcome", [sha256(body)])).toEqual({
      outcome: 'already',
    });
  });
});
