import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { extraPayments, placeOrder, type Purchase, readPurchase } from '../helpers/records/purchases.ts';
import { countRevalidations, readAllRows, readOutbox, readPayment } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
let order: CustomerOrder;
beforeEach(async () => {
  order = await customer.order('pro');
});

const verify = ({ user, orderId, paymentId }: Purchase, signature = 'signature') =>
  database.rpc('verify_payment', user.id, orderId, paymentId, signature);
const verifyReturned = ({ orderId, paymentId }: Purchase) =>
  database.rpc('verify_returned_payment', orderId, paymentId, 'signature');
const notFound = { outcome: 'payment_not_found' };
const writeProfile = (assignment: string) =>
  database.query(`update public.profiles set ${assignment} where user_id = $1`, [customer.id]);
const successMails = () => readOutbox(database, 'email', customer.email);

/** All that a verification of the order writes. */
const written = async () => ({
  payment: await order.row(),
  subscription: await customer.row(),
  profile: await database.one('select * from public.profiles where user_id = $1', [customer.id]),
  mails: await successMails(),
});

test('a first verify captures the payment, creates the subscription, links both and sets the tier', async () => {
  const { valid_until, ...answer } = await order.verify();
  expect(answer).toEqual({ outcome: 'applied', tier: 'pro' });
  const { subscription, payment, profile } = await written();
  expect(subscription).toMatchObject({ tier: 'pro', status: 'active', cancelled_at: null });
  const { current_period_start: period_start, current_period_end: period_end, id: subscription_id } = subscription;
  const signed = { gateway_payment_id: order.paymentId, gateway_signature: 'signature', confirmed_at: null };
  const bought = { tier: 'pro', meta: { tier: 'pro' }, period_start, period_end, subscription_id };
  expect(payment).toMatchObject({ status: 'captured', ...signed, ...bought });
  expect(await customer.subscription()).toMatchObject({ plan_tier: 'pro', end: valid_until });
  expect(profile).toMatchObject({ subscription_tier: 'pro' });
});

test('another user’s or a deleted user’s order is not found, and does not change', async () => {
  const stranger = await database.customer();
  expect(await verify({ ...order, user: stranger })).toEqual(notFound);
  await database.query('delete from auth.users where id = $1', [customer.id]);
  const before = await readAllRows(database);
  for (const way of [verify, verifyReturned]) expect(await way(order)).toEqual(notFound);
  expect(await readAllRows(database)).toEqual(before);
  expect(await order.row()).toMatchObject({ status: 'created', fulfilled_at: null });
  expect(await stranger.tier()).toBe('free');
});

describe('the tier that was bought', () => {
  const error = { error_code: 'BAD', error_description: null, error_reason: null };
  test.each<[string, unknown, string | null, string]>([
    ['is the tier in meta', { tier: 'premium' }, null, 'premium'],
    ['is the tier in meta, not the tier of the payment', { tier: 'premium' }, 'pro', 'premium'],
    ['is the tier of the payment when the error of a failed attempt replaced meta', error, 'pro', 'pro'],
    ['is basic without any tier', {}, null, 'basic'],
    ['is basic when meta is a list, and the tier is empty', ['pro'], '', 'basic'],
    ['can be a tier of the app that is no longer on offer', { tier: 'team' }, null, 'team'],
  ])('%s', async (_, meta, tier, expected) => {
    await database.query("insert into public.plans (tier, name, price, is_active) values ('team', 'Team', 1, false)");
    const inserted = await createPayment(database, { userId: customer.id, meta });
    const write = 'update public.payments set tier = $2, status = $3 where id = $1';
    await database.query(write, [inserted.id, tier, meta === error ? 'failed' : 'created']);
    const answer = await verify({ user: customer, ...inserted, paymentId: uniqueId('pay') });
    expect(answer).toMatchObject({ outcome: 'applied', tier: expected });
    expect(await readPayment(database, inserted.id)).toMatchObject({ tier: expected, status: 'captured' });
    expect(await customer.tier()).toBe(expected);
  });
});

describe('a repeated verify', () => {
  test('returns what the payment bought and changes nothing; another payment id is one extra payment', async () => {
    const answer = { ...await order.verify(), outcome: 'already_applied' };
    const before = await written();
    expect(before.mails).toHaveLength(1);
    expect(await verify(order, 'another signature')).toEqual(answer);
    const other = customer.again(order);
    for (let i = 0; i < 2; i++) expect(await other.verify()).toEqual(answer);
    expect(await written()).toEqual(before);
    expect(await extraPayments(database, order)).toEqual([other.paymentId]);
  });

  test('of an older payment returns the tier and period of that payment, and changes no access', async () => {
    const answer = await order.verify();
    await customer.buy('basic');
    expect(await order.verify()).toEqual({ ...answer, outcome: 'already_applied' });
    expect(await customer.state()).toMatch(/^basic: basic active/);
  });

  test('after a cancellation does not reactivate the subscription', async () => {
    await order.verify();
    await customer.cancel('at once');
    expect(await order.verify()).toMatchObject({ outcome: 'already_applied' });
    expect(await customer.state()).toMatch(/^free: pro cancelled/);
  });
});

