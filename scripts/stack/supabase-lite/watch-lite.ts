import pg from 'pg';

/** Path of the API's listener that answers 204 when each of Lite's pools has answered a query, 503 when one failed. */
export const alivePath = '/_alive';

/** How often Lite is asked, and how long it may be silent, in milliseconds. */
export type WatchTimes = { everyMs: number; silentMs: number };

const postgresMs = 5000;

/**
 * Waits until Lite is silent while Postgres answers: after a restart of Postgres, each connection of Lite may wait for the
 * answer to its driver's first query for ever. A busy or stopped Postgres is no reason.
 *
 * @returns true when Lite is silent, false when `isOver` became true
 */
export async function waitUntilSilent(
  apiUrl: string,
  databaseUrl: string,
  isOver: () => boolean,
  { everyMs, silentMs }: WatchTimes,
): Promise<boolean> {
  while (!isOver()) {
    await new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, everyMs)));
    if (isOver() || await answers(apiUrl, silentMs) || isOver()) continue;
    if (await answersQuery(databaseUrl)) return true;
  }
  return false;
}

/** Whether there is any answer, also an error. A connection that is refused or cut is one: that Lite is being restarted. */
async function answers(apiUrl: string, silentMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(silentMs);
  try {
    const response = await fetch(apiUrl + alivePath, { signal });
    await response.body?.cancel();
  } catch {
    return !signal.aborted;
  }
  return true;
}

async function answersQuery(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: postgresMs,
    query_timeout: postgresMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    void client.end().catch(() => {});
  }
}
