import { afterAll, beforeEach, expect, test } from 'vitest';
import { createGatewaySimulator } from '../../scripts/stack/gateway-simulator.ts';
import { signHex } from '../../scripts/stack/gateway-simulator-signature.ts';

const KEY_SECRET = 'key-secret';
const WEBHOOK_SECRET = 'webhook-secret';

type Received = { body: string; eventId: string | null; signature: string | null; event: string; entity: Entity };
type Entity = Record<string, unknown>;

/** What the receiver got, in the order of arrival, and what it answers: the next status, or a response that never comes. */
let received: Received[] = [];
let answers: (number | 'hang')[] = [];
const held: (() => void)[] = [];

const receiver = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, async (request) => {
  const body = await request.text();
  const json = body.startsWith('{') ? JSON.parse(body) : {};
  const first = Object.values<{ entity: Entity }>(json.payload ?? {})[0];
  received.push({
    body,
    eventId: request.headers.get('x-gateway-event-id'),
    signature: request.headers.get('x-gateway-signature'),
    event: json.event,
    entity: first?.entity ?? {},
  });
  const answer = answers.shift() ?? 200;
  if (answer === 'hang') await new Promise<void>((resolve) => held.push(resolve));
  return new Response(null, { status: answer === 'hang' ? 200 : answer });
});

const options = {
  port: 0,
  keyId: 'key_local',
  keySecret: KEY_SECRET,
  webhookSecret: WEBHOOK_SECRET,
  webhookUrl: `http://127.0.0.1:${receiver.addr.port}/hook`,
  firstRetryMs: 5,
  timeoutMs: 100,
};
const simulator = createGatewaySimulator(options);
await simulator.start();
await simulator.ready();
afterAll(async () => {
  await simulator.stop();
  held.forEach((release) => release());
  await receiver.shutdown();
});
// What a test did not wait for must not arrive in the next one.
beforeEach(async () => {
  held.splice(0).forEach((release) => release());
  answers = [];
  await until(async () => {
    const { items } = (await call('GET', '/simulate/deliveries')).body;
    return items.every(({ state }: Entity) => state !== 'pending' && state !== 'retrying');
  });
  received = [];
});

const AUTHORIZATION = `Basic ${btoa(`key_local:${KEY_SECRET}`)}`;

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: HeadersInit = { authorization: AUTHORIZATION },
) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(simulator.url + path, { method, headers, body: text });
  return { status: response.status, body: await response.json() };
}

async function createOrder(fields: Record<string, unknown> = {}) {
  const { body } = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR', ...fields });
  return body;
}

const pay = (order: { id: string }, fields: Record<string, unknown> = {}) =>
  call('POST', '/simulate/pay', { order_id: order.id, outcome: 'captured', ...fields });

