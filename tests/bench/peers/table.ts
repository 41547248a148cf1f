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

/** The same with one ratio a line: to the subject that `of` names for it, if any. */
export function pairsTable(results: readonly Result[], of: Readonly<Record<string, string>>): string {
  const lines = results.map((result) => {
    const other = results.filter(({ name }) => name === of[result.name]);
    return [
      ...cells(result, other).slice(0, 3),
      ...other.length > 0 ? [of[result.name], cells(result, other)[3]] : ['', ''],
    ];
  });
  return [
    '| request | CPU ms, server and Postgres | of which Postgres | beside | times |',
    `|${'---|'.repeat(5)}`,
    ...lines.map((line) => `| ${line.join(' | ')} |`),
    '',
  ].join('\n');
}

function cells({ name, runs }: Result, ours: readonly Result[]): string[] {
  const all = runs.map(sum);
  return [
    name,
    spread(all),
    median(runs.map(({ postgres }) => postgres)).toFixed(2),
    ...ours.map((one) => one.name === name ? '' : spread(all.map((value, index) => value / sum(one.runs[index])))),
  ];
}

function sum(run: Run | undefined): number {
  return run === undefined ? NaN : run.server + run.postgres;
}

function spread(values: number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(2));
  return `${median(values).toFixed(2)} (${low} to ${high})`;
}
