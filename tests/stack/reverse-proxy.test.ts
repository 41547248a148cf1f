import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReverseProxy } from '../../scripts/stack/http/reverse-proxy.ts';
import { freePort } from '../../scripts/stack/ports.ts';

/** Sends the bytes of a request over a socket and returns the bytes of the answer, without an HTTP client. */
function exchange(port: number, request: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on('end', () => resolve(Buffer.concat(chunks)));
    socket.on('error', reject);
  });
}

function get(port: number, path: string, ...headers: string[]): Promise<Buffer> {
  const lines = [`GET ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, 'connection: close', ...headers, '', ''];
  return exchange(port, new TextEncoder().encode(lines.join('\r\n')));
}

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
    default:
      return new Response(await request.arrayBuffer(), {
        headers: { 'x-seen': JSON.stringify([request.method, request.url, ...request.headers]) },
      });
  }
}

describe('the proxy', () => {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, behind);
  const behindUrl = `http://127.0.0.1:${server.addr.port}`;
  const nowhere = `http://127.0.0.1:${freePort()}`;
  let attempts = 0;
  const bases: Record<string, () => string | undefined> = {
    '/away': () => undefined,
    '/late': () => attempts++ < 2 ? nowhere : behindUrl,
  };
  const proxy = createReverseProxy({
    name: 'proxy',
    port,
    route(path) {
      if (path === '/nowhere') return undefined;
      return { base: () => Promise.resolve((bases[path] ?? (() => behindUrl))()), path };
    },
  });

  beforeAll(() => proxy.start());
  afterAll(async () => {
    await proxy.stop();
    await server.shutdown();
  });

  test('passes every byte of a body, including a byte-order mark and invalid UTF-8', async () => {
    const body = Uint8Array.from([0xef, 0xbb, 0xbf, ...Array.from({ length: 256 }, (_, index) => index)]);
    const answer = await fetch(`${url}/echo`, { method: 'POST', body });
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(body);
  });

  test('passes path, query, Host and headers, and adds none', async () => {
    const answer = await get(port, '/echo?a=%2F&b', 'x-gateway-signature: 0a', 'accept-encoding: br');
    const [, seen = ''] = /x-seen: (.*)\r\n/.exec(answer.toString()) ?? [];
    const [method, address, ...headers] = JSON.parse(seen);
    // `connection` describes one connection, so both sides of the proxy have their own.
    expect([method, address, ...headers.filter(([name]: string[]) => name !== 'connection')]).toEqual([
      'GET',
      `${url}/echo?a=%2F&b`,
      ...[['accept-encoding', 'br'], ['host', `127.0.0.1:${port}`], ['x-gateway-signature', '0a']],
    ]);
  });

  test('passes a chunked body', async () => {
    const body = new Blob(['one', 'two']).stream();
    const answer = await fetch(`${url}/echo`, { method: 'POST', body });
    expect(await answer.text()).toBe('onetwo');
  });

  test('passes each cookie in its own header', async () => {
    const answer = await fetch(`${url}/cookies`);
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  test('passes a compressed answer unchanged', async () => {
    const answer = await get(port, '/packed', 'accept-encoding: gzip');
    expect(answer.toString('latin1')).toContain('content-encoding: gzip');
    expect(answer.includes(compressed)).toBe(true);
  });

  test('follows no redirect', async () => {
    const answer = await fetch(`${url}/elsewhere`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([307, '/cookies']);
  });

  test.each([5_000_000, 20_000_000])(
    'passes the 413 of a server that does not read a body of %i bytes',
    async (size) => {
      const answer = await fetch(`${url}/unread`, { method: 'POST', body: new Uint8Array(size) });
      expect([answer.status, await answer.json()]).toEqual([413, { error: 'Payload too large' }]);
    },
  );

  test('retries while no server listens', async () => {
    const answer = await fetch(`${url}/late`, { method: 'POST', body: 'once' });
    expect(await answer.text()).toBe('once');
  });

  test.each([['/away', 503], ['/nowhere', 404]])('answers %s with %i', async (path, status) => {
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, Object.keys(await answer.json())]).toEqual([status, ['error']]);
  });
});
