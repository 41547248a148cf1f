import http from 'node:http';
import { forwardRequest, NotDelivered } from './forward-request.ts';
import type { Service } from '../service.ts';

/** Where a request goes: undefined while that server is away. The path is sent as given, query included. */
export type Destination = { base(): Promise<string | undefined>; path: string };

export type ReverseProxyOptions = {
  name: string;
  port: number;
  /** Chooses the destination by the request's path; undefined: there is none, 404. */
  route(path: string): Destination | undefined;
};

/** Larger bodies are answered 413; the function's own limit is 1 MiB, so what it says comes through. */
const largestBody = 8 * 1024 * 1024;
const waitMs = 3000;

/**
 * A port held by the supervisor: it stays open while the server behind it restarts, and requests wait for that a moment.
 * Answers of its own are `{"error": …}`: 404 for no destination, 413, 502 when the server broke off, 503 when it is away.
 */
export function createReverseProxy({ name, port, route }: ReverseProxyOptions): Service {
  const server = http.createServer((request, response) => {
    answer(request, response, route).catch((error: unknown) => {
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
): Promise<void> {
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

/** The whole body, so that an answer given before it was read (413) can't be lost with the connection. */
async function collect(request: http.IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.byteLength;
    if (length <= largestBody) chunks.push(chunk);
  }
  if (length > largestBody) return undefined;
  return Buffer.concat(chunks);
}

function refuse(response: http.ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
  response.end(JSON.stringify({ error }));
}
