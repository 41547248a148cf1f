import { beforeAll, beforeEach, expect, test } from 'vitest';
import { useShop } from '../helpers/gateway/shop.ts';
import { call, refusal, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { readCancellation } from '../helpers/records/read-records.ts';

const project = useProject();
const { database, newUser, unchanged } = project;
const shop = useShop(poolThenRest, project);
const price = { basic: 9900, pro: 99900 };
const isTime = expect.stringMatching(/^20\d\d-.*Z$/);
let user: SignedUpUser;
beforeAll(async () => {
  await database.query(
    "update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1, trial_days = 0",
  );
});
beforeEach(async () => {
  user = await newUser();
});

const paths = ['POST /api/subscriptions/change', 'POST /api/subscriptions/change/preview'] as const;
const change = (tier: unknown, when: unknown) => call(shop, paths[0], { user, body: { tier, when } });
const preview = (tier: unknown, when: unknown) => call(shop, paths[1], { user, body: { tier, when } });
const read = async () => (await call(shop, 'GET /api/subscriptions', { user })).body;
const cancellation = (id: string) => readCancellation(database, id);
const atCycleEnd = { at: 'cycle end', state: 'pending' };

/** Starts and authorises a subscription, and waits for its webhooks. @returns its id at the gateway */
async function billed(tier: string): Promise<string> {
  const { body } = await call(shop, 'POST /api/subscriptions', { user, body: { tier } });
  await shop.authorise(body.subscription.id);
  await shop.deliveries(body.subscription.id, 3);
  return body.subscription.id;
}

test('POST …/change of a billed subscription to a dearer tier, now → as in its preview an order with the credit, and a subscription from the next cycle', async () => {
  const old = await billed('basic');
  const calls = shop.calls.length;
  // Almost the whole cycle is unused. Of an order at least 1.00 remains.
  const previewed = { amount_due: 100, credit: price.pro - 100, currency: 'INR', from: 'basic', to: 'pro' };
  expect(await unchanged(() => preview('pro', 'now')))
    .toEqual({ status: 200, body: { ...previewed, starts_at: isTime, ends_at: isTime } });
  expect(shop.calls).toHaveLength(calls);

  const { status, body } = await change('pro', 'now');
  const { order } = body;
  expect({ status, body }).toMatchObject({
    status: 201,
    body: {
      change: previewed,
      order: { amount: 100, currency: 'INR' },
      payment_id: expect.any(String),
      subscription: { status: 'created', short_url: expect.stringContaining('/s/') },
      key_id: 'key_test',
      plan: { tier: 'pro' },
      running: { tier: 'basic' },
    },
  });
  const start = Object(shop.calls.findLast(({ path }) => path === '/v1/subscriptions')?.body).start_at;
  expect(Math.abs(start * 1000 - Date.parse(body.change.ends_at))).toBeLessThan(60_000);

  await shop.authorise(body.subscription.id);
  await shop.deliveries(body.subscription.id, 1);
  expect((await read()).currentTier).toBe('basic');
  expect((await verify(shop, user.accessToken, await shop.pay(order.id))).status).toBe(200);
  expect(await read()).toMatchObject({
    currentTier: 'pro',
    subscription: { tier: 'pro', gateway_subscription_id: null },
    payments: [{ tier: 'pro', amount: 100, status: 'captured' }, {}],
  });
  expect(await cancellation(old)).toEqual(atCycleEnd);
  // Repeated: the tier runs as a purchase now, and its renewal is authorised.
  expect(await preview('pro', 'now')).toMatchObject({ status: 200 });
});

test('POST …/change to a cheaper tier at the end of the period → a subscription from then; authorised, it ends the old one; undone → 200', async () => {
  const old = await billed('pro');
  const starts_at = new Date((await read()).subscription.current_period_end).toISOString();
  expect((await preview('basic', 'period_end')).body).toMatchObject({ amount_due: price.basic, credit: 0, starts_at });
  const { status, body: { order, subscription } } = await change('basic', 'period_end');
  expect({ status, order }).toEqual({ status: 201, order: null });
  expect(await cancellation(old)).toBeNull();
  expect((await change('basic', 'period_end')).body.subscription).toEqual(subscription);

  await shop.authorise(subscription.id);
  await shop.deliveries(subscription.id, 1);
  expect(await cancellation(old)).toEqual(atCycleEnd);
  expect(await read()).toMatchObject({
    currentTier: 'pro',
    subscription: { cancel_at_period_end: false, gateway_subscription_id: old },
    billing: { gateway_subscription_id: subscription.id },
  });

  expect(await change('pro', 'period_end')).toMatchObject({ status: 200, body: { subscription: null } });
  expect([await cancellation(old), await cancellation(subscription.id)]).toMatchObject([
    { state: 'withdrawn' },
    atCycleEnd,
  ]);
  expect((await read()).currentTier).toBe('pro');
});

test.each(paths)(
  '%s → 401 without a session, 400 with details, 404, and 409 to the tier that is billed',
  async (path) => {
    const send = (body: unknown) => call(shop, path, { user, body });
    expect(await call(shop, path, { body: {} })).toEqual(refusal(401, 'Unauthorized'));
    for (const body of [{ tier: 'pro' }, { tier: 'pro', when: 'later' }, { tier: 1, when: 'now' }, null]) {
      expect(await send(body)).toMatchObject({ status: 400, body: { error: 'Invalid request', details: {} } });
    }
    expect(await send({ tier: 'pro', when: 'now' })).toEqual(refusal(404, 'Subscription not found'));
    await billed('pro');
    expect(await send({ tier: 'pro', when: 'now' })).toEqual(refusal(409, 'Already subscribed'));
    expect(await send({ tier: 'gold', when: 'now' })).toEqual(refusal(404, 'Plan not found'));
  },
);

// Each call of the gateway that fails: faults/flows.
test('POST …/change while the gateway refuses the order → 502, what ran goes on', async () => {
  const id = await billed('basic');
  shop.onGatewayCall(() => new Response('{}', { status: 503 }));
  expect(await change('pro', 'now')).toEqual(refusal(502, 'Payment gateway unavailable'));
  expect(await read()).toMatchObject({ currentTier: 'basic', billing: { gateway_subscription_id: id } });
});
