import type { Result } from '../database/database-results.ts';
import type { GatewayEntity } from '../gateway/gateway-port.ts';

/** The receiver of a side effect. Each destination has its own queue. `notice`: mails that are not urgent. */
export type Destination = 'email' | 'notice' | 'revalidation' | 'gateway' | 'event';

/** A side effect to deliver. */
export type OutboxRow = Result<'claim_outbox'>['rows'][number];

/** What a delivery left. `note`: why nothing was sent, for an admin. `refund`: the refund that the gateway made. */
export type Delivered = { readonly note?: string; readonly refund?: GatewayEntity };

/** The result of an attempt. */
export type Delivery = Delivered & { readonly status: 'delivered' } | Failure;

/** Why rows were not delivered. `error` is for an admin and contains no secret. */
export type Failure =
  /** Retried. */
  | { readonly status: 'failed'; readonly error: string }
  /** Parked, because a retry is useless. */
  | { readonly status: 'refused'; readonly error: string }
  /** Rate limited: retried after some seconds. */
  | { readonly status: 'paused'; readonly error: string; readonly seconds: number };

/** One attempt at some rows. Never throws. */
export type Attempt = { readonly rows: readonly OutboxRow[]; readonly deliver: () => Promise<Delivery> };

/** Plans the delivery of claimed rows to one destination. @returns the attempts to make. */
export type Sender = (rows: readonly OutboxRow[]) => readonly Attempt[];

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
