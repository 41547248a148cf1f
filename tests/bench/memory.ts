/**
 * Measures the memory of the function after many requests, and its latency with more connections than its pool has.
 */
import { type BenchProject, startBenchProject } from './bench-project.ts';
import { fire, percentile } from './load.ts';
import { peakMegabytes, residentMegabytes } from './process-usage.ts';
import type { Row } from './report.ts';
import { startSystem, type System } from './systems.ts';
import { type Buyer, createBuyers, createItems, type Workload, workloads } from './workloads.ts';

const requests = 200_000;
/** The workload changes after this number of requests. */
const batch = 10_000;

/** @returns the rows of the report. */
export async function benchMemory(): Promise<Row[]> {
  const project = await startBenchProject();
  try {
    const buyers = await createBuyers(project, 500);
    const system = await startSystem('pool', project);
    try {
      const megabytes: number[] = [];
      for (let sent = 0; sent < requests; sent += batch) {
        await send(project, system, buyers, workloads[(sent / batch) % workloads.length] ?? 'read', batch, 8);
        megabytes.push(residentMegabytes(system.pid ?? 0));
      }
      const half = megabytes.slice(0, megabytes.length / 2);
      const rows: Row[] = [
        [
          `function over the pool, resident memory at most while it answers ${requests} requests`,
          `${Math.round(peakMegabytes(system.pid ?? 0))} MB`,
        ],
        [
          'the same after each 10,000 of them, at most: first half, second half',
          `${Math.round(Math.max(...half))} MB, ${Math.round(Math.max(...megabytes.slice(half.length)))} MB`,
        ],
      ];
      for (const workload of workloads) rows.push(await compareCrowds(project, system, buyers, workload));
      return rows;
    } finally {
      await system.stop();
    }
  } finally {
    await project.stop();
  }
}

/**
 * Compares the 99th percentile at 32 and at 100 connections, with a pool of 8 behind both. Every answer is checked.
 */
async function compareCrowds(
  project: BenchProject,
  system: System,
  buyers: readonly Buyer[],
  workload: Workload,
): Promise<Row> {
  const [few, many] = [
    await send(project, system, buyers, workload, batch, 32),
    await send(project, system, buyers, workload, batch, 100),
  ];
  const [p99, p99Many] = [few, many].map((times) => percentile(times, 0.99));
  if (p99 === undefined || p99Many === undefined) throw new Error('nothing was measured');
  return [
    `${workload} over the pool, p99 at 32 and at 100 connections`,
    `${p99.toFixed(1)} ms, ${p99Many.toFixed(1)} ms: ${(p99Many / p99).toFixed(1)} times`,
  ];
}

async function send(
  project: BenchProject,
  system: System,
  buyers: readonly Buyer[],
  workload: Workload,
  count: number,
  connections: number,
): Promise<readonly number[]> {
  const items = await createItems(project, workload, buyers, count);
  const clients = await Promise.all(Array.from({ length: connections }, () => system.connect()));
  const { times } = await fire(connections, Infinity, (shooter) => {
    const item = items.pop();
    const client = clients[shooter];
    return item && client ? () => client.send(item) : undefined;
  });
  for (const client of clients) await client.close();
  if (times.length !== count) throw new Error(`${times.length} of ${count} were answered`);
  return times;
}
