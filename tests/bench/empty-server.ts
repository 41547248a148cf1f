/** A server that does nothing but answer: the limit of HTTP. */
Deno.serve({
  hostname: '127.0.0.1',
  port: 0,
  onListen: ({ port }) => console.log(JSON.stringify({ event: 'listening', port })),
}, () => new Response('{"received":true}', { headers: { 'content-type': 'application/json' } }));
