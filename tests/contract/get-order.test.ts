import { afterEach, beforeEach, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { call, fullAnswer, orderPlan, refusal, send, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';
import { paymentOfOrder, queued, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newUser, unchanged } = project;
const shop = useShop(poolThenRest, project);
const start = Date.parse('2027-03-01T00:00:00Z');
const later = (seconds: number) => setClock(database, new Date(start + seconds * 1000).toISOString());
beforeEach(() => later(0));
afterEach(() => setClock(database, null));

const none = { events: [] };
const nextYear = '2028-03-01T00:00:00.000Z';

/** A new order of pro, and its state as the endpoint answers it where nothing happened yet. */
async function ordered() {
  const user = await newUser();
  const { order: { id: orderId } } = await orderPlan(shop, user);
  const price = { tier: 'pro', amount: 99900, currency: 'INR' };
  const open = { order_id: orderId, status: 'open', ...price, valid_until: null, attempts: 0, last_error: null };
  const state = () => call(shop, `GET /api/payments/orders/${orderId}`, { user });
  /** How often the service read the payments of the order from the gateway. */
  const reads = () =>
    shop.calls.filter(({ method, path }) => method === 'GET' && path === `/v1/orders/${orderId}/payments`).length;
  return { user, orderId, open, state, reads };
}

test('GET /api/payments/orders/:order_id of an unpaid order → 200 open, read from the gateway', async () => {
  const { user, orderId, open, reads } = await ordered();
  const { headers, ...received } = await fullAnswer(send(shop, `GET /api/payments/orders/${orderId}`, { user }));
  expect(received).toEqual({ status: 200, body: open });
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(reads()).toBe(1);
  expect(shop.rpcs.filter((rpc) => /^(get|apply)_order/.test(rpc))).toEqual(['get_order', 'apply_order_read']);
});

test('GET /api/payments/orders/:order_id of a payment that no webhook announced → 200 paid; fulfilled, one mail, no alert', async () => {
  const { user, orderId, open, state, reads } = await ordered();
  const { gateway_payment_id, ...paid } = await shop.pay(orderId, 'captured', none);
  const expected = { status: 200, body: { ...open, status: 'paid', valid_until: nextYear, attempts: 1 } };
  expect(await state()).toEqual(expected);
  expect(await readTier(database, user.id)).toBe('pro');
  expect(await paymentOfOrder(database, orderId)).toMatchObject({ gateway_payment_id, confirmed_at: new Date(start) });
  expect(await alertsAbout(database, orderId)).toEqual([]);

  await later(60);
  expect(await state()).toEqual(expected);
  const verified = await verify(shop, user.accessToken, { ...paid, gateway_payment_id });
  expect((await verified.json()).subscription).toEqual({ tier: 'pro', validUntil: nextYear });
  expect(await queued(database, 'payment-success', user.email)).toHaveLength(1);
  expect(reads()).toBe(1);
});

// All answers that the gateway may give: unit/gateway. How often it is read: database/get-order, concurrency/orders.
test.each<[string, () => Response]>([
  ['500', () => new Response(null, { status: 500 })],
  ['404', () => Response.json({ error: {} }, { status: 404 })],
])(
  'GET /api/payments/orders/:order_id while the gateway answers %s → 200 with what is known; then paid',
  async (_, broken) => {
    const { orderId, open, state, reads } = await ordered();
    shop.onGatewayCall(broken);
    expect(await state()).toMatchObject({ status: 200, body: { ...open, attempts: expect.any(Number) } });
    expect(reads()).toBe(1);
    shop.onGatewayCall((_call, forwardRequest) => forwardRequest());
    await shop.pay(orderId, 'captured', none);
    await later(5);
    expect(await state()).toMatchObject({ status: 200, body: { status: 'paid' } });
  },
);

test('GET /api/payments/orders/:order_id when the gateway’s answer cannot be applied → 200 with what is known; when the database refuses → 500', async () => {
  const { open, state } = await ordered();
  await whileBroken(database, 'apply_order_read', async () => {
    expect(await state()).toEqual({ status: 200, body: open });
  });
  await whileBroken(database, 'get_order', async () => {
    expect(await state()).toEqual(refusal(500, 'Failed to get order'));
  });
});

test('GET /api/payments/orders/:order_id → 401 without a valid session, before 404 for an order of another user or of none', async () => {
  const { orderId, reads } = await ordered();
  const user = await newUser();
  const ids = [orderId, uniqueId('order'), '%00', '%ED%A0%80', '%E0%A4%A', '%2e%2e%2fverify', 'x'.repeat(3000)];
  await unchanged(async () => {
    for (const id of ids) {
      const path = `GET /api/payments/orders/${id}`;
      expect(await call(shop, path, { user })).toEqual(refusal(404, 'Order not found'));
      expect(await call(shop, path, { user: { accessToken: 'garbage' } })).toEqual(refusal(401, 'Unauthorized'));
    }
  });
  expect(reads()).toBe(0);
});

test('no id of an order is in the log', () => {
  for (const line of shop.output) expect(line).not.toMatch(/order_[A-Za-z0-9]{14}/);
});
