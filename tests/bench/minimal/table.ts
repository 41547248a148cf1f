import { median } from '../report.ts';
import type { Comparison, Run } from './measure.ts';
import { type Kind, type Side, sides } from './requests.ts';

const names: Record<Kind, string> = {
  verify: 'verify',
  captured: 'webhook, `payment.captured`',
  charged: 'webhook, `subscription.charged`',
  ignored: 'webhook, an event that is not handled',
  read: 'read',
};

/** The maximal cost of ours, as a multiple of the minimal p50. The read has no target. */
const targets: Partial<Record<Kind, number>> = { verify: 2.0, captured: 3.5, charged: 2.2, ignored: 2.5 };

/** The comparison as a Markdown table, one line per request. */
export function minimalTable(comparisons: readonly Comparison[]): string {
  return [
    '| request to Postgres | p50, ours to minimal | target | our rows alone to minimal | p50 ms, ours | rows alone | minimal | requests/s at 8, ours | rows alone | minimal | function µs, ours | rows alone | minimal | WAL bytes, ours | rows alone | minimal |',
    `|${'---|'.repeat(16)}`,
    ...comparisons.map(line),
    '',
  ].join('\n');
}

function line({ kind, runs, functionTime }: Comparison): string {
  const both = (digits: number, value: (run: Run) => number) =>
    sides.map((side) => spread(runs[side].map(value), digits));
  const ratios = (side: Side) => runs[side].map(({ p50 }, index) => p50 / (runs.minimal[index]?.p50 ?? NaN));
  const cells = [
    names[kind],
    spread(ratios('ours'), 2),
    judge(kind, median(ratios('ours'))),
    kind === 'read' ? '' : spread(ratios('rows'), 2),
    ...both(3, ({ p50 }) => p50),
    ...both(0, ({ rate }) => rate),
    ...sides.map((side: Side) => functionTime[side].toFixed(0)),
    ...sides.map((side) => median(runs[side].map(({ wal }) => wal)).toFixed(0)),
  ];
  return `| ${cells.join(' | ')} |`;
}

function judge(kind: Kind, ratio: number): string {
  const target = targets[kind];
  return target === undefined ? '' : `≤ ${target.toFixed(1)}: ${ratio <= target ? 'met' : 'missed'}`;
}

function spread(values: readonly number[], digits: number): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return `${median([...values]).toFixed(digits)} (${low} to ${high})`;
}
