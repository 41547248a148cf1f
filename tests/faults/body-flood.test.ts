import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFunction, type EdgeFunction } from '../../scripts/stack/function/function.ts';
import { peakMegabytes } from '../bench/process-usage.ts';
import { functionEnvironment } from '../helpers/faults/fault-project.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { sampleOf } from '../helpers/project/is-long.ts';
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

/**
 * Sends the headers of a webhook and the given part of its body. @returns the first line of the answer, when
 * it arrives
 */
function sendPart(headers: Record<string, string>, body: Uint8Array): Promise<string> {
  const { hostname, port } = new URL(edgeFunction.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const lines = ['POST /api/webhooks/gateway HTTP/1.1', 'host: 127.0.0.1'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(String(data).split('\r\n')[0] ?? ''));
    socket.once('error', () => resolve('closed'));
    socket.once('close', () => resolve('closed'));
  });
}

async function sendWebhook(): Promise<number> {
  const body = JSON.stringify({ event: uniqueId('event') });
  const headers = { 'x-gateway-signature': await sign(secrets.GATEWAY_WEBHOOK_SECRET, body) };
  const response = await fetch(`${edgeFunction.url}/api/webhooks/gateway`, { method: 'POST', body, headers });
  await response.body?.cancel();
  return response.status;
}

test('a webhook without a signature is refused before its body is sent', async () => {
  expect(await sendPart({ 'content-length': String(mebibyte) }, new Uint8Array())).toBe('HTTP/1.1 400 Bad Request');
});

test.each(sampleOf<[string, Record<string, string>, string[]]>([
  // A request whose body is read gets 503 with retry-after, or 408 for a slow body.
  ['a signature', { 'x-gateway-signature': '0'.repeat(64) }, ['503 Service Unavailable', '408 Request Timeout']],
  ['none', {}, ['400 Bad Request']],
]))(
  '400 senders with %s that hold back the last byte of 1 MiB use little memory, and webhooks pass',
  async (_, headers, expected) => {
    const part = new Uint8Array(mebibyte - 1);
    const answers = Array.from(
      { length: 400 },
      () => sendPart({ 'content-length': String(mebibyte), ...headers }, part),
    );
    const flood = Promise.all(answers);
    let isOver = false;
    void flood.then(() => isOver = true);
    const webhooks = new Set<number>();
    while (!isOver) {
      webhooks.add(await sendWebhook());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect([...webhooks]).toEqual([200]);
    expect(new Set(await flood)).toEqual(new Set(expected.map((status) => `HTTP/1.1 ${status}`)));
    expect(peakMegabytes(edgeFunction.pid() ?? NaN)).toBeLessThan(160);
  },
);
