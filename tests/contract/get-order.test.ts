import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { type Shop, useShop } from '../helpers/gateway/shop.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, orderPlan, type OrderState, requestOrderState, verify } from '../helpers/http/requests.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readAllRows, readTier } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const start = Date.parse('2027-03-01T00:00:00Z');
const later = (seconds: number) => setClock(project.database, new Date(start + seconds * 1000).toISOString());
beforeEach(() => later(0));
afterEach(() => setClock(project.database, null));

const none = { events: [] };
const notFound = refusal(404, 'Order not found');
const declined = 'The bank declined the payment.';

/** A new order of pro, and its state as the endpoint answers it where nothing happened yet. */
async function ordered(shop: Shop) {
  const user = await createCaller(project.database);
  const { order } = await orderPlan(shop, user.accessToken);
  const open: OrderState = {
    order_id: order.id,
    status: 'open',
    tier: 'pro',
    amount: 99900,
    currency: 'INR',
    valid_until: null,
    attempts: 0,
    last_error: null,
  };
  const state = () => answer(requestOrderState(shop, user.accessToken, order.id));
  return { user, orderId: order.id, open, state };
}

/** How often the service read the payments of an order from the gateway. */
const reads = (shop: Shop, orderId: string) =>
  shop.calls.filter(({ method, path }) => method === 'GET' && path === `/v1/orders/${orderId}/payments`).length;

