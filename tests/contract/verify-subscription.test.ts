import { beforeAll, beforeEach, expect, test } from 'vitest';
import { useShop } from '../helpers/gateway/shop.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { type Authorisation, call, refusal } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newUser } = project;
const shop = useShop(poolThenRest, project);
const failed = refusal(400, 'Payment verification failed');
const notFound = refusal(404, 'Subscription not found');

let user: SignedUpUser;
beforeAll(async () => {
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier, trial_days = 0");
});
beforeEach(async () => {
  user = await newUser();
});

/** Starts a subscription. @returns its id at the gateway */
async function start(tier = 'pro'): Promise<string> {
  const { status, body } = await call(shop, 'POST /api/subscriptions', { user, body: { tier } });
  expect(status).toBe(201);
  return body.subscription.id;
}
const verify = (authorisation: Authorisation, by: { accessToken: string } = user) => {
  const { gateway_subscription_id, gateway_payment_id, gateway_signature } = authorisation;
  const body = { gateway_subscription_id, gateway_payment_id, gateway_signature };
  return call(shop, 'POST /api/payments/verify', { user: by, body });
};
/** Verifies, which must be refused before the gateway is read. */
async function refused(expected: unknown, ...request: Parameters<typeof verify>): Promise<void> {
  const before = shop.calls.length;
  expect(await verify(...request)).toEqual(expected);
  expect(shop.calls).toHaveLength(before);
}
const read = async () => (await call(shop, 'GET /api/subscriptions', { user })).body;
const mails = () =>
  database.query(
    "select kind, key from billing.outbox where payload ->> 'to' = $1 and destination in ('email', 'notice')",
    [user.email],
  );
const signed = async (subscriptionId: string, paymentId = uniqueId('pay')): Promise<Authorisation> => ({
  gateway_subscription_id: subscriptionId,
  gateway_payment_id: paymentId,
  gateway_signature: await sign(secrets.GATEWAY_KEY_SECRET, `${paymentId}|${subscriptionId}`),
});

test('POST /api/payments/verify with a subscription, before its webhooks → 200, its first cycle and one mail', async () => {
  const id = await start();
  const paid = await shop.authorise(id, { drop: true });
  const { status, body } = await verify(paid);
  const { subscription, currentTier, payments, billing } = await read();
  const end = subscription.current_period_end;
  const message = 'Payment verified and subscription activated';
  const verified = { tier: 'pro', validUntil: new Date(end).toISOString(), startsAt: null };
  expect({ status, body }).toEqual({ status: 200, body: { success: true, message, subscription: verified } });
  expect(subscription).toMatchObject({ tier: 'pro', status: 'active', gateway_subscription_id: id });
  expect(currentTier).toBe('pro');
  const charge = { status: 'captured', amount: 99900, currency: 'INR', tier: 'pro', period_end: end };
  const { gateway_payment_id } = paid;
  expect(payments).toMatchObject([{ ...charge, gateway_payment_id, gateway_subscription_id: id }]);
  const manage_url = expect.stringContaining(`/s/${id}`);
  expect(billing).toMatchObject({ status: 'active', next_charge_at: end, payment_attention: false, manage_url });
  expect(await mails()).toEqual([{ kind: 'payment-success', key: `payment-success/${gateway_payment_id}` }]);
});

test('POST /api/payments/verify with a subscription that starts later → 200, the start, no access', async () => {
  const id = await start('basic');
  await database.query(
    "update billing.gateway_subscriptions set starts_at = billing.clock() + interval '9 days' where gateway_subscription_id = $1",
    [id],
  );
  shop.onGatewayCall(({ path }) =>
    Response.json(
      path.includes('/payments/')
        ? { id: 'pay_proof', status: 'refunded', amount: 500 }
        : { id, status: 'authenticated', current_start: null, current_end: null, notes: [] },
    )
  );
  const message = 'Payment verified and subscription authorised';
  const subscription = { tier: 'basic', validUntil: null, startsAt: expect.stringMatching(/^20.*Z$/) };
  expect(await verify(await signed(id, 'pay_proof')))
    .toEqual({ status: 200, body: { success: true, message, subscription } });
  expect((await read()).currentTier).toBe('free');
  expect(await mails()).toEqual([]);
});

test('POST /api/payments/verify with a subscription whose first cycle was refunded → 400', async () => {
  const paid = await shop.authorise(await start(), { drop: true });
  expect(await verify(paid)).toMatchObject({ status: 200 });
  const refund = 'update public.payments set refunded_amount = amount where gateway_payment_id = $1';
  await database.query(refund, [paid.gateway_payment_id]);
  expect(await verify(paid)).toEqual(failed);
});

test('POST /api/payments/verify with a subscription of another user, or not started here → 404, the gateway is not read', async () => {
  const paid = await shop.authorise(await start(), { drop: true });
  await refused(notFound, paid, await newUser());
  await refused(notFound, await signed(uniqueId('sub')));
  await refused(notFound, await signed('sub_\u0000'));
});

test('POST /api/payments/verify with another signature than that of payment|subscription → 400, the gateway is not read', async () => {
  const id = await start();
  const valid = await signed(id, 'pay_1');
  const signedBy = async (secret: string, message: string) => ({
    ...valid,
    gateway_signature: await sign(secret, message),
  });
  await refused(failed, await signedBy(secrets.GATEWAY_KEY_SECRET, `${id}|pay_1`));
  await refused(failed, await signedBy('another', `pay_1|${id}`));
  await refused(failed, { ...valid, gateway_payment_id: 'pay_2' });
});

test.each([
  ['an order, too', { gateway_order_id: 'order_1', gateway_payment_id: 'pay_1', gateway_signature: 'a' }],
  ['no payment', { gateway_signature: 'a' }],
])('POST /api/payments/verify with a subscription and %s → 400 with details', async (_, fields) => {
  const body = { gateway_subscription_id: 'sub_1', ...fields };
  expect(await call(shop, 'POST /api/payments/verify', { user, body }))
    .toMatchObject({ status: 400, body: { error: 'Invalid request', details: {} } });
});

// All answers that the gateway may give: unit/gateway.
test('POST /api/payments/verify with a subscription while the gateway does not know it → 502; then 200', async () => {
  const paid = await shop.authorise(await start(), { drop: true });
  shop.onGatewayCall(() => Response.json({ error: {} }, { status: 404 }));
  expect(await verify(paid)).toEqual(refusal(502, 'Payment gateway unavailable'));
  expect((await read()).currentTier).toBe('free');
  shop.onGatewayCall((_, forwardRequest) => forwardRequest());
  expect(await verify(paid)).toMatchObject({ status: 200 });
});
