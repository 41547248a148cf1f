import http from 'node:http';
import { expect, test } from 'vitest';
import { AUTHORIZATION, call, createOrder, simulator, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();

const routes = [
  'POST /simulate/pay',
  'POST /simulate/payment',
  'POST /simulate/refund',
  'POST /simulate/dispute',
  'POST /simulate/subscription',
  'POST /simulate/cycle',
  'POST /simulate/plan',
  'POST /simulate/authorise',
  'POST /simulate/update-method',
  'POST /simulate/subscription-fault',
  'POST /simulate/due',
  'GET /simulate/subscription/sub_Unknown0000000',
  'GET /s/sub_Unknown0000000',
  'POST /simulate/deliver',
  'POST /simulate/retry',
  'POST /simulate/redeliver',
  'GET /simulate/deliveries',
  'GET /simulate/endpoint',
  'POST /simulate/endpoint',
  'GET /simulate/fault',
  'POST /simulate/fault',
  'DELETE /simulate/fault',
  'GET /simulate/clock',
  'POST /simulate/clock',
  'GET /simulate/state',
  'POST /v1/orders',
  'POST /v1/plans',
  'POST /v1/subscriptions',
  'PATCH /v1/subscriptions/sub_Unknown0000000',
  'GET /v1/payments/pay_Unknown0000000/refunds',
];

test.each(routes)('%s with a foreign Origin → 403', async (route) => {
  const [method = '', path = ''] = route.split(' ');
  const origin = 'https://evil.example';
  expect((await call(method, path, undefined, { authorization: AUTHORIZATION, origin })).status).toBe(403);
});

test.each(routes)('%s with a foreign Host → 403', async (route) => {
  const [method = '', path = ''] = route.split(' ');
  const { hostname, port } = new URL(simulator.url);
  const status = await new Promise((resolve, reject) => {
    const options = { hostname, port, method, path, headers: { host: `evil.example:${port}` } };
    http.request(options, (answer) => resolve(answer.resume().statusCode)).on('error', reject).end();
  });
  expect(status).toBe(403);
});

test.each(routes.filter((route) => route.startsWith('POST /simulate')))(
  '%s with invalid JSON → 400 in the gateway’s shape',
  async (route) => {
    const { status, body } = await call('POST', route.slice('POST '.length), '{');
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'BAD_REQUEST_ERROR', field: '', reason: 'input_validation_failed' });
  },
);

test('the page shows the records, needs no key, and allows no foreign script', async () => {
  const order = await createOrder();
  const page = await fetch(simulator.url);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  expect(await page.text()).toContain('<title>Gateway simulator</title>');
  const state = (await call('GET', '/simulate/state', undefined, {})).body;
  expect(state.orders[0]).toEqual(order);
  expect(Object.keys(state)).toEqual([
    'orders',
    'payments',
    'refunds',
    'disputes',
    'subscriptions',
    'ending_with_their_cycle',
    'deliveries',
    'endpoint',
    'faults',
    'clock',
  ]);
});