describe.each(poolSample)('%s', (target) => {
  const shop = useShop(target, project);
  const unconfigured = useService(target, project, { GATEWAY_KEY_SECRET: '' });

  test('GET /api/payments/orders/:order_id of an unpaid order → 200 open, read from the gateway', async () => {
    const { user, orderId, open } = await ordered(shop);
    const { headers, ...received } = await fullAnswer(requestOrderState(shop, user.accessToken, orderId));
    expect(received).toEqual({ status: 200, body: open });
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(headers.get('access-control-expose-headers')).toBe('x-request-id,retry-after');
    expect(reads(shop, orderId)).toBe(1);
    expect(shop.rpcs.filter((rpc) => /^(get|apply)_order/.test(rpc))).toEqual(['get_order', 'apply_order_read']);
  });

  test('GET /api/payments/orders/:order_id of a payment that no webhook announced → 200 paid; fulfilled, one mail, no alert', async () => {
    const { user, orderId, open, state } = await ordered(shop);
    const paid = await shop.pay(orderId, 'captured', none);
    const expected = { ...open, status: 'paid', valid_until: '2028-03-01T00:00:00.000Z', attempts: 1 };
    expect(await state()).toEqual({ status: 200, body: expected });
    expect(await readTier(project.database, user.id)).toBe('pro');
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({
      gateway_payment_id: paid.gateway_payment_id,
      confirmed_at: new Date(start),
    });
    expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(1);
    expect(await alertsAbout(project.database, orderId)).toEqual([]);

    await later(60);
    expect(await state()).toEqual({ status: 200, body: expected });
    expect(await answer(verify(shop, user.accessToken, paid))).toMatchObject({
      status: 200,
      body: { subscription: { tier: 'pro', validUntil: '2028-03-01T00:00:00.000Z' } },
    });
    expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(1);
    expect(reads(shop, orderId)).toBe(1);
  });

  test('GET /api/payments/orders/:order_id after its verification, or after its webhooks → 200 paid, the gateway is not read', async () => {
    const [verified, announced] = [await ordered(shop), await ordered(shop)];
    expect((await verify(shop, verified.user.accessToken, await checkout(verified.orderId))).status).toBe(200);
    await shop.pay(announced.orderId);
    await shop.deliveries(announced.orderId, 3);
    for (const { open, state } of [verified, announced]) {
      const paid = { ...open, status: 'paid', valid_until: '2028-03-01T00:00:00.000Z', attempts: 1 };
      expect(await state()).toEqual({ status: 200, body: paid });
    }
    expect(reads(shop, verified.orderId) + reads(shop, announced.orderId)).toBe(0);
  });

  test('GET /api/payments/orders/:order_id after failed attempts → 200 failed with the newest error; then a success → paid', async () => {
    const { user, orderId, open, state } = await ordered(shop);
    await shop.pay(orderId, 'failed', none);
    expect(await state()).toEqual({
      status: 200,
      body: { ...open, status: 'failed', attempts: 1, last_error: declined },
    });
    expect(await queued(project.database, 'payment-failed', user.email)).toHaveLength(1);
    await shop.pay(orderId, 'failed', none);
    await shop.pay(orderId, 'captured', none);
    // Known without the gateway: one attempt.
    expect(await state()).toMatchObject({ body: { status: 'failed', attempts: 1 } });
    await later(5);
    expect(await state()).toEqual({
      status: 200,
      body: { ...open, status: 'paid', valid_until: '2028-03-01T00:00:05.000Z', attempts: 3, last_error: declined },
    });
    expect(await readTier(project.database, user.id)).toBe('pro');
  });

  test('GET /api/payments/orders/:order_id within 5 s → 200 without the gateway; after 5 s it is read again', async () => {
    const { orderId, open, state } = await ordered(shop);
    for (const [seconds, count] of [[0, 1], [1, 1], [4.999, 1], [5, 2], [9, 2], [10, 3]] as const) {
      await later(seconds);
      expect(await state()).toEqual({ status: 200, body: open });
      expect({ seconds, count: reads(shop, orderId) }).toEqual({ seconds, count });
    }
  });

  test('GET /api/payments/orders/:order_id 25 times → 200, the gateway is read 20 times; then a webhook → paid', async () => {
    const { orderId, state } = await ordered(shop);
    for (let time = 0; time < 25; time += 1) {
      await later(time * 5);
      expect(await state()).toMatchObject({ status: 200, body: { status: 'open' } });
    }
    expect(reads(shop, orderId)).toBe(20);
    await shop.pay(orderId);
    await shop.deliveries(orderId, 3);
    expect(await state()).toMatchObject({ status: 200, body: { status: 'paid', attempts: 1 } });
    expect(reads(shop, orderId)).toBe(20);
  });

  test('GET /api/payments/orders/:order_id ten times at once → 200 ten times, the gateway is read once', async () => {
    const { user, orderId, state } = await ordered(shop);
    await shop.pay(orderId, 'captured', none);
    const answers = await Promise.all(Array.from({ length: 10 }, () => state()));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(answers.filter(({ body }) => Object(body).status === 'paid').length).toBeGreaterThan(0);
    expect(reads(shop, orderId)).toBe(1);
    expect(await state()).toMatchObject({ body: { status: 'paid' } });
    expect(await queued(project.database, 'payment-success', user.email)).toHaveLength(1);
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ['500', () => new Response(null, { status: 500 })],
    ['429', () => new Response(null, { status: 429 })],
    ['401', () => Response.json({ error: {} }, { status: 401 })],
    ['200 with HTML', () => new Response('<h1>inner detail</h1>')],
    ['200 without items', () => Response.json({})],
    ['200 with items that are no objects', () => Response.json({ items: [null, 1] })],
    ['200 with an empty object', () => Response.json({ items: [{}] })],
    ['404', () => Response.json({ error: {} }, { status: 404 })],
  ])('GET /api/payments/orders/:order_id while the gateway answers %s → 200 with what is known', async (_, broken) => {
    const { orderId, open, state } = await ordered(shop);
    shop.onGatewayCall(broken);
    expect(await state()).toMatchObject({ status: 200, body: { ...open, attempts: expect.any(Number) } });
    expect(reads(shop, orderId)).toBe(1);
    shop.onGatewayCall((_call, forwardRequest) => forwardRequest());
    await shop.pay(orderId, 'captured', none);
    await later(5);
    expect(await state()).toMatchObject({ status: 200, body: { status: 'paid' } });
  });

  test('GET /api/payments/orders/:order_id while the gateway hangs → 200 with what is known within 8 s', async () => {
    const { orderId, open, state } = await ordered(shop);
    const end = Promise.withResolvers<void>();
    onTestFinished(() => end.resolve());
    shop.onGatewayCall(async () => {
      await end.promise;
      return new Response(null, { status: 503 });
    });
    const started = performance.now();
    const first = state();
    await vi.waitFor(() => expect(reads(shop, orderId)).toBe(1));
    expect(await state()).toEqual({ status: 200, body: open });
    expect(await first).toEqual({ status: 200, body: open });
    expect(performance.now() - started).toBeLessThan(8000);
  });

  test('GET /api/payments/orders/:order_id when the answer can not be applied → 200 with what is known', async () => {
    const { open, state } = await ordered(shop);
    await whileBroken(project.database, 'apply_order_read', async () => {
      expect(await state()).toEqual({ status: 200, body: open });
    });
  });

  test('GET /api/payments/orders/:order_id without a gateway → 200 with what is known, no read is counted', async () => {
    const { user, orderId, open } = await ordered(shop);
    const before = await readAllRows(project.database);
    expect(await answer(requestOrderState(unconfigured, user.accessToken, orderId))).toEqual({
      status: 200,
      body: open,
    });
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('GET /api/payments/orders/:order_id of an order of the app → 200', async () => {
    const { id: userId, accessToken } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId, amount: 49900, meta: {} });
    shop.onGatewayCall(() => Response.json({ items: [] }));
    expect(await answer(requestOrderState(shop, accessToken, orderId))).toMatchObject({
      status: 200,
      body: { order_id: orderId, status: 'open', tier: 'basic', amount: 49900 },
    });
  });

  test('GET /api/payments/orders/:order_id of another user, or of none → 404, nothing is written', async () => {
    const { orderId } = await ordered(shop);
    const { accessToken } = await createCaller(project.database);
    const before = await readAllRows(project.database);
    const ids = [
      orderId,
      uniqueId('order'),
      '%00',
      '%ED%A0%80',
      '%E0%A4%A',
      'null',
      '%2e%2e%2fverify',
      'x'.repeat(3000),
    ];
    for (const id of ids) expect(await answer(requestOrderState(shop, accessToken, id))).toEqual(notFound);
    expect(await readAllRows(project.database)).toEqual(before);
    expect(reads(shop, orderId)).toBe(0);
  });

  test('GET /api/payments/orders/:order_id without a valid session → 401, before 404', async () => {
    const { orderId } = await ordered(shop);
    for (const headers of [new Headers(), new Headers({ authorization: 'Bearer garbage' })]) {
      for (const id of [orderId, 'unknown']) {
        expect(await answer(shop.request(`/api/payments/orders/${id}`, { headers }))).toEqual(
          refusal(401, 'Unauthorized'),
        );
      }
    }
    expect(reads(shop, orderId)).toBe(0);
  });

  test('GET /api/payments/orders/:order_id when the database refuses → 500', async () => {
    const { state } = await ordered(shop);
    await whileBroken(project.database, 'get_order', async () => {
      expect(await state()).toEqual(refusal(500, 'Failed to get order'));
    });
  });

  test('/api/payments/orders/:order_id with another method → 405; another path below → 404', async () => {
    const { orderId, user } = await ordered(shop);
    const path = `/api/payments/orders/${orderId}`;
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { headers, ...received } = await fullAnswer(shop.request(path, { method }));
      expect(received).toEqual(refusal(405, 'Method not allowed'));
      expect(headers.get('allow')).toBe('GET');
    }
    for (const below of ['/', '/payments']) {
      expect(await answer(requestOrderState(shop, user.accessToken, orderId + below))).toEqual(
        refusal(404, 'Not found'),
      );
    }
  });

  test('no id of an order is in the log', () => {
    expect(shop.output.join('\n')).not.toContain('order_0');
    for (const line of shop.output) expect(line).not.toMatch(/order_[A-Za-z0-9]{14}/);
  });
});
