import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { createGateway } from '../../supabase/functions/api/gateway/gateway.ts';

type Received = { method: string; path: string; search: string; headers: Headers; body: string };

const received: Received[] = [];
const end = Promise.withResolvers<void>();
let respond: () => Response | Promise<Response>;
const server = Deno.serve(
  { hostname: '127.0.0.1', port: 0, onListen: () => {} },
  async ({ method, url, headers, body }) => {
    const { pathname: path, search } = new URL(url);
    received.push({ method, path, search, headers, body: await new Response(body).text() });
    return await respond();
  },
);
afterAll(async () => {
  end.resolve();
  await server.shutdown();
});
beforeEach(() => {
  received.length = 0;
  respond = () => Response.json({ id: 'order_Abc', entity: 'order', status: 'created' });
});

const url = `http://127.0.0.1:${server.addr.port}`;
const key = { keyId: 'key_1', keySecret: 'key:secret' };
const order = { amount: 99900, currency: 'INR', receipt: 'a'.repeat(32) };
const create = (apiUrl = url) => createGateway({ ...key, apiUrl })?.createOrder(order);

test('without a configuration or an address there is no gateway', () => {
  expect(createGateway(null)).toBeNull();
  expect(createGateway({ ...key, apiUrl: null })).toBeNull();
});

test('createOrder creates one order with automatic capture, over HTTP Basic, and returns its id', async () => {
  expect(await create()).toBe('order_Abc');
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({ method: 'POST', path: '/v1/orders' });
  expect(received[0]?.headers.get('authorization')).toBe(`Basic ${btoa('key_1:key:secret')}`);
  expect(received[0]?.headers.get('content-type')).toBe('application/json');
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({ ...order, payment_capture: 1 });
});

test.each([['', '/v1/orders'], ['/', '/v1/orders'], ['//', '/v1/orders'], ['/pay/', '/pay/v1/orders']])(
  'an address that ends in "%s" leads to %s',
  async (suffix, path) => {
    await create(url + suffix);
    expect(received[0]?.path).toBe(path);
  },
);

test('a key secret outside ASCII is sent as UTF-8', async () => {
  const gateway = createGateway({ keyId: 'key_1', keySecret: 'sécrèt-₹', apiUrl: url });
  expect(await gateway?.createOrder(order)).toBe('order_Abc');
  const encoded = received[0]?.headers.get('authorization')?.replace('Basic ', '') ?? '';
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  expect(new TextDecoder().decode(bytes)).toBe('key_1:sécrèt-₹');
});

describe('createOrder returns null', () => {
  test.each<[string, () => Response]>([
    ['400', () => Response.json({ id: 'order_Abc' }, { status: 400 })],
    ['401', () => Response.json({ id: 'order_Abc' }, { status: 401 })],
    ['429', () => Response.json({ id: 'order_Abc' }, { status: 429 })],
    ['503', () => Response.json({ id: 'order_Abc' }, { status: 503 })],
    ['HTML', () => new Response('<h1>Maintenance</h1>')],
    ['nothing', () => new Response(null, { status: 204 })],
    ['a list', () => Response.json([{ id: 'order_Abc' }])],
    ['no id', () => Response.json({ order: { id: 'order_Abc' } })],
    ['an empty id', () => Response.json({ id: '' })],
    ['an id with U+0000, which Postgres cannot store', () => Response.json({ id: 'order_\0' })],
    ['an id that is a number', () => Response.json({ id: 17 })],
  ])('on an answer with %s', async (_, answer) => {
    respond = answer;
    expect(await create()).toBeNull();
    expect(received).toHaveLength(1);
  });

  test('on a redirect, which is not followed', async () => {
    respond = () => new Response(null, { status: 307, headers: { location: `${url}/elsewhere` } });
    expect(await create()).toBeNull();
    expect(received.map(({ path }) => path)).toEqual(['/v1/orders']);
  });

  test('without a server at the address', async () => {
    expect(await create(`http://127.0.0.1:${freePort()}`)).toBeNull();
  });

  test('after 5 s without an answer, or with an incomplete one', async () => {
    const started = performance.now();
    respond = async () => {
      await end.promise;
      return new Response(null);
    };
    const silent = create();
    const half = createHalfAnswer();
    expect(await Promise.all([silent, create(half.url)])).toEqual([null, null]);
    await half.stop();
    expect(performance.now() - started).toBeGreaterThan(4900);
    expect(performance.now() - started).toBeLessThan(8000);
  });
});

