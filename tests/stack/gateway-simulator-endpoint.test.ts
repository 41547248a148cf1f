import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import {
  another,
  answers,
  type Entity,
  held,
  received,
  until,
  useSimulator,
  WEBHOOK_SECRET,
} from './gateway-simulator-rig.ts';

useSimulator();

type Call = Awaited<ReturnType<typeof another>>;

const DAY_MS = 24 * 60 * 60 * 1000;
const send = async (call: Call, event = 'x.y') =>
  (await call('POST', '/simulate/deliver', { body: JSON.stringify({ event }) })).body.event_id;
const find = async (call: Call, id: string) => (await call('GET', `/simulate/deliveries/${id}`)).body;
/** Resolves after so many attempts, while the next one waits. */
const waits = (call: Call, id: string, attempts: number) =>
  until(async () => {
    const delivery = await find(call, id);
    return delivery.attempts.length === attempts && delivery.retry_after_ms !== null;
  });

test('retries take 24 hours: 15 doubling pauses, each POST byte for byte the same, then the endpoint is disabled', async () => {
  const call = await another();
  answers.push(...Array(16).fill(500));
  const id = await send(call);
  const pauses: number[] = [];
  for (let made = 1; made < 16; made += 1) {
    await waits(call, id, made);
    pauses.push((await find(call, id)).retry_after_ms);
    expect((await call('POST', '/simulate/retry', {})).body).toEqual({ retried: 1 });
  }
  await until(async () => (await find(call, id)).state === 'given_up');
  expect(pauses.slice(1)).toEqual(pauses.slice(0, -1).map((pause) => pause * 2));
  expect(pauses.reduce((sum, pause) => sum + pause)).toBeCloseTo(DAY_MS, 3);
  expect(received).toHaveLength(16);
  const copies = received.map(({ body, eventId, signature }) => JSON.stringify([body, eventId, signature]));
  expect(new Set(copies).size).toBe(1);
  expect(received[0]?.signature).toBe(await signHex(WEBHOOK_SECRET, received[0]?.body ?? ''));
  expect((await call('GET', '/simulate/endpoint')).body)
    .toMatchObject({
      enabled: false,
      disabled_by: 'retries_exhausted',
      disabled_at: expect.any(String),
      time_scale: 1,
    });
});

test('a time scale shortens 24 hours to a second, also for a delivery that waits already', async () => {
  const call = await another();
  answers.push(...Array(16).fill(500));
  const id = await send(call);
  await waits(call, id, 1);
  expect((await call('POST', '/simulate/endpoint', { time_scale: 86_400 })).body.time_scale).toBe(86_400);
  await until(async () => (await find(call, id)).state === 'given_up');
  expect(received).toHaveLength(16);
});

test('while the endpoint is disabled no event is delivered, also not later, and the API keeps its state', async () => {
  const call = await another();
  answers.push(500);
  const waiting = await send(call, 'x.waiting');
  await waits(call, waiting, 1);
  expect((await call('POST', '/simulate/endpoint', { enabled: false })).body)
    .toMatchObject({ enabled: false, disabled_by: 'control' });
  const order = (await call('POST', '/v1/orders', { amount: 49900, currency: 'INR' })).body;
  await call('POST', '/simulate/pay', { order_id: order.id, outcome: 'captured' });
  const raw = await send(call, 'x.off');
  expect((await call('GET', `/v1/orders/${order.id}`)).body).toMatchObject({ status: 'paid', amount_paid: 49900 });
  expect((await call('GET', `/v1/orders/${order.id}/payments`)).body.items).toMatchObject([{ status: 'captured' }]);
  expect((await call('POST', '/simulate/retry', {})).body).toEqual({ retried: 0 });

  expect((await call('POST', '/simulate/endpoint', { enabled: true })).body)
    .toMatchObject({ enabled: true, disabled_at: null, disabled_by: null });
  const on = await send(call, 'x.on');
  await until(async () => (await find(call, on)).state === 'delivered');
  expect(received.map(({ event }) => event)).toEqual(['x.waiting', 'x.on']);
  const { items } = (await call('GET', '/simulate/deliveries')).body;
  expect(items.map(({ event, state }: Entity) => `${event} ${state}`)).toEqual([
    'x.on delivered',
    'x.off endpoint_off',
    'order.paid endpoint_off',
    'payment.captured endpoint_off',
    'payment.authorized endpoint_off',
    'x.waiting endpoint_off',
  ]);
  expect((await find(call, raw)).attempts).toEqual([]);
});

test('an event whose retries are exhausted disables the endpoint also for other waiting events', async () => {
  const call = await another({ firstRetryMs: 0.001 });
  answers.push(500);
  const body = JSON.stringify({ event: 'x.patient' });
  const patient = (await call('POST', '/simulate/deliver', { body, deliver: { first_retry_ms: 600_000 } })).body;
  await waits(call, patient.event_id, 1);
  answers.push(...Array(16).fill(500));
  await send(call, 'x.poison');
  await until(async () => (await call('GET', '/simulate/endpoint')).body.enabled === false);
  expect(await find(call, patient.event_id)).toMatchObject({ state: 'endpoint_off', retry_after_ms: null });
});

