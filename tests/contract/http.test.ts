import { beforeAll, describe, expect, test } from 'vitest';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout } from '../helpers/http/requests.ts';
import { targets } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// A captured payment without a plan.
const project = useProject({ findings: { captured_not_fulfilled: 1 } });
const notFound = refusal(404, 'Not found');
const notAllowed = refusal(405, 'Method not allowed');
const tooLarge = refusal(413, 'Payload too large');
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const paths = [
  { path: '/api/subscriptions', allow: 'GET, POST' },
  { path: '/api/payments/verify', allow: 'POST' },
  { path: '/api/payments/return', allow: 'POST' },
  { path: '/api/payments/orders/order_1', allow: 'GET' },
  { path: '/api/webhooks/gateway', allow: 'POST' },
  { path: '/api/health', allow: 'GET' },
];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

type Call = { status: number; path: string; init?: RequestInit };
let authorization: string;
/** Requests for each status that the service answers. */
let calls: Call[];

beforeAll(async () => {
  const user = await createCaller(project.database);
  authorization = `Bearer ${user.accessToken}`;
  const { orderId } = await createPayment(project.database, { userId: user.id });
  const noPlan = await createPayment(project.database, { userId: user.id, meta: { tier: uniqueId('tier') } });
  const post = (body: string, headers: Record<string, string> = { authorization }) => ({
    method: 'POST',
    body,
    headers,
  });
  const event = JSON.stringify({ event: 'anything' });
  const signature = await sign(secrets.GATEWAY_WEBHOOK_SECRET, event);
  calls = [
    { status: 200, path: '/api/subscriptions', init: { headers: { authorization } } },
    { status: 200, path: '/api/payments/verify', init: post(JSON.stringify(await checkout(orderId))) },
    { status: 200, path: '/api/webhooks/gateway', init: post(event, { 'x-gateway-signature': signature }) },
    { status: 200, path: '/api/health' },
    { status: 400, path: '/api/payments/verify', init: post('{}') },
    { status: 400, path: '/api/webhooks/gateway', init: post(event, {}) },
    { status: 401, path: '/api/subscriptions' },
    { status: 401, path: '/api/payments/verify', init: post('{}', {}) },
    { status: 404, path: '/api/payments/verify', init: post(JSON.stringify(await checkout(uniqueId('order')))) },
    { status: 404, path: '/api/unknown' },
    { status: 405, path: '/api/subscriptions', init: { method: 'DELETE' } },
    { status: 413, path: '/api/payments/verify', init: post('x'.repeat(1_100_000)) },
    { status: 500, path: '/api/payments/verify', init: post('{') },
    { status: 500, path: '/api/payments/verify', init: post(JSON.stringify(await checkout(noPlan.orderId))) },
  ];
});

