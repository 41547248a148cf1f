import { connect, type Socket } from 'node:net';

const mebibyte = 1024 * 1024;
const part = new Uint8Array(mebibyte - 1);
const sized = `content-length: ${mebibyte}`;
const chunked = 'transfer-encoding: chunked';
const webhook = ['/webhooks/gateway'] as const;
const signedWebhook = [...webhook, `x-gateway-signature: ${'0'.repeat(64)}`] as const;
const form = ['/payments/return', 'content-type: application/x-www-form-urlencoded'] as const;
const json = ['/payments/verify', 'content-type: application/json'] as const;
/** Answers when the body is read: 503 with retry-after, or 408 when it is too slow. */
const read = ['503 Service Unavailable', '408 Request Timeout'];

/** Requests whose body lacks its last byte: a name, the answers that are right, the path and the headers. */
export const heldBodies: readonly [name: string, answers: string[], path: string, ...headers: string[]][] = [
  ['a webhook with a signature', read, ...signedWebhook, sized],
  ['a webhook with a signature in chunks', read, ...signedWebhook, chunked],
  ['a webhook without one', ['400 Bad Request'], ...webhook, sized],
  ['a webhook without one in chunks', read, ...webhook, chunked],
  // Larger than any form of a checkout, so not read. Without APP_URL that is 503.
  ['a form', ['503 Service Unavailable'], ...form, sized],
  ['a form in chunks', read, ...form, chunked],
  ['JSON with a session', read, ...json, sized],
  ['JSON with a session in chunks', read, ...json, chunked],
];

/** Opens a connection to the function. */
export function openSocket(functionUrl: string): Socket {
  const { hostname, port } = new URL(functionUrl);
  return connect(Number(port), hostname);
}

/** Sends a request with 1 MiB but for its last byte. @returns the status when it arrives, or that the socket closed */
export function sendHeldBody(socket: Socket, path: string, headers: readonly string[]): Promise<string> {
  socket.write([`POST /api${path} HTTP/1.1`, 'host: 127.0.0.1', ...headers, '', ''].join('\r\n'));
  if (headers.includes(chunked)) socket.write(`${mebibyte.toString(16)}\r\n`);
  socket.write(part);
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(String(data).slice('HTTP/1.1 '.length).split('\r\n')[0] ?? ''));
    for (const end of ['error', 'close']) socket.once(end, () => resolve('closed'));
  });
}
