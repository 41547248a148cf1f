import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { useShop } from '../helpers/gateway/shop.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { type Authorisation, requestSubscription } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const notFound = refusal(404, 'Subscription not found');
const unavailable = refusal(502, 'Payment gateway unavailable');

beforeAll(async () => {
  await project.database.query("update public.plans set gateway_plan_id = 'plan_' || tier, trial_days = 0");
});

describe.each(poolSample)('%s', (target) => {
  const shop = useShop(target, project);
  let user: SignedUpUser;
  beforeEach(async () => {
    user = await createCaller(project.database);
  });

  const post = (path: string, body: unknown, { accessToken } = user) =>
    shop.request(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  /** Starts a subscription. @returns its id at the gateway */
  async function start(tier = 'pro'): Promise<string> {
    const { status, body } = await answer(post('/api/subscriptions', { tier }));
    expect(status).toBe(201);
    return Object(body).subscription.id;
  }
  const verify = ({ gateway_subscription_id, gateway_payment_id, gateway_signature }: Authorisation, from = user) =>
    answer(
      post('/api/payments/verify', { gateway_subscription_id, gateway_payment_id, gateway_signature }, from),
    );
  const read = async () => Object((await answer(requestSubscription(shop, user.accessToken))).body);
  const mails = async () =>
    await project.database.query(
      "select kind, key from billing.outbox where payload ->> 'to' = $1 and destination in ('email', 'notice')",
      [user.email],
    );
  const signed = async (subscriptionId: string, paymentId: string): Promise<Authorisation> => ({
    gateway_subscription_id: subscriptionId,
    gateway_payment_id: paymentId,
    gateway_signature: await sign(secrets.GATEWAY_KEY_SECRET, `${paymentId}|${subscriptionId}`),
  });

  test('POST /api/payments/verify with a subscription, before its webhooks → 200, its first cycle and one mail', async () => {
    const id = await start();
    const paid = await shop.authorise(id, { drop: true });
    const { status, body } = await verify(paid);
    const { subscription, currentTier, payments, billing } = await read();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        message: 'Payment verified and subscription activated',
        subscription: {
          tier: 'pro',
          validUntil: new Date(subscription.current_period_end).toISOString(),
          startsAt: null,
        },
      },
    });
    expect(subscription).toMatchObject({ tier: 'pro', status: 'active', gateway_subscription_id: id });
    expect(currentTier).toBe('pro');
    expect(payments).toMatchObject([{
      status: 'captured',
      amount: 99900,
      currency: 'INR',
      tier: 'pro',
      gateway_payment_id: paid.gateway_payment_id,
      gateway_subscription_id: id,
      period_end: subscription.current_period_end,
    }]);
    expect(billing).toEqual({
      gateway_subscription_id: id,
      status: 'active',
      next_charge_at: subscription.current_period_end,
      payment_attention: false,
      manage_url: expect.stringContaining(`/s/${id}`),
    });
    expect(await mails()).toEqual([{ kind: 'payment-success', key: `payment-success/${paid.gateway_payment_id}` }]);
  });

  test('POST /api/payments/verify with a subscription, after or without its webhooks, repeated → the same answer and one mail', async () => {
    const id = await start();
    const paid = await shop.authorise(id);
    const first = await verify(paid);
    expect(first.status).toBe(200);
    const { subscription } = await read();
    expect(await verify(paid)).toEqual(first);
    expect((await read()).subscription).toEqual(subscription);
    // The charge may be announced after the activation that verify found.
    await vi.waitFor(async () => expect(await mails()).toHaveLength(1));
  });

  test('POST /api/payments/verify with a subscription that starts later → 200, the start, no access', async () => {
    const id = await start('basic');
    await project.database.query(
      "update billing.subscription_orders set starts_at = billing.clock() + interval '9 days' where gateway_subscription_id = $1",
      [id],
    );
    shop.onGatewayCall(({ path }) =>
      Response.json(
        path.includes('/payments/')
          ? { id: 'pay_proof', status: 'refunded', amount: 500 }
          : { id, status: 'authenticated', current_start: null, current_end: null, notes: [] },
      )
    );
    expect(await verify(await signed(id, 'pay_proof'))).toEqual({
      status: 200,
      body: {
        success: true,
        message: 'Payment verified and subscription authorised',
        subscription: { tier: 'basic', validUntil: null, startsAt: expect.stringMatching(/^20.*Z$/) },
      },
    });
    expect((await read()).currentTier).toBe('free');
    expect(await mails()).toEqual([]);
  });

  test('POST /api/payments/verify with a subscription whose first cycle was refunded → 400', async () => {
    const paid = await shop.authorise(await start(), { drop: true });
    expect(await verify(paid)).toMatchObject({ status: 200 });
    await project.database.query('update public.payments set refunded_amount = amount where gateway_payment_id = $1', [
      paid.gateway_payment_id,
    ]);
    expect(await verify(paid)).toEqual(refusal(400, 'Payment verification failed'));
  });

  test("POST /api/payments/verify with another user's subscription → 404, without a call of the gateway", async () => {
    const id = await start();
    const paid = await shop.authorise(id, { drop: true });
    const stranger = await createCaller(project.database);
    const before = shop.calls.length;
    expect(await verify(paid, stranger)).toEqual(notFound);
    expect(shop.calls).toHaveLength(before);
  });

  test('POST /api/payments/verify with a subscription that was not started here → 404', async () => {
    expect(await verify(await signed(uniqueId('sub'), uniqueId('pay')))).toEqual(notFound);
    expect(await verify(await signed('sub_\u0000', uniqueId('pay')))).toEqual(notFound);
  });

  test.each<[string, (id: string) => Promise<Authorisation>]>([
    ['of the ids in the order of a payment', async (id) => ({
      ...await signed(id, 'pay_1'),
      gateway_signature: await sign(secrets.GATEWAY_KEY_SECRET, `${id}|pay_1`),
    })],
    ['by another secret', async (id) => ({
      ...await signed(id, 'pay_1'),
      gateway_signature: await sign('another', `pay_1|${id}`),
    })],
    ['of another payment', async (id) => ({ ...await signed(id, 'pay_1'), gateway_payment_id: 'pay_2' })],
  ])('POST /api/payments/verify with a signature %s → 400, nothing is read', async (_, create) => {
    const id = await start();
    const before = shop.calls.length;
    expect(await verify(await create(id))).toEqual(refusal(400, 'Payment verification failed'));
    expect(shop.calls).toHaveLength(before);
  });

  test.each<[string, Record<string, unknown>]>([
    ['an order, too', { gateway_order_id: 'order_1', gateway_payment_id: 'pay_1', gateway_signature: 'a' }],
    ['no payment', { gateway_signature: 'a' }],
    ['a number as signature', { gateway_payment_id: 'pay_1', gateway_signature: 1 }],
  ])('POST /api/payments/verify with a subscription and %s → 400', async (_, fields) => {
    const { status, body } = await answer(
      post('/api/payments/verify', { gateway_subscription_id: 'sub_1', ...fields }),
    );
    expect({ status, error: Object(body).error }).toEqual({ status: 400, error: 'Invalid request' });
  });

  test.each([[500, '{}'], [200, 'no JSON'], [404, '{"error": {}}']])(
    'POST /api/payments/verify with a subscription while the gateway answers %i %s → 502; then 200',
    async (status, text) => {
      const id = await start();
      const paid = await shop.authorise(id, { drop: true });
      shop.onGatewayCall(() => new Response(text, { status }));
      expect(await verify(paid)).toEqual(unavailable);
      expect((await read()).currentTier).toBe('free');
      shop.onGatewayCall((_, forwardRequest) => forwardRequest());
      expect(await verify(paid)).toMatchObject({ status: 200 });
    },
  );
});
