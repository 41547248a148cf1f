import type { Delivery } from '../ports.ts';

/** Longer than a healthy receiver needs, and short enough for many attempts within a lease. */
export const attemptTimeoutMilliseconds = 10_000;

/** Maps an HTTP status to the result of an attempt. */
export function readStatus(status: number, error: string, retryAfter: string | null): Delivery {
  if (status >= 200 && status < 300) return { status: 'delivered' };
  if (status === 429) return { status: 'paused', error, seconds: pauseSeconds(retryAfter) };
  // A redirect comes from a proxy in front of the receiver, which may be temporary: retry.
  const final = status >= 400 && status < 500 && status !== 408 && status !== 409;
  return { status: final ? 'refused' : 'failed', error };
}

/** `retry-after` may be in seconds or a date. Default: a minute; at most an hour. */
function pauseSeconds(retryAfter: string | null): number {
  const seconds = Number(retryAfter || NaN);
  const wait = Number.isFinite(seconds) ? seconds : (Date.parse(retryAfter ?? '') - Date.now()) / 1000;
  return Number.isFinite(wait) ? Math.min(Math.max(Math.ceil(wait), 1), 3600) : 60;
}
