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
  until,
  useSimulator,
  WEBHOOK_SECRET,
} from './gateway-simulator-rig.ts';

useSimulator();

test('a captured attempt pays the order and returns a valid signature', async () => {
  const order = await createOrder({ notes: { tier: 'pro' } });
  const paid = await pay(order, { notes: { from: 'browser' } });
  expect(paid.status).toBe(200);
  const paymentId = paid.body.gateway_payment_id;
  expect(paid.body).toEqual({
    gateway_order_id: order.id,
    gateway_payment_id: expect.stringMatching(/^pay_[A-Za-z0-9]{14}$/),
    gateway_signature: await signHex(KEY_SECRET, `${order.id}|${paymentId}`),
  });
  const paidOrder = { ...order, status: 'paid', attempts: 1, amount_paid: 49900, amount_due: 0 };
  expect((await call('GET', `/v1/orders/${order.id}`)).body).toEqual(paidOrder);
  const payment = (await call('GET', `/v1/payments/${paymentId}`)).body;
  expect(payment).toMatchObject({
    entity: 'payment',
    order_id: order.id,
    amount: 49900,
    currency: 'INR',
    status: 'captured',
    captured: true,
    error_code: null,
    notes: { from: 'browser' },
  });
  expect((await call('GET', `/v1/orders/${order.id}/payments`)).body)
    .toEqual({ entity: 'collection', count: 1, items: [payment] });
});

test('a capture delivers three signed webhooks with different ids, each with the state at its time', async () => {
  const order = await createOrder();
  const { body: paid } = await pay(order);
  await until(() => received.length === 3);
  expect(events()).toEqual(['payment.authorized', 'payment.captured', 'order.paid']);
  expect(new Set(received.map(({ eventId }) => eventId)).size).toBe(3);
  for (const { body, signature, eventId } of received) {
    expect(signature).toBe(await signHex(WEBHOOK_SECRET, body));
    expect(body).not.toContain(eventId);
    const envelope = JSON.parse(body);
    expect(envelope).toMatchObject({ entity: 'event', account_id: expect.stringMatching(/^acc_[A-Za-z0-9]{14}$/) });
    expect(envelope.contains).toEqual(Object.keys(envelope.payload));
    expect(Math.abs(envelope.created_at - Date.now() / 1000)).toBeLessThan(5);
    expect(envelope.payload.payment.entity).toMatchObject({
      id: paid.gateway_payment_id,
      order_id: order.id,
      notes: [],
    });
  }
  expect(received.map(({ entity }) => entity.status)).toEqual(['authorized', 'captured', 'captured']);
  const { payload } = JSON.parse(received[2]?.body ?? '');
  expect(payload.order.entity).toMatchObject({ id: order.id, status: 'paid', amount_paid: 49900 });
});

test('a failed attempt returns its error and no signature, and delivers payment.failed', async () => {
  const order = await createOrder();
  const { status, body } = await pay(order, { outcome: 'failed', error_description: 'Out of funds.' });
  expect(status).toBe(200);
  expect(body).toEqual({
    gateway_order_id: order.id,
    gateway_payment_id: expect.stringMatching(/^pay_/),
    gateway_signature: null,
    error: {
      code: 'BAD_REQUEST_ERROR',
      description: 'Out of funds.',
      source: 'customer',
      step: 'payment_authentication',
      reason: 'payment_failed',
      metadata: { order_id: order.id, payment_id: body.gateway_payment_id },
    },
  });
  await until(() => received.length === 1);
  expect(received[0]).toMatchObject({
    event: 'payment.failed',
    entity: {
      id: body.gateway_payment_id,
      order_id: order.id,
      status: 'failed',
      captured: false,
      error_code: 'BAD_REQUEST_ERROR',
      error_description: 'Out of funds.',
      error_reason: 'payment_failed',
    },
  });
  expect((await call('GET', `/v1/orders/${order.id}`)).body).toMatchObject({ status: 'attempted', attempts: 1 });
});

test('after a failure the same order can be paid, and it stays paid after a later failure', async () => {
  const order = await createOrder();
  await pay(order, { outcome: 'failed' });
  expect((await pay(order)).status).toBe(200);
  expect((await pay(order, { outcome: 'failed' })).status).toBe(200);
  expect((await call('GET', `/v1/orders/${order.id}`)).body)
    .toMatchObject({ status: 'paid', attempts: 3, amount_paid: 49900 });
  const { items } = (await call('GET', `/v1/orders/${order.id}/payments`)).body;
  expect(items.map((payment: Entity) => payment.status)).toEqual(['failed', 'captured', 'failed']);
});

test('one of two concurrent captures of one order is refused', async () => {
  const order = await createOrder();
  const results = await Promise.all([pay(order), pay(order)]);
  expect(results.map(({ status }) => status).sort()).toEqual([200, 400]);
  const refused = results.find(({ status }) => status === 400);
  expect(refused?.body.error).toMatchObject({ code: 'BAD_REQUEST_ERROR', reason: 'order_already_paid' });
});

test('paying an unknown order → 400', async () => {
  const { status, body } = await pay({ id: 'order_Unknown0000000' });
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code: 'BAD_REQUEST_ERROR', field: 'order_id' });
});

test.each([
  [{ outcome: 'maybe' }, 'outcome'],
  [{ deliver: { duplicates: 1 } }, 'deliver'],
  [{ deliver: { drop: ['order.payed'] } }, 'deliver.drop'],
  [{ deliver: { events: ['order.payed'] } }, 'deliver.events'],
])('paying with %j → 400, and the order stays open', async (fields, field) => {
  const order = await createOrder();
  const { status, body } = await pay(order, fields);
  expect(status).toBe(400);
  expect(body.error.field).toContain(field);
  expect((await call('GET', `/v1/orders/${order.id}`)).body.status).toBe('created');
});
