/**
 * `deno run -A tests/bench/flood.ts`: the memory of the function under senders that hold back the last byte of 1 MiB,
 * and a minute later, and how long webhooks take meanwhile. Prints a table.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { heldBodies, openSocket, sendHeldBody } from '../helpers/faults/held-bodies.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { createUser } from '../helpers/records/records.ts';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { benchSecrets, startBenchProject } from './bench-project.ts';
import { peakMegabytes, residentMegabytes } from './process-usage.ts';
import { startOurs } from './systems.ts';

const project = await startBenchProject();
const { id } = await createUser(project.database, { email: 'flood@example.com' });
const session = `authorization: Bearer ${await project.createToken(id)}`;

/** Webhooks one after another until work ends. @returns their times, the longest first */
async function deliverDuring(url: string, work: Promise<unknown>): Promise<number[]> {
  const service = { request: (path: string, init?: RequestInit) => fetch(url + path, init) };
  const times: number[] = [];
  let isOver = false;
  void work.then(() => isOver = true);
  while (!isOver) {
    const started = performance.now();
    const options = { secret: benchSecrets.GATEWAY_WEBHOOK_SECRET };
    const response = await postWebhook(service, { event: randomUUID() }, options);
    if (response.status !== 200) throw new Error(`a webhook got ${response.status}`);
    await response.body?.cancel();
    times.push(performance.now() - started);
    await wait(20);
  }
  return times.sort((a, b) => b - a);
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A row: senders, what they send, peak and memory a minute later in MiB, third-slowest webhook in ms. */
async function measure(count: number, [name, , path, ...headers]: (typeof heldBodies)[number]): Promise<string[]> {
  const system = await startOurs(project, { DATABASE_POOL_URL: project.poolUrl });
  const url = `http://127.0.0.1:${system.port}`;
  try {
    await deliverDuring(url, wait(500));
    const sockets: Socket[] = Array.from({ length: count }, () => openSocket(url));
    const [, , third = NaN] = await deliverDuring(
      url,
      Promise.all(sockets.map((socket) => sendHeldBody(socket, path, [...headers, session]))),
    );
    for (const socket of sockets) socket.destroy();
    const peak = peakMegabytes(system.pid);
    await wait(60_000);
    return [`${count} of ${name}`, ...[peak, residentMegabytes(system.pid), third].map((value) => value.toFixed(0))];
  } finally {
    await system.stop();
  }
}

try {
  writeLine('| senders | peak, MiB | a minute after, MiB | third-slowest webhook, ms |\n|---|---|---|---|');
  for (const count of [400, 1200]) {
    for (const body of heldBodies) writeLine(`| ${(await measure(count, body)).join(' | ')} |`);
  }
} finally {
  await project.stop();
}
