import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { type Shop, useShop } from '../helpers/gateway/shop.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, orderPlan, requestOrder, verify } from '../helpers/http/requests.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { paymentOfOrder, readPayment } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// Two tests for each target set a payment to captured by hand, so that its order is closed.
const project = useProject({ findings: { captured_not_fulfilled: 2 * restSample.length } });
const isOrderId = expect.stringMatching(/^order_[A-Za-z0-9]{14}$/);
const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const basic = `Basic ${btoa(`${secrets.GATEWAY_KEY_ID}:${secrets.GATEWAY_KEY_SECRET}`)}`;

/** The number of payments of a user. */
async function countPayments(userId: string): Promise<unknown> {
  return (await project.database.one('select count(*)::int from public.payments where user_id = $1', [userId])).count;
}

/** A user with a new purchase of pro, and the end of its period. */
async function buyPro(shop: Shop) {
  const user = await createCaller(project.database);
  const { order } = await orderPlan(shop, user.accessToken, 'pro');
  const { subscription } = await (await verify(shop, user.accessToken, await checkout(order.id))).json();
  expect(subscription).toEqual({ tier: 'pro', validUntil: isTime });
  return { user, until: subscription.validUntil };
}

/** POST /api/subscriptions/cancel. @throws when it was refused. */
async function cancel(shop: Shop, accessToken: string, atPeriodEnd: boolean): Promise<void> {
  const { status } = await answer(shop.request('/api/subscriptions/cancel', {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ at_period_end: atPeriodEnd }),
  }));
  if (status !== 200) throw new Error(`not cancelled: ${status}`);
}

