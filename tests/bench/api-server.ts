/**
 * The API of a project as in the local stack: a port in front of Lite, and the public keys of sessions under ES256.
 */
import http from 'node:http';
import { freePort } from '../../scripts/stack/ports.ts';
import { createReverseProxy } from '../../scripts/stack/http/reverse-proxy.ts';
import { writeLine } from '../../scripts/stack/process/child.ts';

const { lite = '', jwks = '' } = JSON.parse(Deno.env.get('BENCH_API') ?? '{}');
const port = freePort();
const keys = http.createServer((_, response) => response.setHeader('content-type', 'application/json').end(jwks));
await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
const address = keys.address();
const keysUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
await createReverseProxy({
  name: 'API',
  port,
  route: (path) => ({ path, base: () => Promise.resolve(path.endsWith('/jwks.json') ? keysUrl : lite) }),
}).start();
writeLine(JSON.stringify({ event: 'listening', port }));