async function until(condition: () => boolean | Promise<boolean>) {
  const deadline = Date.now() + 5_000;
  while (!await condition()) {
    if (Date.now() > deadline) throw new Error(`still waiting; received ${JSON.stringify(received)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const delivery = async (eventId: string) => (await call('GET', `/simulate/deliveries/${eventId}`)).body;
const deliver = async (fields: Record<string, unknown>) => (await call('POST', '/simulate/deliver', fields)).body;
const events = () => received.map(({ event }) => event);

test('a payment signature is HMAC-SHA256 in lower-case hex: a pinned vector', async () => {
  expect(await signHex('key-secret', 'order_A1b2C3d4E5f6G7|pay_H8i9J0k1L2m3N4'))
    .toBe('9be9fd7862f04da99a2b0739f82105d1650b1aedb32751fcefbf4bf1491cf6ac');
  expect(await signHex('webhook-secret', '{"event":"payment.captured","text":"₹ é"}'))
    .toBe('da23069d10702d272d6eb5033e796dc422e41397b297dec54e49193e87d89dd9');
});

test('an empty secret signs nothing', async () => {
  await expect(signHex('', 'order|payment')).rejects.toThrow();
});

test('POST /v1/orders answers the new order, and GET /v1/orders/:id answers it again', async () => {
  const receipt = crypto.randomUUID();
  const made = await call('POST', '/v1/orders', {
    amount: 49900,
    currency: 'INR',
    receipt,
    notes: { tier: 'pro', n: 1 },
  });
  expect(made.status).toBe(200);
  expect(made.body).toMatchObject({
    id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/),
    entity: 'order',
    amount: 49900,
    amount_paid: 0,
    amount_due: 49900,
    currency: 'INR',
    receipt,
    status: 'created',
    attempts: 0,
    notes: { tier: 'pro', n: 1 },
  });
  expect(Math.abs(made.body.created_at - Date.now() / 1000)).toBeLessThan(5);
  expect(await call('GET', `/v1/orders/${made.body.id}`)).toEqual(made);
});

test('empty notes are an empty list', async () => {
  expect((await createOrder()).notes).toEqual([]);
  expect((await createOrder({ notes: {} })).notes).toEqual([]);
});

test.each([
  ['no credentials', {}],
  ['another key id', { authorization: `Basic ${btoa(`key_other:${KEY_SECRET}`)}` }],
  ['another key secret', { authorization: `Basic ${btoa('key_local:other')}` }],
  ['an empty secret', { authorization: `Basic ${btoa('key_local:')}` }],
  ['a bearer token', { authorization: `Bearer ${KEY_SECRET}` }],
  ['credentials that are no base64', { authorization: 'Basic %%%' }],
])('the API with %s → 401 in the gateway’s shape', async (_what, headers) => {
  const { status, body } = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR' }, { ...headers });
  expect(status).toBe(401);
  expect(body).toEqual({
    error: {
      code: 'BAD_REQUEST_ERROR',
      description: 'Authentication failed',
      field: null,
      source: 'NA',
      step: 'NA',
      reason: 'NA',
      metadata: {},
    },
  });
});

test.each([
  ['amount', { amount: 99 }],
  ['amount', { amount: 499.5 }],
  ['amount', { amount: '49900' }],
  ['amount', { amount: undefined }],
  ['currency', { currency: undefined }],
  ['currency', { currency: 'RUPEE' }],
  ['receipt', { receipt: 'r'.repeat(41) }],
  ['notes', { notes: Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`n${i}`, ''])) }],
  ['notes', { notes: { long: 'x'.repeat(257) } }],
  ['notes', { notes: { deep: {} } }],
  ['tier', { tier: 'pro' }],
])('an order with a wrong %s (%j) → 400 that names it', async (field, fields) => {
  const { status, body } = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR', ...fields });
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code: 'BAD_REQUEST_ERROR', field, step: 'payment_initiation', metadata: {} });
});

test('an order at every limit is taken', async () => {
  const notes = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`n${i}`, 'x'.repeat(256)]));
  const { status } = await call('POST', '/v1/orders', { amount: 100, currency: 'INR', receipt: 'r'.repeat(40), notes });
  expect(status).toBe(200);
});

test('a receipt used before → 400', async () => {
  await createOrder({ receipt: 'once' });
  const { status, body } = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR', receipt: 'once' });
  expect(status).toBe(400);
  expect(body.error.field).toBe('receipt');
});

test.each([
  ['GET', '/v1/orders/order_Unknown0000000'],
  ['GET', '/v1/orders/order_Unknown0000000/payments'],
  ['GET', '/v1/payments/pay_Unknown0000000'],
  ['GET', '/v1/subscriptions/sub_Unknown0000000'],
  ['POST', '/v1/subscriptions/sub_Unknown0000000/cancel'],
])('%s %s → 400, as the gateway answers for an unknown id', async (method, path) => {
  const { status, body } = await call(method, path);
  expect(status).toBe(400);
  expect(body.error.code).toBe('BAD_REQUEST_ERROR');
});

test('a captured attempt pays the order and hands over a signature that verifies', async () => {
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

test('a capture delivers three signed webhooks with different ids, each a picture of its moment', async () => {
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

test('a failed attempt hands over its error and no signature, and delivers payment.failed', async () => {
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

test('after a failure the same order can be paid, and a late failure leaves it paid', async () => {
  const order = await createOrder();
  await pay(order, { outcome: 'failed' });
  expect((await pay(order)).status).toBe(200);
  expect((await pay(order, { outcome: 'failed' })).status).toBe(200);
  expect((await call('GET', `/v1/orders/${order.id}`)).body)
    .toMatchObject({ status: 'paid', attempts: 3, amount_paid: 49900 });
  const { items } = (await call('GET', `/v1/orders/${order.id}/payments`)).body;
  expect(items.map((payment: Entity) => payment.status)).toEqual(['failed', 'captured', 'failed']);
});

test('of two racing captures of one order, one is refused', async () => {
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

test('duplicates come though the first was accepted, byte for byte the same', async () => {
  await pay(await createOrder(), { deliver: { duplicate: 2, events: ['payment.captured'] } });
  await until(() => received.length === 3);
  expect(new Set(received.map(({ body, eventId, signature }) => JSON.stringify([body, eventId, signature]))).size).toBe(
    1,
  );
});

test('reorder delivers the last event first', async () => {
  await pay(await createOrder(), { deliver: { reorder: true } });
  await until(() => received.length === 3);
  expect(events()).toEqual(['order.paid', 'payment.captured', 'payment.authorized']);
});

test('events names what is delivered and in which order', async () => {
  await pay(await createOrder(), { deliver: { events: ['order.paid', 'payment.captured'] } });
  await until(() => received.length === 2);
  expect(events()).toEqual(['order.paid', 'payment.captured']);
});

test('at_once has all of them under way together', async () => {
  answers = ['hang', 'hang', 'hang'];
  await pay(await createOrder(), { deliver: { at_once: true } });
  await until(() => held.length === 3);
  held.splice(0).forEach((release) => release());
});

test('a dropped event is listed and never sent, the others are', async () => {
  await pay(await createOrder(), { deliver: { drop: ['payment.captured'] } });
  await until(() => received.length === 2);
  expect(events()).toEqual(['payment.authorized', 'order.paid']);
  const { items } = (await call('GET', '/simulate/deliveries')).body;
  expect(items.slice(0, 3).map(({ event, state }: Entity) => `${event} ${state}`))
    .toEqual(['order.paid delivered', 'payment.captured dropped', 'payment.authorized delivered']);
});

test('drop: true sends nothing', async () => {
  const order = await createOrder();
  await pay(order, { deliver: { drop: true } });
  await pay(order, { outcome: 'failed' });
  await until(() => received.length === 1);
  expect(events()).toEqual(['payment.failed']);
});

test('delay_ms holds the webhooks back and not the answer', async () => {
  const before = Date.now();
  await pay(await createOrder(), { deliver: { delay_ms: 150, events: ['order.paid'] } });
  expect(received).toEqual([]);
  await until(() => received.length === 1);
  expect(Date.now() - before).toBeGreaterThanOrEqual(150);
});

test('a webhook is retried, byte for byte the same, until a 2xx and no longer', async () => {
  answers = [500, 400, 302, 204];
  const { event_id } = await deliver({ body: '{"event":"x.y"}' });
  await until(async () => (await delivery(event_id)).state === 'delivered');
  const { attempts, event } = await delivery(event_id);
  expect(event).toBe('x.y');
  expect(attempts.map(({ status }: Entity) => status)).toEqual([500, 400, 302, 204]);
  expect(new Set(received.map(({ body, eventId, signature }) => JSON.stringify([body, eventId, signature]))).size).toBe(
    1,
  );
  await pay(await createOrder(), { deliver: { events: ['order.paid'] } });
  await until(() => events().includes('order.paid'));
  expect(received).toHaveLength(5);
});

test('an answer later than the time-out counts as none and is retried', async () => {
  answers = ['hang', 200];
  const { event_id } = await deliver({ body: '{}' });
  await until(async () => (await delivery(event_id)).state === 'delivered');
  const { attempts } = await delivery(event_id);
  expect(attempts.map(({ status }: Entity) => status)).toEqual([null, 200]);
  expect(attempts[0].error).toContain('no answer within 100 ms');
});

test('the pauses between retries double', async () => {
  answers = [500, 500, 500];
  const { event_id } = await deliver({ body: '{}', deliver: { first_retry_ms: 40 } });
  await until(async () => (await delivery(event_id)).state === 'delivered');
  const { attempts } = await delivery(event_id);
  const times: number[] = attempts.map(({ at }: { at: string }) => Date.parse(at));
  const pauses = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  [40, 80, 160].forEach((pause, i) => expect(pauses[i]).toBeGreaterThanOrEqual(pause - 2));
});

test('a webhook is given up after 16 deliveries', async () => {
  const other = createGatewaySimulator({ ...options, firstRetryMs: 0.001 });
  await other.start();
  answers = Array(20).fill(503);
  await fetch(`${other.url}/simulate/deliver`, { method: 'POST', body: JSON.stringify({ body: '{}' }) });
  await until(async () => {
    const { items } = await (await fetch(`${other.url}/simulate/deliveries`)).json();
    return items[0].state === 'given_up';
  });
  expect(received).toHaveLength(16);
  await other.stop();
});

test('a webhook nobody listens for is retried, and stopping ends that at once', async () => {
  const other = createGatewaySimulator({ ...options, webhookUrl: 'http://127.0.0.1:1/', firstRetryMs: 600_000 });
  await other.start();
  await fetch(`${other.url}/simulate/deliver`, { method: 'POST', body: JSON.stringify({ body: '{}' }) });
  await until(async () => {
    const { items } = await (await fetch(`${other.url}/simulate/deliveries`)).json();
    return items[0].state === 'retrying' && items[0].attempts.length === 1;
  });
  await other.stop();
  await other.stop();
});

test('stopping ends a delivery that is under way', async () => {
  const other = createGatewaySimulator({ ...options, timeoutMs: 600_000 });
  await other.start();
  answers = ['hang'];
  await fetch(`${other.url}/simulate/deliver`, { method: 'POST', body: JSON.stringify({ body: '{}' }) });
  await until(() => received.length === 1);
  await other.stop();
  expect(received).toHaveLength(1);
});

test('any raw body is delivered as it is, signed, under the id asked for', async () => {
  const body = '\ufeff{"event": "payment.captured",  "text": "₹ \\u0000"}\n';
  await deliver({ body, event_id: 'evt_of_mine' });
  await until(() => received.length === 1);
  const { signature, eventId } = received[0] ?? {};
  expect(eventId).toBe('evt_of_mine');
  expect(signature).toBe(await signHex(WEBHOOK_SECRET, body));
});

test('a raw body goes out under a wrong signature or none when asked', async () => {
  await deliver({ body: '{}', signature: 'f'.repeat(64) });
  await deliver({ body: '{}', signature: null });
  await until(() => received.length === 2);
  expect(received.map(({ signature }) => signature).sort()).toEqual(['f'.repeat(64), null]);
});

test('without a webhook secret webhooks go out unsigned', async () => {
  const other = createGatewaySimulator({ ...options, webhookSecret: '' });
  await other.start();
  await fetch(`${other.url}/simulate/deliver`, { method: 'POST', body: JSON.stringify({ body: '{}' }) });
  await until(() => received.length === 1);
  expect(received[0]?.signature).toBeNull();
  await other.stop();
});

const USER = '7f3c1f0e-9a4b-4c55-8f0a-2d6f1f0b9c11';
const subscribe = (fields: Record<string, unknown>) => call('POST', '/simulate/subscription', fields);

test('an activation makes a subscription with a period and delivers it with the user in its notes', async () => {
  const { status, body } = await subscribe({ event: 'activated', user_id: USER, plan_id: 'plan_Pro00000000001' });
  expect(status).toBe(200);
  await until(() => received.length === 1);
  expect(received[0]).toMatchObject({
    event: 'subscription.activated',
    eventId: body.event_ids[0],
    entity: {
      id: expect.stringMatching(/^sub_[A-Za-z0-9]{14}$/),
      entity: 'subscription',
      plan_id: 'plan_Pro00000000001',
      status: 'active',
      notes: { user_id: USER },
    },
  });
  const { current_start, current_end } = body.subscription;
  expect(current_end - current_start).toBe(30 * 24 * 60 * 60);
  expect((await call('GET', `/v1/subscriptions/${body.subscription.id}`)).body).toEqual(body.subscription);
});

test('the first charge keeps the period, the second moves it on, and each brings its payment', async () => {
  const subscription_id = (await subscribe({ event: 'activated', user_id: USER })).body.subscription.id;
  const first = (await subscribe({ event: 'charged', subscription_id })).body.subscription;
  const second = (await subscribe({ event: 'charged', subscription_id })).body.subscription;
  expect(second).toMatchObject({ current_start: first.current_end, paid_count: 2, notes: { user_id: USER } });
  await until(() => received.length === 3);
  const envelope = JSON.parse(received[2]?.body ?? '');
  expect(envelope.contains).toEqual(['subscription', 'payment']);
  const payment = envelope.payload.payment.entity;
  expect((await call('GET', `/v1/payments/${payment.id}`)).body).toEqual(payment);
});

test('the times of an event are those asked for, null and none included', async () => {
  await subscribe({
    event: 'charged',
    current_start: 1_700_000_000,
    current_end: 1_702_592_000,
    created_at: 1_700_000_005,
  });
  await subscribe({ event: 'activated', current_start: null, current_end: null });
  await subscribe({ event: 'authenticated' });
  await until(() => received.length === 3);
  expect(received.map(({ entity }) => [entity.current_start, entity.current_end, entity.notes])).toEqual(
    [[1_700_000_000, 1_702_592_000, []], [null, null, []], [null, null, []]],
  );
  expect(JSON.parse(received[0]?.body ?? '').created_at).toBe(1_700_000_005);
});

test.each([
  ['authenticated', 'authenticated'],
  ['pending', 'pending'],
  ['halted', 'halted'],
  ['paused', 'paused'],
  ['resumed', 'active'],
  ['completed', 'completed'],
  ['updated', 'active'],
])('subscription.%s shows the status %s', async (event, status) => {
  const subscription_id = (await subscribe({ event: 'activated' })).body.subscription.id;
  const { body } = await subscribe({ event, subscription_id });
  expect(body.subscription.status).toBe(status);
  await until(() => events().includes(`subscription.${event}`));
});

test('POST /v1/subscriptions/:id/cancel cancels at once, tells by webhook, and nothing undoes it', async () => {
  const subscription_id = (await subscribe({ event: 'activated', user_id: USER })).body.subscription.id;
  const path = `/v1/subscriptions/${subscription_id}`;
  const { status, body } = await call('POST', `${path}/cancel`, { cancel_at_cycle_end: 0 });
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: subscription_id, status: 'cancelled', charge_at: null, notes: { user_id: USER } });
  await until(() => received.length === 2);
  expect(received[1]).toMatchObject({ event: 'subscription.cancelled', entity: body });
  expect((await call('POST', `${path}/cancel`, {})).status).toBe(400);
  const late = (await subscribe({ event: 'activated', subscription_id, created_at: body.ended_at - 60 })).body;
  expect(late.subscription.status).toBe('active');
  expect((await call('GET', path)).body).toEqual(body);
});

test('a cancellation at the end of the cycle shows nowhere yet', async () => {
  const { subscription } = (await subscribe({ event: 'activated' })).body;
  await until(() => received.length === 1);
  const { status, body } = await call('POST', `/v1/subscriptions/${subscription.id}/cancel`, {
    cancel_at_cycle_end: 1,
  });
  expect(status).toBe(200);
  expect(body).toEqual(subscription);
  expect(received).toHaveLength(1);
});

test.each([['POST', '/simulate/pay'], ['POST', '/simulate/subscription'], ['POST', '/simulate/deliver'], [
  'GET',
  '/simulate/deliveries',
], ['POST', '/v1/orders']])('%s %s from a foreign page → 403', async (method, path) => {
  const { status } = await call(method, path, undefined, {
    authorization: AUTHORIZATION,
    origin: 'https://evil.example',
  });
  expect(status).toBe(403);
});

test('the page lists what there is, needs no key, and runs no foreign script', async () => {
  const order = await createOrder();
  const page = await fetch(simulator.url);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  expect(await page.text()).toContain('<title>Gateway simulator</title>');
  const state = (await call('GET', '/simulate/state', undefined, {})).body;
  expect(state.orders[0]).toEqual(order);
  expect(Object.keys(state)).toEqual(['orders', 'payments', 'subscriptions', 'deliveries']);
});
