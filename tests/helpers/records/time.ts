/** A gateway's cycle, or any period: ISO 8601 in UTC. */
export type Period = { readonly start: string; readonly end: string };

/** Midnight UTC of a day: `01-31` is one of 2026, `2126-01-31` of its year. A whole time stays as it is. */
export function day(text: string): string {
  if (text.includes('T')) return text;
  return `${text.length === 5 ? '2026-' : ''}${text}T00:00:00Z`;
}

/** Months of 2026, from the first of month `first` (1 to 12): one, or as many as `length` says. */
export function months(first: number, length = 1): Period {
  const at = (month: number) => new Date(Date.UTC(2026, month - 1)).toISOString();
  return { start: at(first), end: at(first + length) };
}

/** A time as tests compare it: its day where it is midnight in UTC, else to the millisecond; `none` where there is none. */
export function shortTime(time: unknown): string {
  if (time === null || time === undefined) return 'none';
  return new Date(String(time instanceof Date ? time.toISOString() : time)).toISOString().replace('T00:00:00.000Z', '');
}
