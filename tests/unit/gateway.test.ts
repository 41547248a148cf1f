import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { createGateway } from '../../supabase/functions/api/gateway/gateway.ts';
import type { Gateway } from '../../supabase/functions/api/ports.ts';

type Received = { call: string; authorization: string | null; type: string | null; body: unknown };

const received: Received[] = [];
const end = Promise.withResolvers<Response>();
let respond: () => Response | Promise<Response>;
const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, async (request) => {
  const { pathname, search } = new URL(request.url);
  const text = await request.text();
  const call = `${request.method} ${pathname}${search}`;
  const [authorization, type] = ['authorization', 'content-type'].map((name) => request.headers.get(name));
  received.push({ call, authorization: authorization ?? null, type: type ?? null, body: text && JSON.parse(text) });
  return await respond();
});
afterAll(async () => {
  end.resolve(new Response(null));
  await server.shutdown();
});
beforeEach(() => {
  received.length = 0;
  respond = () => Response.json({ id: 'order_Abc', entity: 'order', status: 'created' });
});

const url = `http://127.0.0.1:${server.addr.port}`;
const key = { keyId: 'key_1', keySecret: 'key:secret' };
const order = { amount: 99900, currency: 'INR', receipt: 'a'.repeat(32) };
const subscription = {
  userId: 'u',
  requestId: 'r',
  planId: 'plan_A',
  cycles: 12,
  expireBy: 1_767_225_600,
  startAt: null,
};
const gateway = createGateway({ ...key, apiUrl: url }) ?? expect.fail();
const create = (apiUrl: string) => createGateway({ ...key, apiUrl })?.createOrder(order);

test.each([['', '/v1/orders'], ['//', '/v1/orders'], ['/pay/', '/pay/v1/orders']])(
  'an address that ends in "%s" leads to %s',
  async (suffix, path) => {
    await create(url + suffix);
    expect(received[0]?.call).toBe(`POST ${path}`);
  },
);

test.each(['key:secret', 'sécrèt-₹'])('the key secret %s is sent over HTTP Basic, as UTF-8', async (keySecret) => {
  await createGateway({ ...key, keySecret, apiUrl: url })?.createOrder(order);
  const encoded = received[0]?.authorization?.replace('Basic ', '') ?? '';
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  expect(new TextDecoder().decode(bytes)).toBe(`key_1:${keySecret}`);
});

const times = { total_count: 12, expire_by: 1_767_225_600 };
const bought = {
  plan_id: 'plan_A',
  ...times,
  quantity: 1,
  customer_notify: 1,
  notes: { user_id: 'u', request_id: 'r' },
};
const odd = 'A/../x?y';
const encoded = 'A%2F..%2Fx%3Fy';

test.each<[call: string, (gateway: Gateway) => Promise<unknown>, body: unknown]>([
  ['POST /v1/orders', ({ createOrder }) => createOrder(order), { ...order, payment_capture: 1 }],
  ['POST /v1/subscriptions', ({ createSubscription }) => createSubscription(subscription), bought],
  ['POST /v1/subscriptions', (to) => to.createSubscription({ ...subscription, startAt: 7 }), {
    ...bought,
    start_at: 7,
  }],
  [`POST /v1/subscriptions/${encoded}/cancel`, (to) => to.cancelSubscription(odd, true), { cancel_at_cycle_end: 1 }],
  [`POST /v1/subscriptions/${encoded}/cancel`, (to) => to.cancelSubscription(odd, false), { cancel_at_cycle_end: 0 }],
  [`GET /v1/subscriptions/${encoded}`, (to) => to.readSubscription(odd), ''],
  [`GET /v1/payments/${encoded}`, (to) => to.readPayment(odd), ''],
  [`GET /v1/orders/${encoded}/payments`, (to) => to.listOrderPayments(odd), ''],
  [`GET /v1/payments/${encoded}/refunds?count=100`, (to) => to.listRefunds(odd), ''],
  [`GET /v1/invoices?subscription_id=${encoded}&count=100`, (to) => to.listInvoices(odd), ''],
])('%s is one request', async (call, ask, body) => {
  await ask(gateway);
  const authorization = `Basic ${btoa('key_1:key:secret')}`;
  expect(received).toEqual([{ call, authorization, type: 'application/json', body }]);
});

