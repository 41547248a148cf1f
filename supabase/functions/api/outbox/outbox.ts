/** Where a side effect goes; each has a queue of its own. `notice`: mails that nobody waits for. */
export type Destination = 'email' | 'notice' | 'revalidation' | 'gateway';

/** A side effect to deliver. `key` names the fact behind it and is the same at every attempt. */
export type OutboxRow = {
  readonly id: number;
  readonly key: string;
  readonly kind: string;
  readonly payload: unknown;
};

/** What became of an attempt. */
export type Delivery =
  /** `note`: for an admin, where nothing was sent because nothing was to be sent. */
  | { readonly status: 'delivered'; readonly note?: string }
  | Failure;

/** Why rows were not delivered. Errors name kinds and statuses for an admin; they hold no secret. */
export type Failure =
  /** To be tried again. */
  | { readonly status: 'failed'; readonly error: string }
  /** Trying again can't help. */
  | { readonly status: 'refused'; readonly error: string }
  /** The destination asks for a pause. */
  | { readonly status: 'paused'; readonly error: string; readonly seconds: number };

/** One attempt at some rows. Never throws. */
export type Attempt = { readonly rows: readonly OutboxRow[]; readonly deliver: () => Promise<Delivery> };

/** Delivers to one destination. @returns the attempts to make for claimed rows. */
export type Sender = (rows: readonly OutboxRow[]) => readonly Attempt[];

/** Longer than a healthy receiver needs, and short enough that many fit into a lease. */
export const attemptTimeoutMilliseconds = 10_000;

/** Reads an HTTP answer as the outcome of an attempt. */
export function readStatus(status: number, error: string, retryAfter: string | null): Delivery {
  if (status >= 200 && status < 300) return { status: 'delivered' };
  if (status === 429) return { status: 'paused', error, seconds: pauseSeconds(retryAfter) };
  // A redirect is no refusal: it comes from whatever stands in front of the receiver today.
  const final = status >= 400 && status < 500 && status !== 408 && status !== 409;
  return { status: final ? 'refused' : 'failed', error };
}

/** `retry-after` in seconds or as a date; a minute when it says nothing, an hour at most. */
function pauseSeconds(retryAfter: string | null): number {
  const seconds = Number(retryAfter || NaN);
  const wait = Number.isFinite(seconds) ? seconds : (Date.parse(retryAfter ?? '') - Date.now()) / 1000;
  return Number.isFinite(wait) ? Math.min(Math.max(Math.ceil(wait), 1), 3600) : 60;
}
