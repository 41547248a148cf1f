import { describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { paymentCaptured, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { extraPayments, paymentOf, placeOrder, type Purchase, readPurchase } from '../helpers/records/purchases.ts';
import {
  countRevalidations,
  readAllRows,
  readOutbox,
  readPayment,
  readSubscription,
  readTier,
} from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

// Orders are paid twice and tiers renewed at once, a replaced gateway subscription is charged again, a user has no profile,
// and a tier is set by hand.
const database = useDatabase({
  findings: {
    paid_twice: 6,
    charged_after_replacement: 1,
    unmailed_payment: 1,
    entitled_not_paid: 1,
    tier_mismatch: 1,
  },
});

const verify = (order: Purchase, paymentId = order.paymentId, signature = 'signature') =>
  database.rpc('verify_payment', order.user.id, order.orderId, paymentId, signature);
const verifyReturned = ({ orderId, paymentId }: Purchase) =>
  database.rpc('verify_returned_payment', orderId, paymentId, 'signature');

/** An order of an app, with any `meta`. */
async function orderWith(meta: unknown): Promise<Purchase> {
  const user = await createUser(database);
  return { user, ...await createPayment(database, { userId: user.id, meta }), paymentId: uniqueId('pay') };
}
/** Buys a tier, by default of a new user. */
async function buy(tier = 'pro', user?: Purchase['user']) {
  const order = await placeOrder(database, { tier, ...(user && { user }) });
  return { ...order, answer: await verify(order) };
}
const writeProfile = (user: Purchase['user'], assignment: string) =>
  database.query(`update public.profiles set ${assignment} where user_id = $1`, [user.id]);

async function readState({ user, id }: Purchase) {
  return {
    payment: await readPayment(database, id),
    subscription: await database.one('select * from public.subscriptions where user_id = $1', [user.id]),
    profile: await database.one('select * from public.profiles where user_id = $1', [user.id]),
    mails: await readOutbox(database, 'email', user.email),
  };
}

test('a first verify captures the payment, creates the subscription, links both and sets the tier', async () => {
  const order = await placeOrder(database);
  const answer = await verify(order);
  expect(answer).toMatchObject({ outcome: 'applied', tier: 'pro' });
  const { subscription, payment, profile } = await readState(order);
  expect(subscription).toMatchObject({ tier: 'pro', status: 'active', cancelled_at: null });
  expect(payment).toMatchObject({
    status: 'captured',
    gateway_payment_id: order.paymentId,
    gateway_signature: 'signature',
    subscription_id: subscription.id,
    tier: 'pro',
    meta: { tier: 'pro' },
    period_start: subscription.current_period_start,
    period_end: subscription.current_period_end,
    confirmed_at: null,
  });
  expect(await readSubscription(database, order.user.id)).toMatchObject({ plan_tier: 'pro', end: answer.valid_until });
  expect(profile).toMatchObject({ subscription_tier: 'pro' });
});

describe('verify finds no payment', () => {
  test('of another user’s or a deleted user’s order, and does not change it', async () => {
    const [order, { user }] = [await placeOrder(database), await placeOrder(database)];
    expect(await verify({ ...order, user })).toEqual({ outcome: 'payment_not_found' });
    await database.query('delete from auth.users where id = $1', [order.user.id]);
    expect(await verify(order)).toEqual({ outcome: 'payment_not_found' });
    expect(await readPayment(database, order.id)).toMatchObject({ status: 'created', fulfilled_at: null });
    expect(await readTier(database, user.id)).toBe('free');
  });

  test('of an unknown order, or of an order id in another case, empty or null', async () => {
    const [order, { user }] = [await placeOrder(database), await placeOrder(database)];
    const { id } = await createPayment(database, { userId: user.id });
    await database.query('update public.payments set gateway_order_id = null where id = $1', [id]);
    for (const orderId of [uniqueId('order'), order.orderId.toUpperCase(), '', null]) {
      for (const { id } of [order.user, user]) {
        const answer = await database.rpc('verify_payment', id, orderId, 'pay', 'signature');
        expect(answer, String(orderId)).toEqual({ outcome: 'payment_not_found' });
      }
    }
  });
});

describe('the tier that was bought', () => {
  const error = { error_code: 'BAD', error_description: null, error_reason: null };
  test.each<[string, unknown, string | null, string]>([
    ['is the tier in meta', { tier: 'premium' }, null, 'premium'],
    ['is the tier in meta, not the tier of the payment', { tier: 'premium' }, 'pro', 'premium'],
    ['is the tier of the payment when the error of a failed attempt replaced meta', error, 'pro', 'pro'],
    ['is basic without any tier', {}, null, 'basic'],
    ['is basic when meta is null', null, null, 'basic'],
    ['is basic when meta is a list', ['pro'], null, 'basic'],
    ['is basic when both tiers are empty', { tier: '' }, '', 'basic'],
    ['can be a tier of the app that is no longer on offer', { tier: 'team' }, null, 'team'],
  ])('%s', async (_, meta, tier, expected) => {
    if (expected === 'team') {
      await database.query("insert into public.plans (tier, name, price, is_active) values ('team', 'Team', 1, false)");
    }
    const order = await orderWith(meta);
    const status = meta === error ? 'failed' : 'created';
    await database.query('update public.payments set tier = $2, status = $3 where id = $1', [order.id, tier, status]);
    expect(await verify(order)).toMatchObject({ outcome: 'applied', tier: expected });
    expect(await readPayment(database, order.id)).toMatchObject({ tier: expected, status: 'captured' });
    expect(await readTier(database, order.user.id)).toBe(expected);
  });
});

describe('a repeated verify', () => {
  test('returns what the payment bought and changes nothing', async () => {
    const { answer, ...order } = await buy();
    const before = await readState(order);
    expect(before.mails).toHaveLength(1);
    expect(await verify(order, order.paymentId, 'another signature')).toEqual({
      ...answer,
      outcome: 'already_applied',
    });
    expect(await readState(order)).toEqual(before);
  });

  test('of an older payment returns the tier and period of that payment, and changes no access', async () => {
    const { answer, ...order } = await buy('premium');
    await buy('basic', order.user);
    expect(await verify(order)).toEqual({ ...answer, outcome: 'already_applied' });
    expect(await readSubscription(database, order.user.id)).toMatchObject({ tier: 'basic' });
    expect(await readTier(database, order.user.id)).toBe('basic');
  });

  test('after a cancellation does not reactivate the subscription', async () => {
    const order = await buy();
    await database.rpc('cancel_subscription', order.user.id, false);
    expect(await verify(order)).toMatchObject({ outcome: 'already_applied' });
    expect(await readSubscription(database, order.user.id)).toMatchObject({ status: 'cancelled' });
    expect(await readTier(database, order.user.id)).toBe('free');
  });

  test('with another payment id overwrites nothing and stores one extra payment', async () => {
    const { answer, ...order } = await buy();
    const before = await readState(order);
    const extra = uniqueId('pay');
    for (let i = 0; i < 2; i++) expect(await verify(order, extra)).toEqual({ ...answer, outcome: 'already_applied' });
    expect(await readState(order)).toEqual(before);
    expect(await extraPayments(database, order)).toEqual([extra]);
  });
});

test('without a plan the payment is captured, and nothing else changes; with one it is fulfilled as first stored', async () => {
  const tier = uniqueId('tier');
  const [order, revalidations] = [await placeOrder(database, { tier }), await countRevalidations(database)];
  expect(await verify(order)).toMatchObject({ outcome: 'plan_not_found' });
  const captured = await readPayment(database, order.id);
  const first = { status: 'captured', gateway_payment_id: order.paymentId, gateway_signature: 'signature' };
  expect(captured).toMatchObject({ ...first, fulfilled_at: null, period_end: null, subscription_id: null });
  expect(await readPurchase(database, order)).toMatchObject({ subscription: null, tier: 'free', mails: [] });
  expect(await countRevalidations(database)).toBe(revalidations);

  await database.query("insert into public.plans (tier, name, price) values ($1, 'Late', 1)", [tier]);
  const extra = uniqueId('pay');
  expect(await verify(order, extra, 'other')).toMatchObject({ outcome: 'applied', tier });
  expect(await readPayment(database, order.id)).toMatchObject({ ...first, captured_at: captured.captured_at });
  expect(await extraPayments(database, order)).toEqual([extra]);
  const [mail] = await readOutbox(database, 'email', order.user.email);
  expect(mail?.payload).toMatchObject({ transaction_id: order.paymentId, plan_name: 'Late' });
});

test('a payment id that belongs to another order is refused and grants nothing', async () => {
  const [first, second] = [await buy(), await placeOrder(database)];
  await expect(verify(second, first.paymentId)).rejects.toMatchObject({ code: '23505' });
  expect(await readPayment(database, second.id)).toMatchObject({ status: 'created', fulfilled_at: null });
  expect(await readTier(database, second.user.id)).toBe('free');
});

describe('a returned payment', () => {
  test('leaves what a verified one leaves; returned again, verified and announced it is applied once', async () => {
    const [order, verified] = [await placeOrder(database), await buy()];
    const { valid_until, ...answer } = await verifyReturned(order);
    expect(answer).toEqual({ outcome: 'applied', tier: 'pro' });
    expect(await readPayment(database, order.id))
      .toMatchObject({ user_id: order.user.id, gateway_signature: 'signature', verified_at: expect.any(Date) });
    const before = await readPurchase(database, order);
    expect({ ...before, paymentId: '', mails: 1 })
      .toEqual({ ...await readPurchase(database, verified), paymentId: '', mails: 1 });
    for (const again of [verifyReturned, verify]) {
      expect(await again(order)).toEqual({ outcome: 'already_applied', tier: 'pro', valid_until });
    }
    expect(await database.send(paymentCaptured(paymentOf(order)))).toBe('applied');
    expect(await readPurchase(database, order)).toEqual(before);
  });

  test('that a webhook announced first keeps its period; after its refund in full it is refused', async () => {
    const order = await placeOrder(database);
    await database.send(paymentCaptured(paymentOf(order)));
    const { period_end } = await readPayment(database, order.id);
    expect(await verifyReturned(order)).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
    expect(await readPayment(database, order.id)).toMatchObject({ period_end, verified_at: expect.any(Date) });
    await database.send(refundEvent({ id: order.paymentId }, 99900));
    expect(await verifyReturned(order)).toEqual({ outcome: 'refunded' });
  });

  test('of an unknown order, or of a deleted user, writes nothing', async () => {
    const order = await placeOrder(database);
    await database.query('delete from auth.users where id = $1', [order.user.id]);
    const before = await readAllRows(database);
    for (const unknown of [order, { ...order, orderId: 'unknown' }]) {
      expect(await verifyReturned(unknown)).toEqual({ outcome: 'payment_not_found' });
    }
    expect(await readAllRows(database)).toEqual(before);
  });
});

describe('the success mail', () => {
  test.each<[string, string, string]>([
    ["'Asha'", "'asha'", 'Asha'],
    ["''", "'asha'", 'asha'],
    ['null', "'asha'", 'asha'],
    ['null', 'null', ''],
  ])('with display name %s and username %s greets %j, and is one row with all data', async (name, username, greets) => {
    const order = await placeOrder(database, { tier: 'premium', amount: 199950 });
    await writeProfile(order.user, `display_name = ${name}, username = ${username}`);
    const { valid_until } = await verify(order);
    expect(await readOutbox(database, 'email', order.user.email)).toEqual([{
      key: `payment-success/${order.id}`,
      kind: 'payment-success',
      payload: {
        to: order.user.email,
        display_name: greets,
        plan_name: 'Premium',
        amount: 199950,
        currency: 'INR',
        transaction_id: order.paymentId,
        valid_until,
      },
    }]);
  });

  test.each([null, ''])('is not enqueued for a user with address %j', async (email) => {
    const { id, user } = await buy('pro', await createUser(database, { email }));
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await database.query('select from billing.outbox where key = $1', [`payment-success/${id}`])).toEqual([]);
  });

  test('is not enqueued for a user without a profile, who gets a profile with the tier', async () => {
    const user = await createUser(database);
    await database.query('delete from public.profiles where user_id = $1', [user.id]);
    const before = await countRevalidations(database);
    const { id } = await buy('pro', user);
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await readOutbox(database, 'email', user.email)).toEqual([]);
    expect(await countRevalidations(database)).toBe(before + 1);
    expect(await database.query('select payment_id from billing.unmailed_payments')).toEqual([{ payment_id: id }]);
  });
});

