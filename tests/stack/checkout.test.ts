import { beforeEach, expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { startBilling } from './billing-rig.ts';
import {
  call,
  createOrder,
  type Entity,
  events,
  KEY_SECRET,
  pay,
  simulate,
  simulator,
  until,
  useSimulator,
} from './gateway-simulator-rig.ts';

useSimulator();

beforeEach(() => simulate('checkout', {}));

const checkout = (path: string, fields: Entity) =>
  call('POST', `/checkout/${path}`, { key: 'key_local', ...fields }, {});
const scan = async (paymentId: string) => (await call('GET', `/checkout/qr/${paymentId}`, undefined, {})).body;

test('the script is served without a key, and a fault of the whole API does not stop it', async () => {
  await simulate('fault', { mode: 'status', status: 503 });
  const script = await fetch(`${simulator.url}/v1/checkout.js`);
  expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  expect(await script.text()).toContain('globalThis.Razorpay = Razorpay');
  await simulate('fault', { mode: 'status', status: 503, path: '/v1/checkout.js' });
  const failing = await fetch(`${simulator.url}/v1/checkout.js`);
  expect(failing.status).toBe(503);
  await failing.body?.cancel();
  await call('DELETE', '/simulate/fault');
});

test.each([
  ['window', "form-action 'none'; frame-ancestors http://localhost:* https://localhost:*"],
  ['redirect', "form-action http: https:; frame-ancestors 'none'"],
])('the page %s is served with its files, and its policy says %s', async (name, directives) => {
  const page = await fetch(`${simulator.url}/checkout/${name}`);
  expect(page.headers.get('content-security-policy')).toContain(directives);
  const html = await page.text();
  const script = await fetch(`${simulator.url}/checkout/window/page.js`);
  const imported = [...(await script.text()).matchAll(/from '\.(\/[^']+)'/g)].map(([, file]) =>
    `/checkout/window${file}`
  );
  const linked = [...html.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect([linked.length, imported.length]).toEqual([2, 4]);
  for (const path of [...linked, ...imported]) {
    const file = await fetch(simulator.url + path);
    expect([path, file.status]).toEqual([path, 200]);
    await file.body?.cancel();
  }
});

test('POST /checkout/target names amount and currency of the order', async () => {
  const { id } = await createOrder();
  const { body } = await checkout('target', { order_id: id, amount: '49900', currency: 'INR' });
  expect(body).toEqual({ id, amount: 49900, currency: 'INR', plan: null });
});

test.each<[string, Entity, number, string]>([
  ['another key', { key: 'key_other' }, 401, 'Authentication failed'],
  ['an unknown order', { order_id: 'order_Unknown0000000' }, 400, 'The id provided does not exist'],
  ['another amount', { amount: 100 }, 400, 'Your payment amount is different from your order amount.'],
  ['another currency', { currency: 'USD' }, 400, 'Your payment currency is different from your order currency.'],
  ['an unknown subscription', { subscription_id: 'sub_Unknown0000000' }, 400, 'The id provided does not exist'],
])('the checkout of %j → %j, no attempt is made', async (_, fields, expected, description) => {
  const { id } = await createOrder();
  for (const path of ['target', 'attempt', 'qr']) {
    const { status, body } = await checkout(path, {
      order_id: id,
      ...path === 'attempt' && { outcome: 'captured' },
      ...fields,
    });
    expect([path, status, body.error.description]).toEqual([path, expected, description]);
  }
  expect((await call('GET', `/v1/orders/${id}`)).body).toMatchObject({ status: 'created', attempts: 0 });
});

test('the checkout of a paid order → 400', async () => {
  const order = await createOrder();
  await pay(order);
  const { status, body } = await checkout('target', { order_id: order.id });
  expect([status, body.error.reason]).toEqual([400, 'order_already_paid']);
});

test('a failed attempt has the error of a checkout, the next one is paid, with the webhooks of both', async () => {
  const { id } = await createOrder();
  const { body: { failed } } = await checkout('attempt', { order_id: id, outcome: 'failed' });
  expect(failed.error).toEqual({
    code: 'BAD_REQUEST_ERROR',
    description: 'The bank declined the payment.',
    source: 'customer',
    step: 'payment_authentication',
    reason: 'payment_failed',
    metadata: { order_id: id, payment_id: expect.stringMatching(/^pay_/) },
  });
  const { body: { paid } } = await checkout('attempt', { order_id: id, outcome: 'captured', notes: { cart: 7 } });
  expect(paid).toEqual({
    razorpay_payment_id: expect.stringMatching(/^pay_/),
    razorpay_order_id: id,
    razorpay_signature: await signHex(KEY_SECRET, `${id}|${paid.razorpay_payment_id}`),
  });
  expect((await call('GET', `/v1/payments/${paid.razorpay_payment_id}`)).body).toMatchObject({
    captured: true,
    notes: { cart: 7 },
  });
  await until(() => events().length === 4);
  expect(events().toSorted()).toEqual(['order.paid', 'payment.authorized', 'payment.captured', 'payment.failed']);
});

test('POST /simulate/checkout says how the webhooks of the checkout are delivered', async () => {
  await simulate('checkout', { deliver: { drop: ['payment.authorized', 'order.paid'], duplicate: 1 } });
  const { id } = await createOrder();
  await checkout('attempt', { order_id: id, outcome: 'captured' });
  await until(() => events().length === 2);
  expect(events()).toEqual(['payment.captured', 'payment.captured']);
  expect((await call('GET', '/simulate/checkout')).body.qr_delay_ms).toBe(5000);
});

test('a QR code is paid after its delay', async () => {
  await simulate('checkout', { qr_delay_ms: 150 });
  const { id } = await createOrder();
  const { body: { payment_id } } = await checkout('qr', { order_id: id, notes: { cart: 'a' } });
  expect(await scan(payment_id)).toEqual({ waiting: true });
  expect((await call('GET', `/v1/payments/${payment_id}`)).body).toMatchObject({
    status: 'created',
    notes: { cart: 'a' },
  });
  const { paid } = await until(async () => {
    const answer = await scan(payment_id);
    return !answer.waiting && answer;
  });
  expect(paid).toMatchObject({ razorpay_payment_id: payment_id, razorpay_order_id: id });
  await until(() => events().length === 3);
  expect(events()).toEqual(['payment.authorized', 'payment.captured', 'order.paid']);
});

test('a QR code is paid when its window is closed', async () => {
  const { id } = await createOrder();
  const { body: { payment_id } } = await checkout('qr', { order_id: id });
  await checkout(`qr/${payment_id}/close`, {});
  expect((await call('GET', `/v1/orders/${id}`)).body).toMatchObject({ status: 'paid', attempts: 1 });
  await until(() => events().length === 3);
});

test('a QR code of an order that was paid in another way captures nothing', async () => {
  const order = await createOrder();
  const { body: { payment_id } } = await checkout('qr', { order_id: order.id });
  await pay(order, { deliver: { drop: true } });
  await checkout(`qr/${payment_id}/close`, {});
  expect((await scan(payment_id)).error.reason).toBe('order_already_paid');
  expect((await call('GET', `/v1/payments/${payment_id}`)).body.status).toBe('created');
});

test('a subscription is refused, then authorised, with the fields of a subscription', async () => {
  const { api, base, read, subscribe, webhooks } = await startBilling();
  const { id } = await subscribe();
  const attempt = async (fields: Entity) =>
    (await api('POST', '/checkout/attempt', { key: 'key_local', subscription_id: id, ...fields })).body;
  const { body: shown } = await api('POST', '/checkout/target', { key: 'key_local', subscription_id: id });
  expect(shown).toMatchObject({
    id,
    amount: 99900,
    currency: 'INR',
    plan: { period: 'monthly', interval: 1, start_at: null },
  });
  expect((await attempt({ outcome: 'failed' })).failed.error.reason).toBe('payment_cancelled');
  const { paid } = await attempt({ outcome: 'captured', method: 'card' });
  expect(paid).toEqual({
    razorpay_payment_id: expect.stringMatching(/^pay_/),
    razorpay_subscription_id: id,
    razorpay_signature: await signHex(KEY_SECRET, `${paid.razorpay_payment_id}|${id}`),
  });
  expect(await read(id)).toMatchObject({ status: 'active', paid_count: 1 });
  expect((await webhooks()).map(({ event }) => event)).toContain('subscription.activated');
  const again = await fetch(`${base}/checkout/target`, {
    method: 'POST',
    body: JSON.stringify({ key: 'key_local', subscription_id: id }),
  });
  expect((await again.json()).error.description).toBe('A subscription that is active can not be authorised.');
});
