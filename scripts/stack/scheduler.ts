import postgres from 'postgres';
import type { Service } from './service.ts';
import { sweep } from './postgres/sweep.ts';

export type SchedulerOptions = {
  databaseUrl: string;
  /** The address of the function's internal endpoints. */
  internalUrl: string;
  /** The project's secret key. */
  secretKey: string;
  /** Between two sweeps. */
  sweepMs?: number;
};

/** One call delivers all that is due; a few at once get past one that waits for a slow receiver. */
const mostCalls = 4;

/**
 * What pg_net and pg_cron do on a hosted project: calls the dispatcher when the database says so, and once a minute the
 * sweep, the dispatcher and reconciliation.
 */
export function createScheduler(
  { databaseUrl, internalUrl, secretKey, sweepMs = 60_000 }: SchedulerOptions,
): Service {
  let sql: postgres.Sql | undefined;
  let sweeping: ReturnType<typeof setInterval> | undefined;
  let noticed: ReturnType<typeof setTimeout> | undefined;
  let due: ReturnType<typeof setTimeout> | undefined;
  let dueAt = Infinity;
  let calls = 0;
  const stopping = new AbortController();

  /** Calls the dispatcher soon; several notices are one call, and however many they are it comes. */
  function wake(): void {
    if (stopping.signal.aborted) return;
    noticed ??= setTimeout(() => {
      noticed = undefined;
      void call();
    }, calls < mostCalls ? 20 : 1000);
  }

  /** Calls the dispatcher at that time (of `Date.now()`), unless it is to be called earlier. */
  function wakeAt(time: number): void {
    if (time >= dueAt) return;
    dueAt = time;
    clearTimeout(due);
    due = setTimeout(() => {
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

  /** The database or the function may be away: next time. */
  async function runSweep(): Promise<void> {
    await sql?.unsafe(sweep).then(wake, () => {});
    await post('reconcile').then((response) => response.body?.cancel(), () => {});
  }

  async function call(): Promise<void> {
    if (calls >= mostCalls) return wake();
    calls += 1;
    try {
      const response = await post('outbox');
      const { next_attempt_at: next } = await response.json();
      if (typeof next === 'string' && !stopping.signal.aborted) wakeAt(Date.parse(next));
    } catch {
      // The function or its database is away: the next sweep finds what is due.
    } finally {
      calls -= 1;
    }
  }

  return {
    name: 'scheduler',
    async start() {
      sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
      // Also whenever it listens again: notices of the meantime are lost.
      await sql.listen('outbox', wake, wake);
      sweeping = setInterval(runSweep, sweepMs);
    },
    ready: () => Promise.resolve(),
    async stop() {
      clearInterval(sweeping);
      clearTimeout(noticed);
      clearTimeout(due);
      stopping.abort();
      await sql?.end({ timeout: 1 });
    },
  };
}
