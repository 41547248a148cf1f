import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { KEY_SECRET, simulator, until, useSimulator } from './gateway-simulator-rig.ts';
import { call, createOrder, type Entity, events, look, pay, quiet, read, simulate } from './simulate.ts';

useSimulator();

const checkout = (path: string, fields: Entity) =>
  call('POST', `/checkout/${path}`, { key: 'key_local', ...fields }, {});
const scan = async (paymentId: string) => (await call('GET', `/checkout/qr/${paymentId}`, undefined, {})).body;

test('the script is served without a key, and only a fault of its own path stops it', async () => {
  const script = async () => (await fetch(`${simulator.url}/v1/checkout.js`)).status;
  await simulate('fault', { mode: 'status', status: 503 });
  expect(await script()).toBe(200);
  await simulate('fault', { mode: 'status', status: 503, path: '/v1/checkout.js' });
  expect(await script()).toBe(503);
});

test.each([
  ['window', "form-action 'none'; frame-ancestors http://localhost:* https://localhost:*"],
  ['redirect', "form-action http: https:; frame-ancestors 'none'"],
])('the policy of the page %s says %s', async (name, directives) => {
  const page = await fetch(`${simulator.url}/checkout/${name}`);
  await page.body?.cancel();
  expect(page.headers.get('content-security-policy')).toContain(directives);
});

test.each<[string, Entity, number, string]>([
  ['another key', { key: 'key_other' }, 401, 'Authentication failed'],
  ['an unknown order', { order_id: 'order_Unknown0000000' }, 400, 'The id provided does not exist'],
  ['another amount', { amount: 100 }, 400, 'Your payment amount is different from your order amount.'],
  ['a paid order', {}, 400, 'The order is already paid.'],
])('the checkout of %s → %j, no attempt is made', async (what, fields, expected, description) => {
  const order = await createOrder();
  if (what === 'a paid order') await pay(order);
  const before = await read(`orders/${order.id}`);
  for (const path of ['target', 'attempt', ...what === 'a paid order' ? [] : ['qr']]) {
    const outcome = path === 'attempt' ? { outcome: 'captured' } : {};
    const { status, body } = await checkout(path, { order_id: order.id, ...outcome, ...fields });
    expect([path, status, body.error.description]).toEqual([path, expected, description]);
  }
  expect(await read(`orders/${order.id}`)).toEqual(before);
});

test('a failed attempt has the error of a checkout, the next one is paid, with the webhooks of both', async () => {
  const { id } = await createOrder();
  expect((await checkout('target', { order_id: id, amount: '49900', currency: 'INR' })).body)
    .toEqual({ id, amount: 49900, currency: 'INR', plan: null, ordered: 49900, fee: 0, discount: 0 });
  const { body: { failed } } = await checkout('attempt', { order_id: id, outcome: 'failed' });
  expect(failed.error).toEqual({
    ...{ code: 'BAD_REQUEST_ERROR', description: 'The bank declined the payment.', source: 'customer' },
    ...{ step: 'payment_authentication', reason: 'payment_failed' },
    metadata: { order_id: id, payment_id: expect.stringMatching(/^pay_/) },
  });
  expect(await events()).toEqual(['payment.failed']);
  const { body: { paid } } = await checkout('attempt', { order_id: id, outcome: 'captured', notes: { cart: 7 } });
  expect(paid).toEqual({
    razorpay_payment_id: expect.stringMatching(/^pay_/),
    razorpay_order_id: id,
    razorpay_signature: await signHex(KEY_SECRET, `${id}|${paid.razorpay_payment_id}`),
  });
  const payment = await read(`payments/${paid.razorpay_payment_id}`);
  expect([payment.captured, payment.notes]).toEqual([true, { cart: 7 }]);
  expect(await events()).toEqual(['payment.authorized', 'payment.captured', 'order.paid']);
});

test('POST /simulate/checkout says how the webhooks of the checkout are delivered', async () => {
  await simulate('checkout', { deliver: { drop: ['payment.authorized', 'order.paid'], duplicate: 1 } });
  const { id } = await createOrder();
  await checkout('attempt', { order_id: id, outcome: 'captured' });
  expect(await events()).toEqual(['payment.captured', 'payment.captured']);
});

test.each([['after its delay', 1000], ['when its window is closed', 600_000]])(
  'a QR code is paid %s',
  async (when, qr_delay_ms) => {
    await simulate('checkout', { qr_delay_ms });
    const { id } = await createOrder();
    const { body: { payment_id } } = await checkout('qr', { order_id: id, notes: { cart: 'a' } });
    expect(await scan(payment_id)).toEqual({ waiting: true });
    expect(await read(`payments/${payment_id}`)).toMatchObject({ status: 'created', notes: { cart: 'a' } });
    if (when === 'when its window is closed') await checkout(`qr/${payment_id}/close`, {});
    await until(async () => (await scan(payment_id)).paid !== undefined);
    expect((await scan(payment_id)).paid).toMatchObject({ razorpay_payment_id: payment_id, razorpay_order_id: id });
    expect(await read(`orders/${id}`)).toMatchObject({ status: 'paid', attempts: 1 });
    await until(async () => (await look('deliveries')).items.length === 3);
  },
);

test('a QR code of an order that was paid in another way captures nothing', async () => {
  const order = await createOrder();
  const { body: { payment_id } } = await checkout('qr', { order_id: order.id });
  await pay(order, quiet);
  await checkout(`qr/${payment_id}/close`, {});
  expect((await scan(payment_id)).error.reason).toBe('order_already_paid');
});
