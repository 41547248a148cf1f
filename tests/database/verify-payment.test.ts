import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import {
  countRevalidations,
  readOutbox,
  readPayment,
  readSubscription,
  readTier,
} from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One payment has no plan, and two orders are paid twice.
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 1, paid_twice: 2 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

const verify = (userId: string, orderId: string, paymentId: string, signature = 'signature') =>
  callRpc(service, 'verify_payment', userId, orderId, paymentId, signature);

async function customer(meta: unknown = { tier: 'pro' }) {
  const user = await createUser(database);
  return { user, payment: await createPayment(database, { userId: user.id, meta }), paymentId: uniqueId('pay') };
}

test('a first verify captures the payment, creates the subscription, links both and sets the tier', async () => {
  const { user, payment, paymentId } = await customer();
  const result = await verify(user.id, payment.orderId, paymentId);
  expect(result).toMatchObject({ outcome: 'applied', tier: 'pro' });

  const subscription = await database.one('select * from public.subscriptions where user_id = $1', [user.id]);
  expect(subscription).toMatchObject({ tier: 'pro', status: 'active', cancelled_at: null });
  expect(await readPayment(database, payment.id)).toMatchObject({
    status: 'captured',
    gateway_payment_id: paymentId,
    gateway_signature: 'signature',
    subscription_id: subscription.id,
    tier: 'pro',
    meta: { tier: 'pro' },
    period_start: subscription.current_period_start,
    period_end: subscription.current_period_end,
    confirmed_at: null,
  });
  expect(await readSubscription(database, user.id)).toMatchObject({ plan_tier: 'pro', end: result.valid_until });
  expect(await readTier(database, user.id)).toBe('pro');
});

describe('verify finds no payment', () => {
  test('of an unknown order', async () => {
    const { user } = await customer();
    expect(await verify(user.id, uniqueId('order'), 'pay')).toEqual({ outcome: 'payment_not_found' });
  });

  test('of another user’s order, and does not change it', async () => {
    const [owner, stranger] = [await customer(), await customer()];
    const result = await verify(stranger.user.id, owner.payment.orderId, owner.paymentId);
    expect(result).toEqual({ outcome: 'payment_not_found' });
    expect(await readPayment(database, owner.payment.id)).toMatchObject({ status: 'created', fulfilled_at: null });
    expect(await readTier(database, stranger.user.id)).toBe('free');
  });

  test('of an order id in another case, empty or null', async () => {
    const { user, payment } = await customer();
    await database.query('update public.payments set gateway_order_id = null where id = $1', [payment.id]);
    for (const orderId of [payment.orderId.toUpperCase(), '', null]) {
      const result = await callRpc(service, 'verify_payment', user.id, orderId, 'pay', 'signature');
      expect(result, String(orderId)).toEqual({ outcome: 'payment_not_found' });
    }
  });

  test('of a deleted user: the payment does not change', async () => {
    const { user, payment, paymentId } = await customer();
    await database.query('delete from auth.users where id = $1', [user.id]);
    expect(await verify(user.id, payment.orderId, paymentId)).toEqual({ outcome: 'payment_not_found' });
    expect(await readPayment(database, payment.id)).toMatchObject({ status: 'created', user_id: null });
  });
});

describe('the tier that was bought', () => {
  test.each<[string, unknown, string | null, string]>([
    ['is the tier in meta', { tier: 'premium' }, null, 'premium'],
    ['is the tier in meta, not the tier of the payment', { tier: 'premium' }, 'pro', 'premium'],
    ['is the tier of the payment when an error replaced meta', { error_code: 'X' }, 'pro', 'pro'],
    ['is basic without any tier', {}, null, 'basic'],
    ['is basic when meta is null', null, null, 'basic'],
    ['is basic when meta is a list', ['pro'], null, 'basic'],
    ['is basic when both tiers are empty', { tier: '' }, '', 'basic'],
  ])('%s', async (_, meta, tier, expected) => {
    const { user, payment, paymentId } = await customer(meta);
    await database.query('update public.payments set tier = $2 where id = $1', [payment.id, tier]);
    expect(await verify(user.id, payment.orderId, paymentId)).toMatchObject({ outcome: 'applied', tier: expected });
    expect(await readPayment(database, payment.id)).toMatchObject({ tier: expected });
    expect(await readTier(database, user.id)).toBe(expected);
  });

  test('can be a tier of the app, and one that is no longer on offer', async () => {
    await database.query("insert into public.plans (tier, name, price, is_active) values ('team', 'Team', 1, false)");
    const { user, payment, paymentId } = await customer({ tier: 'team' });
    expect(await verify(user.id, payment.orderId, paymentId)).toMatchObject({ outcome: 'applied', tier: 'team' });
  });
});

