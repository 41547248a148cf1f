import http from 'node:http';
import type { Listen } from './local-host-service.ts';

/**
 * Listens with `node:http`, because Deno's server can't close a connection without an answer. Here `Response.error()`
 * does that. Each connection serves one request: on a kept connection a client may repeat the request by itself, which
 * would hide the outage.
 */
export const listenOnNode: Listen = (port, answer) => {
  const server = http.createServer((incoming, outgoing) => {
    respond(incoming, outgoing, answer).catch(() => incoming.socket.destroy());
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const taken = 'code' in error && error.code === 'EADDRINUSE';
      reject(taken ? new Deno.errors.AddrInUse(error.message) : error);
    });
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve({ port: typeof address === 'object' && address !== null ? address.port : port, close });
    });
  });
};

async function respond(
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
  answer: Parameters<Listen>[1],
): Promise<void> {
  const { method = 'GET', url = '/', rawHeaders, socket: { remotePort: peerPort } } = incoming;
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = method === 'GET' || method === 'HEAD' ? null : Buffer.concat(chunks);
  const response = await answer(new Request(`http://127.0.0.1${url}`, { method, headers, body }), peerPort);
  if (response.type === 'error') return void incoming.socket.destroy();
  outgoing.shouldKeepAlive = false;
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}
