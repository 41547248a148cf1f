import { expect, test } from 'vitest';
import { AUTHORIZATION, call, createOrder, simulator } from './gateway-simulator-rig.ts';

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
