import { beforeAll, beforeEach, expect, test } from 'vitest';
import { useShop } from '../helpers/gateway/shop.ts';
import { call, refusal } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { readCancellation } from '../helpers/records/read-records.ts';

const project = useProject();
const { database, newUser, unchanged } = project;
const shop = useShop(poolThenRest, project);
const price = { basic: 4900, pro: 99900, pro_yearly: 999000 };
const yearly = { lookup_key: 'pro_yearly', amount: 999000, currency: 'INR', interval: 'year', interval_count: 1 };
const isTime = expect.stringMatching(/^20\d\d-.*Z$/);
let user: SignedUpUser;
beforeAll(async () => {
  await database.query(
    "update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1, trial_days = 0",
  );
  await database.query(
    `insert into public.plans (tier, lookup_key, name, price, currency, duration_months, gateway_plan_id)
     select o.tier, o.key, 'Pro', $1, o.currency, 12, 'plan_' || o.key
     from (values ('pro', 'pro_yearly', 'INR'), ('pro', 'pro_dollars', 'USD'), ('basic', 'basic_yearly', 'INR')) o (tier, key, currency)`,
    [price.pro_yearly],
  );
  await shop.price('plan_basic', price.basic);
  for (const key of ['pro_yearly', 'basic_yearly']) await shop.price(`plan_${key}`, price.pro_yearly, 'yearly');
});
beforeEach(async () => {
  user = await newUser();
});

const paths = ['POST /api/subscriptions/change', 'POST /api/subscriptions/change/preview'] as const;
/** A tier, or a price. */
type Offer = string | { price: string };
const named = (offer: Offer) => typeof offer === 'string' ? { tier: offer } : offer;
const to = (path: (typeof paths)[number]) => (offer: Offer, when: string) =>
  call(shop, path, { user, body: { ...named(offer), when } });
const [change, preview] = [to(paths[0]), to(paths[1])];
const read = async () => (await call(shop, 'GET /api/subscriptions', { user })).body;
const cancellation = (id: string) => readCancellation(database, id);
const atCycleEnd = { at: 'cycle end', state: 'pending' };

/** Starts and authorises a subscription, and waits for its webhooks. @returns its id at the gateway */
async function billed(offer: Offer): Promise<string> {
  const { body } = await call(shop, 'POST /api/subscriptions', { user, body: named(offer) });
  await shop.authorise(body.subscription.id);
  await shop.deliveries(body.subscription.id, 3);
  return body.subscription.id;
}

test('POST …/change of a billed subscription to a dearer tier, now → as in its preview an order with the credit, and a subscription from the next cycle', async () => {
  await billed('basic');
  const calls = shop.calls.length;
  const sold = { ...yearly, lookup_key: 'pro', amount: price.pro, interval: 'month' };
  const terms = { currency: 'INR', from: 'basic', to: 'pro', from_price: 'basic', to_price: 'pro' };
  const previewed = await unchanged(() => preview('pro', 'now'));
  const { credit, amount_due } = previewed.body;
  expect(previewed)
    .toEqual({
      status: 200,
      body: {
        ...{ ...terms, credit, amount_due, due_at: isTime, starts_at: isTime, ends_at: isTime, renews: true },
        next_charge: { at: previewed.body.ends_at, amount: price.pro },
      },
    });
  // Almost the whole cycle is unused.
  expect([credit > price.basic - 10, credit + amount_due]).toEqual([true, price.pro]);
  expect(shop.calls).toHaveLength(calls);

  const { status, body } = await change('pro', 'now');
  const { order } = body;
  const { amount } = order;
  expect({ status, body }).toMatchObject({
    status: 201,
    body: {
      change: { ...terms, amount_due: amount, credit: price.pro - amount },
      order: { currency: 'INR' },
      price: { ...sold, gateway_plan_id: body.plan.gateway_plan_id, is_default: true, id: body.plan.id },
      payment_id: expect.any(String),
      subscription: { status: 'created', short_url: expect.stringContaining('/s/') },
      key_id: 'key_test',
      plan: { tier: 'pro' },
      running: { tier: 'basic', price: { lookup_key: 'basic', amount: price.basic } },
    },
  });
  const start = Object(shop.calls.findLast(({ path }) => path === '/v1/subscriptions')?.body).start_at;
  expect(Math.abs(start * 1000 - Date.parse(body.change.ends_at))).toBeLessThan(60_000);
});

test('POST …/change to a cheaper tier at the end of the period → a subscription from then; authorised, it ends the old one; asked again → 409; undone → 200', async () => {
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
    billing: {
      gateway_subscription_id: subscription.id,
      next: { tier: 'basic', price: { lookup_key: 'basic' }, amount: price.basic, starts_at, undo_until: isTime },
    },
  });

  const calls = shop.calls.length;
  expect(await change('basic', 'period_end')).toMatchObject({ status: 409, body: { error: 'Already subscribed' } });
  expect(shop.calls).toHaveLength(calls);
  expect(await change('pro', 'period_end')).toMatchObject({ status: 200, body: { subscription: null } });
  expect([await cancellation(old), await cancellation(subscription.id)]).toMatchObject([
    { state: 'withdrawn' },
    atCycleEnd,
  ]);
  expect((await read()).currentTier).toBe('pro');
});