test('without a plan the payment is captured, and nothing else changes; with one it is fulfilled as first stored', async () => {
  const unplanned = await placeOrder(database, { user: customer, tier: 'late' });
  const revalidations = await countRevalidations(database);
  expect(await verify(unplanned)).toMatchObject({ outcome: 'plan_not_found' });
  const captured = await readPayment(database, unplanned.id);
  const first = { status: 'captured', gateway_payment_id: unplanned.paymentId, gateway_signature: 'signature' };
  expect(captured).toMatchObject({ ...first, fulfilled_at: null, period_end: null, subscription_id: null });
  expect(await readPurchase(database, unplanned)).toMatchObject({ subscription: null, tier: 'free', mails: [] });
  expect(await countRevalidations(database)).toBe(revalidations);

  await database.query("insert into public.plans (tier, name, price) values ('late', 'Late', 100)");
  const paymentId = uniqueId('pay');
  expect(await verify({ ...unplanned, paymentId }, 'other')).toMatchObject({ outcome: 'applied', tier: 'late' });
  const stored = { ...first, captured_at: captured.captured_at };
  expect(await readPayment(database, unplanned.id)).toMatchObject(stored);
  expect(await extraPayments(database, unplanned)).toEqual([paymentId]);
  expect((await successMails())[0]?.payload)
    .toMatchObject({ transaction_id: unplanned.paymentId, plan_name: 'Late' });
});

test('a returned payment leaves what a verified one leaves; returned again, verified and announced it is applied once', async () => {
  const { valid_until, ...answer } = await verifyReturned(order);
  expect(answer).toEqual({ outcome: 'applied', tier: 'pro' });
  const signed = { user_id: customer.id, gateway_signature: 'signature', verified_at: expect.any(Date) };
  expect(await order.row()).toMatchObject(signed);
  const before = await readPurchase(database, order);
  const verified = await (await database.customer()).buy('pro');
  const same = { paymentId: '', mails: [] };
  expect({ ...before, ...same }).toEqual({ ...await readPurchase(database, verified), ...same });
  for (const again of [verifyReturned, verify]) {
    expect(await again(order)).toEqual({ outcome: 'already_applied', tier: 'pro', valid_until });
  }
  expect(await order.capture()).toBe('applied');
  expect(await readPurchase(database, order)).toEqual(before);
});

describe('the success mail', () => {
  test.each([
    ["'Asha'", "'asha'", 'Asha'],
    ["''", "'asha'", 'asha'],
    ['null', 'null', ''],
  ])('with display name %s and username %s greets %j, and is one row with all data', async (name, username, greets) => {
    await writeProfile(`display_name = ${name}, username = ${username}`);
    const { valid_until } = await order.verify();
    const who = { to: customer.email, display_name: greets };
    const what = { plan_name: 'Pro', amount: 99900, currency: 'INR', transaction_id: order.paymentId, valid_until };
    const kind = 'payment-success';
    expect(await successMails()).toEqual([{ key: `${kind}/${order.id}`, kind, payload: { ...who, ...what } }]);
  });

  test.each([null, ''])('is not enqueued for a user with address %j', async (email) => {
    const other = await database.customer({ email });
    await other.buy('pro');
    expect(await other.tier()).toBe('pro');
    expect(await database.query("select from billing.outbox where destination = 'email'")).toEqual([]);
    expect(await other.findings()).toEqual([]);
  });

  test('is not enqueued for a user without a profile, who gets a profile with the tier, and is a finding', async () => {
    await database.query('delete from public.profiles where user_id = $1', [customer.id]);
    const before = await countRevalidations(database);
    await order.verify();
    expect(await customer.tier()).toBe('pro');
    expect(await successMails()).toEqual([]);
    expect(await countRevalidations(database)).toBe(before + 1);
    expect(await customer.findings()).toEqual([`unmailed_payment ${order.id}`]);
  });
});

test('a new purchase cancels each gateway subscription that an app attached by hand, once', async () => {
  await order.verify();
  const ids = [uniqueId('sub'), uniqueId('sub')];
  for (const id of ids) {
    await database.query('update public.subscriptions set gateway_subscription_id = $1', [id]);
    await customer.buy('pro');
  }
  for (const id of ids) {
    const message = { kind: 'cancel-subscription', payload: { gateway_subscription_id: id, at_cycle_end: true } };
    expect(await readOutbox(database, 'gateway', id)).toEqual([{ key: `cancel-subscription/${id}`, ...message }]);
  }
  expect(await customer.subscription()).toMatchObject({ gateway_subscription_id: null });
});