/** A server whose answers start and never end. */
function createHalfAnswer(): { url: string; stop(): Promise<void> } {
  const half = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, () => {
    const start = new TextEncoder().encode('{"id":');
    return new Response(new ReadableStream({ start: (stream) => stream.enqueue(start) }));
  });
  return { url: `http://127.0.0.1:${half.addr.port}`, stop: () => half.shutdown() };
}

describe('reading', () => {
  const gateway = () => createGateway({ ...key, apiUrl: url }) ?? expect.fail();

  test('listOrderPayments returns every attempt on an order', async () => {
    const items = [{ id: 'pay_A', status: 'failed' }, { id: 'pay_B', status: 'captured', notes: [] }];
    respond = () => Response.json({ entity: 'collection', count: 2, items });
    expect(await gateway().listOrderPayments('order_A/../x?y')).toEqual({ status: 'found', value: items });
    expect(received[0]).toMatchObject({ method: 'GET', path: '/v1/orders/order_A%2F..%2Fx%3Fy/payments', body: '' });
  });

  test('listRefunds returns the refunds of a payment, at most 100 instead of the default of ten', async () => {
    const items = [{ id: 'rfnd_A', payment_id: 'pay_A', amount: 100, status: 'pending', created_at: 1_767_225_600 }];
    respond = () => Response.json({ entity: 'collection', count: 1, items });
    expect(await gateway().listRefunds('pay_A/../x?y')).toEqual({ status: 'found', value: items });
    expect(received).toMatchObject([
      { method: 'GET', path: '/v1/payments/pay_A%2F..%2Fx%3Fy/refunds', search: '?count=100', body: '' },
    ]);
  });

  test('readSubscription returns all fields of a subscription', async () => {
    const entity = { id: 'sub_A', status: 'active', current_end: 1_767_225_600, notes: { user_id: 'x' } };
    respond = () => Response.json(entity);
    expect(await gateway().readSubscription('sub_A')).toEqual({ status: 'found', value: entity });
    expect(received[0]).toMatchObject({ method: 'GET', path: '/v1/subscriptions/sub_A' });
  });

  test('text that Postgres cannot store is replaced', async () => {
    respond = () => Response.json({ items: [{ id: 'pay_A', error_description: 'a\0b\uD800' }] });
    expect(await gateway().listOrderPayments('order_A')).toEqual({
      status: 'found',
      value: [{ id: 'pay_A', error_description: 'a\uFFFDb\uFFFD' }],
    });
  });

  test.each([400, 404])('%i means unknown', async (status) => {
    respond = () => Response.json({ error: { code: 'BAD_REQUEST_ERROR' } }, { status });
    expect(await gateway().listOrderPayments('order_A')).toEqual({ status: 'unknown' });
    expect(await gateway().listRefunds('pay_A')).toEqual({ status: 'unknown' });
    expect(await gateway().readSubscription('sub_A')).toEqual({ status: 'unknown' });
  });

  test.each<[string, () => Response]>([
    ['401', () => Response.json({ error: {} }, { status: 401 })],
    ['429', () => Response.json({ error: {} }, { status: 429 })],
    ['500', () => Response.json({ items: [], status: 'active' }, { status: 500 })],
    ['HTML', () => new Response('<h1>Maintenance</h1>')],
    ['404 in HTML, from a proxy', () => new Response('<h1>Not found</h1>', { status: 404 })],
    ['a number', () => Response.json(17)],
    ['invalid items', () => Response.json({ items: [1], status: 7 })],
  ])('%s means unanswered', async (_, answer) => {
    respond = answer;
    expect(await gateway().listOrderPayments('order_A')).toEqual({ status: 'unanswered' });
    expect(await gateway().listRefunds('pay_A')).toEqual({ status: 'unanswered' });
    expect(await gateway().readSubscription('sub_A')).toEqual({ status: 'unanswered' });
  });
});
