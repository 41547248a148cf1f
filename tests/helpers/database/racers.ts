import type pg from 'pg';
import { openSession, waitUntilBlocked } from './session.ts';
import type { TestDatabase } from './test-database.ts';

/** What a session does. */
export type Act<T = unknown> = (session: pg.Client) => Promise<T>;

const racers = new WeakMap<TestDatabase, pg.Client[]>();

/** Opens several sessions of the service for concurrent calls. */
export function openRacers(database: TestDatabase, count: number): Promise<pg.Client[]> {
  return Promise.all(Array.from({ length: count }, () => openSession(database, { role: 'service_role' })));
}

/**
 * Runs acts at once on eight sessions of the service: of more, a call could wait three seconds for the others, and fail.
 * @returns their results @throws when one of them does
 */
export async function race<T>(database: TestDatabase, acts: readonly Act<T>[]): Promise<T[]> {
  const results: T[] = [];
  const waiting = [...acts.entries()];
  await Promise.all((await keptRacers(database, Math.min(8, acts.length))).map(async (session) => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await next[1](session);
  }));
  return results;
}

/**
 * Runs the first act in a transaction. The second starts while that is open, waits for it, and goes on after its end.
 * @returns the results of both @throws when the second act does not wait
 */
export async function overlap<A, B>(
  database: TestDatabase,
  first: Act<A>,
  second: Act<B>,
  end: 'commit' | 'rollback' = 'commit',
): Promise<[A, B]> {
  const [one, two] = await keptRacers(database, 2);
  if (!one || !two) throw new Error('no sessions');
  await one.query('begin');
  try {
    const result = await first(one);
    const later = second(two);
    await untilBlocked(database, two, later);
    await one.query(end);
    return [result, await later];
  } finally {
    await one.query('rollback');
  }
}

/** Waits until the call of a session waits for another one. @throws when it ends without that */
export async function untilBlocked(database: TestDatabase, session: pg.Client, call: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  call.then(end, end);
  await waitUntilBlocked(database, session, () => isOver);
}

/** A statement of the owner of the database. */
export const asOwner = (sql: string, parameters?: unknown[]): Act<pg.QueryResult> => async (session) => {
  await session.query('reset role');
  const result = await session.query(sql, parameters);
  await session.query('set role service_role');
  return result;
};

/** The number of deadlocks of a database: of sessions that ended, of those of `race` and `overlap`, and of the given ones. */
export async function countDeadlocks(database: TestDatabase, sessions: readonly pg.Client[] = []): Promise<number> {
  for (const session of [...sessions, ...racers.get(database) ?? []]) {
    await session.query('select pg_stat_force_next_flush()');
  }
  const { deadlocks } = await database.one(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return Number(deadlocks);
}

async function keptRacers(database: TestDatabase, count: number): Promise<pg.Client[]> {
  const kept = racers.get(database) ?? [];
  kept.push(...await openRacers(database, Math.max(0, count - kept.length)));
  racers.set(database, kept);
  return kept.slice(0, count);
}
