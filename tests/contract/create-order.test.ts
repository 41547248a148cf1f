import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { call, checkout, fullAnswer, orderPlan, refusal, send, verify } from '../helpers/http/requests.ts';
import { restThenPool, useProject } from '../helpers/project/use-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { uniqueId } from '../helpers/records/records.ts';

// A test sets a payment to captured by hand, so that its order is closed.
const project = useProject({ findings: { captured_not_fulfilled: 1 } });
const { database, newUser, unchanged } = project;
const shop = useShop(restThenPool, project);
const path = 'POST /api/payments/orders';
const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const conflict = refusal(409, 'Idempotency key was used for another order');
const unavailable = refusal(502, 'Payment gateway unavailable');
/** Long enough for a slow machine. */
const patience = { timeout: 10_000 };
const newKey = () => ({ 'idempotency-key': uniqueId('key') });
const monthly = { lookup_key: 'pro_monthly', amount: 9900, currency: 'INR', interval: 'month', interval_count: 1 };
const forward = (_call: unknown, forwardRequest: () => Promise<Response>) => forwardRequest();

beforeAll(async () => {
  await database.query(
    `insert into public.plans (tier, lookup_key, name, price, duration_months, is_active)
     values ('pro', 'pro_monthly', 'Pro, monthly', 9900, 1, true), ('pro', 'pro_old', 'Pro', 9900, 1, false)`,
  );
});

/** Pays an order. @returns the end of its period */
async function pay(user: SignedUpUser, orderId: string): Promise<string> {
  const response = await verify(shop, user.accessToken, await checkout(orderId));
  expect(response.status).toBe(200);
  return (await response.json()).subscription.validUntil;
}

test('POST /api/payments/orders → 201 with what a checkout needs; the payment was written before the gateway was called', async () => {
  const user = await newUser();
  const stored = () => database.one('select * from public.payments where user_id = $1', [user.id]);
  const written: unknown[] = [];
  shop.onGatewayCall(async (_, forwardRequest) => {
    written.push(await stored());
    return await forwardRequest();
  });
  const { headers, ...received } = await fullAnswer(send(shop, path, { user, body: { tier: 'pro' } }));
  const { plan } = await database.one(
    "select to_jsonb(p) as plan from public.plans p where tier = 'pro' and lookup_key is null",
  );
  const payment = await stored();
  expect(received).toEqual({
    status: 201,
    body: {
      order: { id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/), amount: 99900, currency: 'INR' },
      key_id: secrets.GATEWAY_KEY_ID,
      payment_id: payment.id,
      plan,
      price: {
        ...{ id: Object(plan).id, gateway_plan_id: Object(plan).gateway_plan_id, is_default: true },
        ...{ lookup_key: 'pro', amount: 99900, currency: 'INR', interval: 'year', interval_count: 1 },
      },
      running: null,
      prefill: { email: user.email, name: user.email.split('@')[0] },
    },
  });
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(payment).toMatchObject({
    ...{ status: 'created', amount: '99900', currency: 'INR', tier: 'pro', meta: { tier: 'pro' } },
    gateway_order_id: Object(received.body).order.id,
  });
  expect(written).toMatchObject([{ id: payment.id, status: 'created', amount: '99900', gateway_order_id: null }]);
  const receipt = String(payment.id).replaceAll('-', '');
  const body = { amount: 99900, currency: 'INR', receipt, payment_capture: 1 };
  expect(shop.calls).toMatchObject([{ method: 'POST', path: '/v1/orders', body }]);
});

