import { beforeEach, expect, test } from 'vitest';
import { AUTHORIZATION, call, createOrder, simulate, simulator, until, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

beforeEach(() => call('DELETE', '/simulate/fault'));

const api = (path: string, init: RequestInit = {}) =>
  fetch(simulator.url + path, { ...init, headers: { authorization: AUTHORIZATION } });
const order = (receipt: string) => JSON.stringify({ amount: 49900, currency: 'INR', receipt });

test.each([[500, 'SERVER_ERROR'], [503, 'SERVER_ERROR'], [401, 'BAD_REQUEST_ERROR']])(
  'the next two calls get a %d in the gateway’s shape, the third succeeds',
  async (status, code) => {
    const { id } = await createOrder();
    await simulate('fault', { mode: 'status', status, times: 2 });
    const calls = [`/v1/orders/${id}`, '/v1/nothing', `/v1/orders/${id}`];
    const answers = [];
    for (const path of calls) answers.push(await call('GET', path));
    expect(answers.map((answer) => answer.status)).toEqual([status, status, 200]);
    expect(answers[0]?.body.error).toMatchObject({ code, description: `Simulated ${status}.`, metadata: {} });
    expect((await call('GET', '/simulate/fault')).body).toEqual({ faults: [] });
  },
);

test('a fault without times affects all calls until it is removed', async () => {
  const { id } = await createOrder();
  const { faults } = await simulate('fault', { mode: 'status', status: 429, retry_after: 7 });
  expect(faults).toEqual([{ mode: 'status', status: 429, retry_after: 7, applied: false }]);
  for (let i = 0; i < 3; i += 1) {
    const { status, headers, body } = await call('GET', `/v1/orders/${id}`);
    expect([status, headers.get('retry-after'), body.error.reason]).toEqual([429, '7', 'rate_limit_exceeded']);
  }
  expect((await call('DELETE', '/simulate/fault')).body).toEqual({ faults: [] });
  expect((await call('GET', `/v1/orders/${id}`)).status).toBe(200);
});

test('a closed connection affects one call, and the next call gets an answer', async () => {
  const { id } = await createOrder();
  await simulate('fault', { mode: 'close', times: 1, method: 'POST' });
  await expect(api('/v1/orders', { method: 'POST', body: order(crypto.randomUUID()) })).rejects.toThrow();
  expect((await call('GET', `/v1/orders/${id}`)).status).toBe(200);
});

test('a hanging call is held until the fault is removed', async () => {
  const { id } = await createOrder();
  await simulate('fault', { mode: 'hang', times: 1 });
  let answered = false;
  const hanging = call('GET', `/v1/orders/${id}`).finally(() => answered = true);
  await until(async () => (await call('GET', '/simulate/fault')).body.faults.length === 0);
  expect((await call('GET', `/v1/orders/${id}`)).status).toBe(200);
  expect(answered).toBe(false);
  await call('DELETE', '/simulate/fault');
  expect((await hanging).status).toBe(503);
});

test('with applied the answer is lost after the order was created', async () => {
  const receipt = crypto.randomUUID();
  await simulate('fault', { mode: 'close', times: 1, applied: true, method: 'POST' });
  await expect(api('/v1/orders', { method: 'POST', body: order(receipt) })).rejects.toThrow();
  const again = await call('POST', '/v1/orders', JSON.parse(order(receipt)));
  expect([again.status, again.body.error.field]).toEqual([400, 'receipt']);
});

test('garbage is a 200 that is not JSON', async () => {
  await simulate('fault', { mode: 'garbage', times: 1 });
  const response = await api('/v1/orders/order_Unknown0000000');
  expect(response.status).toBe(200);
  await expect(response.json()).rejects.toThrow(SyntaxError);
});

test('a fault of one method and path does not affect others or the controls', async () => {
  const { id } = await createOrder();
  await simulate('fault', { mode: 'status', status: 500, method: 'GET', path: '/v1/orders/' });
  await simulate('fault', { mode: 'status', status: 502, path: '/v1/subscriptions/' });
  expect((await call('GET', `/v1/orders/${id}`)).status).toBe(500);
  expect((await call('POST', '/v1/subscriptions/sub_Unknown0000000/cancel', {})).status).toBe(502);
  expect((await createOrder()).status).toBe('created');
  expect((await call('GET', '/simulate/state')).body.faults).toHaveLength(2);
  await simulate('fault', { mode: 'status', status: 503, method: 'GET', path: '/v1/orders/' });
  expect((await call('GET', `/v1/orders/${id}`)).status).toBe(503);
  expect((await call('GET', '/simulate/fault')).body.faults).toHaveLength(2);
});

test.each([
  ['/v1/', ['/v1/orders', '/v1/orders/x', '/v1/orders/x/payments', '/v1/payments/x/refunds']],
  ['/v1/orders/', ['/v1/orders/x', '/v1/orders/x/payments']],
  ['/v1/orders', ['/v1/orders']],
  ['/v1/orders/:id', ['/v1/orders/x']],
  ['/v1/orders/:id/payments', ['/v1/orders/x/payments']],
  ['/v1/payments/:id/refund', []],
])('a fault of the path %s affects %j', async (path, met) => {
  await simulate('fault', { mode: 'status', status: 503, path });
  const calls = ['/v1/orders', '/v1/orders/x', '/v1/orders/x/payments', '/v1/payments/x/refunds'];
  const statuses = await Promise.all(calls.map(async (one) => (await call('GET', one)).status));
  expect(calls.filter((_, i) => statuses[i] === 503)).toEqual(met);
});

test.each([
  [{ mode: 'slow' }, 'mode'],
  [{ mode: 'status' }, 'status'],
  [{ mode: 'status', status: 200 }, 'status'],
  [{ mode: 'hang', times: 0 }, 'times'],
  [{ mode: 'hang', path: '/simulate/' }, 'path'],
  [{ mode: 'hang', path: '/v1/orders/:order' }, 'path'],
  [{ mode: 'hang', time: 1 }, ''],
])('a fault of %j → 400 that names the field, no fault is set', async (fields, field) => {
  const { status, body } = await call('POST', '/simulate/fault', fields);
  expect([status, body.error.field]).toEqual([400, field]);
  expect((await call('GET', '/simulate/fault')).body).toEqual({ faults: [] });
});