test('createOrder returns the id, createSubscription the id, status and page, cancelSubscription the status; a 429 says when to retry', async () => {
  expect(await gateway.createOrder(order)).toEqual({ status: 'made', value: 'order_Abc' });
  const made = { id: 'sub_A', status: 'created', short_url: 'https://gateway.example.com/s/1' };
  respond = () => Response.json({ ...made, entity: 'subscription' });
  expect(await gateway.createSubscription(subscription)).toEqual({ status: 'made', value: made });
  respond = () => Response.json({ error: {} }, { status: 429, headers: { 'retry-after': '7' } });
  expect(await gateway.cancelSubscription('sub_A', true)).toMatchObject({ status: 429, retryAfter: '7' });
  respond = () => new Response('<h1>Too many requests</h1>', { status: 429, headers: { 'retry-after': '7' } });
  expect(await gateway.cancelSubscription('sub_A', true)).toMatchObject({ status: 429, retryAfter: '7' });
  const limited = { status: 'unanswered', limited: { status: 429, retryAfter: '7' } };
  expect([await gateway.readSubscription('sub_A'), await gateway.listInvoices('sub_A')]).toEqual([limited, limited]);
});

test.each([
  ['a day and an hour ahead of the request', 25, 24 + 25],
  ['two hours ahead of the request, past its start only', 2, 1 + 2],
])('createSubscription refused by a clock %s starts as much later', async (_, ahead, start) => {
  const requestedAt = subscription.expireBy - 24 * 3600;
  const now = requestedAt + ahead * 3600;
  respond = () =>
    received.length === 1
      ? Response.json({ error: {} }, { status: 400, headers: { date: new Date(now * 1000).toUTCString() } })
      : Response.json({ id: 'sub_A', status: 'created', short_url: 'https://gateway.example.com/s/1' });
  const startAt = requestedAt + (start - ahead) * 3600;
  expect(await gateway.createSubscription({ ...subscription, startAt })).toMatchObject({ status: 'made' });
  const body = { ...bought, expire_by: now + 24 * 3600, start_at: requestedAt + start * 3600 };
  expect(received.map((one) => one.body)).toEqual([{ ...bought, start_at: startAt }, body]);
});

test.each([[{}], [{ date: 'yesterday' }]])(
  'a refusal with the headers %j is repeated with no other terms',
  async (headers) => {
    respond = () =>
      new Response('{"error": {"description": "no"}}', { status: 400, headers: { date: '', ...headers } });
    for (const startAt of [null, 1_767_225_600]) {
      expect(await gateway.createSubscription({ ...subscription, startAt })).toEqual({
        status: 'refused',
        reason: 'no',
      });
    }
    expect(received).toHaveLength(2);
  },
);

test.each([
  ['The amount must be at least INR 1.00', 'The amount must be at least INR 1.00'],
  ['asha@example.com, +91 98765 43210', '… …'],
  ['key_1 with key:secret at https://example.com/a?b is unknown', '… with … at … is unknown'],
  ['plan_A1b2C3d4E5f6G7 is\n unknown', '… is  unknown'],
  ['x'.repeat(300), 'x'.repeat(200)],
])(
  'createOrder and createSubscription answer a 400 %j as refused, without what a log must not have',
  async (description, reason) => {
    respond = () => Response.json({ error: { code: 'BAD_REQUEST_ERROR', description } }, { status: 400 });
    expect(await gateway.createOrder(order)).toEqual({ status: 'refused', reason });
    expect(await gateway.createSubscription(subscription)).toEqual({ status: 'refused', reason });
  },
);

test('a 400 without a description is refused, too; a page of a proxy is not', async () => {
  respond = () => Response.json({ id: 'order_Abc' }, { status: 400 });
  expect(await gateway.createOrder(order)).toEqual({ status: 'refused', reason: 'no description' });
  respond = () => new Response('<h1>Bad request</h1>', { status: 400 });
  expect(await gateway.createOrder(order)).toEqual(unanswered);
});

