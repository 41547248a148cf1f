import { expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { call, type Checkout, orderPlan, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { paymentOfOrder, queued, readTier } from '../helpers/records/read-records.ts';

const project = useProject();
const { database, newUser } = project;
const shop = useShop(poolThenRest, project);

/** A user with an open order of pro. */
async function startPurchase(): Promise<{ user: SignedUpUser; orderId: string }> {
  const user = await newUser();
  return { user, orderId: (await orderPlan(shop, user)).order.id };
}

/** The user has the purchased access and one mail. @returns the end of the period */
async function expectBought(user: SignedUpUser, { gateway_order_id, gateway_payment_id }: Checkout): Promise<string> {
  const payment = await paymentOfOrder(database, gateway_order_id);
  expect(payment).toMatchObject({ status: 'captured', tier: 'pro', gateway_payment_id });
  const valid_until = payment.period_end instanceof Date ? payment.period_end.toISOString() : 'never';
  expect((await call(shop, 'GET /api/subscriptions', { user })).body)
    .toMatchObject({
      currentTier: 'pro',
      subscription: { tier: 'pro', status: 'active' },
      payments: [{ id: payment.id }],
    });
  const mail = { transaction_id: gateway_payment_id, amount: 99900, valid_until };
  expect(await queued(database, 'payment-success', user.email)).toMatchObject([mail]);
  return valid_until;
}
/** POST /api/payments/verify. @returns the end of the period */
const verified = async (user: SignedUpUser, paid: Checkout): Promise<unknown> =>
  (await (await verify(shop, user.accessToken, paid)).json()).subscription.validUntil;

test('order, pay, verify, read → the tier; later webhooks change nothing', async () => {
  const { user, orderId } = await startPurchase();
  const paid = await shop.pay(orderId, 'captured', { drop: true });
  const validUntil = await verified(user, paid);
  expect(await expectBought(user, paid)).toBe(validUntil);
  for (const { body } of await shop.deliveries(orderId, 0)) await shop.deliver(body);
  await shop.deliveries(orderId, 3);
  expect(await expectBought(user, paid)).toBe(validUntil);
  expect((await paymentOfOrder(database, orderId)).confirmed_at).not.toBeNull();
});

// All orders of arrival: database/convergence.
test('order, pay, all webhooks three times at once → the tier and one mail; a late verification changes nothing', async () => {
  const { user, orderId } = await startPurchase();
  const paid = await shop.pay(orderId, 'captured', { duplicate: 2, at_once: true });
  await shop.deliveries(orderId, 9);
  const validUntil = await expectBought(user, paid);
  expect(await verified(user, paid)).toBe(validUntil);
  expect(await expectBought(user, paid)).toBe(validUntil);
});

test('order, pay, no verification: payment.captured that fails → a retry grants the tier; payment.authorized alone → no access', async () => {
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
  expect(await readTier(database, other.user.id)).toBe('free');
});
