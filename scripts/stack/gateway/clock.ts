import { z } from 'zod';

// ISO 8601 has four digits for a year.
const MOST_SECONDS = 1_000 * 366 * 24 * 60 * 60;

/** The body of `POST /simulate/clock`: how far the gateway's time is from the machine's; 0 ends the shift. */
export const clockRequest = z.strictObject({
  shift_seconds: z.int().min(-MOST_SECONDS).max(MOST_SECONDS),
});

/** The gateway's time. Only timestamps follow it: the pauses between retries of a webhook do not. */
export type GatewayClock = {
  /** In milliseconds since 1970. */
  now(): number;
  /** In Unix seconds, as in the gateway's records. */
  seconds(): number;
  shiftSeconds(): number;
  /** Replaces the shift; shifts do not add up. */
  setShift(seconds: number): void;
};

/** A clock that runs with `source`, which returns milliseconds since 1970. */
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

/** A request with the time that it asks for, or else the gateway's present time. */
export function timed<Request extends { created_at?: number | undefined }>(
  request: Request,
  clock: GatewayClock,
): Timed<Request> {
  return { ...request, created_at: request.created_at ?? clock.seconds() };
}
