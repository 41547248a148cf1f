/** Measures the requests per second of several systems on the same data. */
import { type BenchProject, startBenchProject } from './bench-project.ts';
import { fire, percentile } from './load.ts';
import { cpuSeconds, peakMegabytes, treeCpuSeconds } from './process-usage.ts';
import { median, type Row } from './report.ts';
import { startSystem, type System, type SystemName, systems } from './systems.ts';
import { type Buyer, createBuyers, createItems, type Workload, workloads } from './workloads.ts';

const repetitions = 3;
const connections = [1, 8, 32];
/** Twice as long at 8 connections, where the ratios are computed: short runs vary with other load on the machine. */
const milliseconds = (count: number) => count === 8 ? 2000 : 1000;
const users = 500;
/** More payments than any system processes in that time. Only the sent ones are counted. */
const mostPerSecond = 4000;

/** The result of one run. */
export type Run = {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU seconds for 1,000 requests: of the server, and with Lite and Postgres. */
  readonly serverCpu: number;
  readonly allCpu: number;
  readonly megabytes: number;
};
export type Cell = {
  readonly system: SystemName;
  readonly workload: Workload;
  readonly connections: number;
  readonly runs: Run[];
};

/** Whether a system is measured with a workload: the empty server answers all alike, the bare one only reads. */
function isMeasured(system: SystemName, workload: Workload): boolean {
  if (system === 'empty') return workload === 'webhook';
  return system !== 'bare' || workload === 'read';
}

/** @returns every cell, in the order of the table. */
export async function compare(): Promise<Cell[]> {
  const project = await startBenchProject();
  try {
    const buyers = await createBuyers(project, users);
    const cells: Cell[] = workloads.flatMap((workload) =>
      connections.flatMap((count) =>
        names.filter((system) => isMeasured(system, workload))
          .map((system) => ({ system, workload, connections: count, runs: [] }))
      )
    );
    const running = new Map<SystemName, System>();
    for (const name of names) running.set(name, await startSystem(name, project));
    try {
      // Interleaved: other load on the machine affects all systems of a repetition alike.
      for (let repetition = 0; repetition < repetitions; repetition += 1) {
        for (const cell of cells) {
          const system = running.get(cell.system);
          if (system !== undefined) cell.runs.push(await measure(project, system, cell, buyers));
        }
      }
    } finally {
      for (const system of running.values()) await system.stop();
    }
    return cells;
  } finally {
    await project.stop();
  }
}

const names: SystemName[] = ['rest', 'pool', 'direct', 'bare', 'empty', 'naive'];

async function measure(project: BenchProject, system: System, cell: Cell, buyers: readonly Buyer[]): Promise<Run> {
  const items = await createItems(project, cell.workload, buyers, howMany(cell));
  const before = await countRows(project);
  const clients = await Promise.all(Array.from({ length: cell.connections }, () => system.connect()));
  let next = 0;
  const usage = () => usageOf(project, system);
  const started = usage();
  const { times, elapsed } = await fire(cell.connections, milliseconds(cell.connections), (shooter) => {
    const item = isRepeatable(cell) ? items[next++ % items.length] : items[next++];
    const client = clients[shooter];
    return item && client ? () => client.send(item) : undefined;
  });
  const ended = usage();
  for (const client of clients) await client.close();
  await checkRows(project, cell, times.length, before);
  return {
    rate: times.length / (elapsed / 1000),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    serverCpu: (ended.server - started.server) / (times.length / 1000),
    allCpu: (ended.all - started.all) / (times.length / 1000),
    megabytes: system.pid === undefined ? NaN : peakMegabytes(system.pid),
  };
}

/** Whether a request can be sent again: a read can, a payment cannot. */
function isRepeatable({ system, workload }: Cell): boolean {
  return system === 'empty' || workload === 'read';
}

