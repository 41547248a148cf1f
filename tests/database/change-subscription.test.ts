import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readCancellation, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let userId: string;
let old: string;
beforeAll(async () => {
  database = await createTestDatabase({
    findings: { paid_twice: 'any', unearned_credit: 'any', stopped_in_error: 'any' },
  });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1");
});
beforeEach(async () => {
  await setClock(database, '2026-06-01T00:00:00Z');
  userId = (await createUser(database)).id;
  old = uniqueId('sub_old');
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from auth.users; delete from billing.outbox; truncate billing.marks');
});
afterAll(() => database.close());

type Step = Omit<SubscriptionEvent, 'userId' | 'id'>;
const at = (day: string) => `2026-${day}T00:00:00Z`;
const june = { start: at('06-01'), end: at('07-01') };
const july = { start: at('07-01'), end: at('08-01') };

async function event(id: string, step: Step): Promise<unknown> {
  if (step.createdAt) await setClock(database, step.createdAt);
  return await deliver(service, subscriptionEvent({ userId, id, ...step }));
}

/** A subscription of a tier, charged 30,000 for June. */
async function billed(tier = 'pro'): Promise<void> {
  const planId = `plan_${tier}`;
  await event(old, { name: 'activated', planId, ...june, createdAt: at('06-01') });
  const payment = { id: uniqueId('pay'), amount: 30_000 };
  await event(old, { name: 'charged', planId, ...june, createdAt: at('06-01'), payment });
}

const preview = (tier: string, when: string) => callRpc(service, 'preview_change', userId, tier, when);

/** Makes the new subscription of a change, as the route does. @returns its id at the gateway */
async function change(tier: string, when: string, paymentId: string | null = null): Promise<string> {
  const made = await callRpc(service, 'create_change', userId, tier, when, paymentId);
  expect(made).toMatchObject({ outcome: 'created' });
  const id = uniqueId('sub_new');
  await callRpc(service, 'store_subscription', made.id, id, 'https://gateway.example/s/1');
  return id;
}
const expire = () => database.query('select billing.start_purchases(), billing.expire_subscriptions()');

