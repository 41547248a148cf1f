import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { call, checkout, fullAnswer, orderPlan, refusal, send, verify } from '../helpers/http/requests.ts';
import { restThenPool, useProject } from '../helpers/project/use-project.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { readPayment } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// Two tests set a payment to captured by hand, so that its order is closed.
const project = useProject({ findings: { captured_not_fulfilled: 2 } });
const { database, newUser, unchanged } = project;
const shop = useShop(restThenPool, project);
const path = 'POST /api/payments/orders';
const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const conflict = refusal(409, 'Idempotency key was used for another order');
const planNotFound = refusal(404, 'Plan not found');
const unavailable = refusal(502, 'Payment gateway unavailable');
/** Long enough for a slow machine. */
const patience = { timeout: 10_000 };
const newKey = () => ({ 'idempotency-key': uniqueId('key') });
const countPayments = async (userId: string) =>
  (await database.query('select from public.payments where user_id = $1', [userId])).length;
const forward = (_call: unknown, forwardRequest: () => Promise<Response>) => forwardRequest();

/** Pays an order. @returns the end of its period */
async function pay(user: SignedUpUser, orderId: string): Promise<string> {
  const response = await verify(shop, user.accessToken, await checkout(orderId));
  expect(response.status).toBe(200);
  return (await response.json()).subscription.validUntil;
}

/** A user with a new purchase of pro, and the end of its period. */
async function buyPro() {
  const user = await newUser();
  return { user, until: await pay(user, (await orderPlan(shop, user)).order.id) };
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
  const { plan } = await database.one("select to_jsonb(p) as plan from public.plans p where tier = 'pro'");
  const payment = await stored();
  expect(received).toEqual({
    status: 201,
    body: {
      order: { id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/), amount: 99900, currency: 'INR' },
      key_id: secrets.GATEWAY_KEY_ID,
      payment_id: payment.id,
      plan,
      running: null,
      prefill: { email: user.email, name: user.email.split('@')[0] },
    },
  });
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(payment).toMatchObject({
    status: 'created',
    amount: '99900',
    currency: 'INR',
    tier: 'pro',
    meta: { tier: 'pro' },
    gateway_order_id: Object(received.body).order.id,
    gateway_payment_id: null,
    fulfilled_at: null,
  });
  expect(written).toMatchObject([{ id: payment.id, status: 'created', amount: '99900', gateway_order_id: null }]);
  const receipt = String(payment.id).replaceAll('-', '');
  expect(shop.calls).toEqual([{
    method: 'POST',
    path: '/v1/orders',
    authorization: `Basic ${btoa(`${secrets.GATEWAY_KEY_ID}:${secrets.GATEWAY_KEY_SECRET}`)}`,
    body: { amount: 99900, currency: 'INR', receipt, payment_capture: 1 },
  }]);
});

test('POST /api/payments/orders while a subscription runs → 201 with its tier and end, also of an order from before', async () => {
  const user = await newUser();
  const before = await orderPlan(shop, user, 'basic');
  const until = await pay(user, (await orderPlan(shop, user)).order.id);
  const running = { tier: 'pro', until, early_renewal: 'replace', starts_at: isTime };
  expect(await orderPlan(shop, user, 'basic')).toEqual({ ...before, running });
  const again = await orderPlan(shop, user);
  expect(again.running).toEqual(running);
  expect(Math.abs(Date.parse(again.running?.starts_at ?? '') - Date.now())).toBeLessThan(60_000);
  expect((await orderPlan(shop, await newUser())).running).toBeNull();
});

