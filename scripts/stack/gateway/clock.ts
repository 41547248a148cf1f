import type { ISql } from 'postgres';
import { z } from 'zod';
import { deliverOptions } from './events.ts';
import type { KeptValue } from './journal.ts';
import { postJson } from './post-json.ts';

/** About 1,000 years: ISO 8601 has four digits for a year. */
export const MAX_SHIFT_SECONDS = 1_000 * 366 * 24 * 60 * 60;

/** The body of `POST /simulate/clock`: the offset of the gateway's time from the machine's; 0 resets it. */
export const clockRequest = z.strictObject({
  shift_seconds: z.int().min(-MAX_SHIFT_SECONDS).max(MAX_SHIFT_SECONDS),
  /** False: what is due then happens at the next `POST /simulate/due`, or within a second. */
  settle: z.boolean().default(true),
  /** How the webhooks of what is due are delivered. */
  deliver: deliverOptions.default({}),
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

/** @param source returns milliseconds since 1970. @param shift seconds */
export function createGatewayClock(source: () => number, shift: KeptValue<number>): GatewayClock {
  const now = () => source() + shift.current * 1000;
  return {
    now,
    seconds: () => Math.floor(now() / 1000),
    shiftSeconds: () => shift.current,
    setShift(seconds) {
      shift.current = seconds;
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

/** Pauses in the gateway's time, which may be faster than real time. */
export type ScaledTimer = {
  /** How many times faster than real time. A change affects running pauses, too. */
  scale: number;
  /** Resolves after some milliseconds of the gateway's time, when the signal aborts, or at `skip`. */
  pause(ms: number, signal: AbortSignal, name: string): Promise<void>;
  /** Ends the pauses with a name, or all, now. @returns how many */
  skip(name?: string): number;
};

type Waiting = { name: string; plan(): void; end(): void };

/** @param scale 1 is real time */
export function createScaledTimer(scale: number): ScaledTimer {
  const waiting = new Set<Waiting>();
  let current = scale;

  return {
    get scale() {
      return current;
    },
    set scale(next) {
      current = next;
      waiting.forEach(({ plan }) => plan());
    },
    pause(ms, signal, name) {
      if (ms === 0 || signal.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      let [left, since, speed] = [ms, performance.now(), current];
      let timer: ReturnType<typeof setTimeout> | undefined;
      const own: Waiting = {
        name,
        plan() {
          left -= (performance.now() - since) * speed;
          [since, speed] = [performance.now(), current];
          clearTimeout(timer);
          timer = setTimeout(own.end, Math.max(0, left / speed));
        },
        end() {
          clearTimeout(timer);
          signal.removeEventListener('abort', own.end);
          waiting.delete(own);
          resolve();
        },
      };
      waiting.add(own);
      signal.addEventListener('abort', own.end);
      own.plan();
      return promise;
    },
    skip(name) {
      const chosen = [...waiting].filter((one) => name === undefined || one.name === name);
      chosen.forEach(({ end }) => end());
      return chosen.length;
    },
  };
}

/**
 * Sets the simulator's clock to the shift of the stack's clock. What is due by then happens within a second.
 * @throws Error when the simulator refuses
 */
export async function setGatewayClock(sql: ISql, gatewayUrl: string): Promise<void> {
  const [row] = await sql`select round(extract(epoch from billing.clock() - now()))::float8 as shift_seconds`;
  await postJson(`${gatewayUrl}/simulate/clock`, { ...row, settle: false });
}
