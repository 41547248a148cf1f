import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFunction, type EdgeFunction } from '../../scripts/stack/function/function.ts';
import { peakMegabytes, residentMegabytes } from '../bench/process-usage.ts';
import { functionEnvironment } from '../helpers/faults/fault-project.ts';
import { heldBodies, openSocket, sendHeldBody } from '../helpers/faults/held-bodies.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
let edgeFunction: EdgeFunction;
const sockets: Socket[] = [];
beforeEach(async () => {
  edgeFunction = createFunction({ port: 0, env: functionEnvironment(project.apiUrl), log: () => {} });
  await edgeFunction.start();
  await edgeFunction.ready();
  await vi.waitFor(async () => expect(await deliver()).toBe(200), 30_000);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await edgeFunction.stop();
});

function open(): Socket {
  const socket = openSocket(edgeFunction.url);
  sockets.push(socket);
  return socket;
}

/** Sends a webhook. @returns its status */
async function deliver(): Promise<number> {
  const service = { request: (path: string, init?: RequestInit) => fetch(edgeFunction.url + path, init) };
  const response = await postWebhook(service, { event: uniqueId('event') });
  await response.body?.cancel();
  return response.status;
}

test.each(heldBodies)(
  '400 senders of %s that hold back the last byte of 1 MiB use at most 160 MiB, and 145 a minute later, and webhooks pass',
  async (
    _,
    answers,
    path,
    ...headers
  ) => {
    const authorization = `Bearer ${(await project.newUser()).accessToken}`;
    // The auth server shares this machine: its first answer can be slow.
    await vi.waitFor(async () => {
      const { status } = await fetch(`${edgeFunction.url}/api/subscriptions`, { headers: { authorization } });
      expect(status).toBe(200);
    }, 30_000);
    const senders = Array.from({ length: 400 }, open);
    const flood = Promise.all(
      senders.map((socket) => sendHeldBody(socket, path, [...headers, `authorization: ${authorization}`])),
    );
    let isOver = false;
    void flood.then(() => isOver = true);
    const webhooks = new Set<number>();
    while (!isOver) {
      webhooks.add(await deliver());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(peakMegabytes(edgeFunction.pid() ?? NaN)).toBeLessThan(160);
    expect(new Set(await flood)).toEqual(new Set(answers));
    expect([...webhooks]).toEqual([200]);
    for (const socket of senders) socket.destroy();
    await vi.waitFor(() => expect(residentMegabytes(edgeFunction.pid() ?? NaN)).toBeLessThan(145), 60_000);
  },
);

test('1200 senders that hold back the end of their headers use little memory, and webhooks pass', async () => {
  const senders = Array.from({ length: 1200 }, open);
  await Promise.all(senders.map((socket) => once(socket, 'connect')));
  for (const socket of senders) socket.write('POST /api/webhooks/gateway HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ');
  for (let count = 0; count < 20; count += 1) {
    for (const socket of senders) socket.write('a');
    expect(await deliver()).toBe(200);
  }
  expect(peakMegabytes(edgeFunction.pid() ?? NaN)).toBeLessThan(160);
  expect(senders.every(({ destroyed }) => !destroyed)).toBe(true);
});
