import http from 'node:http';

/** Thrown by `forwardRequest` when the request had no effect and got no answer: it may be sent again. */
export class NotDelivered extends Error {}

const connectionHeaders = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const agent = new http.Agent({ keepAlive: true });

/**
 * Sends a request on to another server and its answer back. Bodies and headers stay as they are, whatever they say; only
 * those that are about one connection are left out. `node:http` because `fetch` adds headers and unpacks answers.
 * Resolves when the answer has begun. Throws `NotDelivered`, or what went wrong on the way.
 */
export function forwardRequest(
  request: http.IncomingMessage,
  body: Uint8Array,
  base: string,
  path: string,
  response: http.ServerResponse,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { hostname, port } = new URL(base);
  const headers: http.OutgoingHttpHeaders = withoutConnectionHeaders(request.headers);
  // A chunked body has been collected: its length is known now.
  if (body.byteLength > 0) headers['content-length'] = body.byteLength;
  const onward = http.request({ agent, hostname, port, path, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, withoutConnectionHeaders(answer.headers));
    answer.on('error', () => response.destroy());
    answer.pipe(response);
    resolve();
  });
  onward.on('error', (error) => {
    const harmless = safeMethods.has(request.method ?? '') || 'code' in error && error.code === 'ECONNREFUSED';
    reject(harmless ? new NotDelivered(error.message) : error);
  });
  response.on('close', () => response.writableFinished || onward.destroy());
  onward.end(body);
  return promise;
}

function withoutConnectionHeaders(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const kept: http.OutgoingHttpHeaders = { ...headers };
  for (const name of connectionHeaders) delete kept[name];
  return kept;
}
