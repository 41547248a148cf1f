const MONTHS = 12;
const names = {
  short: new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'UTC' }),
  long: new Intl.DateTimeFormat('en-US', { month: 'short', year: 'numeric', timeZone: 'UTC' }),
};

/** The twelve months, as `2026-11`, up to the newest of these days. */
export function lastMonths(days: string[]): string[] {
  const [year = 1970, month = 1] = (days.toSorted().at(-1) ?? '').slice(0, 7).split('-').map(Number);
  return Array.from(
    { length: MONTHS },
    (_, index) => new Date(Date.UTC(year, month - MONTHS + index, 1)).toISOString().slice(0, 7),
  );
}

/** The values of rows for each of the months; 0 where there is no row. */
export function valuesOf<Row extends { month: string }>(
  rows: Row[],
  months: string[],
  valueOf: (row: Row) => number,
): number[] {
  const byMonth = new Map(rows.map((row) => [row.month.slice(0, 7), valueOf(row)]));
  return months.map((month) => byMonth.get(month) ?? 0);
}

/** A month such as `2026-11` or its first day as `Nov` or `Nov 2026`. */
export function monthName(month: string, form: 'short' | 'long'): string {
  const at = new Date(`${month.slice(0, 7)}-01T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? '' : names[form].format(at);
}
