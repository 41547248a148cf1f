import { root } from '../../scripts/stack/root.ts';

/** A line of the report: a description and the measured value. */
export type Row = readonly [what: string, measured: string];

/** Median, minimum and maximum of times in milliseconds, written in seconds. */
export function seconds(times: number[]): string {
  return spread(times.map((time) => time / 1000), 's', 1);
}

/** Median, minimum and maximum of times in milliseconds. */
export function milliseconds(times: number[], digits = 0): string {
  return spread(times, 'ms', digits);
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** The report as a Markdown table. */
export function table(rows: readonly Row[]): string {
  return ['| what | measured |', '|---|---|', ...rows.map(([what, measured]) => `| ${what} | ${measured} |`), '']
    .join('\n');
}

/** Says on standard error how far a long benchmark is. */
export function progress(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

/** Prints a report, and writes it to a file of this folder. */
export async function publish(file: string, report: string): Promise<void> {
  Deno.stdout.writeSync(new TextEncoder().encode(report));
  await Deno.writeTextFile(`${root}/tests/bench/${file}`, report);
}

function spread(values: number[], unit: string, digits: number): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return `${median(values).toFixed(digits)} ${unit} (${low} to ${high}, ${values.length} runs)`;
}
