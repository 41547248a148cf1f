import type { Months } from './database.ts';

/** The months that the arguments name. @throws Error where they are no month, or neither of the two forms */
export function monthsOf(positionals: readonly string[], from: string | undefined, isQuarter: boolean): Months {
  const [month, ...more] = positionals;
  if (more.length > 0) throw new Error(`Unexpected argument '${more[0]}'`);
  if (isQuarter !== (from !== undefined)) throw new Error('--from and --quarter belong together');
  if (from !== undefined) {
    if (month !== undefined) throw new Error('Give a month, or --from and --quarter');
    return { from: firstDay(from), month: firstDay(from, 2), count: 3 };
  }
  if (month === undefined) throw new Error('Give a month, such as 2026-11');
  return { from: firstDay(month), month: firstDay(month), count: 1 };
}

/** The first day of each of them. */
export function eachMonth({ from, count }: Months): string[] {
  return Array.from({ length: count }, (_, later) => firstDay(from.slice(0, 7), later));
}

function firstDay(month: string, later = 0): string {
  const [, year, number] = /^(20\d\d)-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined) throw new Error(`${month}: no month, such as 2026-11`);
  return new Date(Date.UTC(Number(year), Number(number) - 1 + later, 1)).toISOString().slice(0, 10);
}
