import { z } from 'zod';

/**
 * The body of `POST /simulate/cycles`: when the cycles of subscriptions end that begin with their authorisation from now on.
 * At the real gateway that is midnight in India, 18:30 in UTC.
 */
export const cyclesRequest = z.strictObject({
  end_at: z.enum(['time_of_authorisation', 'india_midnight']).default('time_of_authorisation'),
});

export type CycleSettings = z.infer<typeof cyclesRequest>;

const DAY_SECONDS = 24 * 60 * 60;
const INDIA_MIDNIGHT = 18.5 * 60 * 60;
const INDIA_OFFSET = DAY_SECONDS - INDIA_MIDNIGHT;

/** The start of a first cycle that is authorised at a time, Unix seconds: then, or at midnight in India before. */
export function firstStart({ end_at }: CycleSettings, at: number): number {
  return end_at === 'india_midnight' ? at - (at - INDIA_MIDNIGHT) % DAY_SECONDS : at;
}

/** How often a plan is billed: every `interval` periods. */
export type Cycle = { period: 'daily' | 'weekly' | 'monthly' | 'yearly'; interval: number };

const SHORTEST_DAYS = { daily: 1, weekly: 7, monthly: 28, yearly: 365 };
const LONGEST_DAYS = { daily: 1, weekly: 7, monthly: 31, yearly: 366 };

/** True if all retries of a failed charge fit into a cycle: the gateway has no shorter one than a week. */
export function isBillable({ period, interval }: Cycle): boolean {
  return SHORTEST_DAYS[period] * interval >= 7;
}

/**
 * The end of the n-th cycle after a time, all in Unix seconds. Months and years keep the day of the month, or end on the
 * last day of a shorter month: cycles from 31 January end on 28 February and 31 March. The days are Indian ones after
 * midnight in India, else those of UTC.
 */
export function endOfCycle({ period, interval }: Cycle, from: number, n: number): number {
  if (period === 'daily' || period === 'weekly') return from + n * interval * SHORTEST_DAYS[period] * DAY_SECONDS;
  const offset = (from - INDIA_MIDNIGHT) % DAY_SECONDS === 0 ? INDIA_OFFSET : 0;
  const end = new Date((from + offset) * 1000);
  const day = end.getUTCDate();
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + n * interval * (period === 'yearly' ? 12 : 1));
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  end.setUTCDate(Math.min(day, lastDay));
  return end.getTime() / 1000 - offset;
}

/** How many cycles from the first one's start have begun before a time. */
export function cyclesBefore(cycle: Cycle, first: number, time: number): number {
  const longest = LONGEST_DAYS[cycle.period] * cycle.interval * DAY_SECONDS;
  let n = Math.max(0, Math.floor((time - first) / longest));
  while (endOfCycle(cycle, first, n) < time) n += 1;
  return n;
}

/**
 * The end of the cycle that begins at `start`: the next end counted from the start of the first cycle, or one cycle
 * later if `start` is not the end of a cycle.
 */
export function endOfCycleFrom(cycle: Cycle, first: number, start: number): number {
  const n = cyclesBefore(cycle, first, start);
  return endOfCycle(cycle, first, n) === start ? endOfCycle(cycle, first, n + 1) : endOfCycle(cycle, start, 1);
}
