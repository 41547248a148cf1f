import { expect, test } from 'vitest';
import { createGatewaySimulator } from '../../scripts/stack/gateway/gateway-simulator.ts';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import {
  another,
  answers,
  call,
  createOrder,
  deliver,
  delivery,
  type Entity,
  events,
  held,
  options,
  pay,
  received,
  until,
  useSimulator,
  WEBHOOK_SECRET,
} from './gateway-simulator-rig.ts';

useSimulator();

test('duplicates are delivered after an accepted delivery, byte for byte the same', async () => {
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

test('events selects the delivered events and their order', async () => {
  await pay(await createOrder(), { deliver: { events: ['order.paid', 'payment.captured'] } });
  await until(() => received.length === 2);
  expect(events()).toEqual(['order.paid', 'payment.captured']);
});

test('at_once delivers all events concurrently', async () => {
  answers.push('hang', 'hang', 'hang');
  await pay(await createOrder(), { deliver: { at_once: true } });
  await until(() => held.length === 3);
  held.splice(0).forEach((release) => release());
});

test('a dropped event is listed but not sent; the others are sent', async () => {
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

test('delay_ms delays the webhooks but not the answer', async () => {
  const before = Date.now();
  await pay(await createOrder(), { deliver: { delay_ms: 150, events: ['order.paid'] } });
  expect(received).toEqual([]);
  await until(() => received.length === 1);
  expect(Date.now() - before).toBeGreaterThanOrEqual(150);
});

test('a webhook is retried, byte for byte the same, until a 2xx', async () => {
  answers.push(500, 400, 302, 204);
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

test('a webhook without an answer within the timeout is retried', async () => {
  const other = await another({ firstRetryMs: 5, timeoutMs: 100 });
  answers.push('hang', 200);
  const { event_id } = (await other('POST', '/simulate/deliver', { body: '{}' })).body;
  const { attempts } = await until(async () => {
    const { body } = await other('GET', `/simulate/deliveries/${event_id}`);
    return body.state === 'delivered' && body;
  });
  expect(attempts[0]).toMatchObject({ status: null, error: 'no answer within 100 ms' });
  expect(attempts.at(-1)).toMatchObject({ status: 200, error: null });
});

test('the pauses between retries double', async () => {
  answers.push(500, 500, 500);
  const { event_id } = await deliver({ body: '{}', deliver: { first_retry_ms: 40 } });
  await until(async () => (await delivery(event_id)).state === 'delivered');
  const { attempts } = await delivery(event_id);
  const times: number[] = attempts.map(({ at }: { at: string }) => Date.parse(at));
  const pauses = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  [40, 80, 160].forEach((pause, i) => expect(pauses[i]).toBeGreaterThanOrEqual(pause - 2));
});

test('a webhook is not retried after 16 deliveries', async () => {
  const other = createGatewaySimulator({ ...options, firstRetryMs: 0.001 });
  await other.start();
  answers.push(...Array(20).fill(503));
  await fetch(`${other.url}/simulate/deliver`, { method: 'POST', body: JSON.stringify({ body: '{}' }) });
  await until(async () => {
    const { items } = await (await fetch(`${other.url}/simulate/deliveries`)).json();
    return items[0].state === 'given_up';
  });
  expect(received).toHaveLength(16);
  await other.stop();
});

test('a webhook without a listener is retried, and a stop ends the retries at once', async () => {
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

test('a stop ends a running delivery', async () => {
  const other = createGatewaySimulator({ ...options, timeoutMs: 600_000 });
  await other.start();
  answers.push('hang');
  await fetch(`${other.url}/simulate/deliver`, { method: 'POST', body: JSON.stringify({ body: '{}' }) });
  await until(() => received.length === 1);
  await other.stop();
  expect(received).toHaveLength(1);
});

test('a raw body is delivered unchanged and signed, with the requested event id', async () => {
  const body = '\ufeff{"event": "payment.captured",  "text": "₹ \\u0000"}\n';
  await deliver({ body, event_id: 'evt_of_mine' });
  await until(() => received.length === 1);
  const { signature, eventId } = received[0] ?? {};
  expect(eventId).toBe('evt_of_mine');
  expect(signature).toBe(await signHex(WEBHOOK_SECRET, body));
});

test('a raw body is delivered with a wrong signature or without one on request', async () => {
  await deliver({ body: '{}', signature: 'f'.repeat(64) });
  await deliver({ body: '{}', signature: null });
  await until(() => received.length === 2);
  expect(received.map(({ signature }) => signature).sort()).toEqual(['f'.repeat(64), null]);
});

test('without a webhook secret webhooks are unsigned', async () => {
  const other = createGatewaySimulator({ ...options, webhookSecret: '' });
  await other.start();
  await fetch(`${other.url}/simulate/deliver`, { method: 'POST', body: JSON.stringify({ body: '{}' }) });
  await until(() => received.length === 1);
  expect(received[0]?.signature).toBeNull();
  await other.stop();
});
