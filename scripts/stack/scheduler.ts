import postgres from 'postgres';
import type { Service } from './service.ts';
import { sweep } from './postgres/sweep.ts';

export type SchedulerOptions = {
  databaseUrl: string;
  /** The address of the function's internal endpoints. */
  internalUrl: string;
  /** The project's secret key. */
  secretKey: string;
  /** Interval of the sweep. */
  sweepMs?: number;
};

/** More than one call at a time, because a call may wait for a slow receiver. */
const maxCalls = 4;

/**
 * Does what pg_net and pg_cron do on a hosted project: calls the dispatcher after each notification of the database,
 * and once a minute the sweep, the dispatcher and reconciliation.
 */
export function createScheduler(
  { databaseUrl, internalUrl, secretKey, sweepMs = 60_000 }: SchedulerOptions,
): Service {
  let sql: postgres.Sql | undefined;
  let sweeping: ReturnType<typeof setInterval> | undefined;
  let wakeTimer: ReturnType<typeof setTimeout> | undefined;
  let dueTimer: ReturnType<typeof setTimeout> | undefined;
  let dueAt = Infinity;
  let calls = 0;
  let isSweeping = false;
  const stopping = new AbortController();

  /** Calls the dispatcher soon. Several notifications within a short time result in one call. */
  function wake(): void {
    if (stopping.signal.aborted) return;
    wakeTimer ??= setTimeout(() => {
      wakeTimer = undefined;
      void call();
    }, calls < maxCalls ? 20 : 1000);
  }

  /** Calls the dispatcher at a time (of `Date.now()`), unless an earlier call is planned. */
  function wakeAt(time: number): void {
    if (time >= dueAt) return;
    dueAt = time;
    clearTimeout(dueTimer);
    dueTimer = setTimeout(() => {
      dueAt = Infinity;
      void call();
    }, Math.min(Math.max(time - Date.now(), 50), sweepMs));
  }

  function post(endpoint: string): Promise<Response> {
    return fetch(`${internalUrl}/${endpoint}`, {
      method: 'POST',
      headers: { apikey: secretKey },
      signal: stopping.signal,
    });
  }

  /**
   * If the database or the function is down, the next sweep retries. Only one runs at a time: the client of the
   * database would open a connection after its end for a sweep that still waits.
   */
  async function runSweep(): Promise<void> {
    if (isSweeping) return;
    isSweeping = true;
    await sql?.unsafe(sweep).then(wake, () => {});
    await post('reconcile').then((response) => response.body?.cancel(), () => {});
    isSweeping = false;
  }

  async function call(): Promise<void> {
    if (calls >= maxCalls) return wake();
    calls += 1;
    try {
      const response = await post('outbox');
      const { next_attempt_at: next } = await response.json();
      if (typeof next === 'string' && !stopping.signal.aborted) wakeAt(Date.parse(next));
    } catch {
      // The function or its database is down: the next sweep dispatches.
    } finally {
      calls -= 1;
    }
  }

  return {
    name: 'scheduler',
    async start() {
      // A query of the types of arrays would be rejected, uncaught, when the database restarts meanwhile.
      sql = postgres(databaseUrl, { max: 1, fetch_types: false, onnotice: () => {} });
      // Wakes also after each reconnect, because notifications in between are lost.
      await sql.listen('outbox', wake, wake);
      sweeping = setInterval(runSweep, sweepMs);
    },
    ready: () => Promise.resolve(),
    async stop() {
      clearInterval(sweeping);
      clearTimeout(wakeTimer);
      clearTimeout(dueTimer);
      stopping.abort();
      await sql?.end({ timeout: 1 });
    },
  };
}
