import { Buffer } from 'node:buffer';
import { connect } from 'node:net';

/** The answer of a server. */
export type HttpAnswer = { readonly status: number; readonly head: string; readonly body: string };

/**
 * One kept-alive connection. It reads only answers with a `content-length`, to keep the CPU of the load generator low.
 */
export type HttpConnection = {
  /**
   * Sends a whole request, headers and body, and waits for its answer. @throws when the server closes the connection
   */
  send(request: Uint8Array): Promise<HttpAnswer>;
  close(): void;
};

/** The bytes of a request. */
export function httpRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Uint8Array {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(body);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}content-length: ${length}\r\n\r\n${body}`);
}

/** Connects to a server on 127.0.0.1. */
export async function openHttpConnection(port: number): Promise<HttpConnection> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  let received: Buffer = Buffer.alloc(0);
  let waiting: PromiseWithResolvers<HttpAnswer> | undefined;
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = Buffer.alloc(0);
    waiting?.resolve(answer);
  });
  socket.on('close', () => waiting?.reject(new Error('the server hung up')));
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    send(request) {
      waiting = Promise.withResolvers();
      socket.write(request);
      return waiting.promise;
    },
    close: () => socket.destroy(),
  };
}

/** @returns undefined while the answer is incomplete */
function readAnswer(received: Buffer): HttpAnswer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  if (length === undefined) throw new Error(`no content-length: ${head}`);
  if (received.length < end + 4 + Number(length)) return undefined;
  return { status: Number(head.slice(9, 12)), head, body: received.toString('utf8', end + 4) };
}
