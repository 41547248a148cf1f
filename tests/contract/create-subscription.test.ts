import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { type GatewayCall, useShop } from '../helpers/gateway/shop.ts';
import { call, fullAnswer, type Parts, refusal, send } from '../helpers/http/requests.ts';
import { restThenPool, useProject } from '../helpers/project/use-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newUser } = project;
const shop = useShop(restThenPool, project);
const conflict = refusal(409, 'Idempotency key was used for another order');

let user: SignedUpUser;
beforeAll(async () => {
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier where tier <> 'premium'");
  await database.query(
    `insert into public.plans (tier, lookup_key, name, price, duration_months, gateway_plan_id)
     values ('pro', 'pro_quarterly', 'Pro', 27900, 3, 'plan_quarter'), ('pro', 'pro_by_hand', 'Pro', 27900, 3, null)`,
  );
});
beforeEach(async () => {
  user = await newUser();
  shop.onGatewayCall(make);
});

/** The gateway makes a subscription. */
function make(asked: GatewayCall): Response {
  const id = uniqueId('sub');
  const made = { id, entity: 'subscription', status: 'created', short_url: `https://gateway.example/s/${id}` };
  return Response.json({ ...made, ...Object(asked.body), current_start: null, current_end: null });
}
const subscribe = (body: unknown = { tier: 'pro' }, parts: Parts = {}) =>
  call(shop, 'POST /api/subscriptions', { user, body, ...parts });

test('POST /api/subscriptions → 201; the gateway bills the plan and knows the user and the request, and nothing else', async () => {
  const before = Math.floor(Date.now() / 1000);
  const { status, body } = await subscribe();
  expect(shop.calls).toMatchObject([{ method: 'POST', path: '/v1/subscriptions' }]);
  const { expire_by, ...asked } = Object(shop.calls[0]?.body);
  const cycles = { plan_id: 'plan_pro', total_count: 10, quantity: 1, customer_notify: 1 };
  expect(asked).toEqual({ ...cycles, notes: { user_id: user.id, request_id: expect.any(String) } });
  expect(expire_by - before).toBeGreaterThanOrEqual(86_400);
  expect(expire_by - before).toBeLessThan(86_460);
  const { id } = body.subscription;
  const subscription = { id, status: 'created', short_url: `https://gateway.example/s/${id}` };
  const plan = { tier: 'pro', gateway_plan_id: 'plan_pro' };
  expect({ status, body })
    .toMatchObject({
      status: 201,
      body: { subscription, key_id: 'key_test', plan, price: { lookup_key: 'pro' }, running: null },
    });
  expect(shop.rpcs).toEqual(['create_subscription', 'store_subscription']);
});

test('POST /api/subscriptions for a price → 201 with it; the gateway bills its own plan, for ten years; the key for the default price → 409', async () => {
  const headers = { 'idempotency-key': 'k' };
  const { status, body } = await subscribe({ price: 'pro_quarterly' }, { headers });
  const price = { lookup_key: 'pro_quarterly', amount: 27900, currency: 'INR', interval: 'month', interval_count: 3 };
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { plan: { tier: 'pro', lookup_key: 'pro_quarterly' }, price },
  });
  expect(shop.calls[0]?.body).toMatchObject({ plan_id: 'plan_quarter', total_count: 40 });
  expect(await subscribe({ tier: 'pro' }, { headers })).toEqual(conflict);
});

test('POST /api/subscriptions with trial_days → 201; the first charge is later, but not for who paid or subscribed before', async () => {
  await database.query("update public.plans set trial_days = 7 where tier = 'basic'");
  const startOf = async () => {
    expect(await subscribe({ tier: 'basic' })).toMatchObject({ status: 201 });
    return Object(shop.calls.at(-1)?.body).start_at;
  };
  expect(await startOf()).toBeGreaterThan(Date.now() / 1000 + 6 * 86_400);
  user = await newUser();
  await database.query('insert into public.payments (user_id, amount, captured_at) values ($1, 1, now())', [user.id]);
  expect(await startOf()).toBeUndefined();
  user = await newUser();
  const service = await openSession(database, { role: 'service_role' });
  await deliver(service, subscriptionEvent({ name: 'authenticated', userId: user.id }));
  expect(await startOf()).toBeUndefined();
  await database.query('update public.plans set trial_days = 0');
});

test('POST /api/subscriptions twice at once, and again without the key → 201 with the same one; the key for another tier → 409', async () => {
  const headers = { 'idempotency-key': 'k' };
  const tier = (tier: string) => subscribe({ tier }, { headers });
  const [one, other] = await Promise.all([tier('pro'), tier('pro')]);
  expect(one).toMatchObject({ status: 201 });
  expect([other, await subscribe()]).toEqual([one, one]);
  expect(shop.calls).toHaveLength(1);
  expect(await tier('basic')).toEqual(conflict);
});