const unanswered = { status: 'unanswered' };
describe('createOrder and createSubscription have no answer', () => {
  const made = { id: 'order_Abc', status: 'created', short_url: 'https://gateway.example.com/s/1' };

  test.each<[string, () => Response]>([
    ['429', () => Response.json(made, { status: 429 })],
    ['HTML', () => new Response('<h1>Maintenance</h1>')],
    ['nothing', () => new Response(null, { status: 204 })],
    ['an id with U+0000, which Postgres cannot store', () => Response.json({ ...made, id: 'order_\0' })],
    ['an id that is a number', () => Response.json({ ...made, id: 17 })],
    ['a redirect, which is not followed', () => Response.redirect(`${url}/elsewhere`, 307)],
  ])('on an answer with %s', async (_, answer) => {
    respond = answer;
    expect(await gateway.createOrder(order)).toEqual(unanswered);
    expect(await gateway.createSubscription(subscription)).toEqual(unanswered);
    expect(received.map(({ call }) => call)).toEqual(['POST /v1/orders', 'POST /v1/subscriptions']);
  });

  test('without a server at the address', async () => {
    expect(await create(`http://127.0.0.1:${freePort()}`)).toEqual(unanswered);
  });

  test('after 5 s without an answer, or with an incomplete one', async () => {
    const { timeout } = AbortSignal;
    const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
      // The watch of a Lite that this worker started for another file has a limit of its own.
      if (milliseconds !== 5000) return timeout.call(AbortSignal, milliseconds);
      const over = new AbortController();
      setTimeout(() => over.abort(), milliseconds / 20);
      return over.signal;
    });
    respond = () => end.promise;
    expect(await create(url)).toEqual(unanswered);
    const start = new TextEncoder().encode('{"id":');
    respond = () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(start) }));
    expect(await create(url)).toEqual(unanswered);
    expect(limit.mock.calls.filter(([milliseconds]) => milliseconds === 5000)).toHaveLength(2);
    limit.mockRestore();
  });
});

describe('reading', () => {
  test('returns all entities with all fields, and replaces text that Postgres cannot store', async () => {
    const items = [{ id: 'pay_A', status: 'failed' }, { id: 'pay_B', status: 'captured', notes: [] }];
    respond = () => Response.json({ entity: 'collection', count: 2, items });
    expect(await gateway.listOrderPayments('order_A')).toEqual({ status: 'found', value: items });
    expect(await gateway.listRefunds('pay_A')).toEqual({ status: 'found', value: items });
    const entity = { id: 'sub_A', status: 'active', current_end: 1_767_225_600, notes: { user_id: 'a\0b\uD800' } };
    respond = () => Response.json(entity);
    expect(await gateway.readSubscription('sub_A'))
      .toEqual({ status: 'found', value: { ...entity, notes: { user_id: 'a\uFFFDb\uFFFD' } } });
  });

  test.each<[string, 'unknown' | 'unanswered', () => Response]>([
    ['400', 'unknown', () => Response.json({ error: { code: 'BAD_REQUEST_ERROR' } }, { status: 400 })],
    ['404', 'unknown', () => Response.json({ error: { code: 'BAD_REQUEST_ERROR' } }, { status: 404 })],
    ['401', 'unanswered', () => Response.json({ error: {} }, { status: 401 })],
    ['500', 'unanswered', () => Response.json({ items: [], status: 'active' }, { status: 500 })],
    ['HTML', 'unanswered', () => new Response('<h1>Maintenance</h1>')],
    ['404 in HTML, from a proxy', 'unanswered', () => new Response('<h1>Not found</h1>', { status: 404 })],
    ['invalid items', 'unanswered', () => Response.json({ items: [1], status: 7 })],
  ])('%s means %s', async (_, status, answer) => {
    respond = answer;
    expect(await gateway.listOrderPayments('order_A')).toEqual({ status });
    expect(await gateway.listRefunds('pay_A')).toEqual({ status });
    expect(await gateway.readSubscription('sub_A')).toEqual({ status });
  });
});
