import type pg from 'pg';
import { openSession } from './session.ts';
import type { TestDatabase } from './test-database.ts';

/** Opens several sessions of the service for concurrent calls. */
export function openRacers(database: TestDatabase, count: number): Promise<pg.Client[]> {
  return Promise.all(Array.from({ length: count }, () => openSession(database, { role: 'service_role' })));
}

/**
 * The number of deadlocks of a database. Ends the given sessions first, because a session reports its counts when it
 * ends.
 */
export async function countDeadlocks(database: TestDatabase, sessions: readonly pg.Client[]): Promise<number> {
  const pids = sessions.map((session) => Reflect.get(session, 'processID'));
  await Promise.all(sessions.map((session) => session.end()));
  for (;;) {
    const { open } = await database.one(
      'select count(*)::int as open from pg_stat_activity where pid = any ($1)',
      [pids],
    );
    if (open === 0) break;
  }
  const { deadlocks } = await database.one(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return Number(deadlocks);
}