test('POST /api/payments/orders for a price, with its tier or without → 201, one order of it; paid → its tier and its months', async () => {
  const user = await newUser();
  const ordered = await call(shop, path, { user, body: { price: 'pro_monthly' } });
  expect(ordered).toMatchObject({
    status: 201,
    body: { order: { amount: 9900 }, plan: { tier: 'pro', lookup_key: 'pro_monthly', price: 9900 }, price: monthly },
  });
  expect(await call(shop, path, { user, body: { tier: 'pro', price: 'pro_monthly' } })).toEqual(ordered);
  expect((await orderPlan(shop, user)).order.id).not.toBe(ordered.body.order.id);
  const days = (Date.parse(await pay(user, ordered.body.order.id)) - Date.now()) / 86_400_000;
  expect(days).toBeLessThan(32);
  // The newer one, of the default price, is not paid.
  const { body: { payments } } = await call(shop, 'GET /api/subscriptions', { user });
  expect(payments).toMatchObject([
    { status: 'created', price_key: null, interval: 'year', interval_count: 1 },
    { status: 'captured', price_key: 'pro_monthly', interval: 'month', interval_count: 1 },
  ]);
});

test('POST /api/payments/orders beside an order that the app made → 201 with that order, whose price is not known', async () => {
  const user = await newUser();
  const id = uniqueId('order');
  await database.query(
    "insert into public.payments (user_id, amount, tier, gateway_order_id) values ($1, 99900, 'pro', $2)",
    [user.id, id],
  );
  expect(await orderPlan(shop, user)).toMatchObject({ order: { id }, plan: { tier: 'pro' }, price: null });
});

// What is credited, and when a period starts: database/order-.
test('POST /api/payments/orders with start now → 201, the price less the credit; after_current → the period begins when the running one ends', async () => {
  const user = await newUser();
  const until = await pay(user, (await orderPlan(shop, user)).order.id);
  const { status, body } = await call(shop, path, { user, body: { tier: 'premium', start: 'now' } });
  const { credit } = body;
  // Less than a minute of the year was used.
  expect(credit).toBeGreaterThan(99890);
  expect(credit).toBeLessThanOrEqual(99900);
  expect({ status, body }).toMatchObject({
    status: 201,
    body: {
      order: { amount: 199900 - credit, currency: 'INR' },
      plan: { tier: 'premium', price: 199900 },
      running: { tier: 'pro', until },
      starts_at: isTime,
      ends_at: isTime,
    },
  });
  expect(shop.calls.at(-1)).toMatchObject({ path: '/v1/orders', body: { amount: 199900 - credit } });

  const { body: after } = await call(shop, path, { user, body: { tier: 'basic', start: 'after_current' } });
  expect(after).toMatchObject({
    order: { amount: 4900 },
    credit: 0,
    starts_at: until,
    running: { tier: 'pro', until },
  });
  expect(await pay(user, after.order.id)).toBe(after.ends_at);
  await pay(user, body.order.id);
  expect((await orderPlan(shop, user)).running).toMatchObject({ tier: 'premium' });
});

