import { median } from '../report.ts';
import type { Result, Run } from './measure.ts';

/** CPU per webhook as a Markdown table, one line per subject, with the ratio to each of ours. */
export function peersTable(results: readonly Result[]): string {
  const ours = results.filter(({ peer }) => peer === null);
  return [
    `| webhook | CPU ms, server and Postgres | of which Postgres | ${
      ours.map(({ name }) => `times ${name}`).join(' | ')
    } |`,
    `|${'---|'.repeat(3 + ours.length)}`,
    ...results.map((result) => `| ${cells(result, ours).join(' | ')} |`),
    '',
  ].join('\n');
}

function cells({ name, peer, runs }: Result, ours: readonly Result[]): string[] {
  const all = runs.map(sum);
  return [
    name,
    spread(all),
    median(runs.map(({ postgres }) => postgres)).toFixed(2),
    ...ours.map((one) => peer === null ? '' : spread(all.map((value, index) => value / sum(one.runs[index])))),
  ];
}

function sum(run: Run | undefined): number {
  return run === undefined ? NaN : run.server + run.postgres;
}

function spread(values: number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(2));
  return `${median(values).toFixed(2)} (${low} to ${high})`;
}
