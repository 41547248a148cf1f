import { expect, test } from 'vitest';
import { another, call, type Entity, received, until, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

const NOW = 1_900_000_000;
const DAY = 24 * 60 * 60;

/** A simulator with a stopped clock, and its controls. Each returns the body of its answer. */
async function startWithStoppedClock() {
  const api = await another({ now: () => NOW * 1000 });
  return {
    api,
    read: async (path: string) => (await api('GET', path)).body,
    simulate: async (control: string, fields: Record<string, unknown>) =>
      (await api('POST', `/simulate/${control}`, fields)).body,
    shift: (shift_seconds: number) => api('POST', '/simulate/clock', { shift_seconds }),
  };
}

/** By event name: `created_at` of the event, `created_at` of its first entity, `ended_at` of a subscription. */
const times = () =>
  Object.fromEntries(received.map(({ event, body, entity }) => {
    return [event, [JSON.parse(body).created_at, entity.created_at, entity.ended_at ?? null]];
  }));

test('records and events have the time of the clock', async () => {
  const { api, read, simulate } = await startWithStoppedClock();
  const { body: order } = await api('POST', '/v1/orders', { amount: 49900, currency: 'INR' });
  const paid = await simulate('pay', { order_id: order.id, outcome: 'captured' });
  const payment_id = paid.gateway_payment_id;
  const { refund } = await simulate('refund', { payment_id, amount: 100 });
  const { dispute } = await simulate('dispute', { payment_id, event: 'created' });
  const { subscription } = await simulate('subscription', { event: 'activated' });
  const payment = await read(`/v1/payments/${payment_id}`);
  expect([order, payment, refund, dispute, subscription].map(({ created_at }) => created_at))
    .toEqual([NOW, NOW, NOW, NOW, NOW]);
  expect(dispute.respond_by).toBe(NOW + 7 * DAY);
  expect(subscription).toMatchObject({ current_start: NOW, current_end: NOW + 30 * DAY });
  await until(() => received.length === 7);
  expect(times()).toEqual({
    'payment.authorized': [NOW, NOW, null],
    'payment.captured': [NOW, NOW, null],
    'order.paid': [NOW, NOW, null],
    'refund.created': [NOW, NOW, null],
    'refund.processed': [NOW, NOW, null],
    'payment.dispute.created': [NOW, NOW, null],
    'subscription.activated': [NOW, NOW, null],
  });
});

test('POST /simulate/clock replaces the shift, and 0 removes it', async () => {
  const { read, shift } = await startWithStoppedClock();
  expect(await read('/simulate/clock')).toEqual({ now: NOW, shift_seconds: 0 });
  expect((await shift(DAY)).body).toEqual({ now: NOW + DAY, shift_seconds: DAY });
  expect((await shift(DAY)).body).toEqual({ now: NOW + DAY, shift_seconds: DAY });
  expect((await read('/simulate/state')).clock).toEqual({ now: NOW + DAY, shift_seconds: DAY });
  expect((await shift(-DAY)).body).toEqual({ now: NOW - DAY, shift_seconds: -DAY });
  expect((await shift(0)).body).toEqual({ now: NOW, shift_seconds: 0 });
});

test('by default the clock is the clock of the machine', async () => {
  const { now, shift_seconds } = (await call('GET', '/simulate/clock')).body;
  expect(Math.abs(now - Date.now() / 1000)).toBeLessThan(5);
  expect(shift_seconds).toBe(0);
});

test('a refund that is pending for 20 days keeps its created_at, and its later events have the shifted time', async () => {
  const { api, simulate, shift } = await startWithStoppedClock();
  const { body: order } = await api('POST', '/v1/orders', { amount: 49900, currency: 'INR' });
  const paid = await simulate('pay', { order_id: order.id, outcome: 'captured', deliver: { drop: true } });
  const { refund } = await simulate('refund', { payment_id: paid.gateway_payment_id, event: 'created' });
  await shift(20 * DAY);
  await simulate('refund', { refund_id: refund.id, event: 'processed' });
  await shift(25 * DAY);
  await simulate('refund', { refund_id: refund.id, event: 'failed' });
  await until(() => received.length === 3);
  expect(times()).toEqual({
    'refund.created': [NOW, NOW, null],
    'refund.processed': [NOW + 20 * DAY, NOW, null],
    'refund.failed': [NOW + 25 * DAY, NOW, null],
  });
});

test('subscription.cancelled after a cancel call at once has the shifted time', async () => {
  const { api, simulate, shift } = await startWithStoppedClock();
  const { subscription } = await simulate('subscription', { event: 'activated', deliver: { drop: true } });
  await shift(3 * DAY);
  await api('POST', `/v1/subscriptions/${subscription.id}/cancel`, { cancel_at_cycle_end: 0 });
  await until(() => received.length === 1);
  expect(times()).toEqual({ 'subscription.cancelled': [NOW + 3 * DAY, NOW, NOW + 3 * DAY] });
});

test('subscription.cancelled at the end of the cycle has the time of that end, not of the cancel call', async () => {
  const { api, simulate, shift } = await startWithStoppedClock();
  const { subscription } = await simulate('subscription', { event: 'activated', deliver: { drop: true } });
  await shift(3 * DAY);
  await api('POST', `/v1/subscriptions/${subscription.id}/cancel`, { cancel_at_cycle_end: 1 });
  await shift(30 * DAY);
  await simulate('cycle', { subscription_id: subscription.id });
  await until(() => received.length === 1);
  expect(times()).toEqual({ 'subscription.cancelled': [subscription.current_end, NOW, subscription.current_end] });
});

test('the charge of a cycle has the shifted time in payment, order and events', async () => {
  const { read, simulate, shift } = await startWithStoppedClock();
  const { subscription } = await simulate('subscription', { event: 'charged', deliver: { drop: true } });
  await shift(30 * DAY);
  await simulate('cycle', { subscription_id: subscription.id, payment_events: true });
  await until(() => received.length === 4);
  const { payment } = JSON.parse(received[3]?.body ?? '').payload;
  expect(received.map(({ body }) => JSON.parse(body).created_at)).toEqual(Array(4).fill(NOW + 30 * DAY));
  expect(payment.entity.created_at).toBe(NOW + 30 * DAY);
  expect((await read(`/v1/orders/${payment.entity.order_id}`)).created_at).toBe(NOW + 30 * DAY);
});

test('a created_at in the request overrides the clock, in the event and in the new entity', async () => {
  const { api, simulate, shift } = await startWithStoppedClock();
  const { body: order } = await api('POST', '/v1/orders', { amount: 49900, currency: 'INR' });
  await shift(DAY);
  const drop = { deliver: { drop: ['payment.authorized', 'order.paid'] } };
  const paid = await simulate('pay', { order_id: order.id, outcome: 'captured', created_at: NOW + 5, ...drop });
  await simulate('refund', { payment_id: paid.gateway_payment_id, event: 'created', created_at: NOW + 9 });
  await until(() => received.length === 2);
  expect(times()).toEqual({
    'payment.captured': [NOW + 5, NOW + 5, null],
    'refund.created': [NOW + 9, NOW + 9, null],
  });
});

test('the delivery log and the endpoint have the shifted time', async () => {
  const { read, simulate, shift } = await startWithStoppedClock();
  await shift(DAY);
  const { event_id } = await simulate('deliver', { body: '{}' });
  const delivery: Entity = await until(async () => {
    const found = await read(`/simulate/deliveries/${event_id}`);
    return found.state === 'delivered' && found;
  });
  const at = new Date((NOW + DAY) * 1000).toISOString();
  expect(delivery).toMatchObject({ created_at: at, attempts: [{ at }] });
  expect(await simulate('endpoint', { enabled: false, secret: 'next' }))
    .toMatchObject({ disabled_at: at, secret_rotated_at: at });
});

test.each([
  [{}, 'shift_seconds'],
  [{ shift_seconds: 1.5 }, 'shift_seconds'],
  [{ shift_seconds: '1 day' }, 'shift_seconds'],
  [{ shift_seconds: 1e12 }, 'shift_seconds'],
  [{ shift_seconds: 1, now: NOW }, ''],
])('POST /simulate/clock with %j → 400, clock unchanged', async (fields, field) => {
  const { api, read, shift } = await startWithStoppedClock();
  await shift(DAY);
  const { status, body } = await api('POST', '/simulate/clock', { ...fields });
  expect([status, body.error.field]).toEqual([400, field]);
  expect(await read('/simulate/clock')).toEqual({ now: NOW + DAY, shift_seconds: DAY });
});