describe.each(targets)('%s', (target) => {
  const service = useService(target, project);

  test.each([
    '/api/unknown',
    '/api',
    '/api/',
    '/api/subscriptions/',
    '/api/Subscriptions',
    '/api/subscriptions/me',
    '/api/payments',
    '/api/payments/verify/x',
    '/api/webhooks',
    '/api/v1/subscriptions',
    '/api//subscriptions',
    '/api/%00',
    '/api/%E0%A4%A',
    '/api/..%2f..%2fetc%2fpasswd',
  ])('%s with any method → 404', async (path) => {
    for (const method of methods) {
      expect(await answer(service.request(path, { method, headers: { authorization } }))).toEqual(notFound);
    }
    expect(await answer(service.request(path))).toEqual(notFound);
  });

  test.each(paths)('$path with any method but $allow → 405 with allow', async ({ path, allow }) => {
    const before = await readAllRows(project.database);
    for (const method of methods.filter((method) => !allow.split(', ').includes(method))) {
      const { status, headers, body } = await fullAnswer(service.request(path, { method }));
      expect({ status, body }).toEqual(notAllowed);
      expect(headers.get('allow')).toBe(allow);
    }
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('HEAD /api/subscriptions → the status of GET without its body', async () => {
    expect(await answer(service.request('/api/subscriptions', { method: 'HEAD' }))).toEqual({
      status: 401,
      body: null,
    });
    expect(await answer(service.request('/api/health', { method: 'HEAD' }))).toEqual({ status: 200, body: null });
  });

  test.each([
    { path: '/api/payments/verify', method: 'POST' },
    { path: '/api/webhooks/gateway', method: 'POST' },
    { path: '/api/payments/return', method: 'POST' },
    { path: '/api/subscriptions', method: 'POST' },
    { path: '/api/health', method: 'PUT' },
    { path: '/api/unknown', method: 'POST' },
  ])('$method $path with 1 MiB and a byte → 413, before any other answer', async ({ path, method }) => {
    const before = await readAllRows(project.database);
    const body = 'x'.repeat(1024 * 1024 + 1);
    expect(await answer(service.request(path, { method, body }))).toEqual(tooLarge);
    expect(await answer(service.request(path, { method, body, headers: { authorization } }))).toEqual(tooLarge);
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test.each([
    { path: '/api/payments/verify', expected: refusal(401, 'Unauthorized') },
    { path: '/api/webhooks/gateway', expected: refusal(400, 'Missing signature') },
    { path: '/api/unknown', expected: notFound },
  ])('POST $path with exactly 1 MiB → not 413', async ({ path, expected }) => {
    expect(await answer(service.request(path, { method: 'POST', body: 'x'.repeat(1024 * 1024) }))).toEqual(expected);
  });

  test('POST /api/webhooks/gateway with an event of exactly 1 MiB → 200', async () => {
    const frame = JSON.stringify({ event: uniqueId('event'), filler: '' });
    const body = frame.replace('""', `"${'x'.repeat(1024 * 1024 - frame.length)}"`);
    const headers = { 'x-gateway-signature': await sign(secrets.GATEWAY_WEBHOOK_SECRET, body) };
    expect(await answer(service.request('/api/webhooks/gateway', { method: 'POST', body, headers })))
      .toEqual({ status: 200, body: { received: true } });
  });

  test('a body in chunks without content-length → read as a whole, 413 when too large', async () => {
    const pieces = (count: number) =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (count-- > 0) controller.enqueue(new Uint8Array(65536).fill(120));
          else controller.close();
        },
      });
    const send = (count: number) =>
      // fetch requires `duplex` for a streamed body.
      service.request('/api/unknown', Object.assign({ method: 'POST', body: pieces(count) }, { duplex: 'half' }));
    expect(await answer(send(16))).toEqual(notFound);
    expect(await answer(send(17))).toEqual(tooLarge);
  });

  test('every answer → its status, JSON, no-store, CORS headers, a new request id', async () => {
    const ids = new Set<string | null>();
    for (const { path, init, status } of calls) {
      const received = await fullAnswer(
        service.request(path, { ...init, headers: { origin: 'https://app.example', ...init?.headers } }),
      );
      expect({ path, status: received.status }).toEqual({ path, status });
      expect(received.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(received.headers.get('cache-control')).toBe('private, no-store');
      expect(received.headers.get('access-control-allow-origin')).toBe('*');
      expect(received.headers.get('access-control-expose-headers')).toBe('x-request-id,retry-after');
      expect(received.headers.get('x-request-id')).toMatch(uuid);
      ids.add(received.headers.get('x-request-id'));
    }
    expect(ids.size).toBe(calls.length);
  });

  test('x-request-id of a caller → not used', async () => {
    const id = crypto.randomUUID();
    const { headers } = await fullAnswer(service.request('/api/health', { headers: { 'x-request-id': id } }));
    expect(headers.get('x-request-id')).toMatch(uuid);
    expect(headers.get('x-request-id')).not.toBe(id);
  });

  test.each([...paths.map(({ path }) => path), '/api/unknown'])(
    'OPTIONS %s from a browser → 204, all methods and headers of the API allowed',
    async (path) => {
      const { status, headers, body } = await fullAnswer(
        service.request(path, {
          method: 'OPTIONS',
          headers: {
            'origin': 'https://app.example',
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'authorization, idempotency-key',
          },
        }),
      );
      expect({ status, body }).toEqual({ status: 204, body: null });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(list(headers.get('access-control-allow-methods'))).toEqual(['get', 'post']);
      expect(list(headers.get('access-control-allow-headers'))).toEqual(
        expect.arrayContaining(['apikey', 'authorization', 'content-type', 'idempotency-key', 'x-client-info']),
      );
      expect(headers.get('x-request-id')).toMatch(uuid);
    },
  );
});

describe.each(targets)('%s without a configured gateway', (target) => {
  const service = useService(target, project, { GATEWAY_KEY_SECRET: '' });

  test('POST /api/payments/verify → 503 with CORS headers; too large → 413, before 503', async () => {
    const { status, headers } = await fullAnswer(
      service.request('/api/payments/verify', { method: 'POST', body: '{}' }),
    );
    expect(status).toBe(503);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('x-request-id')).toMatch(uuid);
    const body = 'x'.repeat(1024 * 1024 + 1);
    expect(await answer(service.request('/api/payments/verify', { method: 'POST', body }))).toEqual(tooLarge);
  });
});

function list(header: string | null): string[] {
  return (header ?? '').toLowerCase().split(',').map((name) => name.trim()).sort();
}