describe('a change at the end of the period', () => {
  test('keeps the tier until then, and gives the new one without a gap', async () => {
    await billed('pro');
    await setClock(database, at('06-10'));
    const id = await change('basic', 'period_end');
    expect(await readCancellation(database, old)).toBeNull();
    await event(id, { name: 'authenticated', planId: 'plan_basic', createdAt: at('06-10') });
    expect(await readCancellation(database, old)).toMatchObject({ at: 'cycle end', state: 'pending' });
    await event(old, { name: 'cancelled', planId: 'plan_pro', createdAt: '2026-07-01T00:00:01Z' });
    await expire();
    expect(await readTier(database, userId)).toBe('pro');
    await setClock(database, at('07-02'));
    await expire();
    expect(await readTier(database, userId)).toBe('pro');
    await event(id, { name: 'charged', planId: 'plan_basic', ...july, createdAt: at('07-02') });
    await event(id, { name: 'activated', planId: 'plan_basic', ...july, createdAt: at('07-02') });
    expect(await readTier(database, userId)).toBe('basic');
    expect(await readSubscription(database, userId)).toMatchObject({ tier: 'basic', end: '2026-08-01T00:00:00.000Z' });
    expect(await database.query("select kind from billing.outbox where kind = 'subscription-ended'")).toEqual([]);
  });

  test('whose new subscription is never charged ends after the days of grace', async () => {
    await billed('pro');
    const id = await change('basic', 'period_end');
    await event(id, { name: 'authenticated', planId: 'plan_basic', createdAt: at('06-10') });
    await event(old, { name: 'cancelled', planId: 'plan_pro', createdAt: '2026-07-01T00:00:01Z' });
    await setClock(database, '2026-07-03T23:59:59Z');
    await expire();
    expect(await readTier(database, userId)).toBe('pro');
    await setClock(database, '2026-07-04T00:00:01Z');
    await expire();
    expect(await readTier(database, userId)).toBe('free');
  });

  test('that is never authorised changes nothing', async () => {
    await billed('pro');
    await setClock(database, at('06-10'));
    await change('basic', 'period_end');
    await event(old, { name: 'charged', planId: 'plan_pro', ...july, createdAt: at('07-01') });
    expect(await readTier(database, userId)).toBe('pro');
    expect(await readCancellation(database, old)).toBeNull();
  });

  test('to a tier off sale is refused', async () => {
    await billed('pro');
    await database.query("update public.plans set is_active = tier <> 'basic'");
    expect(await preview('basic', 'period_end')).toEqual({ outcome: 'plan_not_found' });
    await database.query('update public.plans set is_active = true');
  });

  test('too late for a cancellation of the next debit is refused, with the time from which it is possible', async () => {
    await billed('pro');
    await setClock(database, '2026-06-27T15:00:00Z');
    expect((await preview('basic', 'period_end')).change).toMatchObject({ starts_at: '2026-07-01T00:00:00.000Z' });
    await setClock(database, '2026-06-28T00:00:00Z');
    const tooLate = { outcome: 'too_late', possible_from: '2026-07-01T00:00:00.000Z' };
    expect(await preview('basic', 'period_end')).toEqual(tooLate);
    expect(await callRpc(service, 'create_change', userId, 'basic', 'period_end')).toEqual(tooLate);
    expect(await preview('basic', 'now')).toMatchObject({ outcome: 'change' });
  });

  test.each(['change back', 'cancellation at the gateway'])(
    'is undone by a %s: the new subscription is cancelled, the old one is not',
    async (by) => {
      await billed('pro');
      const id = await change('basic', 'period_end');
      await event(id, { name: 'authenticated', planId: 'plan_basic', createdAt: at('06-10') });
      if (by === 'change back') {
        expect(await callRpc(service, 'create_change', userId, 'pro', 'period_end')).toEqual({ outcome: 'undone' });
        expect(await readCancellation(database, id)).toMatchObject({ at: 'cycle end', state: 'pending' });
      } else {
        await event(id, { name: 'cancelled', planId: 'plan_basic', createdAt: at('06-12') });
      }
      const cancellation = await readCancellation(database, old);
      expect(
        cancellation === null || cancellation.state === 'withdrawn' || cancellation.state === 'parked',
        JSON.stringify(cancellation),
      )
        .toBe(true);
      expect(await readSubscription(database, userId)).toMatchObject({ tier: 'pro', status: 'active' });
      await event(old, { name: 'charged', planId: 'plan_pro', ...july, createdAt: at('07-01') });
      expect(await readTier(database, userId)).toBe('pro');
    },
  );

  test('is cancelled and resumed together with what runs', async () => {
    await billed('pro');
    const id = await change('basic', 'period_end');
    await event(id, { name: 'authenticated', planId: 'plan_basic', createdAt: at('06-10') });
    await callRpc(service, 'cancel_subscription', userId, true);
    const pending = { at: 'cycle end', state: 'pending' };
    expect([await readCancellation(database, old), await readCancellation(database, id)]).toEqual([pending, pending]);
    expect(await callRpc(service, 'resume_subscription', userId)).toMatchObject({ outcome: 'resumed' });
    expect(await readCancellation(database, old)).toEqual(pending);
    expect(await readCancellation(database, id)).toMatchObject({ state: 'withdrawn' });
  });

  test('cannot be undone after the gateway was told that the old one ends', async () => {
    await billed('pro');
    const id = await change('basic', 'period_end');
    await event(id, { name: 'authenticated', planId: 'plan_basic', createdAt: at('06-10') });
    await database.query("update billing.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [old]);
    expect(await callRpc(service, 'create_change', userId, 'pro', 'period_end')).toEqual({
      outcome: 'too_late',
      possible_from: '2026-07-01T00:00:00.000Z',
    });
    expect(await readCancellation(database, id)).toBeNull();
  });

  test('that is cancelled before the gateway answers: what it makes is cancelled, and not offered again', async () => {
    await billed('pro');
    const made = await callRpc(service, 'create_change', userId, 'basic', 'period_end');
    await callRpc(service, 'cancel_subscription', userId, true);
    const id = uniqueId('sub_new');
    expect(await callRpc(service, 'store_subscription', made.id, id, 'https://gateway.example/s/1')).toEqual({
      outcome: 'withdrawn',
    });
    expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'pending' });
    expect(await callRpc(service, 'create_change', userId, 'basic', 'period_end')).toMatchObject({
      outcome: 'created',
    });
  });

  test('that was undone is not returned to a start of the same tier', async () => {
    await billed('pro');
    await change('basic', 'period_end');
    await callRpc(service, 'cancel_subscription', userId, true);
    expect(await callRpc(service, 'create_subscription', userId, 'basic')).toMatchObject({ outcome: 'created' });
  });

  test.each([false, true])(
    'that follows another change replaces it: one subscription starts, the newer authorised first: %j',
    async (newerFirst) => {
      await billed('premium');
      const older = await change('basic', 'period_end');
      await setClock(database, '2026-06-01T12:00:00Z');
      const newer = await change('pro', 'period_end');
      const authorise = (id: string, tier: string) =>
        event(id, { name: 'authenticated', planId: `plan_${tier}`, createdAt: '2026-06-01T13:00:00Z' });
      if (newerFirst) await authorise(newer, 'pro');
      await authorise(older, 'basic');
      expect((await readCancellation(database, older))?.state).toBe(newerFirst ? 'pending' : undefined);
      if (!newerFirst) await authorise(newer, 'pro');
      expect(await readCancellation(database, older)).toEqual({ at: 'cycle end', state: 'pending' });
      expect(await readCancellation(database, newer)).toBeNull();
      expect(await readCancellation(database, old)).toMatchObject({ at: 'cycle end', state: 'pending' });
      await event(older, { name: 'cancelled', planId: 'plan_basic', createdAt: at('06-07') });
      expect(await readCancellation(database, old)).toMatchObject({ at: 'cycle end', state: 'pending' });
      expect(await readTier(database, userId)).toBe('premium');
    },
  );

  test('gives way to a purchase that follows it', async () => {
    await billed('pro');
    const id = await change('basic', 'period_end');
    await event(id, { name: 'authenticated', planId: 'plan_basic', createdAt: at('06-10') });
    await setClock(database, at('06-12'));
    await verifyPurchase(service, await placeOrder(database, { user: { id: userId, email: null }, tier: 'premium' }));
    expect(await readTier(database, userId)).toBe('premium');
    expect(await readCancellation(database, id)).toMatchObject({ at: 'cycle end', state: 'pending' });
  });
});

