/** A server that only answers: the limit of HTTP. */
import { writeLine } from '../../scripts/stack/process/child.ts';

Deno.serve({
  hostname: '127.0.0.1',
  port: 0,
  onListen: ({ port }) => writeLine(JSON.stringify({ event: 'listening', port })),
}, async (request) => {
  // Deno closes a connection whose request was not read.
  await request.arrayBuffer();
  return new Response('{"received":true}', { headers: { 'content-type': 'application/json' } });
});
