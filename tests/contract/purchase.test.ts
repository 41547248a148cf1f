import { expect, test } from 'vitest';
import type { DeliverOptions } from '../../scripts/stack/gateway/events.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { call, type Checkout, orderPlan, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { ledgerRow, paymentOfOrder, queued, readTier, subscriptionOf } from '../helpers/records/read-records.ts';

// Payments that do not match their order.
const project = useProject({ findings: { failed_events: 4 } });
const { database, newUser } = project;
const shop = useShop(poolThenRest, project);

/** A user with an open order of pro. */
async function startPurchase(): Promise<{ user: SignedUpUser; orderId: string }> {
  const user = await newUser();
  return { user, orderId: (await orderPlan(shop, user)).order.id };
}
const successMails = ({ email }: SignedUpUser) => queued(database, 'payment-success', email);
const failureMails = ({ email }: SignedUpUser) => queued(database, 'payment-failed', email);

/** The user has the purchased access and one mail. @returns the end of the period */
async function expectBought(user: SignedUpUser, { gateway_order_id, gateway_payment_id }: Checkout): Promise<string> {
  const payment = await paymentOfOrder(database, gateway_order_id);
  expect(payment).toMatchObject({ status: 'captured', tier: 'pro', gateway_payment_id });
  const valid_until = payment.period_end instanceof Date ? payment.period_end.toISOString() : 'never';
  expect(await call(shop, 'GET /api/subscriptions', { user })).toMatchObject({
    status: 200,
    body: {
      currentTier: 'pro',
      subscription: { tier: 'pro', status: 'active' },
      payments: [{ id: payment.id, status: 'captured', amount: 99900 }],
    },
  });
  expect((await subscriptionOf(database, user.id))?.current_period_end).toEqual(payment.period_end);
  expect(await successMails(user)).toMatchObject([{ transaction_id: gateway_payment_id, amount: 99900, valid_until }]);
  return valid_until;
}
async function expectNothingBought(user: SignedUpUser): Promise<void> {
  expect(await readTier(database, user.id)).toBe('free');
  expect(await successMails(user)).toEqual([]);
}

/** POST /api/payments/verify. @returns `validUntil` */
async function verified(user: SignedUpUser, paid: Checkout): Promise<unknown> {
  const response = await verify(shop, user.accessToken, paid);
  expect(response.status).toBe(200);
  const { subscription } = await response.json();
  expect(subscription.tier).toBe('pro');
  return subscription.validUntil;
}

test('order, pay, verify, read → the tier; later webhooks change nothing', async () => {
  const { user, orderId } = await startPurchase();
  await expectNothingBought(user);
  const paid = await shop.pay(orderId, 'captured', { drop: true });
  const validUntil = await verified(user, paid);
  expect(await expectBought(user, paid)).toBe(validUntil);
  for (const { body } of await shop.deliveries(orderId, 0)) await shop.deliver(body);
  await shop.deliveries(orderId, 3);
  expect(await expectBought(user, paid)).toBe(validUntil);
  expect((await paymentOfOrder(database, orderId)).confirmed_at).not.toBeNull();
});

// All orders of arrival: database/convergence.
test.each<[string, DeliverOptions, number]>([
  ['all webhooks three times, at once', { duplicate: 2, at_once: true }, 9],
  ['all webhooks in reverse order', { reorder: true }, 3],
  ['order.paid alone', { events: ['order.paid'] }, 1],
])(
  'order, pay, no verification: %s → the tier and one mail; a late verification changes nothing',
  async (_, deliver, posts) => {
    const { user, orderId } = await startPurchase();
    const paid = await shop.pay(orderId, 'captured', deliver);
    await shop.deliveries(orderId, posts);
    const validUntil = await expectBought(user, paid);
    expect(await verified(user, paid)).toBe(validUntil);
    expect(await expectBought(user, paid)).toBe(validUntil);
  },
);

test('order, a failed attempt, a successful one on the same order → one mail for each, the ordered tier', async () => {
  const { user, orderId } = await startPurchase();
  const failed = await shop.pay(orderId, 'failed');
  await shop.deliveries(orderId, 1);
  await expectNothingBought(user);
  expect(await failureMails(user))
    .toMatchObject([{ tier: 'pro', amount: 99900, reason: 'The bank declined the payment.' }]);

  expect((await orderPlan(shop, user)).order.id).toBe(orderId);
  const paid = await shop.pay(orderId);
  expect(paid.gateway_payment_id).not.toBe(failed.gateway_payment_id);
  await shop.deliveries(orderId, 4);
  expect(await verified(user, paid)).toBe(await expectBought(user, paid));
  expect(await failureMails(user)).toHaveLength(1);
});

test.each([{ amount: 99899 }, { amount: 99901 }, { currency: 'USD' }, { status: 'authorized' }])(
  'order, payment.captured with %j → mismatch, no access',
  async (change) => {
    const { user, orderId } = await startPurchase();
    const body = paymentCaptured({ order_id: orderId, amount: 99900, ...change });
    await shop.deliver(body);
    await shop.deliveries(orderId, 1);
    expect(await ledgerRow(database, body)).toMatchObject({ outcome: 'mismatch' });
    await expectNothingBought(user);
  },
);

test('order, pay: payment.authorized alone → no access; payment.captured that fails → a retry grants the tier', async () => {
  const { user, orderId } = await startPurchase();
  const paid = await whileBroken(database, 'apply_gateway_event', async () => {
    const paid = await shop.pay(orderId, 'captured', { events: ['payment.captured'] });
    const [delivery] = await shop.deliveries(orderId, 1);
    expect(delivery?.attempts[0]?.status).toBe(500);
    return paid;
  });
  await expect.poll(async () => (await shop.deliveries(orderId, 2)).map(({ state }) => state), { timeout: 20_000 })
    .toContain('delivered');
  await expectBought(user, paid);
  const other = await startPurchase();
  await shop.pay(other.orderId, 'captured', { events: ['payment.authorized'] });
  await shop.deliveries(other.orderId, 1);
  await expectNothingBought(other.user);
});
