import { z } from 'zod';

// About 1,000 years: ISO 8601 has four digits for a year.
const MAX_SHIFT_SECONDS = 1_000 * 366 * 24 * 60 * 60;

/** The body of `POST /simulate/clock`: the offset of the gateway's time from the machine's; 0 resets it. */
export const clockRequest = z.strictObject({
  shift_seconds: z.int().min(-MAX_SHIFT_SECONDS).max(MAX_SHIFT_SECONDS),
});

/** The gateway's time. It affects only timestamps, not the pauses between retries of a webhook. */
export type GatewayClock = {
  /** In milliseconds since 1970. */
  now(): number;
  /** In Unix seconds, as in the gateway's records. */
  seconds(): number;
  shiftSeconds(): number;
  /** Replaces the shift; shifts do not add up. */
  setShift(seconds: number): void;
};

/** @param source returns milliseconds since 1970 */
export function createGatewayClock(source: () => number): GatewayClock {
  let shift = 0;
  const now = () => source() + shift * 1000;
  return {
    now,
    seconds: () => Math.floor(now() / 1000),
    shiftSeconds: () => shift,
    setShift(seconds) {
      shift = seconds;
    },
  };
}

/** A request with its time in Unix seconds. */
export type Timed<Request> = Request & { created_at: number };

/** Adds the gateway's current time to a request without `created_at`. */
export function timed<Request extends { created_at?: number | undefined }>(
  request: Request,
  clock: GatewayClock,
): Timed<Request> {
  return { ...request, created_at: request.created_at ?? clock.seconds() };
}