describe('the same order', () => {
  test('POST /api/payments/orders while the same order is being created, and again → 201 with that order', async () => {
    const user = await newUser();
    const held = Promise.withResolvers<void>();
    onTestFinished(() => held.resolve());
    shop.onGatewayCall(async (_, forwardRequest) => {
      await held.promise;
      return await forwardRequest();
    });
    const first = orderPlan(shop, user);
    await vi.waitFor(() => expect(shop.calls).toHaveLength(1), patience);
    const second = orderPlan(shop, user);
    await vi.waitFor(
      () => expect(shop.rpcs.filter((rpc) => rpc === 'create_order').length).toBeGreaterThan(2),
      patience,
    );
    held.resolve();
    expect(await second).toEqual(await first);
    expect(await orderPlan(shop, user)).toEqual(await first);
    expect(shop.calls).toHaveLength(1);
  });

  // Another price, currency or length: database/create-order.
  test('POST /api/payments/orders beside an order of more than 30 minutes → 201, another order', async () => {
    const user = await newUser();
    const { payment_id, order } = await orderPlan(shop, user);
    await database.query(
      "update public.payments set created_at = now() - interval '30 minutes 1 second' where id = $1",
      [payment_id],
    );
    expect((await orderPlan(shop, user)).order.id).not.toBe(order.id);
  });

  test('POST /api/payments/orders with a key of 255 characters again, paid → 201; for another tier, price or start → 409', async () => {
    const [user, headers] = [await newUser(), { 'idempotency-key': 'k'.repeat(255) }];
    const first = await orderPlan(shop, user, 'pro', headers);
    await database.query("update public.payments set status = 'captured' where id = $1", [first.payment_id]);
    expect(await orderPlan(shop, user, 'pro', headers)).toEqual(first);
    for (const body of [{ tier: 'basic' }, { price: 'pro_monthly' }, { tier: 'pro', start: 'now' }]) {
      expect(await call(shop, path, { user, headers, body })).toEqual(conflict);
    }
    expect(shop.calls).toHaveLength(1);
  });

  test('POST /api/payments/orders for the eleventh time within an hour → 429 with retry-after; an open order → 201', async () => {
    const user = await newUser();
    await database.query(
      `insert into public.payments (user_id, amount, created_at)
       select $1, 99900, now() - make_interval(mins => minutes) from generate_series(50, 58) minutes`,
      [user.id],
    );
    const tenth = await orderPlan(shop, user);
    const { headers, ...received } = await fullAnswer(send(shop, path, { user, body: { tier: 'basic' } }));
    expect(received).toEqual(refusal(429, 'Too many orders'));
    // The oldest is 58 minutes old.
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(60);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(120);
    expect(await orderPlan(shop, user)).toEqual(tenth);
  });
});

describe('refusals', () => {
  const tooLong = { headers: { 'idempotency-key': 'k'.repeat(256) } };
  let user: SignedUpUser;
  beforeAll(async () => {
    user = await newUser();
    await database.query(
      "insert into public.plans (tier, name, price, is_active) values ('retired', 'Retired', 100, false)",
    );
  });

  /** Sends requests that must be refused, and asserts that they write nothing and call no gateway. */
  async function refused(expected: unknown, bodies: unknown[], parts: Parameters<typeof send>[2] = {}) {
    await unchanged(async () => {
      for (const body of bodies) {
        const received = await call(shop, path, { user, body, ...parts });
        expect({ sent: body, received }).toEqual({ sent: body, received: expected });
      }
    });
    expect(shop.calls).toEqual([]);
  }
  const invalid = (field: string, message: unknown) => ({
    status: 400,
    body: { error: 'Invalid request', details: { formErrors: [], fieldErrors: { [field]: [message] } } },
  });

  test('POST /api/payments/orders without a session, or of a deleted user → 401, before 400, 404 and 500', async () => {
    const unauthorized = refusal(401, 'Unauthorized');
    const noSession = { user: { accessToken: 'no-session' }, ...tooLong };
    await refused(unauthorized, [{ tier: 'pro' }, {}, { tier: 'no-such-plan' }, '{'], noSession);
    const gone = await newUser();
    await database.query('delete from auth.users where id = $1', [gone.id]);
    await refused(unauthorized, [{ tier: 'pro' }], { user: gone });
  });

  test('POST /api/payments/orders with an invalid tier, price, start or key, or a price of another tier → 400 with details, before 404', async () => {
    for (const [body, received] of [[{}, 'undefined'], [{ tier: null }, 'null'], [{ tier: ['pro'] }, 'array']]) {
      await refused(invalid('tier', `Invalid input: expected string, received ${received}`), [body], tooLong);
    }
    await refused(invalid('price', 'Invalid input: expected string, received null'), [{ tier: 'pro', price: null }]);
    const others = ['basic', 'no-such-plan', ''].map((tier) => ({ tier, price: 'pro_monthly' }));
    await refused(invalid('price', 'Not a price of this tier'), others);
    const starts = ['later', '', null].map((start) => ({ tier: 'pro', start }));
    await refused(invalid('start', expect.any(String)), starts);
    const tiers = [{ tier: 'pro' }, { tier: 'no-such-plan' }];
    await refused(invalid('idempotency-key', 'At most 255 characters'), tiers, tooLong);
  });

  test('POST /api/payments/orders of a tier or a price that is not on offer → 404, also with a key', async () => {
    const planNotFound = refusal(404, 'Plan not found');
    const tiers = ['no-such-plan', 'retired', '', 'pro ', 'pro\0', '\ud800'].map((tier) => ({ tier }));
    await refused(planNotFound, tiers);
    const prices = ['no-such-price', 'pro_old', 'retired', '', 'pro_monthly\0', '\udc00'];
    await refused(planNotFound, prices.map((price) => ({ price })));
    // Together the two halves would be one character.
    await refused(planNotFound, [{ tier: '\ud83d', price: '\ude00' }]);
    await refused(planNotFound, [{ tier: 'retired' }], { headers: newKey() });
  });

  test('POST /api/payments/orders with invalid JSON, or when the database refuses → 500', async () => {
    const failed = refusal(500, 'Failed to create order');
    await refused(failed, ['', '{', '{}{}']);
    await whileBroken(database, 'create_order', () => refused(failed, [{ tier: 'pro' }]));
  });
});

