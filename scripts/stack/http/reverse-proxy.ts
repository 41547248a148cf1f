import http from 'node:http';
import type { Socket } from 'node:net';
import { forwardRequest, NotDelivered } from './forward-request.ts';
import type { Service } from '../service.ts';
import { isLocalHost } from './local-host.ts';
import { notOwn } from './local-host-service.ts';
import { isOwnUser } from './own-user.ts';

/** The server that a request is sent to; `base` is undefined while it is down. The path includes the query. */
export type Destination = { base(): Promise<string | undefined>; path: string };

export type ReverseProxyOptions = {
  name: string;
  port: number;
  /** Chooses the destination by the request's path; undefined: there is none, 404. */
  route(path: string): Destination | undefined;
};

/** Larger than the function's own limit of 1 MiB, so that the function answers 413 itself. */
const maxBodyBytes = 8 * 1024 * 1024;
const waitMs = 3000;

/**
 * A port that stays open while the server behind it restarts; requests wait up to 3 s for it. The proxy's own answers
 * are `{"error": …}`: 403 for a foreign `Host` and for other users of this machine, 404 without a destination, 413, 502 when the server closed the connection, 503 when it is down.
 */
export function createReverseProxy({ name, port, route }: ReverseProxyOptions): Service {
  const owners = new WeakMap<Socket, Promise<boolean>>();
  const server = http.createServer((request, response) => {
    // Otherwise a page could read the answers under a name of its own, which it lets lead to this machine.
    if (!isLocalHost(request.headers.host, port)) return refuse(response, 403, notOwn);
    const { socket } = request;
    const isOwn = owners.get(socket) ?? isOwnUser(socket.remotePort, port);
    owners.set(socket, isOwn);
    answer(request, response, route, isOwn).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 502, `${name}: ${error instanceof Error ? error.message : String(error)}`);
    });
  });
  return {
    name,
    start() {
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', resolve);
      });
    },
    ready: () => Promise.resolve(),
    stop() {
      if (!server.listening) return Promise.resolve();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

async function answer(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  route: ReverseProxyOptions['route'],
  isOwn: Promise<boolean>,
): Promise<void> {
  if (!await isOwn) return refuse(response, 403, notOwn);
  const body = await collect(request);
  if (body === undefined) return refuse(response, 413, 'Payload too large');
  const destination = route(request.url ?? '/');
  if (!destination) return refuse(response, 404, 'Not found');
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    const base = await destination.base();
    if (base === undefined) break;
    try {
      return await forwardRequest(request, body, base, destination.path, response);
    } catch (error) {
      if (!(error instanceof NotDelivered)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  refuse(response, 503, 'Service unavailable');
}

/** Reads the whole body: if the connection closes earlier, the client misses an early answer (413). */
async function collect(request: http.IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.byteLength;
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  if (length > maxBodyBytes) return undefined;
  return Buffer.concat(chunks);
}

function refuse(response: http.ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
  response.end(JSON.stringify({ error }));
}