describe('a repeated verify', () => {
  test('returns what the payment bought and changes nothing', async () => {
    const { user, payment, paymentId } = await customer();
    const first = await verify(user.id, payment.orderId, paymentId);
    const before = await readState(user.id, payment.id);
    const second = await verify(user.id, payment.orderId, paymentId, 'another signature');
    expect(second).toEqual({ ...first, outcome: 'already_applied' });
    expect(await readState(user.id, payment.id)).toEqual(before);
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
  });

  test('of an older payment returns the tier and period of that payment, and changes no access', async () => {
    const { user, payment, paymentId } = await customer({ tier: 'premium' });
    const first = await verify(user.id, payment.orderId, paymentId);
    const later = await createPayment(database, { userId: user.id, meta: { tier: 'basic' } });
    await verify(user.id, later.orderId, uniqueId('pay'));

    const repeat = await verify(user.id, payment.orderId, paymentId);
    expect(repeat).toEqual({ ...first, outcome: 'already_applied' });
    expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'basic' });
    expect(await readTier(database, user.id)).toBe('basic');
  });

  test('after a cancellation does not reactivate the subscription', async () => {
    const { user, payment, paymentId } = await customer();
    await verify(user.id, payment.orderId, paymentId);
    await callRpc(service, 'cancel_subscription', user.id, false);
    expect(await verify(user.id, payment.orderId, paymentId)).toMatchObject({ outcome: 'already_applied' });
    expect(await readSubscription(database, user.id)).toMatchObject({ status: 'cancelled' });
    expect(await readTier(database, user.id)).toBe('free');
  });

  test('with another payment id overwrites nothing and stores one extra payment', async () => {
    const { user, payment, paymentId } = await customer();
    const first = await verify(user.id, payment.orderId, paymentId);
    const before = await readState(user.id, payment.id);
    const extra = uniqueId('pay');
    for (let i = 0; i < 2; i++) {
      expect(await verify(user.id, payment.orderId, extra)).toEqual({ ...first, outcome: 'already_applied' });
    }
    expect(await readState(user.id, payment.id)).toEqual(before);
    expect(await extraPayments(payment.id)).toEqual([{ gateway_payment_id: extra }]);
  });
});

describe('without a plan', () => {
  test('the payment is captured, and nothing else changes', async () => {
    const { user, payment, paymentId } = await customer({ tier: uniqueId('tier') });
    const revalidations = await countRevalidations(database);
    expect(await verify(user.id, payment.orderId, paymentId)).toMatchObject({ outcome: 'plan_not_found' });
    expect(await readPayment(database, payment.id)).toMatchObject({
      status: 'captured',
      gateway_payment_id: paymentId,
      gateway_signature: 'signature',
      fulfilled_at: null,
      period_end: null,
      subscription_id: null,
    });
    expect(await readSubscription(database, user.id)).toBeNull();
    expect(await readTier(database, user.id)).toBe('free');
    expect(await readOutbox(database, 'email', user.email)).toEqual([]);
    expect(await countRevalidations(database)).toBe(revalidations);
  });

  test('a verify after the plan was created fulfils with the payment id that was stored first', async () => {
    const tier = uniqueId('tier');
    const { user, payment, paymentId } = await customer({ tier });
    await verify(user.id, payment.orderId, paymentId);
    const captured = await readPayment(database, payment.id);
    await database.query("insert into public.plans (tier, name, price) values ($1, 'Late', 1)", [tier]);

    const extra = uniqueId('pay');
    expect(await verify(user.id, payment.orderId, extra, 'other')).toMatchObject({ outcome: 'applied', tier });
    expect(await readPayment(database, payment.id)).toMatchObject({
      gateway_payment_id: paymentId,
      gateway_signature: 'signature',
      captured_at: captured.captured_at,
    });
    expect(await extraPayments(payment.id)).toEqual([{ gateway_payment_id: extra }]);
    const [mail] = await readOutbox(database, 'email', user.email);
    expect(mail?.payload).toMatchObject({ transaction_id: paymentId, plan_name: 'Late' });
  });
});

test('a payment that failed before is captured with the tier that was bought', async () => {
  const { user, payment, paymentId } = await customer({
    error_code: 'BAD',
    error_description: null,
    error_reason: null,
  });
  await database.query("update public.payments set status = 'failed', tier = 'premium' where id = $1", [payment.id]);
  expect(await verify(user.id, payment.orderId, paymentId)).toMatchObject({ outcome: 'applied', tier: 'premium' });
  expect(await readPayment(database, payment.id)).toMatchObject({ status: 'captured' });
});

test('a payment id that belongs to another order is refused and grants nothing', async () => {
  const [first, second] = [await customer(), await customer()];
  await verify(first.user.id, first.payment.orderId, first.paymentId);
  await expect(verify(second.user.id, second.payment.orderId, first.paymentId)).rejects.toMatchObject({
    code: '23505',
  });
  expect(await readPayment(database, second.payment.id)).toMatchObject({ status: 'created', fulfilled_at: null });
  expect(await readTier(database, second.user.id)).toBe('free');
});

function extraPayments(paymentId: string) {
  return database.query('select gateway_payment_id from public.payments where extra_of = $1', [paymentId]);
}

async function readState(userId: string, paymentId: string) {
  return {
    payment: await readPayment(database, paymentId),
    subscription: await database.one('select * from public.subscriptions where user_id = $1', [userId]),
    profile: await database.one('select * from public.profiles where user_id = $1', [userId]),
  };
}
