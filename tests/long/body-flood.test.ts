import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFunction, type EdgeFunction } from '../../scripts/stack/function/function.ts';
import { peakMegabytes } from '../bench/process-usage.ts';
import { functionEnvironment } from '../helpers/faults/fault-project.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { uniqueId } from '../helpers/records/records.ts';

const mebibyte = 1024 * 1024;
const project = useProject();
let edgeFunction: EdgeFunction;
const sockets: Socket[] = [];
beforeEach(async () => {
  edgeFunction = createFunction({ port: 0, env: functionEnvironment(project.apiUrl), log: () => {} });
  await edgeFunction.start();
  await edgeFunction.ready();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await edgeFunction.stop();
});

/** Sends a webhook of 1 MiB without its last byte. @returns the status, when it arrives */
function sendPart(headers: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(edgeFunction.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const first = ['POST /api/webhooks/gateway HTTP/1.1', 'host: 127.0.0.1', `content-length: ${mebibyte}`, ...headers];
  socket.write(`${first.join('\r\n')}\r\n\r\n`);
  socket.write(part);
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(String(data).slice('HTTP/1.1 '.length).split('\r\n')[0] ?? ''));
    for (const end of ['error', 'close']) socket.once(end, () => resolve('closed'));
  });
}
const part = new Uint8Array(mebibyte - 1);

test.each([
  // A request whose body is read gets 503 with retry-after, or 408 for a slow body.
  ['a signature', [`x-gateway-signature: ${'0'.repeat(64)}`], ['503 Service Unavailable', '408 Request Timeout']],
  ['none', [], ['400 Bad Request']],
])('400 senders with %s that hold back the last byte of 1 MiB use little memory, and webhooks pass', async (
  _,
  headers,
  expected,
) => {
  const flood = Promise.all(Array.from({ length: 400 }, () => sendPart(headers)));
  let isOver = false;
  void flood.then(() => isOver = true);
  const service = { request: (path: string, init?: RequestInit) => fetch(edgeFunction.url + path, init) };
  const webhooks = new Set<number>();
  while (!isOver) {
    const response = await postWebhook(service, { event: uniqueId('event') });
    await response.body?.cancel();
    webhooks.add(response.status);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect([...webhooks]).toEqual([200]);
  expect(new Set(await flood)).toEqual(new Set(expected));
  expect(peakMegabytes(edgeFunction.pid() ?? NaN)).toBeLessThan(160);
});
