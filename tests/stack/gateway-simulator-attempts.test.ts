import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import {
  call,
  createOrder,
  type Entity,
  events,
  KEY_SECRET,
  pay,
  received,
  simulate,
  until,
  useSimulator,
} from './gateway-simulator-rig.ts';

useSimulator();

const payment = async (id: string) => (await call('GET', `/v1/payments/${id}`)).body;
const read = async (order: { id: string }) => (await call('GET', `/v1/orders/${order.id}`)).body;

test('each attempt is one payment, and the order counts failed and successful attempts', async () => {
  const order = await createOrder();
  expect(await read(order)).toMatchObject({ status: 'created', attempts: 0, amount_paid: 0, amount_due: 49900 });
  const ids: string[] = [];
  for (const [i, error_description] of ['Out of funds.', '', null].entries()) {
    ids.unshift((await pay(order, { outcome: 'failed', error_description })).body.gateway_payment_id);
    expect(await read(order)).toMatchObject({ status: 'attempted', attempts: i + 1, amount_paid: 0 });
  }
  ids.unshift((await pay(order)).body.gateway_payment_id);
  expect(await read(order)).toMatchObject({ status: 'paid', attempts: 4, amount_paid: 49900, amount_due: 0 });
  expect(new Set(ids).size).toBe(4);
  const { count, items } = (await call('GET', `/v1/orders/${order.id}/payments`)).body;
  expect(count).toBe(4);
  expect(items).toEqual(await Promise.all(ids.map(payment)));
  expect(items.map(({ status, error_description }: Entity) => [status, error_description]))
    .toEqual([['captured', null], ['failed', null], ['failed', ''], ['failed', 'Out of funds.']]);
  await until(() => received.length === 6);
});

test('late authorisation: the same payment becomes failed, authorized and captured, with a webhook for each', async () => {
  const order = await createOrder();
  const payment_id = (await pay(order, { outcome: 'failed' })).body.gateway_payment_id;
  expect(await payment(payment_id)).toMatchObject({ status: 'failed', error_code: 'BAD_REQUEST_ERROR' });
  const authorized = await simulate('payment', { payment_id, to: 'authorized' });
  const gateway_signature = await signHex(KEY_SECRET, `${order.id}|${payment_id}`);
  expect(authorized).toEqual({ gateway_order_id: order.id, gateway_payment_id: payment_id, gateway_signature });
  expect(await payment(payment_id)).toMatchObject({ status: 'authorized', captured: false, error_code: null });
  expect(await read(order)).toMatchObject({ status: 'attempted', attempts: 1, amount_paid: 0 });
  await simulate('payment', { payment_id, to: 'captured' });
  expect(await payment(payment_id)).toMatchObject({ status: 'captured', captured: true });
  expect(await read(order)).toMatchObject({ status: 'paid', attempts: 1, amount_paid: 49900 });
  await until(() => received.length === 4);
  expect(received.map(({ event, entity }) => [event, entity.id, entity.status])).toEqual([
    ['payment.failed', payment_id, 'failed'],
    ['payment.authorized', payment_id, 'authorized'],
    ['payment.captured', payment_id, 'captured'],
    ['order.paid', payment_id, 'captured'],
  ]);
});

test('the events have the requested created_at', async () => {
  const order = await createOrder();
  const late = (await pay(order, { outcome: 'failed', created_at: 1_700_000_000 })).body.gateway_payment_id;
  await simulate('payment', { payment_id: late, to: 'captured', created_at: 1_700_200_000 });
  await until(() => received.length === 4);
  expect(received.map(({ body }) => JSON.parse(body).created_at))
    .toEqual([1_700_000_000, 1_700_200_000, 1_700_200_000, 1_700_200_000]);
});

test('an authorized payment has a valid signature, and the order stays unpaid', async () => {
  const order = await createOrder();
  const { body } = await pay(order, { outcome: 'authorized' });
  expect(body.gateway_signature).toBe(await signHex(KEY_SECRET, `${order.id}|${body.gateway_payment_id}`));
  await until(() => received.length === 1);
  expect(events()).toEqual(['payment.authorized']);
  expect(await payment(body.gateway_payment_id)).toMatchObject({ status: 'authorized', captured: false });
  expect(await read(order)).toMatchObject({ status: 'attempted', attempts: 1, amount_paid: 0, amount_due: 49900 });
});

test('a created payment has no signature and no webhook, and can fail later', async () => {
  const order = await createOrder();
  const { gateway_payment_id, gateway_signature } = (await pay(order, { outcome: 'created' })).body;
  expect(gateway_signature).toBeNull();
  expect(await payment(gateway_payment_id)).toMatchObject({ status: 'created' });
  expect(await read(order)).toMatchObject({ status: 'attempted', attempts: 1 });
  await simulate('payment', { payment_id: gateway_payment_id, to: 'failed', error_description: 'Timed out.' });
  await until(() => received.length === 1);
  expect(received[0]).toMatchObject({ event: 'payment.failed', entity: { error_description: 'Timed out.' } });
});

test('a late payment of a paid order is authorized, and captured only with although_paid', async () => {
  const order = await createOrder();
  const payment_id = (await pay(order, { outcome: 'failed' })).body.gateway_payment_id;
  await pay(order);
  await simulate('payment', { payment_id, to: 'authorized' });
  const second = await call('POST', '/simulate/payment', { payment_id, to: 'captured' });
  expect([second.status, second.body.error.reason]).toEqual([400, 'order_already_paid']);
  expect(await payment(payment_id)).toMatchObject({ status: 'authorized' });
  await simulate('payment', { payment_id, to: 'captured', although_paid: true });
  expect(await payment(payment_id)).toMatchObject({ status: 'captured' });
  const { items } = (await call('GET', `/v1/orders/${order.id}/payments`)).body;
  expect(items.map(({ status }: Entity) => status)).toEqual(['captured', 'captured']);
});

test.each([
  ['captured', 'failed'],
  ['captured', 'authorized'],
  ['captured', 'captured'],
  ['authorized', 'failed'],
  ['authorized', 'authorized'],
  ['failed', 'failed'],
])('a payment that is %s does not become %s → 400, no webhook', async (outcome, to) => {
  const { body } = await pay(await createOrder(), { outcome, deliver: { drop: true } });
  const { status, body: refused } = await call('POST', '/simulate/payment', {
    payment_id: body.gateway_payment_id,
    to,
  });
  expect(status).toBe(400);
  expect(refused.error).toMatchObject({ field: 'to', reason: 'invalid_payment_status' });
  expect((await payment(body.gateway_payment_id)).status).toBe(outcome);
  expect(received).toEqual([]);
});

test.each([
  [{ payment_id: 'pay_Unknown0000000', to: 'captured' }, 'payment_id'],
  [{ payment_id: 'pay_Unknown0000000', to: 'refunded' }, 'to'],
  [{ to: 'captured' }, 'payment_id'],
])('POST /simulate/payment with %j → 400 that names %s', async (fields, field) => {
  const { status, body } = await call('POST', '/simulate/payment', fields);
  expect([status, body.error.field]).toEqual([400, field]);
});
