import http from 'node:http';
import { expect, test } from 'vitest';
import { AUTHORIZATION, NOW, simulator, useSimulator } from './gateway-simulator-rig.ts';
import { call, type Entity, look } from './simulate.ts';

useSimulator();

const CONTROLS = [
  ...['authorise', 'clock', 'cycle', 'debit', 'deliver', 'dispute', 'due', 'endpoint', 'fault', 'pay', 'payment'],
  ...['plan', 'redeliver', 'refund', 'retry', 'subscription', 'subscription-fault', 'update-method'],
].map((name) => `POST /simulate/${name}`);
const API = [
  ...['POST /v1/orders', 'GET /v1/orders/order_Unknown0000000', 'GET /v1/orders/order_Unknown0000000/payments'],
  ...['GET /v1/payments/pay_Unknown0000000', 'GET /v1/payments/pay_Unknown0000000/refunds'],
  ...['POST /v1/plans', 'GET /v1/plans/plan_Unknown0000000', 'POST /v1/subscriptions', 'GET /v1/subscriptions'],
  ...['GET /v1/subscriptions/sub_Unknown0000000', 'PATCH /v1/subscriptions/sub_Unknown0000000'],
  'POST /v1/subscriptions/sub_Unknown0000000/cancel',
];
const READS = ['deliveries', 'endpoint', 'fault', 'clock', 'state', 'subscription/sub_Unknown0000000']
  .map((name) => `GET /simulate/${name}`);
const ROUTES = [...CONTROLS, ...READS, ...API, 'DELETE /simulate/fault', 'GET /', 'GET /s/sub_Unknown0000000'];
const parts = (route: string) => {
  const [method = '', path = ''] = route.split(' ');
  return { method, path };
};

test('every route refuses a foreign Origin and a foreign Host with 403', async () => {
  const { hostname, port } = new URL(simulator.url);
  for (const route of ROUTES) {
    const { method, path } = parts(route);
    const headers = { authorization: AUTHORIZATION, origin: 'https://evil.example' };
    const foreignHost = await new Promise((resolve, reject) => {
      const options = { hostname, port, method, path, headers: { host: `evil.example:${port}` } };
      http.request(options, (answer) => resolve(answer.resume().statusCode)).on('error', reject).end();
    });
    expect([route, (await call(method, path, undefined, headers)).status, foreignHost]).toEqual([route, 403, 403]);
  }
});

test.each<[string, Record<string, string>]>([
  ['no credentials', {}],
  ['another key secret', { authorization: `Basic ${btoa('key_local:other')}` }],
  ['credentials that are not Base64', { authorization: 'Basic %%%' }],
])('every route of the API with %s → 401 in the gateway’s shape', async (_, headers) => {
  const details = { field: null, source: 'NA', step: 'NA', reason: 'NA', metadata: {} };
  const error = { code: 'BAD_REQUEST_ERROR', description: 'Authentication failed', ...details };
  for (const route of API) {
    const { method, path } = parts(route);
    const { status, body } = await call(method, path, undefined, headers);
    expect([route, status, body]).toEqual([route, 401, { error }]);
  }
});

test('a call with an unknown id → 400, a control with invalid JSON → 400, an unknown path → 404', async () => {
  for (const route of API.filter((one) => one.includes('Unknown'))) {
    const { method, path } = parts(route);
    const { status, body: { error } } = await call(method, path, method === 'GET' ? undefined : { plan_id: 'p' });
    expect([route, status, error.description]).toEqual([route, 400, 'The id provided does not exist']);
  }
  for (const route of CONTROLS) {
    const { status, body: { error } } = await call('POST', parts(route).path, '{');
    expect([route, status, error.field, error.reason]).toEqual([route, 400, '', 'input_validation_failed']);
  }
  expect((await call('GET', '/v1/nothing')).status).toBe(404);
});

const PAY = { order_id: 'order_Unknown0000000', outcome: 'captured' };
const SUB = { subscription_id: 'sub_Unknown0000000' };
const PLAN = { period: 'monthly', interval: 1, item: { name: 'Pro', amount: 99900, currency: 'INR' } };
const NEW = { plan_id: 'plan_Pro00000000001', total_count: 12 };
const ORDER = { amount: 49900, currency: 'INR' };
const manyNotes = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`n${i}`, i]));
test.each<[string, Entity, string]>([
  ['v1/orders', { ...ORDER, amount: 99 }, 'amount'],
  ['v1/orders', { ...ORDER, currency: 'RUPEE' }, 'currency'],
  ['v1/orders', { ...ORDER, receipt: 'r'.repeat(41) }, 'receipt'],
  ['v1/orders', { ...ORDER, notes: manyNotes }, 'notes'],
  ['v1/orders', { ...ORDER, notes: { long: 'x'.repeat(257) } }, 'notes'],
  ['v1/orders', { ...ORDER, tier: 'pro' }, 'tier'],
  ['simulate/refund', { payment_id: 'pay_Unknown0000000' }, 'payment_id'],
  ['simulate/pay', PAY, 'order_id'],
  ['simulate/pay', { ...PAY, outcome: 'maybe' }, 'outcome'],
  ['simulate/pay', { ...PAY, deliver: { events: ['order.payed'] } }, 'deliver.events.0'],
  ['simulate/pay', { ...PAY, irregular: { created_at: 'late' } }, 'irregular.created_at'],
  ['simulate/payment', { payment_id: 'pay_Unknown0000000', to: 'captured' }, 'payment_id'],
  ['simulate/payment', { payment_id: 'pay_Unknown0000000', to: 'refunded' }, 'to'],
  ['simulate/clock', { shift_seconds: 1.5 }, 'shift_seconds'],
  ['simulate/cycle', SUB, 'subscription_id'],
  ['simulate/authorise', { ...SUB, outcome: 'approved' }, 'subscription_id'],
  ['simulate/subscription-fault', { ...SUB, charges: 'fail' }, 'subscription_id'],
  ['simulate/update-method', SUB, 'subscription_id'],
  ['simulate/debit', { hours_before: 37 }, 'hours_before'],
  ['simulate/endpoint', { enabled: 'yes' }, 'enabled'],
  ['simulate/fault', { mode: 'slow' }, 'mode'],
  ['simulate/fault', { mode: 'status', status: 200 }, 'status'],
  ['simulate/fault', { mode: 'hang', times: 0 }, 'times'],
  ['v1/plans', { ...PLAN, period: 'fortnightly' }, 'period'],
  ['v1/plans', { ...PLAN, period: 'daily', interval: 6 }, 'interval'],
  ['v1/plans', { ...PLAN, item: { ...PLAN.item, amount: 99 } }, 'item.amount'],
  ['v1/subscriptions', { ...NEW, total_count: 0 }, 'total_count'],
  ['v1/subscriptions', { ...NEW, start_at: NOW }, 'start_at'],
  ['v1/subscriptions', { ...NEW, expire_by: NOW - 1 }, 'expire_by'],
  ['v1/subscriptions', { ...NEW, amount: 100 }, ''],
])('POST /%s with %j → 400 that names "%s", and nothing changes', async (path, fields, field) => {
  const before = await look('state');
  const { status, body: { error } } = await call('POST', `/${path}`, fields);
  expect([status, error.code, error.field]).toEqual([400, 'BAD_REQUEST_ERROR', field]);
  expect(await look('state')).toEqual(before);
});

test('the page needs no key, and allows no foreign script', async () => {
  const page = await fetch(simulator.url);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  expect(await page.text()).toContain('<title>Gateway simulator</title>');
});