describe('start', () => {
  test('POST /api/payments/orders of a dearer tier with start now → 201, the price less the credit; paid, it rules', async () => {
    const { user } = await buyPro();
    const { status, body } = await call(shop, path, { user, body: { tier: 'premium', start: 'now' } });
    const { order, payment_id, credit } = body;
    // Less than a minute of the year was used.
    expect(credit).toBeGreaterThan(99890);
    expect(credit).toBeLessThanOrEqual(99900);
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        order: { id: expect.any(String), amount: 199900 - credit, currency: 'INR' },
        key_id: secrets.GATEWAY_KEY_ID,
        payment_id: expect.any(String),
        plan: expect.objectContaining({ tier: 'premium', price: 199900 }),
        running: { tier: 'pro', until: isTime, early_renewal: 'replace', starts_at: isTime },
        prefill: expect.any(Object),
        credit,
        starts_at: isTime,
        ends_at: isTime,
      },
    });
    expect(shop.calls.at(-1)).toMatchObject({ path: '/v1/orders', body: { amount: 199900 - credit } });
    expect(await readPayment(database, payment_id)).toMatchObject({ credit: String(credit), starts: 'now' });
    await pay(user, order.id);
    expect((await orderPlan(shop, user)).running).toMatchObject({ tier: 'premium' });
  });

  test('POST /api/payments/orders with start after_current → 201, the period begins when the running one ends', async () => {
    const { user, until } = await buyPro();
    const { status, body } = await call(shop, path, { user, body: { tier: 'basic', start: 'after_current' } });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { order: { amount: 9900 }, credit: 0, starts_at: until, ends_at: isTime, running: { tier: 'pro', until } },
    });
    expect(await pay(user, body.order.id)).toBe(body.ends_at);
    expect((await orderPlan(shop, user)).running).toMatchObject({ tier: 'pro', until });
  });
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

  test.each([
    ['that was paid', "status = 'captured'"],
    ['of more than 30 minutes', "created_at = now() - interval '30 minutes 1 second'"],
    ['of another amount', 'amount = amount + 1'],
    ['of another currency', "currency = 'USD'"],
  ])('POST /api/payments/orders beside an order %s → 201, another order', async (_, change) => {
    const user = await newUser();
    const { payment_id, order } = await orderPlan(shop, user);
    await database.query(`update public.payments set ${change} where id = $1`, [payment_id]);
    expect((await orderPlan(shop, user)).order.id).not.toBe(order.id);
  });

  test('POST /api/payments/orders with a key of 255 characters again, paid → 201; for another tier or start → 409', async () => {
    const [user, headers] = [await newUser(), { 'idempotency-key': 'k'.repeat(255) }];
    const first = await orderPlan(shop, user, 'pro', headers);
    await database.query("update public.payments set status = 'captured' where id = $1", [first.payment_id]);
    expect(await orderPlan(shop, user, 'pro', headers)).toEqual(first);
    for (const body of [{ tier: 'basic' }, { tier: 'pro', start: 'now' }]) {
      expect(await call(shop, path, { user, headers, body })).toEqual(conflict);
    }
    expect(await countPayments(user.id)).toBe(1);
    expect(shop.calls).toHaveLength(1);
  });

  test('POST /api/payments/orders for the eleventh time within an hour → 429 with retry-after; an open order → 201', async () => {
    const user = await newUser();
    for (let minutes = 50; minutes < 59; minutes += 1) {
      const { id } = await createPayment(database, { userId: user.id });
      await database.query(
        'update public.payments set created_at = now() - make_interval(mins => $2) where id = $1',
        [id, minutes],
      );
    }
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
  const noSession = { accessToken: 'no-session' };
  const tooLong = { 'idempotency-key': 'k'.repeat(256) };
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
    await refused(unauthorized, [{ tier: 'pro' }, {}, { tier: 'no-such-plan' }, '{'], { user: noSession });
    await refused(unauthorized, [{ tier: 'pro' }], { user: noSession, headers: tooLong });
    const gone = await newUser();
    await database.query('delete from auth.users where id = $1', [gone.id]);
    await refused(unauthorized, [{ tier: 'pro' }], { user: gone });
  });

  test('POST /api/payments/orders with an invalid tier, start or key → 400 with details, before 404', async () => {
    const cases = [[{}, 'undefined'], [{ tier: null }, 'null'], [{ tier: 1 }, 'number'], [{ tier: ['pro'] }, 'array']];
    for (const [body, received] of cases) {
      const expected = invalid('tier', `Invalid input: expected string, received ${received}`);
      await refused(expected, [body]);
      await refused(expected, [body], { headers: tooLong });
    }
    const starts = ['later', '', null, 1, ['now']].map((start) => ({ tier: 'pro', start }));
    await refused(invalid('start', expect.any(String)), starts);
    const tiers = [{ tier: 'pro' }, { tier: 'no-such-plan' }];
    await refused(invalid('idempotency-key', 'At most 255 characters'), tiers, { headers: tooLong });
  });

  test('POST /api/payments/orders of a tier that is not on offer → 404, also with a key', async () => {
    const tiers = ['no-such-plan', 'retired', '', 'Pro', 'pro ', 'pro\0', '\ud800', '%'].map((tier) => ({ tier }));
    await refused(planNotFound, tiers);
    await refused(planNotFound, tiers, { headers: newKey() });
  });

  test('POST /api/payments/orders with invalid JSON, or when the database refuses → 500', async () => {
    const failed = refusal(500, 'Failed to create order');
    await refused(failed, ['', '{', 'tier=pro', '{}{}', 'NaN']);
    await whileBroken(database, 'create_order', () => refused(failed, [{ tier: 'pro' }]));
  });
});

describe('the gateway', () => {
  const error = (status: number) =>
    Response.json({ error: { code: 'BAD_REQUEST_ERROR', description: 'inner detail' } }, { status });

  // All answers that make no order: unit/gateway.
  test.each<[string, () => Response]>([
    ['400', () => error(400)],
    ['500 with an id', () => Response.json({ id: 'order_Afterall000001' }, { status: 500 })],
    ['200 with HTML', () => new Response('<h1>inner detail</h1>')],
    ['200 without an id', () => Response.json({ amount: 99900 })],
  ])('POST /api/payments/orders while the gateway answers %s → 502, no payment; then 201', async (_, respond) => {
    const [user, headers] = [await newUser(), newKey()];
    shop.onGatewayCall(respond);
    await unchanged(async () => {
      expect(await call(shop, path, { user, headers, body: { tier: 'pro' } })).toEqual(unavailable);
    });
    expect(shop.calls).toHaveLength(1);
    shop.onGatewayCall(forward);
    await orderPlan(shop, user, 'basic', headers);
    await orderPlan(shop, user);
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

test('POST /api/payments/orders, accepted or refused → no secret and no personal data in the log', async () => {
  const [user, headers] = [await newUser(), newKey()];
  const { order, payment_id } = await orderPlan(shop, user, 'pro', headers);
  await call(shop, path, { user, body: '{"tier":"whatever' });
  shop.onGatewayCall(() => new Response('inner detail', { status: 500 }));
  await call(shop, path, { user, body: { tier: 'basic' } });
  await vi.waitFor(() => expect(shop.output.join()).toContain('gatewayUnavailable'));
  const { GATEWAY_KEY_ID, GATEWAY_KEY_SECRET } = secrets;
  const hidden = [GATEWAY_KEY_SECRET, btoa(`${GATEWAY_KEY_ID}:${GATEWAY_KEY_SECRET}`), ...user.accessToken.split('.')];
  const data = [headers['idempotency-key'], order.id, payment_id, user.id, user.email, 'whatever', 'inner detail'];
  for (const text of [...hidden, ...data]) expect(shop.output.join('\n')).not.toContain(text);
});
