import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReverseProxy } from '../../scripts/stack/http/reverse-proxy.ts';
import { freePort } from '../../scripts/stack/ports.ts';

const port = freePort();
const url = `http://127.0.0.1:${port}`;
const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, behind);
/** Addresses without a server. */
const silent = [`http://127.0.0.1:${freePort()}`, `http://127.0.0.1:${freePort()}`];
const proxy = createReverseProxy({
  name: 'proxy',
  port,
  route(path) {
    if (path === '/nowhere') return undefined;
    const behindUrl = `http://127.0.0.1:${server.addr.port}`;
    const base = () => path === '/late' ? silent.pop() ?? behindUrl : behindUrl;
    return { base: () => Promise.resolve(path === '/away' ? undefined : base()), path };
  },
});
beforeAll(() => proxy.start());
afterAll(async () => {
  await proxy.stop();
  await server.shutdown();
});

const compressed = gzipSync('{"packed":true}');

/** The server behind the proxy: fixed answers for some paths, else an echo of body and headers. */
async function behind(request: Request): Promise<Response> {
  switch (new URL(request.url).pathname) {
    case '/cookies':
      return new Response('', { headers: [['set-cookie', 'a=1'], ['set-cookie', 'b=2']] });
    case '/packed':
      return new Response(compressed, { headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' } });
    case '/elsewhere':
      return new Response(null, { status: 307, headers: { location: '/cookies' } });
    case '/unread':
      return Response.json({ error: 'Payload too large' }, { status: 413 });
    default: {
      const seen = JSON.stringify([request.method, request.url, ...request.headers]);
      return new Response(await request.arrayBuffer(), { headers: { 'x-seen': seen } });
    }
  }
}

/** Sends the bytes of a request over a socket and returns the bytes of the answer, without an HTTP client. */
function get(path: string, ...headers: string[]): Promise<Buffer> {
  const lines = [`GET ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, 'connection: close', ...headers, '', ''];
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(lines.join('\r\n')));
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on('end', () => resolve(Buffer.concat(chunks)));
    socket.on('error', reject);
  });
}

test('the proxy passes every byte of a body, also of a chunked one', async () => {
  const body = Uint8Array.from([0xef, 0xbb, 0xbf, ...Array.from({ length: 256 }, (_, index) => index)]);
  for (const sent of [body, new Blob([body.slice(0, 9), body.slice(9)]).stream()]) {
    const answer = await fetch(`${url}/echo`, { method: 'POST', body: sent });
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(body);
  }
});

test('the proxy passes path, query, Host and headers, and adds none', async () => {
  const answer = await get('/echo?a=%2F&b', 'x-gateway-signature: 0a', 'accept-encoding: br');
  const [, seen = ''] = /x-seen: (.*)\r\n/.exec(answer.toString()) ?? [];
  const [method, address, ...headers] = JSON.parse(seen);
  // `connection` describes one connection, so both sides of the proxy have their own.
  expect([method, address, ...headers.filter(([name]: string[]) => name !== 'connection')]).toEqual([
    ...['GET', `${url}/echo?a=%2F&b`],
    ...[['accept-encoding', 'br'], ['host', `127.0.0.1:${port}`], ['x-gateway-signature', '0a']],
  ]);
});

test('the proxy passes answers: each cookie in its own header, compressed bytes, a redirect', async () => {
  expect((await fetch(`${url}/cookies`)).headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  const packed = await get('/packed', 'accept-encoding: gzip');
  expect(packed.toString('latin1')).toContain('content-encoding: gzip');
  expect(packed.includes(compressed)).toBe(true);
  const elsewhere = await fetch(`${url}/elsewhere`, { redirect: 'manual' });
  expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([307, '/cookies']);
});

test('a body of 20 MB that is not read gets its 413', async () => {
  const answer = await fetch(`${url}/unread`, { method: 'POST', body: new Uint8Array(20_000_000) });
  expect([answer.status, await answer.json()]).toEqual([413, { error: 'Payload too large' }]);
});

test('the proxy retries while no server listens, and answers 503 without one and 404 without a route', async () => {
  expect(await (await fetch(`${url}/late`, { method: 'POST', body: 'once' })).text()).toBe('once');
  for (const [path, status] of [['/away', 503], ['/nowhere', 404]]) {
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, Object.keys(await answer.json())]).toEqual([status, ['error']]);
  }
});
