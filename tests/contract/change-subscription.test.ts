import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useShop } from '../helpers/gateway/shop.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { requestSubscription } from '../helpers/http/requests.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();
const unavailable = refusal(502, 'Payment gateway unavailable');
const prices: Record<string, number> = {};

beforeAll(async () => {
  await project.database.query(
    "update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1, trial_days = 0",
  );
  for (const { tier, price } of await project.database.query('select tier, price from public.plans')) {
    prices[String(tier)] = Number(price);
  }
});

describe.each(poolSample)('%s', (target) => {
  const shop = useShop(target, project);
  let user: SignedUpUser;
  beforeEach(async () => {
    user = await createCaller(project.database);
  });

  const post = (path: string, body: unknown) =>
    answer(
      shop.request(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${user.accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    ).then(({ status, body }) => ({ status, body: Object(body) }));
  const change = (tier: unknown, when: unknown) => post('/api/subscriptions/change', { tier, when });
  const preview = (tier: unknown, when: unknown) => post('/api/subscriptions/change/preview', { tier, when });
  const read = async () => Object((await answer(requestSubscription(shop, user.accessToken))).body);
  const cancellations = () =>
    project.database.query(
      `select o.payload ->> 'gateway_subscription_id' as id, o.payload -> 'at_cycle_end' as at_cycle_end
       from billing.outbox o
       join billing.gateway_subscriptions m on o.key = 'cancel-subscription/' || m.gateway_subscription_id
       where m.user_id = $1 and o.parked_at is null`,
      [user.id],
    );

  /** Starts and authorises a subscription, and waits for its webhooks. @returns its id at the gateway */
  async function billed(tier: string): Promise<string> {
    const { body } = await post('/api/subscriptions', { tier });
    const id = body.subscription.id;
    await shop.authorise(id);
    await shop.deliveries(id, 3);
    return id;
  }
  async function writes(): Promise<unknown> {
    return await project.database.one(
      `select (select count(*) from public.payments) as payments,
        (select count(*) from billing.subscription_orders) as orders,
        (select count(*) from billing.outbox) as outbox`,
    );
  }

  test('POST …/change/preview of a billed subscription to a dearer tier, now → 200 with the credit, nothing is written', async () => {
    await billed('basic');
    const { subscription } = await read();
    const before = await writes();
    const calls = shop.calls.length;
    const { status, body } = await preview('pro', 'now');
    expect(status).toBe(200);
    expect(body).toEqual({
      amount_due: prices.pro! - body.credit,
      credit: expect.any(Number),
      currency: 'INR',
      starts_at: expect.stringMatching(/Z$/),
      ends_at: expect.stringMatching(/Z$/),
      from: 'basic',
      to: 'pro',
    });
    // Almost the whole cycle is unused. The gateway accepts no order below 100.
    const { amount } = await project.database.one(
      'select amount from public.payments where user_id = $1 and gateway_subscription_id is not null',
      [
        user.id,
      ],
    );
    const most = Math.min(Number(amount), prices.pro! - 100);
    expect(body.credit).toBeGreaterThan(most - 10);
    expect(body.credit).toBeLessThanOrEqual(most);
    expect(await writes()).toEqual(before);
    expect(shop.calls).toHaveLength(calls);
    expect((await read()).subscription).toEqual(subscription);
  });

  test('POST …/change of a billed subscription to a dearer tier, now → an order with the credit, and a subscription that is charged from the next cycle', async () => {
    const old = await billed('basic');
    const { status, body } = await change('pro', 'now');
    expect(status).toBe(201);
    expect(body).toMatchObject({
      change: { amount_due: body.order.amount, credit: prices.pro! - body.order.amount, from: 'basic', to: 'pro' },
      order: { currency: 'INR' },
      payment_id: expect.any(String),
      subscription: { status: 'created', short_url: expect.stringContaining('/s/') },
      key_id: 'key_test',
      plan: { tier: 'pro' },
      running: { tier: 'basic' },
    });
    const start = Object(shop.calls.findLast(({ path }) => path === '/v1/subscriptions')?.body).start_at;
    expect(Math.abs(start * 1000 - Date.parse(body.change.ends_at))).toBeLessThan(60_000);

    await shop.authorise(body.subscription.id);
    await shop.deliveries(body.subscription.id, 1);
    expect((await read()).currentTier).toBe('basic');
    const paid = await shop.pay(body.order.id);
    expect((await post('/api/payments/verify', paid)).status).toBe(200);
    const after = await read();
    expect(after).toMatchObject({ currentTier: 'pro', subscription: { tier: 'pro', gateway_subscription_id: null } });
    expect(after.payments[0]).toMatchObject({ tier: 'pro', amount: body.order.amount, status: 'captured' });
    expect(await cancellations()).toEqual([{ id: old, at_cycle_end: true }]);
    // Repeated: the tier runs as a purchase now, and its renewal is authorised.
    expect(await preview('pro', 'now')).toMatchObject({ status: 200 });
  });

  test('POST …/change to a cheaper tier at the end of the period → a subscription that starts then; authorised, it ends the old one', async () => {
    const old = await billed('pro');
    const { subscription } = await read();
    expect((await preview('basic', 'period_end')).body).toMatchObject({
      amount_due: prices.basic,
      credit: 0,
      starts_at: new Date(subscription.current_period_end).toISOString(),
    });
    const { status, body } = await change('basic', 'period_end');
    expect({ status, order: body.order }).toEqual({ status: 201, order: null });
    expect(await cancellations()).toEqual([]);
    expect((await change('basic', 'period_end')).body.subscription).toEqual(body.subscription);

    await shop.authorise(body.subscription.id);
    await shop.deliveries(body.subscription.id, 1);
    expect(await cancellations()).toEqual([{ id: old, at_cycle_end: true }]);
    expect(await read()).toMatchObject({
      currentTier: 'pro',
      subscription: { cancel_at_period_end: false, gateway_subscription_id: old },
      billing: { gateway_subscription_id: body.subscription.id },
    });

    // Undone: the new one is cancelled before it starts, the old one goes on.
    expect(await change('pro', 'period_end')).toMatchObject({ status: 200, body: { subscription: null } });
    expect(await cancellations()).toEqual([{ id: body.subscription.id, at_cycle_end: true }]);
    expect((await read()).currentTier).toBe('pro');
  });

  test('POST …/change of a purchase → an order that starts now with a credit, or after what runs', async () => {
    const { body: { order } } = await post('/api/payments/orders', { tier: 'basic' });
    expect((await post('/api/payments/verify', await shop.pay(order.id))).status).toBe(200);
    const { subscription } = await read();
    const now = await change('pro', 'now');
    expect(now).toMatchObject({ status: 201, body: { subscription: null, change: { from: 'basic', to: 'pro' } } });
    expect(now.body.order.amount).toBe(prices.pro! - now.body.change.credit);
    const later = await change('pro', 'period_end');
    expect(later).toMatchObject({
      status: 201,
      body: {
        order: { amount: prices.pro },
        change: { credit: 0, starts_at: new Date(subscription.current_period_end).toISOString() },
      },
    });
  });

  test('POST …/change to the tier that is billed → 409; to an unknown tier → 404; of a user without a subscription → 404', async () => {
    for (const path of ['/api/subscriptions/change', '/api/subscriptions/change/preview']) {
      expect(await post(path, { tier: 'pro', when: 'now' })).toEqual(refusal(404, 'Subscription not found'));
    }
    await billed('pro');
    for (const path of ['/api/subscriptions/change', '/api/subscriptions/change/preview']) {
      expect(await post(path, { tier: 'pro', when: 'now' })).toEqual(refusal(409, 'Already subscribed'));
      expect(await post(path, { tier: 'gold', when: 'now' })).toEqual(refusal(404, 'Plan not found'));
    }
  });

  test.each([[{ tier: 'pro' }], [{ when: 'now' }], [{ tier: 'pro', when: 'later' }], [{ tier: 1, when: 'now' }], [
    null,
  ]])(
    'POST …/change with the body %j → 400',
    async (body) => {
      for (const path of ['/api/subscriptions/change', '/api/subscriptions/change/preview']) {
        expect(await post(path, body)).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
      }
    },
  );

  test('POST …/change without a session → 401', async () => {
    const { status } = await answer(shop.request('/api/subscriptions/change', { method: 'POST', body: '{}' }));
    expect(status).toBe(401);
  });

  test.each(['/v1/orders', '/v1/subscriptions'])(
    'POST …/change while the gateway refuses %s → 502, what ran goes on; then 201 with one order',
    async (refused) => {
      const id = await billed('basic');
      shop.onGatewayCall(({ path }, forwardRequest) =>
        path === refused ? new Response('{}', { status: 503 }) : forwardRequest()
      );
      expect(await change('pro', 'now')).toEqual(unavailable);
      expect(await read()).toMatchObject({ currentTier: 'basic', billing: { gateway_subscription_id: id } });
      shop.onGatewayCall((_, forwardRequest) => forwardRequest());
      const { status, body } = await change('pro', 'now');
      expect(status).toBe(201);
      expect(
        await project.database.one(
          `select count(*)::integer as orders from public.payments where user_id = $1 and gateway_order_id is not null`,
          [user.id],
        ),
      ).toEqual({ orders: 1 });
      expect(body.subscription.status).toBe('created');
    },
  );
});
