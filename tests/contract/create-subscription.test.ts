import { beforeAll, describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { type GatewayCall, type Shop, useShop } from '../helpers/gateway/shop.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { requestSubscription } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';
import { openSession } from '../helpers/database/session.ts';

const project = useProject();
const unavailable = refusal(502, 'Payment gateway unavailable');
const planNotFound = refusal(404, 'Plan not found');

let user: SignedUpUser;
beforeAll(async () => {
  await project.database.query("update public.plans set gateway_plan_id = 'plan_' || tier where tier <> 'premium'");
});

/** The gateway makes a subscription. */
function make(call: GatewayCall): Response {
  const id = uniqueId('sub');
  return Response.json({
    id,
    entity: 'subscription',
    status: 'created',
    short_url: `https://gateway.example/s/${id}`,
    ...Object(call.body),
    current_start: null,
    current_end: null,
  });
}

describe.each(restSample)('%s', (target) => {
  const shop = useShop(target, project);
  beforeAll(async () => {
    user = await createCaller(project.database);
  });
  const newUser = async () => user = await createCaller(project.database);

  function subscribe(
    body: unknown = { tier: 'pro' },
    headers: Record<string, string> = {},
    from: Pick<Shop, 'request'> = shop,
  ) {
    return from.request('/api/subscriptions', {
      method: 'POST',
      headers: { authorization: `Bearer ${user.accessToken}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  test('POST /api/subscriptions → 201; the gateway bills the plan and knows the user, and nothing else of the user', async () => {
    await newUser();
    shop.onGatewayCall(make);
    const before = Math.floor(Date.now() / 1000);
    const { status, body } = await answer(subscribe());
    expect(shop.calls).toMatchObject([{ method: 'POST', path: '/v1/subscriptions' }]);
    const sent = Object(shop.calls[0]?.body);
    expect(sent).toEqual({
      plan_id: 'plan_pro',
      total_count: 10,
      quantity: 1,
      customer_notify: 1,
      expire_by: expect.any(Number),
      notes: { user_id: user.id },
    });
    expect(sent.expire_by - before).toBeGreaterThanOrEqual(86_400);
    expect(sent.expire_by - before).toBeLessThan(86_460);
    const { id } = Object(body).subscription;
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        subscription: { id, status: 'created', short_url: `https://gateway.example/s/${id}` },
        key_id: 'key_test',
        plan: expect.objectContaining({ tier: 'pro', gateway_plan_id: 'plan_pro' }),
        running: null,
      },
    });
    expect(shop.rpcs).toEqual(['create_subscription', 'store_subscription']);
  });

  test('with trial_days → 201; the gateway charges later, but at once for a user who paid or subscribed before', async () => {
    await project.database.query("update public.plans set trial_days = 7 where tier = 'basic'");
    shop.onGatewayCall(make);
    const startOf = async () => {
      expect(await answer(subscribe({ tier: 'basic' }))).toMatchObject({ status: 201 });
      return Object(shop.calls.at(-1)?.body).start_at;
    };
    await newUser();
    expect(await startOf()).toBeGreaterThan(Date.now() / 1000 + 6 * 86_400);
    await newUser();
    await createPayment(project.database, { userId: user.id });
    await project.database.query('update public.payments set captured_at = now() where user_id = $1', [user.id]);
    expect(await startOf()).toBeUndefined();
    await newUser();
    const session = await openSession(project.database, { role: 'service_role' });
    await deliver(session, subscriptionEvent({ name: 'authenticated', userId: user.id, id: uniqueId('sub') }));
    expect(await startOf()).toBeUndefined();
    await project.database.query('update public.plans set trial_days = 0');
  });

  test('the same request again → 201 with the same subscription, also at once; the gateway is called once', async () => {
    await newUser();
    shop.onGatewayCall(make);
    const [one, other] = await Promise.all([answer(subscribe()), answer(subscribe())]);
    expect(one).toMatchObject({ status: 201 });
    expect(other).toEqual(one);
    expect(await answer(subscribe({ tier: 'pro' }, { 'idempotency-key': 'k' }))).toEqual(one);
    expect(shop.calls).toHaveLength(1);
  });

  test('its events give the tier; then → 409 Already subscribed', async () => {
    await newUser();
    shop.onGatewayCall(make);
    const { body } = await answer(subscribe());
    const service = await openSession(project.database, { role: 'service_role' });
    const [start, end] = [new Date(), new Date(Date.now() + 30 * 86_400_000)].map((time) => time.toISOString());
    await deliver(
      service,
      subscriptionEvent({
        name: 'activated',
        userId: user.id,
        id: Object(body).subscription.id,
        planId: 'plan_pro',
        start: `${start?.slice(0, 19)}Z`,
        end: `${end?.slice(0, 19)}Z`,
        createdAt: `${start?.slice(0, 19)}Z`,
      }),
    );
    expect(await answer(requestSubscription(shop, user.accessToken))).toMatchObject({ body: { currentTier: 'pro' } });
    expect(await answer(subscribe())).toEqual(refusal(409, 'Already subscribed'));
  });

  test('a gateway that refuses, fails, or answers without a page → 502; the next request makes one', async () => {
    await newUser();
    for (
      const response of [
        Response.json({ error: { code: 'BAD_REQUEST_ERROR' } }, { status: 400 }),
        new Response('down', { status: 503 }),
        Response.json({ id: 'sub_1', status: 'created', short_url: null }),
        Response.json({ id: 'sub_1', status: 'created', short_url: 'javascript:alert(1)' }),
      ]
    ) {
      shop.onGatewayCall(() => response.clone());
      expect(await answer(subscribe())).toEqual(unavailable);
    }
    shop.onGatewayCall(make);
    expect(await answer(subscribe())).toMatchObject({ status: 201 });
  });

  test('without a session → 401; with an invalid body → 400; with one that is not JSON → 500', async () => {
    await newUser();
    expect(await answer(subscribe('{', { authorization: 'Bearer no-session' }))).toEqual(refusal(401, 'Unauthorized'));
    expect(await answer(subscribe({}))).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
    expect(await answer(subscribe({ tier: 'pro' }, { 'idempotency-key': 'k'.repeat(256) }))).toMatchObject({
      status: 400,
      body: { details: { fieldErrors: { 'idempotency-key': ['At most 255 characters'] } } },
    });
    expect(await answer(subscribe('{'))).toEqual(refusal(500, 'Failed to create subscription'));
    expect(shop.calls).toEqual([]);
  });

  test.each(['premium', 'no-such-plan', 'pro\0'])('to %j, which the gateway does not bill → 404', async (tier) => {
    expect(await answer(subscribe({ tier }))).toEqual(planNotFound);
  });

  test('withdrawn while the gateway makes it → 409 Already subscribed, and it is cancelled there', async () => {
    await newUser();
    let id: unknown;
    shop.onGatewayCall(async (call) => {
      await project.database.query(
        'update billing.subscription_orders set undone_at = billing.clock() where user_id = $1',
        [user.id],
      );
      const made = make(call);
      id = (await made.clone().json()).id;
      return made;
    });
    expect(await answer(subscribe())).toEqual(refusal(409, 'Already subscribed'));
    const [row] = await project.database.query('select kind from billing.outbox where key = $1', [
      `cancel-subscription/${id}`,
    ]);
    expect(row).toEqual({ kind: 'cancel-subscription' });
  });

  test('a key that was used for another tier → 409', async () => {
    await newUser();
    shop.onGatewayCall(make);
    await answer(subscribe({ tier: 'pro' }, { 'idempotency-key': 'k' }));
    expect(await answer(subscribe({ tier: 'basic' }, { 'idempotency-key': 'k' }))).toEqual(
      refusal(409, 'Idempotency key was used for another order'),
    );
  });

  test('after ten subscriptions within an hour → 429 with retry-after', async () => {
    await newUser();
    await project.database.query(
      `insert into billing.subscription_orders (user_id, tier, gateway_plan_id, created_at, expires_at)
       select $1, 'pro', 'plan_pro', now() - interval '40 minutes', now() from generate_series(1, 10)`,
      [user.id],
    );
    const { headers, ...received } = await fullAnswer(subscribe());
    expect(received).toEqual(refusal(429, 'Too many orders'));
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(1100);
  });

  test('when the database refuses → 500, the gateway is not called', async () => {
    await whileBroken(project.database, 'create_subscription', async () => {
      expect(await answer(subscribe())).toEqual(refusal(500, 'Failed to create subscription'));
    });
    expect(shop.calls).toEqual([]);
  });

  describe('without a configured gateway', () => {
    const unconfigured = useService(target, project, { GATEWAY_KEY_ID: '' });

    test('→ 503, before 401', async () => {
      expect(await answer(subscribe({}, { authorization: '' }, unconfigured))).toEqual(
        refusal(503, 'Payment service not configured'),
      );
    });
  });
});
