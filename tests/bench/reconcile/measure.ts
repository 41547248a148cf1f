import pg from 'pg';
import { type BenchProject, benchSecrets, startBenchProject } from '../bench-project.ts';
import { startBenchProcess } from '../bench-process.ts';
import { cpuSeconds, peakMegabytes, residentMegabytes, treeCpuSeconds } from '../process-usage.ts';
import { startOurs } from '../systems.ts';
import { checkSet, countReconciled, loadSubscriptions, makeDue } from './data.ts';
import type { GatewayFigures } from './gateway-server.ts';
import { type SetName, sets } from './subscriptions.ts';

const internalKey = 'bench-internal-key';
/** The schedule calls each minute. */
const betweenCalls = 60_000;

/** One run. Times in seconds. */
export type Run = {
  readonly size: number;
  /** When half, 99 % and all of them were reconciled. */
  readonly half: number;
  readonly most: number;
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

type Log = (line: string) => void;
/** `at`: start of the benchmark, Unix seconds. */
type Bench = { readonly project: BenchProject; readonly client: pg.Client; readonly at: number; readonly log: Log };

/** Loads the subscriptions once, and measures each run. */
export async function measureReconciliation(runs: readonly RunOptions[], log: Log): Promise<Run[]> {
  const project = await startBenchProject();
  const client = new pg.Client({ connectionString: project.postgres.url() });
  try {
    await client.connect();
    const at = Math.floor(Date.now() / 1000);
    await loadSubscriptions(client, at);
    log(`loaded after ${Math.round(Date.now() / 1000 - at)} s`);
    const results: Run[] = [];
    for (const options of runs) {
      const run = await measure({ project, client, at, log }, options);
      log(JSON.stringify({ ...options, ...run }));
      results.push(run);
    }
    return results;
  } finally {
    await client.end();
    await project.stop();
  }
}

async function measure(bench: Bench, options: RunOptions): Promise<Run> {
  const { project, client, at } = bench;
  const { size } = sets[options.set];
  const gateway = await startBenchProcess('reconcile/gateway-server.ts', {
    BENCH_GATEWAY: JSON.stringify({ at, latency: options.latency, failures: options.failures }),
  });
  const gatewayUrl = `http://127.0.0.1:${gateway.port}`;
  const ours = await startOurs(project, {
    ...benchSecrets,
    GATEWAY_API_URL: gatewayUrl,
    INTERNAL_KEY: internalKey,
    RECONCILE_CALLS_PER_SECOND: String(options.callsPerSecond),
    ...(options.overPool && { DATABASE_POOL_URL: project.poolUrl }),
  });
  const postgresPid = project.postgres.pid() ?? 0;
  await makeDue(client, options.set);

  const megabytes: number[] = [];
  const cpu: number[] = [];
  const [functionBefore, postgresBefore] = [cpuSeconds(ours.pid), treeCpuSeconds(postgresPid)];
  const sampling = setInterval(() => {
    megabytes.push(residentMegabytes(ours.pid));
    cpu.push(cpuSeconds(ours.pid));
  }, 1000);
  try {
    const call = () => callReconcile(bench, ours.port, options.scheduled);
    const reconciled = await (options.scheduled ? onSchedule : oneAfterTheOther)(call, client, size);
    const figures: GatewayFigures = await (await fetch(`${gatewayUrl}/figures`)).json();
    await checkSet(client);
    const timeOf = (count: number) => reconciled.find(([, done]) => done >= count)?.[0] ?? NaN;
    return {
      size,
      half: timeOf(size / 2),
      most: timeOf(size * 0.99),
      all: timeOf(size),
      gateway: figures,
      megabytes,
      peak: peakMegabytes(ours.pid),
      functionCpu: cpuSeconds(ours.pid) - functionBefore,
      postgresCpu: treeCpuSeconds(postgresPid) - postgresBefore,
      mostCpuInAMinute: Math.max(...cpu.map((used, second) => used - (cpu[second - 60] ?? functionBefore))),
    };
  } finally {
    clearInterval(sampling);
    await ours.stop();
    await gateway.stop();
  }
}

/** @returns how many were read; 0 of a call that goes on in the background */
async function callReconcile({ log }: Bench, port: number, isAsynchronous: boolean): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/api/internal/reconcile`, {
    method: 'POST',
    headers: { 'x-internal-key': internalKey, ...(isAsynchronous && { prefer: 'respond-async' }) },
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${body}`);
  log(body);
  return JSON.parse(body).asked ?? 0;
}

/** Calls each minute, as the schedule does, until all are reconciled. @returns times, and how many were reconciled by then */
async function onSchedule(call: () => Promise<number>, client: pg.Client, size: number): Promise<[number, number][]> {
  const started = performance.now();
  const counts: [number, number][] = [];
  for (let calls = 0, count = 0; count < size;) {
    if (performance.now() - started >= calls * betweenCalls) {
      calls += 1;
      await call();
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
    count = await countReconciled(client);
    counts.push([(performance.now() - started) / 1000, count]);
  }
  return counts;
}

/** Calls again as soon as a call has its answer, until all are reconciled. Only the answers are counted meanwhile. */
async function oneAfterTheOther(
  call: () => Promise<number>,
  client: pg.Client,
  size: number,
): Promise<[number, number][]> {
  const started = performance.now();
  const counts: [number, number][] = [];
  let asked = 0;
  do {
    asked += await call();
    counts.push([(performance.now() - started) / 1000, asked]);
  } while (asked < size);
  if (await countReconciled(client) < size) throw new Error('Some were read twice');
  return counts;
}
