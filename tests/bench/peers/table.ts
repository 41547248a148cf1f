import { median } from '../report.ts';
import type { Result, Run } from './measure.ts';
import type { Peer } from './peer-process.ts';

/** The minimal cost of a peer's webhook, as a multiple of our `subscription.charged`. */
const targets: Record<Peer, number> = { 'better-auth': 1.8, 'stripe-sync-engine': 1.5 };

/** CPU per webhook as a Markdown table, one line per subject, with the ratio to each of ours. */
export function peersTable(results: readonly Result[]): string {
  const ours = results.filter(({ peer }) => peer === null);
  return [
    `| webhook | CPU ms, server and Postgres | server | Postgres | p50 ms | ${
      ours.map(({ name }) => `times ${name}`).join(' | ')
    } | target |`,
    `|${'---|'.repeat(6 + ours.length)}`,
    ...results.map((result) => `| ${cells(result, ours).join(' | ')} |`),
    '',
  ].join('\n');
}

function cells({ name, peer, runs }: Result, ours: readonly Result[]): string[] {
  const all = runs.map(sum);
  return [
    name,
    spread(all),
    ...[runs.map(({ server }) => server), runs.map(({ postgres }) => postgres), runs.map(({ p50 }) => p50)]
      .map((values) => median(values).toFixed(2)),
    ...ours.map((one) => peer === null ? '' : spread(all.map((value, index) => value / sum(one.runs[index])))),
    peer === null ? '' : `≥ ${targets[peer].toFixed(1)}`,
  ];
}

function sum(run: Run | undefined): number {
  return run === undefined ? NaN : run.server + run.postgres;
}

function spread(values: number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(2));
  return `${median(values).toFixed(2)} (${low} to ${high})`;
}
