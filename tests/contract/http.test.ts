import { beforeAll, describe, expect, test } from 'vitest';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import type { Buyer } from '../helpers/http/caller.ts';
import { call, checkout, fullAnswer, type Parts, refusal, send } from '../helpers/http/requests.ts';
import { restThenPool, targets, useProject, useService } from '../helpers/project/use-project.ts';
import { uniqueId } from '../helpers/records/records.ts';

// A captured payment without a plan on each target.
const project = useProject({ findings: { captured_not_fulfilled: targets.length } });
const { newBuyer, unchanged } = project;
const notFound = refusal(404, 'Not found');
const tooLarge = refusal(413, 'Payload too large');
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const mebibyte = 1024 * 1024;
const origin = 'https://app.example';

const paths = [
  { path: '/api/subscriptions', allow: 'GET, POST' },
  { path: '/api/subscriptions/plans', allow: 'GET' },
  { path: '/api/payments/orders', allow: 'POST' },
  { path: '/api/payments/orders/order_1', allow: 'GET' },
  { path: '/api/payments/verify', allow: 'POST' },
  { path: '/api/payments/return', allow: 'POST' },
  { path: '/api/payments/c56a4180-65aa-42ec-a945-5fd21dec0538/receipt', allow: 'GET' },
  { path: '/api/receipts/1', allow: 'GET' },
  { path: '/api/billing-details', allow: 'GET, PUT' },
  { path: '/api/webhooks/gateway', allow: 'POST' },
  { path: '/api/internal/outbox', allow: 'POST' },
  { path: '/api/internal/reconcile', allow: 'POST' },
  { path: '/api/health', allow: 'GET' },
];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
let user: Buyer;
beforeAll(async () => {
  user = await newBuyer();
});

describe.each(targets)('%s', (target) => {
  const service = useService(target, project);

  test('HEAD → the status of GET without its body', async () => {
    expect(await call(service, 'HEAD /api/subscriptions')).toEqual({ status: 401, body: null });
  });

  test('1 MiB and a byte to any path → 413, before any other answer', async () => {
    const body = 'x'.repeat(mebibyte + 1);
    await unchanged(async () => {
      for (const { path } of [...paths, { path: '/api/unknown' }]) {
        expect({ path, ...await call(service, `POST ${path}`, { body, user }) }).toEqual({ path, ...tooLarge });
      }
    });
  });

  test('every answer → its status, JSON, no-store, CORS headers, a new request id', async () => {
    const noPlan = await newBuyer({ user, meta: { tier: 'no-such-plan' } });
    const event = JSON.stringify({ event: 'anything' });
    const signature = await sign(secrets.GATEWAY_WEBHOOK_SECRET, event);
    const [read, verify, hook] = ['GET /api/subscriptions', 'POST /api/payments/verify', 'POST /api/webhooks/gateway'];
    const cases: [status: number, endpoint: string, parts?: Parts][] = [
      [200, read, { user }],
      [200, verify, { user, body: user.paid }],
      [200, hook, { body: event, headers: { 'x-gateway-signature': signature } }],
      [200, 'GET /api/health'],
      [400, verify, { user, body: {} }],
      [400, hook, { body: event }],
      [401, read],
      [401, verify, { body: {} }],
      [401, 'POST /api/internal/outbox'],
      [401, 'POST /api/internal/reconcile'],
      [404, verify, { user, body: await checkout(uniqueId('order')) }],
      [404, 'GET /api/unknown'],
      [405, 'DELETE /api/subscriptions'],
      [413, verify, { user, body: 'x'.repeat(1_100_000) }],
      [500, verify, { user, body: '{' }],
      [500, verify, { user, body: noPlan.paid }],
    ];
    const ids = new Set<string | null>();
    for (const [status, endpoint, parts = {}] of cases) {
      const headers = { origin, 'x-request-id': 'of the caller', ...parts.headers };
      const received = await fullAnswer(send(service, endpoint, { ...parts, headers }));
      const header = (name: string) => received.headers.get(name);
      expect({ endpoint, status: received.status }).toEqual({ endpoint, status });
      expect(header('content-type')).toBe('application/json; charset=utf-8');
      expect(header('cache-control')).toBe('private, no-store');
      expect(header('access-control-allow-origin')).toBe('*');
      expect(header('access-control-expose-headers')).toBe('x-request-id,retry-after');
      expect(header('x-request-id')).toMatch(uuid);
      ids.add(header('x-request-id'));
    }
    expect(ids.size).toBe(cases.length);
  });
});

describe('one target', () => {
  const service = useService(restThenPool, project);

  test('another path, with any method, with and without a session → 404', async () => {
    const below = ['', '/', '/unknown', '/subscriptions/', '/Subscriptions', '/payments/verify/x'];
    for (const path of [...below, '//subscriptions', '/%00', '/%E0%A4%A', '/..%2f..%2fetc']) {
      for (const endpoint of [`GET /api${path}`, `DELETE /api${path}`]) {
        expect({ endpoint, ...await call(service, endpoint, { user }) }).toEqual({ endpoint, ...notFound });
      }
      expect(await call(service, `POST /api${path}`)).toEqual(notFound);
    }
  });

  test('a path with any other method → 405 with allow', async () => {
    for (const { path, allow } of paths) {
      for (const method of methods.filter((method) => !allow.split(', ').includes(method))) {
        const { headers, ...received } = await fullAnswer(send(service, `${method} ${path}`, { user }));
        expect(received).toEqual(refusal(405, 'Method not allowed'));
        expect({ path, allow: headers.get('allow') }).toEqual({ path, allow });
      }
    }
  });

  test('OPTIONS of any path from a browser → 204, all methods and headers of the API allowed', async () => {
    const asked = { origin, 'access-control-request-method': 'POST' };
    const headers = { ...asked, 'access-control-request-headers': 'authorization, idempotency-key' };
    for (const { path } of [...paths, { path: '/api/unknown' }]) {
      const received = await fullAnswer(send(service, `OPTIONS ${path}`, { headers }));
      expect(received).toMatchObject({ status: 204, body: null });
      const list = (name: string) =>
        (received.headers.get(`access-control-allow-${name}`) ?? '').toLowerCase().split(/\s*,\s*/).sort();
      expect([list('origin'), list('methods')]).toEqual([['*'], ['get', 'post', 'put']]);
      const allowed = ['apikey', 'authorization', 'content-type', 'idempotency-key', 'x-client-info'];
      expect(list('headers')).toEqual(expect.arrayContaining(allowed));
      expect(received.headers.get('x-request-id')).toMatch(uuid);
    }
  });
});