describe('the gateway', () => {
  // All answers that make no order: unit/gateway.
  test('POST /api/payments/orders while the gateway answers 500 with an id → 502, no payment; then 201', async () => {
    const [user, headers] = [await newUser(), newKey()];
    shop.onGatewayCall(() => Response.json({ id: 'order_Afterall000001' }, { status: 500 }));
    await unchanged(async () => {
      expect(await call(shop, path, { user, headers, body: { tier: 'pro' } })).toEqual(unavailable);
    });
    expect(shop.calls).toHaveLength(1);
    shop.onGatewayCall(forward);
    await orderPlan(shop, user, 'basic', headers);
  });

  test('POST /api/payments/orders that the gateway refuses with 400 → 500, no payment; the reason is in the log', async () => {
    const user = await newUser();
    shop.onGatewayCall(() =>
      Response.json({ error: { description: 'Wrong currency for a@b.example' } }, { status: 400 })
    );
    await unchanged(async () => {
      expect(await call(shop, path, { user, body: { tier: 'pro' } })).toEqual(refusal(500, 'Failed to create order'));
    });
    expect(shop.calls).toHaveLength(1);
    await vi.waitFor(() => {
      const fault = shop.output.find((line) => line.includes('the gateway refuses an order: Wrong currency for …'));
      expect(fault).toContain('"level":"error"');
    }, patience);
  });

  test('POST /api/payments/orders while the gateway hangs → 502 within 10 s; meanwhile 409 with retry-after; then 201', async () => {
    const user = await newUser();
    const end = Promise.withResolvers<void>();
    onTestFinished(() => end.resolve());
    shop.onGatewayCall(async () => {
      await end.promise;
      return new Response(null, { status: 503 });
    });
    const started = performance.now();
    const order = () => fullAnswer(send(shop, path, { user, body: { tier: 'pro' } }));
    await unchanged(async () => {
      const first = order();
      await vi.waitFor(() => expect(shop.calls).toHaveLength(1), patience);
      const { headers, ...second } = await order();
      expect(second).toEqual(refusal(409, 'Order is being created'));
      expect(headers.get('retry-after')).toBe('1');
      expect(await first).toMatchObject(unavailable);
      expect(performance.now() - started).toBeLessThan(10_000);
    });
    shop.onGatewayCall(forward);
    await orderPlan(shop, user);
  });
});

test('no secret, token, key, address or id of an order is in the log', () => {
  const written = shop.output.join('\n');
  expect(written).toContain('gatewayUnavailable');
  for (const text of [secrets.GATEWAY_KEY_SECRET, 'eyJ', 'kkk', '@']) expect(written).not.toContain(text);
  expect(written).not.toMatch(/(order|key)_[A-Za-z0-9]{14}/);
});