test('the cached pages are revalidated once per purchase, also for a renewal, and once for many tiers set by hand', async () => {
  const [user, other] = [await createUser(database), await createUser(database)];
  const before = await countRevalidations(database);
  for (const count of [1, 2]) {
    await buy('pro', user);
    expect(await countRevalidations(database)).toBe(before + count);
  }
  const rows = await database.query("select distinct payload from billing.outbox where destination = 'revalidation'");
  expect(rows).toEqual([{ payload: { paths: ['/subscription', '/pricing', '/analytics', '/dashboard'] } }]);
  for (const assignment of ["subscription_tier = 'basic'", "display_name = 'X'"]) {
    await database.query(`update public.profiles set ${assignment} where user_id = any ($1)`, [[user.id, other.id]]);
    expect(await countRevalidations(database)).toBe(before + 3);
  }
});

describe('a new purchase', () => {
  const cancellation = (id: string) => ({
    key: `cancel-subscription/${id}`,
    kind: 'cancel-subscription',
    payload: { gateway_subscription_id: id, at_cycle_end: true },
  });

  test('clears the fields of an earlier cancellation', async () => {
    const { user } = await buy();
    await database.query(
      `update public.subscriptions set status = 'cancelled', cancelled_at = now(), cancel_at_period_end = true,
         ended_reason = 'cancelled' where user_id = $1`,
      [user.id],
    );
    const { subscription } = await readState(await buy('premium', user));
    const cleared = { cancelled_at: null, cancel_at_period_end: false, ended_reason: null };
    expect(subscription).toMatchObject({ status: 'active', tier: 'premium', ...cleared });
  });

  test('enqueues the cancellation of the attached gateway subscription; its later events change no access', async () => {
    const { user } = await buy();
    const [id, period] = [uniqueId('sub'), { start: '2030-01-01T00:00:00Z', end: '2030-02-01T00:00:00Z' }];
    const event = (name: 'activated' | 'charged' | 'cancelled', createdAt: string) => {
      const payment = name === 'charged' ? { payment: { id: `pay_${id}` } } : {};
      return database.send(subscriptionEvent({ name, userId: user.id, id, createdAt, ...period, ...payment }));
    };
    expect(await event('activated', '2030-01-01T00:00:00Z')).toBe('applied');
    expect(await readSubscription(database, user.id)).toMatchObject({ gateway_subscription_id: id });

    const { answer } = await buy('pro', user);
    expect(await readOutbox(database, 'gateway', id)).toEqual([cancellation(id)]);
    const bought = await readSubscription(database, user.id);
    expect(bought).toMatchObject({ gateway_subscription_id: null, status: 'active', end: answer.valid_until });

    expect(await event('charged', '2030-01-02T00:00:00Z')).toBe('applied');
    expect(await event('cancelled', '2030-01-03T00:00:00Z')).toBe('applied');
    expect(await event('charged', '2030-01-01T00:00:00Z')).toBe('stale');
    expect(await readSubscription(database, user.id)).toEqual(bought);
    expect(await readTier(database, user.id)).toBe('pro');
  });

  test('enqueues the cancellation of each gateway subscription that an app attached by hand, once', async () => {
    const { user } = await buy();
    const ids = [uniqueId('sub'), uniqueId('sub')];
    for (const id of ids) {
      await database.query('update public.subscriptions set gateway_subscription_id = $2 where user_id = $1', [
        user.id,
        id,
      ]);
      await buy('pro', user);
    }
    for (const id of ids) expect(await readOutbox(database, 'gateway', id)).toEqual([cancellation(id)]);
    expect(await readSubscription(database, user.id)).toMatchObject({ gateway_subscription_id: null });
  });
});