test('POST …/change to a longer price of the tier → 201, now and with a credit; to the shorter one or another currency now → 409, at the end of the period → 201', async () => {
  const old = await billed('pro');
  expect((await preview({ price: 'pro_dollars' }, 'period_end')).body)
    .toMatchObject({ credit: 0, currency: 'USD', amount_due: price.pro_yearly, to_price: 'pro_dollars' });
  const { status, body } = await change({ price: 'pro_yearly' }, 'now');
  expect({ status, body })
    .toMatchObject({
      status: 201,
      body: { change: { from: 'pro', from_price: 'pro', to_price: 'pro_yearly' }, price: yearly },
    });
  // Almost the whole cycle is unused.
  expect(body.change.credit).toBeGreaterThan(price.pro - 100);
  expect((await read()).billing).toMatchObject({ gateway_subscription_id: old, price: { interval: 'month' } });

  user = await newUser();
  await billed({ price: 'pro_yearly' });
  const { subscription, billing, payments } = await read();
  expect([subscription.price, billing.price]).toEqual([yearly, yearly]);
  expect(payments).toMatchObject([{ price_key: 'pro_yearly', interval: 'year', interval_count: 1 }]);
  for (const [offer, reason] of [['pro', 'downgrade'], [{ price: 'pro_dollars' }, 'currency']] as const) {
    const notNow = { status: 409, body: { error: 'Only at the end of the period', reason } };
    expect([await change(offer, 'now'), await preview(offer, 'now')]).toEqual([notNow, notNow]);
  }
  expect(await change('pro', 'period_end'))
    .toMatchObject({
      status: 201,
      body: { change: { from_price: 'pro_yearly', to_price: 'pro' }, price: { lookup_key: 'pro' } },
    });
});

test('POST …/change now, its preview, and an order with start now, where the credit exceeds the price less 100 → 409; later → 201', async () => {
  await billed({ price: 'basic_yearly' });
  const calls = shop.calls.length;
  const notNow = { status: 409, body: { error: 'Only at the end of the period', reason: 'credit' } };
  const order = (body: unknown) => call(shop, 'POST /api/payments/orders', { user, body });
  for (const offer of ['pro', { price: 'pro' }]) {
    const refused = () =>
      Promise.all([preview(offer, 'now'), change(offer, 'now'), order({ ...named(offer), start: 'now' })]);
    expect(await unchanged(refused)).toEqual([notNow, notNow, notNow]);
  }
  expect(shop.calls).toHaveLength(calls);

  const terms = { credit: 0, amount_due: price.pro };
  expect(await preview('pro', 'period_end')).toMatchObject({ status: 200, body: terms });
  expect(await change('pro', 'period_end')).toMatchObject({ status: 201, body: { change: terms, order: null } });
  // Without `start` there is no credit, and after the running period it is not needed.
  const sold = { status: 201, body: { order: { amount: price.pro } } };
  expect([await order({ tier: 'pro', start: 'after_current' }), await order({ tier: 'pro' })])
    .toMatchObject([sold, sold]);
});

test('A change now, its preview and an order while the webhook of the running charge is missing → 502 without an answer of the gateway, else with the credit of its invoice', async () => {
  const { body } = await call(shop, 'POST /api/subscriptions', { user, body: { tier: 'basic' } });
  const id = body.subscription.id;
  await shop.authorise(id, { events: ['subscription.activated'] });
  await shop.deliveries(id, 1);
  const asks = [
    () => preview('pro', 'now'),
    () => call(shop, 'POST /api/payments/orders', { user, body: { tier: 'pro', start: 'now' } }),
    () => change('pro', 'now'),
  ];
  const invoices = () => shop.calls.filter(({ path }) => path === '/v1/invoices').length;
  const refused = { status: 502, body: { error: 'Payment gateway unavailable' } };
  shop.onGatewayCall(() => new Response(null, { status: 500 }));
  for (const ask of asks) expect(await unchanged(ask)).toEqual(refused);
  shop.onGatewayCall(({ path }, forwardRequest) =>
    path === '/v1/invoices' ? new Response(null, { status: 500 }) : forwardRequest()
  );
  for (const ask of asks) expect(await ask()).toEqual(refused);
  expect(invoices()).toBe(3);
  shop.onGatewayCall((_, forwardRequest) => forwardRequest());
  // Almost the whole cycle is unused.
  const credited = expect.toSatisfy((credit: number) => credit > price.basic - 10);
  expect(await preview('pro', 'now')).toMatchObject({ status: 200, body: { credit: credited } });
  expect(invoices()).toBe(4);
  expect(await asks[1]?.()).toMatchObject({ status: 201, body: { credit: credited } });
  expect(await asks[2]?.()).toMatchObject({ status: 201, body: { change: { credit: credited } } });
  expect(invoices()).toBe(4);
  expect((await read()).payments).toMatchObject([{}, { status: 'captured', amount: price.basic }]);
});

test.each(paths)(
  '%s → 401 without a session, 400 with details, 404, and 409 to the price that is billed',
  async (path) => {
    const send = (body: unknown) => call(shop, path, { user, body });
    expect(await call(shop, path, { body: {} })).toEqual(refusal(401, 'Unauthorized'));
    const conflict = { tier: 'basic', price: 'pro_yearly', when: 'now' };
    const bodies = [
      { tier: 'pro' },
      { tier: 'pro', when: 'later' },
      { tier: 1, when: 'now' },
      { when: 'now' },
      conflict,
      null,
    ];
    for (const body of bodies) {
      expect(await send(body)).toMatchObject({ status: 400, body: { error: 'Invalid request', details: {} } });
    }
    expect(await send({ tier: 'pro', when: 'now' })).toEqual(refusal(404, 'Subscription not found'));
    await billed('pro');
    expect(await send({ tier: 'pro', when: 'now' })).toEqual(refusal(409, 'Already subscribed'));
    expect(await send({ price: 'pro', when: 'now' })).toEqual(refusal(409, 'Already subscribed'));
    for (const offer of [{ tier: 'gold' }, { price: 'gold' }, { tier: 'pro', price: '\ud800' }]) {
      expect(await send({ ...offer, when: 'now' })).toEqual(refusal(404, 'Plan not found'));
    }
  },
);