test('POST /api/subscriptions while the gateway fails, or answers with no web page → 502; then 201', async () => {
  const responses = [
    new Response('down', { status: 503 }),
    Response.json({ id: 'sub_1', status: 'created', short_url: 'javascript:alert(1)' }),
  ];
  for (const response of responses) {
    shop.onGatewayCall(() => response);
    expect(await subscribe()).toEqual(refusal(502, 'Payment gateway unavailable'));
  }
  shop.onGatewayCall(make);
  expect(await subscribe()).toMatchObject({ status: 201 });
});

test('POST /api/subscriptions that the gateway refuses with 400 → 500; then 201', async () => {
  shop.onGatewayCall(() => Response.json({ error: { description: 'Unknown plan' } }, { status: 400 }));
  expect(await subscribe()).toEqual(refusal(500, 'Failed to create subscription'));
  await vi.waitFor(() => {
    expect(shop.output.join()).toContain('the gateway refuses a subscription: Unknown plan');
  }, { timeout: 10_000 });
  shop.onGatewayCall(make);
  expect(await subscribe()).toMatchObject({ status: 201 });
});

test.each([[24, 201, [0, 24]], [23, 500, [1]]])(
  'POST /api/subscriptions while our clock is %i hours behind the gateway, which refuses a time that is over → %i',
  async (hours, status, expected) => {
    const now = Math.floor(Date.now() / 1000) + hours * 3600;
    shop.onGatewayCall((asked) => {
      if (shop.calls.length > 1) return make(asked);
      const error = { description: 'expire_by can not be before the current time.' };
      return Response.json({ error }, { status: 400, headers: { date: new Date(now * 1000 + 5000).toUTCString() } });
    });
    expect(await subscribe()).toMatchObject({ status });
    const given = shop.calls.map(({ body }) => Math.round((Object(body).expire_by - now) / 3600));
    expect(given).toEqual(expected);
  },
);

const longKey = { headers: { 'idempotency-key': 'k'.repeat(256) } };
test.each<[name: string, body: unknown, parts: Parts, expected: unknown]>([
  ['without a session, before its body', '{', { user: { accessToken: 'none' } }, refusal(401, 'Unauthorized')],
  ['without a tier', {}, {}, refusal(400, 'Invalid request')],
  ['with a key of 256 characters', { tier: 'pro' }, longKey, refusal(400, 'Invalid request')],
  ['that is not JSON', '{', {}, refusal(500, 'Failed to create subscription')],
  ['for a plan that the gateway does not bill', { tier: 'premium' }, {}, refusal(404, 'Price has no gateway plan')],
  ['for a price that it does not bill', { price: 'pro_by_hand' }, {}, refusal(404, 'Price has no gateway plan')],
  ['for an unknown tier', { tier: 'pro\0' }, {}, refusal(404, 'Plan not found')],
  ['for an unknown price', { price: 'no-such-price' }, {}, refusal(404, 'Plan not found')],
  ['for a price that Postgres refuses', { tier: 'pro', price: 'pro\0' }, {}, refusal(404, 'Plan not found')],
  ['for a price of another tier', { tier: 'basic', price: 'pro_quarterly' }, {}, {
    status: 400,
    body: { details: { fieldErrors: { price: ['Not a price of this tier'] } } },
  }],
])('POST /api/subscriptions %s → refused, the gateway is not called', async (_, body, parts, expected) => {
  expect(await subscribe(body, parts)).toMatchObject(Object(expected));
  expect(shop.calls).toEqual([]);
});

test('POST /api/subscriptions withdrawn while the gateway makes it → 409 Already subscribed, and it is cancelled there', async () => {
  let id: unknown;
  shop.onGatewayCall(async (asked) => {
    const undo = 'update billing.gateway_subscriptions set undone_at = billing.clock() where user_id = $1';
    await database.query(undo, [user.id]);
    const made = make(asked);
    id = (await made.clone().json()).id;
    return made;
  });
  expect(await subscribe()).toEqual(refusal(409, 'Already subscribed'));
  expect(await database.query('select kind from billing.outbox where key = $1', [`cancel-subscription/${id}`]))
    .toEqual([{ kind: 'cancel-subscription' }]);
});

test('POST /api/subscriptions after ten within an hour → 429 with retry-after', async () => {
  await database.query(
    `insert into billing.gateway_subscriptions (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, asked_at, expires_at)
     select $1, 'pro', gen_random_uuid(), 'plan_pro', row(null, null, null, null)::billing.price, now() - interval '40 minutes', now() + interval '1400 minutes' from generate_series(1, 10)`,
    [user.id],
  );
  const body = { tier: 'pro' };
  const { headers, ...received } = await fullAnswer(send(shop, 'POST /api/subscriptions', { user, body }));
  expect(received).toEqual(refusal(429, 'Too many orders'));
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(1100);
});
