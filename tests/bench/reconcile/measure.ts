import pg from 'pg';
import { benchSecrets, startBenchProject } from '../bench-project.ts';
import { startBenchProcess } from '../bench-process.ts';
import { cpuSeconds, peakMegabytes, residentMegabytes, treeCpuSeconds } from '../process-usage.ts';
import { startOurs } from '../systems.ts';
import { checkSet, countReconciled, loadSubscriptions, makeDue } from './data.ts';
import type { GatewayFigures } from './gateway-server.ts';
import { type SetName, sets } from './subscriptions.ts';

const internalKey = 'bench-internal-key';
/** The schedule calls each minute. */
const betweenCalls = 60_000;

/** One run. Times in seconds. `reconciled`: pairs of a time and of how many were reconciled by then. */
export type Run = {
  readonly size: number;
  /** When half of them, all of them but those that the gateway refused at first, and all were reconciled. */
  readonly half: number;
  readonly firstReads: number;
  readonly all: number;
  readonly gateway: GatewayFigures;
  /** Resident memory of the function, each second. */
  readonly megabytes: readonly number[];
  readonly peak: number;
  /** CPU seconds of the function, and of Postgres. */
  readonly functionCpu: number;
  readonly postgresCpu: number;
  /** CPU seconds of the function, in the minute with the most. */
  readonly mostCpuInAMinute: number;
};

export type RunOptions = {
  readonly set: SetName;
  readonly callsPerSecond: number;
  readonly overPool: boolean;
  /** Mean time of an answer of the gateway, milliseconds. */
  readonly latency: number;
  /** Share of its answers that are 429 or 500. */
  readonly failures: number;
  /** Calls as the schedule does, each minute; else one call after the other. */
  readonly scheduled: boolean;
};

/** Loads the subscriptions once, and measures each run. */
export async function measureReconciliation(runs: readonly RunOptions[], log: (line: string) => void): Promise<Run[]> {
  const project = await startBenchProject();
  const client = new pg.Client({ connectionString: project.postgres.url() });
  try {
    await client.connect();
    const at = Math.floor(Date.now() / 1000);
    await loadSubscriptions(client, at);
    log(`loaded after ${Math.round(Date.now() / 1000 - at)} s`);
    const results: Run[] = [];
    for (const options of runs) results.push(await measure(options));
    return results;

    async function measure({ set, callsPerSecond, overPool, latency, failures, scheduled }: RunOptions): Promise<Run> {
      const gateway = await startBenchProcess('reconcile/gateway-server.ts', {
        BENCH_GATEWAY: JSON.stringify({ at, latency, failures }),
      });
      const gatewayUrl = `http://127.0.0.1:${gateway.port}`;
      const ours = await startOurs(project, {
        ...benchSecrets,
        GATEWAY_API_URL: gatewayUrl,
        INTERNAL_KEY: internalKey,
        RECONCILE_CALLS_PER_SECOND: String(callsPerSecond),
        ...(overPool && { DATABASE_POOL_URL: project.poolUrl }),
      });
      const postgresPid = project.postgres.pid() ?? 0;
      const call = async (prefer: string) => {
        const response = await fetch(`http://127.0.0.1:${ours.port}/api/internal/reconcile`, {
          method: 'POST',
          headers: { 'x-internal-key': internalKey, prefer },
        });
        const body = await response.text();
        if (!response.ok) throw new Error(`${response.status} ${body}`);
        log(`${set}: ${body}`);
      };
      await makeDue(client, set);
      const { size } = sets[set];
      const megabytes: number[] = [];
      const cpu: number[] = [];
      const reconciled: [number, number][] = [];
      const [functionBefore, postgresBefore] = [cpuSeconds(ours.pid), treeCpuSeconds(postgresPid)];
      const started = performance.now();
      const elapsed = () => (performance.now() - started) / 1000;
      const sampling = setInterval(() => {
        megabytes.push(residentMegabytes(ours.pid));
        cpu.push(cpuSeconds(ours.pid));
      }, 1000);
      try {
        let calling = Promise.resolve();
        let nextCall = 0;
        for (let count = 0; count < size;) {
          if (scheduled && performance.now() - started >= nextCall) {
            nextCall += betweenCalls;
            await call('respond-async');
          } else if (!scheduled && count === 0) {
            calling = callUntilDone();
          }
          await new Promise((resolve) => setTimeout(resolve, scheduled ? 2000 : 500));
          count = await countReconciled(client);
          reconciled.push([elapsed(), count]);
          if (elapsed() > 3600) throw new Error(`${count} of ${size} after an hour`);
        }
        await calling;
        /** For the runs without a schedule: leases of reads without an answer would take five minutes. */
        async function callUntilDone() {
          while (await countReconciled(client) < size) await call('wait=100');
        }
      } finally {
        clearInterval(sampling);
      }
      const figures: GatewayFigures = await (await fetch(`${gatewayUrl}/figures`)).json();
      const functionCpu = cpuSeconds(ours.pid) - functionBefore;
      const postgresCpu = treeCpuSeconds(postgresPid) - postgresBefore;
      const peak = peakMegabytes(ours.pid);
      await ours.stop();
      await gateway.stop();
      await checkSet(client);
      const timeOf = (count: number) => reconciled.find(([, done]) => done >= count)?.[0] ?? NaN;
      return {
        size,
        half: timeOf(size / 2),
        firstReads: timeOf(size - figures.refused),
        all: timeOf(size),
        gateway: figures,
        megabytes,
        peak,
        functionCpu,
        postgresCpu,
        mostCpuInAMinute: Math.max(...cpu.map((used, second) => used - (cpu[second - 60] ?? functionBefore))),
      };
    }
  } finally {
    await client.end();
    await project.stop();
  }
}
