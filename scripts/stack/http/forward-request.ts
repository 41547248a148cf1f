import http from 'node:http';

/** The request had no effect and got no answer, so it may be sent again. */
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
 * Forwards a request to another server, and the answer back. Bodies and headers are not changed, except that hop-by-hop
 * headers are removed. Uses `node:http`, because `fetch` adds headers and decompresses answers. Resolves when the
 * answer begins. @throws NotDelivered, or the error of the connection
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
  // A chunked body was collected, so its length is known.
  if (body.byteLength > 0) headers['content-length'] = body.byteLength;
  const onward = http.request({ agent, hostname, port, path, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, withoutConnectionHeaders(answer.headers));
    answer.on('error', () => response.destroy());
    answer.pipe(response);
    resolve();
  });
  onward.on('error', (error) => {
    const isRepeatable = safeMethods.has(request.method ?? '') || 'code' in error && error.code === 'ECONNREFUSED';
    reject(isRepeatable ? new NotDelivered(error.message) : error);
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