describe('a change now, with a credit', () => {
  async function paid(): Promise<{ id: string; payment: Record<string, unknown>; orderId: string; paymentId: string }> {
    await billed('basic');
    await setClock(database, at('06-16'));
    const payment = await callRpc(service, 'create_order', userId, 'pro', null, null, 'now');
    const orderId = uniqueId('order');
    await callRpc(service, 'store_order', payment.payment_id, orderId);
    const id = await change('pro', 'now', String(payment.payment_id));
    return { id, payment, orderId, paymentId: uniqueId('pay') };
  }

  test('costs the price less the unused half of the cycle, and bills from the next cycle', async () => {
    await billed('basic');
    await setClock(database, at('06-16'));
    const { change: terms } = await preview('pro', 'now');
    expect(terms).toMatchObject({
      credit: 15_000,
      starts_at: '2026-06-16T00:00:00.000Z',
      ends_at: '2026-07-16T00:00:00.000Z',
    });
  });

  test('leaves at least 100 to be paid; the credit that the preview shows is the one that the order uses', async () => {
    await billed('basic');
    await setClock(database, at('06-02'));
    const { price } = await database.one("select price from public.plans where tier = 'pro'");
    await database.query("update public.plans set price = 10000 where tier = 'pro'");
    const { change: terms } = await preview('pro', 'now');
    const order = await callRpc(service, 'create_order', userId, 'pro', null, null, 'now');
    await database.query("update public.plans set price = $1 where tier = 'pro'", [price]);
    expect(terms).toMatchObject({ credit: 9_900, amount_due: 100 });
    expect(order).toMatchObject({ credit: 9_900, amount: 100 });
  });

  test('ends the old cycle when the order is paid, and the new subscription goes on after the period that was paid', async () => {
    const { id, orderId, paymentId } = await paid();
    await event(id, { name: 'authenticated', planId: 'plan_pro', createdAt: '2026-06-16T00:01:00Z' });
    expect(await readTier(database, userId)).toBe('basic');
    await callRpc(service, 'verify_payment', userId, orderId, paymentId, 'signature');
    expect(await readTier(database, userId)).toBe('pro');
    expect(await readCancellation(database, old)).toMatchObject({ at: 'cycle end', state: 'pending' });
    expect(await readCancellation(database, id)).toBeNull();
    await event(old, { name: 'cancelled', planId: 'plan_basic', createdAt: at('07-01') });
    expect(await readTier(database, userId)).toBe('pro');
    const cycle = { start: at('07-16'), end: at('08-16') };
    await event(id, { name: 'activated', planId: 'plan_pro', ...cycle, createdAt: at('07-16') });
    expect(await readSubscription(database, userId)).toMatchObject({ tier: 'pro', end: '2026-08-16T00:00:00.000Z' });
  });

  test.each([[true, 0], [false, 1]])(
    'whose renewal is authorised: %j → %i mails that access ends',
    async (isAuthorised, mails) => {
      const { id, orderId, paymentId } = await paid();
      await callRpc(service, 'verify_payment', userId, orderId, paymentId, 'signature');
      const fields = { charge_at: Date.parse(at('07-16')) / 1000 };
      if (isAuthorised) {
        await event(id, { name: 'authenticated', planId: 'plan_pro', createdAt: '2026-06-16T00:01:00Z', fields });
      }
      await setClock(database, at('07-10'));
      await database.query("update billing.scheduled_jobs set announced_until = '-infinity'");
      await database.query('select billing.announce_ends()');
      expect(
        await database.one("select count(*)::integer as mails from billing.outbox where kind = 'subscription-ending'"),
      ).toEqual({ mails });
    },
  );

  test('that the customer then cancels for the end of the period: the renewal is cancelled before it starts, unless resumed', async () => {
    const { id, orderId, paymentId } = await paid();
    await callRpc(service, 'verify_payment', userId, orderId, paymentId, 'signature');
    await event(id, { name: 'authenticated', planId: 'plan_pro', createdAt: '2026-06-16T00:01:00Z' });
    const sentAt = async () =>
      (await database.one("select next_attempt_at as at from billing.outbox where key = 'cancel-subscription/' || $1", [
        id,
      ])).at;
    const next = async () => Object((await callRpc(service, 'get_subscription', userId)).billing).next_charge_at;
    await callRpc(service, 'cancel_subscription', userId, true);
    expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'pending' });
    expect(await sentAt()).toEqual(new Date(at('07-14')));
    expect(await next()).toBeNull();
    expect(await callRpc(service, 'resume_subscription', userId)).toMatchObject({ outcome: 'resumed' });
    expect(await readCancellation(database, id)).toMatchObject({ state: 'withdrawn' });
    await callRpc(service, 'cancel_subscription', userId, true);
    await database.query("update billing.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [id]);
    expect(await callRpc(service, 'resume_subscription', userId)).toEqual({ outcome: 'cannot_be_resumed' });
    expect(await readCancellation(database, id)).toMatchObject({ state: 'pending' });
    expect(await next()).toBeNull();
    expect(await readTier(database, userId)).toBe('pro');
  });

  test('that the customer cancels before its renewal is authorised: the page is cancelled', async () => {
    const { id, orderId, paymentId } = await paid();
    await callRpc(service, 'verify_payment', userId, orderId, paymentId, 'signature');
    await callRpc(service, 'cancel_subscription', userId, true);
    expect(await readCancellation(database, id)).toEqual({ at: 'cycle end', state: 'pending' });
    expect(await readTier(database, userId)).toBe('pro');
  });

  test('whose order is never paid leaves the old one, and the new subscription is cancelled before it starts', async () => {
    const { id } = await paid();
    await event(id, { name: 'authenticated', planId: 'plan_pro', createdAt: '2026-06-16T00:01:00Z' });
    const claim = async () => Object((await callRpc(service, 'claim_subscription_orders')).orders);
    const entity = JSON.stringify({ status: 'authenticated' });
    for (const [day, expected] of [['06-17', null], ['06-22', { at: 'cycle end', state: 'pending' }]] as const) {
      await setClock(database, at(day));
      const [order] = await claim();
      await callRpc(service, 'apply_subscription_order', order.id, entity);
      expect(await readCancellation(database, id)).toEqual(expected);
    }
    expect(await readTier(database, userId)).toBe('basic');
    expect(await readCancellation(database, old)).toBeNull();
  });

  test('whose order is refunded gives the old cycle back, and the new subscription is cancelled before it starts', async () => {
    const { id, orderId, paymentId, payment } = await paid();
    await callRpc(service, 'verify_payment', userId, orderId, paymentId, 'signature');
    await event(id, { name: 'authenticated', planId: 'plan_pro', createdAt: '2026-06-16T00:01:00Z' });
    const amount = Number(payment.amount);
    await deliver(service, refundEvent({ id: paymentId, order_id: orderId, amount }, amount));
    expect(await readTier(database, userId)).toBe('basic');
    await setClock(database, at('06-22'));
    const [order] = Object((await callRpc(service, 'claim_subscription_orders')).orders);
    await callRpc(service, 'apply_subscription_order', order.id, JSON.stringify({ status: 'authenticated' }));
    expect(await readCancellation(database, id)).toMatchObject({ at: 'cycle end', state: 'pending' });
  });
});