describe.each(restSample)('%s', (target) => {
  const shop = useShop(target, project);

  test('POST /api/payments/orders → 201 with what a checkout needs; the payment is created', async () => {
    const user = await project.signUp();
    const { headers, ...received } = await fullAnswer(requestOrder(shop, user.accessToken, { tier: 'pro' }));
    const { plan } = await project.database.one(
      "select to_jsonb(p) as plan from public.plans p where tier = 'pro'",
    );
    expect(received).toEqual({
      status: 201,
      body: {
        order: { id: isOrderId, amount: 99900, currency: 'INR' },
        key_id: secrets.GATEWAY_KEY_ID,
        payment_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        plan,
        running: null,
        prefill: { email: user.email, name: user.email.split('@')[0] },
      },
    });
    expect(headers.get('cache-control')).toBe('private, no-store');

    const payment = await project.database.one('select * from public.payments where user_id = $1', [user.id]);
    expect(received.body).toMatchObject({ payment_id: payment.id, order: { id: payment.gateway_order_id } });
    expect(payment).toMatchObject({
      status: 'created',
      amount: '99900',
      currency: 'INR',
      tier: 'pro',
      meta: { tier: 'pro' },
      gateway_payment_id: null,
      fulfilled_at: null,
    });
    expect(shop.calls).toEqual([{
      method: 'POST',
      path: '/v1/orders',
      authorization: basic,
      body: {
        amount: 99900,
        currency: 'INR',
        receipt: String(payment.id).replaceAll('-', ''),
        payment_capture: 1,
      },
    }]);
  });

  test('POST /api/payments/orders while a subscription runs → 201 with its tier and end, for each ordered tier', async () => {
    const { user, until } = await buyPro(shop);
    const running = { tier: 'pro', until, early_renewal: 'replace', starts_at: isTime };
    const [pro, basic] = [
      await orderPlan(shop, user.accessToken, 'pro'),
      await orderPlan(shop, user.accessToken, 'basic'),
    ];
    expect(pro.running).toEqual(running);
    expect(basic.running).toEqual(running);
    for (const { running } of [pro, basic]) {
      expect(Math.abs(Date.parse(running?.starts_at ?? '') - Date.now())).toBeLessThan(60_000);
    }
    expect(await orderPlan(shop, user.accessToken, 'basic')).toEqual({ ...basic, running });
  });

  test('POST /api/payments/orders while the subscription of another user runs → 201, running is null', async () => {
    await buyPro(shop);
    const other = await createCaller(project.database);
    expect((await orderPlan(shop, other.accessToken)).running).toBeNull();
  });

  test('POST /api/payments/orders again once a subscription runs → 201, the same order with the running period', async () => {
    const user = await createCaller(project.database);
    const before = await orderPlan(shop, user.accessToken, 'basic');
    expect(before.running).toBeNull();
    const { order } = await orderPlan(shop, user.accessToken, 'pro');
    expect((await verify(shop, user.accessToken, await checkout(order.id))).status).toBe(200);
    expect(await orderPlan(shop, user.accessToken, 'basic')).toEqual({
      ...before,
      running: { tier: 'pro', until: isTime, early_renewal: 'replace', starts_at: isTime },
    });
  });

  test('POST /api/payments/orders after a cancellation at the period end → 201, running until that end', async () => {
    const { user, until } = await buyPro(shop);
    await cancel(shop, user.accessToken, true);
    expect((await orderPlan(shop, user.accessToken)).running).toEqual({
      tier: 'pro',
      until,
      early_renewal: 'replace',
      starts_at: isTime,
    });
  });

  test('POST /api/payments/orders after a cancellation at once → 201, running is null', async () => {
    const { user } = await buyPro(shop);
    await cancel(shop, user.accessToken, false);
    expect((await orderPlan(shop, user.accessToken)).running).toBeNull();
  });

  test('POST /api/payments/orders of a dearer tier with start now → 201, the price less the credit; paid, it rules', async () => {
    const { user } = await buyPro(shop);
    const { status, body } = await answer(
      requestOrder(shop, user.accessToken, { tier: 'premium', start: 'now' }),
    );
    const { order, payment_id, credit } = Object(body);
    // Less than a minute of the year was used.
    expect(credit).toBeGreaterThan(99890);
    expect(credit).toBeLessThanOrEqual(99900);
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        order: { id: isOrderId, amount: 199900 - credit, currency: 'INR' },
        key_id: secrets.GATEWAY_KEY_ID,
        payment_id: expect.any(String),
        plan: expect.objectContaining({ tier: 'premium', price: 199900 }),
        running: { tier: 'pro', until: expect.any(String), early_renewal: 'replace', starts_at: isTime },
        prefill: { email: expect.any(String), name: expect.any(String) },
        credit,
        starts_at: isTime,
        ends_at: isTime,
      },
    });
    expect(shop.calls.at(-1)).toMatchObject({ path: '/v1/orders', body: { amount: 199900 - credit } });
    expect(await readPayment(project.database, payment_id)).toMatchObject({ credit: String(credit), starts: 'now' });
    expect((await verify(shop, user.accessToken, await checkout(order.id))).status).toBe(200);
    expect((await orderPlan(shop, user.accessToken)).running).toMatchObject({ tier: 'premium' });
  });

  test('POST /api/payments/orders with start after_current → 201, the period begins when the running one ends', async () => {
    const { user, until } = await buyPro(shop);
    const { status, body } = await answer(
      requestOrder(shop, user.accessToken, { tier: 'basic', start: 'after_current' }),
    );
    const { order, ...ordered } = Object(body);
    expect(status).toBe(201);
    expect(order.amount).toBe(9900);
    expect(ordered).toMatchObject({ credit: 0, starts_at: until, ends_at: isTime, running: { tier: 'pro', until } });
    const { subscription } = await (await verify(shop, user.accessToken, await checkout(order.id))).json();
    expect(subscription).toEqual({ tier: 'basic', validUntil: ordered.ends_at });
    expect((await orderPlan(shop, user.accessToken)).running).toMatchObject({ tier: 'pro', until });
  });

  test.each(['now', 'after_current'])(
    'POST /api/payments/orders with start %s where nothing runs → 201 without a credit, running is null',
    async (start) => {
      const user = await createCaller(project.database);
      const { body } = await answer(requestOrder(shop, user.accessToken, { tier: 'pro', start }));
      expect(body).toMatchObject({
        order: { amount: 99900 },
        credit: 0,
        starts_at: isTime,
        ends_at: isTime,
        running: null,
      });
    },
  );

  test.each(['later', '', null, 1, ['now']])(
    'POST /api/payments/orders with start %j → 400, no payment',
    async (start) => {
      const user = await createCaller(project.database);
      expect(await answer(requestOrder(shop, user.accessToken, { tier: 'pro', start }))).toEqual({
        status: 400,
        body: { error: 'Invalid request', details: { formErrors: [], fieldErrors: { start: [expect.any(String)] } } },
      });
      expect(await countPayments(user.id)).toBe(0);
    },
  );

  test('POST /api/payments/orders with the key of another start → 409', async () => {
    const user = await createCaller(project.database);
    const key = { 'idempotency-key': uniqueId('key') };
    await orderPlan(shop, user.accessToken, 'pro', key);
    expect(await answer(requestOrder(shop, user.accessToken, { tier: 'pro', start: 'now' }, key)))
      .toEqual(refusal(409, 'Idempotency key was used for another order'));
  });

  test('POST /api/payments/orders → the payment is written before the gateway is called', async () => {
    const user = await createCaller(project.database);
    const seen: unknown[] = [];
    shop.onGatewayCall(async (_, forwardRequest) => {
      seen.push(
        await project.database.one(
          `select replace(id::text, '-', '') as receipt, status, amount, tier, meta, gateway_order_id
           from public.payments where user_id = $1`,
          [user.id],
        ),
      );
      return await forwardRequest();
    });
    const { payment_id, order } = await orderPlan(shop, user.accessToken, 'basic');
    expect(seen).toEqual([{
      receipt: payment_id.replaceAll('-', ''),
      status: 'created',
      amount: '9900',
      tier: 'basic',
      meta: { tier: 'basic' },
      gateway_order_id: null,
    }]);
    expect(await readPayment(project.database, payment_id)).toMatchObject({ gateway_order_id: order.id });
  });

  test.each([2, 20])(
    'POST /api/payments/orders %i times at once → 201, one order, one call of the gateway',
    async (count) => {
      const user = await createCaller(project.database);
      const orders = await Promise.all(Array.from({ length: count }, () => orderPlan(shop, user.accessToken)));
      expect(new Set(orders.map(({ order }) => order.id)).size).toBe(1);
      expect(new Set(orders.map(({ payment_id }) => payment_id)).size).toBe(1);
      expect(shop.calls).toHaveLength(1);
      expect(await countPayments(user.id)).toBe(1);
    },
  );

  test('POST /api/payments/orders twice → 201, the same open order', async () => {
    const user = await createCaller(project.database);
    const first = await orderPlan(shop, user.accessToken);
    expect(await answer(requestOrder(shop, user.accessToken, { tier: 'pro' }))).toEqual({ status: 201, body: first });
    expect(shop.calls).toHaveLength(1);
  });

  test('POST /api/payments/orders after an attempt that failed → 201, the same order', async () => {
    const user = await createCaller(project.database);
    const first = await orderPlan(shop, user.accessToken);
    await shop.pay(first.order.id, 'failed');
    await shop.deliveries(first.order.id, 1);
    expect(await paymentOfOrder(project.database, first.order.id)).toMatchObject({ status: 'failed', tier: 'pro' });
    expect(await orderPlan(shop, user.accessToken)).toEqual(first);
  });

  test.each([
    ['that was paid', "status = 'captured'"],
    ['of more than 30 minutes', "created_at = now() - interval '30 minutes 1 second'"],
    ['of another amount', 'amount = amount + 1'],
    ['of another currency', "currency = 'USD'"],
  ])('POST /api/payments/orders beside an order %s → 201, another order', async (_, change) => {
    const user = await createCaller(project.database);
    const { payment_id, order } = await orderPlan(shop, user.accessToken);
    await project.database.query(`update public.payments set ${change} where id = $1`, [payment_id]);
    expect((await orderPlan(shop, user.accessToken)).order.id).not.toBe(order.id);
  });

  test('POST /api/payments/orders of another tier, or by another user → 201, another order', async () => {
    const [user, other] = [await createCaller(project.database), await createCaller(project.database)];
    const orders = [
      await orderPlan(shop, user.accessToken, 'pro'),
      await orderPlan(shop, user.accessToken, 'basic'),
      await orderPlan(shop, other.accessToken, 'pro'),
    ];
    expect(new Set(orders.map(({ order }) => order.id)).size).toBe(3);
    expect(orders.map(({ order }) => order.amount)).toEqual([99900, 9900, 99900]);
  });

  test('POST /api/payments/orders with a key again, even after its payment → 201, the same order, one call of the gateway', async () => {
    const user = await createCaller(project.database);
    const key = { 'idempotency-key': uniqueId('key') };
    const first = await orderPlan(shop, user.accessToken, 'pro', key);
    expect(await orderPlan(shop, user.accessToken, 'pro', key)).toEqual(first);
    await project.database.query(
      "update public.payments set status = 'captured', created_at = now() - interval '2 hours' where id = $1",
      [first.payment_id],
    );
    expect(await orderPlan(shop, user.accessToken, 'pro', key)).toEqual(first);
    expect(shop.calls).toHaveLength(1);
  });

  test('POST /api/payments/orders with a key again when the plan is retired → 201, the same order; without → 404', async () => {
    const user = await createCaller(project.database);
    const tier = uniqueId('tier');
    await project.database.query('insert into public.plans (tier, name, price) values ($1, $1, 500)', [tier]);
    const key = { 'idempotency-key': uniqueId('key') };
    const { order, payment_id } = await orderPlan(shop, user.accessToken, tier, key);
    await project.database.query('update public.plans set is_active = false where tier = $1', [tier]);
    expect(await orderPlan(shop, user.accessToken, tier, key)).toMatchObject({ order, payment_id });
    expect(await answer(requestOrder(shop, user.accessToken, { tier }))).toEqual(refusal(404, 'Plan not found'));
  });

  test('POST /api/payments/orders with the key of another user → 201, another order', async () => {
    const [user, other] = [await createCaller(project.database), await createCaller(project.database)];
    const key = { 'idempotency-key': uniqueId('key') };
    const first = await orderPlan(shop, user.accessToken, 'pro', key);
    expect((await orderPlan(shop, other.accessToken, 'basic', key)).order.id).not.toBe(first.order.id);
  });

  test('POST /api/payments/orders with the key of another tier → 409', async () => {
    const user = await createCaller(project.database);
    const key = { 'idempotency-key': 'k'.repeat(255) };
    await orderPlan(shop, user.accessToken, 'pro', key);
    expect(await answer(requestOrder(shop, user.accessToken, { tier: 'basic' }, key)))
      .toEqual(refusal(409, 'Idempotency key was used for another order'));
    expect(await countPayments(user.id)).toBe(1);
    expect(shop.calls).toHaveLength(1);
  });

  test('POST /api/payments/orders while the same order is being created → 201 with that order', async () => {
    const user = await createCaller(project.database);
    const held = Promise.withResolvers<void>();
    onTestFinished(() => held.resolve());
    shop.onGatewayCall(async (_, forwardRequest) => {
      await held.promise;
      return await forwardRequest();
    });
    const first = orderPlan(shop, user.accessToken);
    await vi.waitFor(() => expect(shop.calls).toHaveLength(1));
    const second = orderPlan(shop, user.accessToken);
    await vi.waitFor(() => expect(shop.rpcs.filter((rpc) => rpc === 'create_order').length).toBeGreaterThan(2));
    held.resolve();
    expect(await second).toEqual(await first);
    expect(shop.calls).toHaveLength(1);
  });

  test('POST /api/payments/orders for the eleventh time within an hour → 429 with retry-after', async () => {
    const [user, other] = [await createCaller(project.database), await createCaller(project.database)];
    for (let minutes = 50; minutes < 59; minutes += 1) {
      const { id } = await createPayment(project.database, { userId: user.id });
      await project.database.query(
        'update public.payments set created_at = now() - make_interval(mins => $2) where id = $1',
        [id, minutes],
      );
    }
    const tenth = await orderPlan(shop, user.accessToken, 'pro');
    const { headers, ...received } = await fullAnswer(requestOrder(shop, user.accessToken, { tier: 'basic' }));
    expect(received).toEqual(refusal(429, 'Too many orders'));
    expect(headers.get('access-control-expose-headers')).toBe('x-request-id,retry-after');
    // The oldest is 58 minutes old.
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(60);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(120);

    expect(await orderPlan(shop, user.accessToken, 'pro')).toEqual(tenth);
    await orderPlan(shop, other.accessToken, 'basic');
    await project.database.query(
      `update public.payments set created_at = created_at - interval '2 minutes'
       where user_id = $1 and created_at < now() - interval '57 minutes 30 seconds'`,
      [user.id],
    );
    await orderPlan(shop, user.accessToken, 'basic');
  });
});

describe.each(restSample)('%s, early renewals extend', (target) => {
  const shop = useShop(target, project);
  beforeAll(() => setEarlyRenewal(project.database, 'extend'));
  afterAll(() => setEarlyRenewal(project.database, 'replace'));

  test('POST /api/payments/orders → 201; running has early_renewal extend, or is null', async () => {
    const { user, until } = await buyPro(shop);
    expect((await orderPlan(shop, user.accessToken)).running)
      .toEqual({ tier: 'pro', until, early_renewal: 'extend', starts_at: until });
    expect((await orderPlan(shop, user.accessToken, 'basic')).running)
      .toEqual({ tier: 'pro', until, early_renewal: 'extend', starts_at: isTime });
    const other = await createCaller(project.database);
    expect((await orderPlan(shop, other.accessToken)).running).toBeNull();
  });
});
