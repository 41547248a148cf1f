/**
 * `npm run bench:reconcile`: reconciles many of 1,000,000 billed subscriptions, prints how long it takes, and writes it to
 * `reconcile.result.md` in the folder above. Arguments choose runs: paced pool rest hour. Without any it is all but `hour`.
 */
import { median, publish } from '../report.ts';
import { measureReconciliation, type Run } from './measure.ts';

const real = { overPool: false, latency: 100, failures: 0.02, scheduled: true, callsPerSecond: 10 };
const unlimited = { latency: 0, failures: 0, scheduled: false, callsPerSecond: 1000 };
const runs = {
  rest: { title: 'no limit, over REST', set: 'rest', overPool: false, ...unlimited },
  pool: { title: 'no limit, over the pool', set: 'pool', overPool: true, ...unlimited },
  paced: { title: '10 a second, called each minute, over REST', set: 'paced', ...real },
  hour: { title: '10 a second, called each minute, over REST, a whole hour', set: 'rest', ...real },
} as const;
const names = Deno.args.length > 0 ? Deno.args : ['paced', 'pool', 'rest'];
const chosen = names.flatMap((name) => Object.entries(runs).filter(([known]) => known === name).map(([, run]) => run));

const log = (line: string) => void Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
const results = await measureReconciliation(chosen, log);
const rows = (cells: (run: Run) => string[]) =>
  results.map((run, index) => `| ${[chosen[index]?.title, ...cells(run)].join(' | ')} |`);

await publish(
  'reconcile.result.md',
  [
    '| run | due | reads/s | half after | 99 % after | all after | calls, refused | most calls in a second, open |',
    '|---|---|---|---|---|---|---|---|',
    ...rows(times),
    '',
    '| run | CPU ms a read: function, Postgres | CPU s of the function in a minute, at most | memory MB: thirds, peak |',
    '|---|---|---|---|',
    ...rows(usage),
    '',
  ].join('\n'),
);

function times({ size, half, most, all, gateway }: Run): string[] {
  return [
    String(size),
    (0.99 * size / most).toFixed(1),
    ...[half, most, all].map((seconds) => `${seconds.toFixed(0)} s`),
    `${gateway.calls}, ${gateway.refused}`,
    `${gateway.mostInASecond}, ${gateway.mostOpen}`,
  ];
}

function usage({ gateway, functionCpu, postgresCpu, mostCpuInAMinute, megabytes, peak }: Run): string[] {
  const third = Math.ceil(megabytes.length / 3);
  const thirds = [0, 1, 2].map((part) => median(megabytes.slice(part * third, (part + 1) * third)).toFixed(0));
  return [
    [functionCpu, postgresCpu].map((seconds) => (seconds * 1000 / gateway.calls).toFixed(2)).join(', '),
    mostCpuInAMinute.toFixed(2),
    `${thirds.join(', ')}; ${peak.toFixed(0)}`,
  ];
}
