/** Microseconds since 1970 in UTC, so that two sources of the same millisecond still have an order. */
export type Time = number;

export const second = 1_000_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export function parseTime(iso: string): Time {
  return Date.parse(iso) * 1000;
}

/** A time in ISO 8601, cut to milliseconds. */
export function isoTime(at: Time): string {
  return new Date(Math.floor(at / 1000)).toISOString();
}

/** A time cut to whole seconds, as the gateway writes times. */
export function wholeSeconds(at: Time): Time {
  return Math.floor(at / second) * second;
}

/** Calendar months later in UTC; a day that the month does not have becomes its last one. */
export function addMonths(at: Time, months: number): Time {
  const from = new Date(Math.floor(at / 1000));
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return (Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) + from.getTime() % 86_400_000) * 1000;
}