function howMany(cell: Cell): number {
  if (isRepeatable(cell)) return users;
  const perSecond = cell.system === 'naive' ? 400 : mostPerSecond;
  return Math.ceil((perSecond * milliseconds(cell.connections)) / 1000);
}

function usageOf({ postgres, lite }: BenchProject, { pid }: System): { server: number; all: number } {
  const server = pid === undefined ? 0 : cpuSeconds(pid);
  const behind = treeCpuSeconds(postgres.pid() ?? 0) + cpuSeconds(lite.pid() ?? 0);
  return { server, all: server + behind };
}

type Counts = Record<string, number>;

async function countRows({ database }: BenchProject): Promise<Counts> {
  const row = await database.one(`
    select
      (select count(*)::int from public.payments where fulfilled_at is not null) as fulfilled,
      (select count(*)::int from billing.gateway_events where outcome = 'applied') as events,
      (select count(*)::int from billing.outbox where kind = 'payment-success') as mails,
      (select count(*)::int from billing.outbox where kind = 'revalidation') as revalidations`);
  return Object.fromEntries(Object.entries(row).map(([name, count]) => [name, Number(count)]));
}

/** Checks that every answer has its rows: none is missing, none is written twice. */
async function checkRows(
  project: BenchProject,
  { system, workload }: Cell,
  sent: number,
  before: Counts,
): Promise<void> {
  if (system === 'naive' || system === 'empty') return;
  const written = workload === 'read' ? 0 : sent;
  const expected: Counts = {
    fulfilled: written,
    events: workload === 'webhook' ? sent : 0,
    mails: written,
    // A capture of an order that is older than the user's newest purchase changes no tier.
    ...(workload !== 'webhook' && { revalidations: written }),
  };
  const after = await countRows(project);
  for (const [name, count] of Object.entries(expected)) {
    const added = (after[name] ?? 0) - (before[name] ?? 0);
    if (added !== count) throw new Error(`${sent} requests of ${workload} left ${added} ${name}, not ${count}`);
  }
}

/** The table, one line per cell. */
export function compareTable(cells: readonly Cell[]): string {
  const line = ({ system, workload, connections: count, runs }: Cell) => {
    const show = (digits: number, value: (run: Run) => number) => {
      const values = runs.map(value);
      const [low, high] = [Math.min(...values), Math.max(...values)].map((bound) => bound.toFixed(digits));
      return Number.isNaN(median(values)) ? '' : `${median(values).toFixed(digits)} (${low} to ${high})`;
    };
    return `| ${system === 'empty' ? 'any' : workload} | ${count} | ${systems[system]} | ${
      show(0, (run) => run.rate)
    } | ${show(2, (run) => run.p50)} | ${show(2, (run) => run.p99)} | ${show(2, (run) => run.serverCpu)} | ${
      show(2, (run) => run.allCpu)
    } | ${show(0, (run) => run.megabytes)} |`;
  };
  return [
    '| request | connections | system | requests/s | p50 ms | p99 ms | CPU s per 1,000, server | with Lite and Postgres | peak MB |',
    '|---|---|---|---|---|---|---|---|---|',
    ...cells.map(line),
    '',
  ].join('\n');
}

/** The ratios of the systems at 8 connections, as lines of the report. */
export function ratios(cells: readonly Cell[]): Row[] {
  const rate = (workload: Workload, system: SystemName) =>
    median(
      cells.find((cell) => cell.system === system && cell.workload === workload && cell.connections === 8)
        ?.runs.map((run) => run.rate) ?? [],
    );
  const line = (workload: Workload, system: SystemName, to: SystemName): Row => [
    `${workload} at 8 connections, requests/s: ${systems[system]} to ${systems[to]}`,
    `${(rate(workload, system) / rate(workload, to)).toFixed(2)} times`,
  ];
  return [
    ...workloads.map((workload) => line(workload, 'pool', 'direct')),
    line('read', 'bare', 'direct'),
    line('verify', 'rest', 'naive'),
    line('verify', 'pool', 'naive'),
  ];
}