test('a running delivery ends after the endpoint is disabled, and is not retried', async () => {
  const call = await another();
  answers.push('hang', 'hang then 500');
  const accepted = await send(call, 'x.accepted');
  await until(() => held.length === 1);
  const refused = await send(call, 'x.refused');
  await until(() => held.length === 2);
  await call('POST', '/simulate/endpoint', { enabled: false });
  held.splice(0).forEach((release) => release());
  await until(async () => (await find(call, accepted)).attempts.length === 1);
  await until(async () => (await find(call, refused)).attempts.length === 1);
  expect((await find(call, accepted)).state).toBe('delivered');
  expect(await find(call, refused)).toMatchObject({ state: 'endpoint_off', attempts: [{ status: 500 }] });
});

test('after a rotation new events are signed with the new secret, and retries of older events with the old one', async () => {
  const call = await another();
  answers.push(500, 500);
  const older = await send(call, 'x.older');
  await waits(call, older, 1);
  const { secret_rotated_at, ...shown } = (await call('POST', '/simulate/endpoint', { secret: 'the-new-one' })).body;
  expect(Math.abs(Date.parse(secret_rotated_at) - Date.now())).toBeLessThan(5_000);
  expect(JSON.stringify(shown)).not.toContain('the-new-one');
  await call('POST', '/simulate/retry', { event_id: older });
  await waits(call, older, 2);
  await send(call, 'x.newer');
  await until(() => received.length === 3);
  await call('POST', '/simulate/retry', { event_id: older });
  await until(async () => (await find(call, older)).state === 'delivered');
  const signed = (event: string, secret: string) => signHex(secret, JSON.stringify({ event }));
  expect(received.map(({ event, signature }) => [event, signature])).toEqual([
    ['x.older', await signed('x.older', WEBHOOK_SECRET)],
    ['x.older', await signed('x.older', WEBHOOK_SECRET)],
    ['x.newer', await signed('x.newer', 'the-new-one')],
    ['x.older', await signed('x.older', WEBHOOK_SECRET)],
  ]);
});

test('POST /simulate/retry with an event_id retries only that event', async () => {
  const call = await another();
  answers.push(500, 500);
  const [first, second] = [await send(call, 'x.first'), await send(call, 'x.second')];
  await waits(call, first, 1);
  await waits(call, second, 1);
  expect((await call('POST', '/simulate/retry', { event_id: second })).body).toEqual({ retried: 1 });
  await until(async () => (await find(call, second)).state === 'delivered');
  expect(await find(call, first)).toMatchObject({ state: 'retrying', attempts: [{ status: 500 }] });
});

test('a duplicate that is accepted ends the retries', async () => {
  const call = await another();
  answers.push(500, 200);
  const sent = await call('POST', '/simulate/deliver', { body: '{}', deliver: { duplicate: 1 } });
  await until(() => received.length === 2);
  await until(async () => (await find(call, sent.body.event_id)).state === 'delivered');
  await call('POST', '/simulate/retry', {});
  await send(call);
  await until(() => received.length === 3);
  expect(await find(call, sent.body.event_id)).toMatchObject({ state: 'delivered', retry_after_ms: null });
});

test('POST /simulate/redeliver delivers a dropped event late and a delivered one again, byte for byte the same', async () => {
  const call = await another();
  const drop = { body: '{"event":"x.first"}', deliver: { drop: true } };
  const first = (await call('POST', '/simulate/deliver', drop)).body;
  const second = await send(call, 'x.second');
  await until(async () => (await find(call, second)).state === 'delivered');
  for (const event_id of [first.event_id, second]) {
    expect((await call('POST', '/simulate/redeliver', { event_id })).body.event_id).toBe(event_id);
    await until(async () => (await find(call, event_id)).state === 'delivered');
  }
  await until(() => received.length === 3);
  expect(received.map(({ event }) => event)).toEqual(['x.second', 'x.first', 'x.second']);
  expect(received[1]).toMatchObject({ body: drop.body, eventId: first.event_id, signature: first.signature });
  expect(received[2]).toEqual(received[0]);
});

test('POST /simulate/redeliver of an unknown event, or one from while the endpoint was disabled → 400', async () => {
  const call = await another();
  await call('POST', '/simulate/endpoint', { enabled: false });
  const event_id = await send(call);
  await call('POST', '/simulate/endpoint', { enabled: true });
  for (const id of [event_id, 'evt_Unknown0000000']) {
    const { status, body } = await call('POST', '/simulate/redeliver', { event_id: id });
    expect([status, body.error.field]).toEqual([400, 'event_id']);
  }
  expect(received).toEqual([]);
});

test.each([
  [{ enabled: 'yes' }, 'enabled'],
  [{ secret: '' }, 'secret'],
  [{ time_scale: 0 }, 'time_scale'],
  [{ timescale: 10 }, ''],
])('POST /simulate/endpoint with %j → 400, nothing changes', async (fields, field) => {
  const call = await another();
  const before = (await call('GET', '/simulate/endpoint')).body;
  const { status, body } = await call('POST', '/simulate/endpoint', { ...fields });
  expect([status, body.error.field]).toEqual([400, field]);
  expect((await call('GET', '/simulate/endpoint')).body).toEqual(before);
});
