import { beforeEach, describe, expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import {
  answers,
  AUTHORIZATION,
  held,
  received,
  releaseAll,
  simulator,
  startSimulator,
  until,
  useSimulator,
  WEBHOOK_SECRET,
} from './gateway-simulator-rig.ts';
import { call, createOrder, type Entity, events, look, pay, quiet, read, simulate, webhooks } from './simulate.ts';

useSimulator();

/** The gateway's own pace: 24 hours of retries. */
const ownPace = { firstRetryMs: 24 * 3_600_000 / (2 ** 15 - 1) };
const send = async (event = 'x.y', fields: Entity = {}): Promise<string> =>
  (await simulate('deliver', { body: JSON.stringify({ event }), ...fields })).event_id;
const find = (id: string) => look(`deliveries/${id}`);
const stateIs = (id: string, state: string) => until(async () => (await find(id)).state === state);
/** Resolves after so many attempts, while the next one waits. */
const waits = (id: string, attempts: number) =>
  until(async () => {
    const delivery = await find(id);
    return delivery.attempts.length === attempts && delivery.retry_after_ms !== null;
  });
const copies = () => new Set(received.map((one) => JSON.stringify(one))).size;

describe('the field deliver', () => {
  const ORDERED = ['payment.authorized', 'payment.captured', 'order.paid'];
  test.each<[Entity, string[]]>([
    [{}, ORDERED],
    [{ reorder: true }, ORDERED.toReversed()],
    [{ drop: true }, []],
    [{ duplicate: 2, events: ['order.paid'] }, ['order.paid', 'order.paid', 'order.paid']],
  ])('%j delivers %j', async (deliver, expected) => {
    await pay(await createOrder(), { deliver });
    await until(() => received.length === expected.length);
    if (deliver.duplicate) expect(copies()).toBe(1);
    expect(await events()).toEqual(expected);
  });

  test('at_once delivers concurrently, and a dropped event is listed', async () => {
    answers.push('hang', 'hang');
    await pay(await createOrder(), { deliver: { at_once: true, drop: ['payment.captured'] } });
    await until(() => held.length === 2);
    releaseAll();
    await webhooks();
    expect((await look('deliveries')).items.map(({ event, state }: Entity) => `${event} ${state}`))
      .toEqual(['order.paid delivered', 'payment.captured dropped', 'payment.authorized delivered']);
  });
});

describe('a webhook', () => {
  test('has the header names that its receiver expects', async () => {
    await startSimulator({ webhookHeaders: { signature: 'x-gateway-event-id', eventId: 'x-gateway-signature' } });
    const id = await send();
    await until(() => received.length === 1);
    const [{ body, eventId, signature }] = received as [typeof received[0] & object];
    expect([eventId, signature]).toEqual([await signHex(WEBHOOK_SECRET, body), id]);
  });

  test('is retried, byte for byte the same, until a 2xx, while others are delivered', async () => {
    answers.push(500, 400, 302, 204);
    const id = await send();
    await stateIs(id, 'delivered');
    expect((await find(id)).attempts.map(({ status }: Entity) => status)).toEqual([500, 400, 302, 204]);
    expect(copies()).toBe(1);
    answers.push(500);
    const slow = await send('x.slow', { deliver: { first_retry_ms: 600_000 } });
    await waits(slow, 1);
    await stateIs(await send('x.next'), 'delivered');
    expect((await find(slow)).state).toBe('retrying');
  });

  test('without an answer within the timeout is retried', async () => {
    await startSimulator({ timeoutMs: 100 });
    answers.push('hang', 200);
    const id = await send();
    await stateIs(id, 'delivered');
    expect((await find(id)).attempts).toMatchObject([{ status: null, error: 'no answer within 100 ms' }, {
      status: 200,
    }]);
  });

  test.each<[string, Entity, Entity]>([
    ['the requested event id', { event_id: 'evt_of_mine' }, { eventId: 'evt_of_mine' }],
    ['a wrong signature', { signature: 'f'.repeat(64) }, { signature: 'f'.repeat(64) }],
    ['no signature', { signature: null }, { signature: null }],
  ])('of a raw body has this body and %s', async (_, fields, expected) => {
    const body = '\ufeff{"event": "payment.captured",  "text": "₹ \\u0000"}\n';
    await simulate('deliver', { body, ...fields });
    await until(() => received.length === 1);
    expect(received[0]).toMatchObject({ signature: await signHex(WEBHOOK_SECRET, body), ...expected });
  });
});

describe('the endpoint', () => {
  test('is disabled after 24 hours: 15 doubling pauses, each POST byte for byte the same', async () => {
    await startSimulator(ownPace);
    answers.push(...Array(16).fill(500));
    const id = await send();
    const pauses: number[] = [];
    for (let made = 1; made < 16; made += 1) {
      await waits(id, made);
      pauses.push((await find(id)).retry_after_ms);
      expect(await simulate('retry', {})).toEqual({ retried: 1 });
    }
    await stateIs(id, 'given_up');
    expect(pauses.slice(1)).toEqual(pauses.slice(0, -1).map((pause) => pause * 2));
    expect(pauses.reduce((sum, pause) => sum + pause)).toBeCloseTo(24 * 3_600_000, 3);
    expect([received.length, copies()]).toEqual([16, 1]);
    const off = { enabled: false, disabled_by: 'retries_exhausted', disabled_at: '2026-01-10T00:00:00.000Z' };
    expect(await look('endpoint')).toMatchObject(off);
  });

  test('while it is off no event is delivered, also not later, and the API keeps its state', async () => {
    await startSimulator(ownPace);
    answers.push(500);
    const waiting = await send('x.waiting');
    await waits(waiting, 1);
    expect(await simulate('endpoint', { enabled: false })).toMatchObject({ enabled: false, disabled_by: 'control' });
    const order = await createOrder();
    await pay(order);
    const off = await send('x.off');
    expect(await read(`orders/${order.id}`)).toMatchObject({ status: 'paid', amount_paid: 49900 });
    expect(await simulate('retry', {})).toEqual({ retried: 0 });
    await simulate('endpoint', { enabled: true });
    expect((await simulate('redeliver', { event_id: off })).error.field).toBe('event_id');
    await stateIs(await send('x.on'), 'delivered');
    expect(await events()).toEqual(['x.waiting', 'x.on']);
    expect((await look('deliveries')).items.map(({ event, state }: Entity) => `${event} ${state}`)).toEqual([
      ...['x.on delivered', 'x.off endpoint_off', 'order.paid endpoint_off', 'payment.captured endpoint_off'],
      ...['payment.authorized endpoint_off', 'x.waiting endpoint_off'],
    ]);
  });

  test('after a rotation new events have the new secret, retries of older events the old one', async () => {
    await startSimulator(ownPace);
    answers.push(500);
    const older = await send('x.older');
    await waits(older, 1);
    const shown = await simulate('endpoint', { secret: 'the-new-one' });
    expect(JSON.stringify(shown)).not.toContain('the-new-one');
    await stateIs(await send('x.newer'), 'delivered');
    await simulate('retry', { event_id: older });
    await stateIs(older, 'delivered');
    const [first, newer, retry] = received;
    expect(newer?.signature).toBe(await signHex('the-new-one', newer?.body ?? ''));
    expect(retry?.signature).toBe(await signHex(WEBHOOK_SECRET, retry?.body ?? ''));
    expect(retry).toEqual(first);
  });

  test('POST /simulate/redeliver delivers a dropped event late, a delivered one again, both the same', async () => {
    const first = await send('x.first', quiet);
    const second = await send('x.second');
    await stateIs(second, 'delivered');
    for (const [i, event_id] of [first, second].entries()) {
      await simulate('redeliver', { event_id });
      await until(() => received.length === i + 2);
      await stateIs(event_id, 'delivered');
    }
    expect(received.map(({ event, eventId }) => `${event} ${eventId}`))
      .toEqual([`x.second ${second}`, `x.first ${first}`, `x.second ${second}`]);
    expect(received[2]).toEqual(received[0]);
  });
});

describe('a fault', () => {
  let path = '';
  beforeEach(async () => {
    path = `/v1/orders/${(await createOrder()).id}`;
  });
  const statusesOf = async (...paths: string[]) => {
    const statuses: number[] = [];
    for (const one of paths) statuses.push((await call('GET', one)).status);
    return statuses;
  };
  const post = (receipt: string) => {
    const body = JSON.stringify({ amount: 49900, currency: 'INR', receipt });
    return fetch(`${simulator.url}/v1/orders`, { method: 'POST', headers: { authorization: AUTHORIZATION }, body });
  };

  test('of two calls: they get its status in the gateway’s shape, the third succeeds', async () => {
    for (const [status, code] of [[500, 'SERVER_ERROR'], [401, 'BAD_REQUEST_ERROR']]) {
      await simulate('fault', { mode: 'status', status, times: 2 });
      expect((await call('GET', path)).body.error).toMatchObject({ code, description: `Simulated ${status}.` });
      expect(await statusesOf('/v1/nothing', path)).toEqual([status, 200]);
    }
  });

  test('without times affects all calls until it is removed', async () => {
    await simulate('fault', { mode: 'status', status: 429, retry_after: 7 });
    const { headers, body } = await call('GET', path);
    expect([headers.get('retry-after'), body.error.reason]).toEqual(['7', 'rate_limit_exceeded']);
    expect(await statusesOf(path, path)).toEqual([429, 429]);
    expect((await call('DELETE', '/simulate/fault')).body).toEqual({ faults: [] });
    expect(await statusesOf(path)).toEqual([200]);
  });

  test.each([false, true])('can close the connection, with applied: %j', async (applied) => {
    await simulate('fault', { mode: 'close', times: 1, method: 'POST', applied });
    expect(await statusesOf(path)).toEqual([200]);
    await expect(post('once')).rejects.toThrow();
    const again = await post('once');
    expect([again.status, (await again.json()).error?.field]).toEqual(applied ? [400, 'receipt'] : [200, undefined]);
  });

  test('can be garbage, or hold a call until it is removed', async () => {
    await simulate('fault', { mode: 'garbage', times: 1 });
    await expect(call('GET', path)).rejects.toThrow(SyntaxError);
    await simulate('fault', { mode: 'hang', times: 1 });
    let answered = false;
    const hanging = call('GET', path).finally(() => answered = true);
    await until(async () => (await look('fault')).faults.length === 0);
    expect([await statusesOf(path), answered]).toEqual([[200], false]);
    await call('DELETE', '/simulate/fault');
    expect((await hanging).status).toBe(503);
  });

  test('of one method does not affect another one', async () => {
    await simulate('fault', { mode: 'status', status: 503, method: 'GET', path: '/v1/' });
    expect([await statusesOf(path), (await createOrder()).status]).toEqual([[503], 'created']);
  });

  const CALLS = ['/v1/orders', '/v1/orders/x', '/v1/orders/x/payments', '/v1/payments/x/refunds'];
  test.each([
    ['/v1/orders/', ['/v1/orders/x', '/v1/orders/x/payments']],
    ['/v1/orders/:id', ['/v1/orders/x']],
    ['/v1/orders/:id/payments', ['/v1/orders/x/payments']],
  ])('of the path %s affects %j', async (path, met) => {
    await simulate('fault', { mode: 'status', status: 503, path });
    const statuses = await statusesOf(...CALLS);
    expect(CALLS.filter((_, i) => statuses[i] === 503)).toEqual(met);
  });
});
