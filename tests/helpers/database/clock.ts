import type { TestDatabase } from './test-database.ts';

/**
 * Stops the database's clock at a time (ISO 8601 with a zone); null lets it run again. The rules and the column defaults
 * use this clock.
 */
export async function setClock(database: Pick<TestDatabase, 'query'>, at: string | null): Promise<void> {
  const time = at === null ? 'now()' : `timestamptz '${new Date(at).toISOString()}'`;
  await database.query(`
    create or replace function billing.clock()
    returns timestamptz language sql stable set search_path = pg_catalog, pg_temp
    return ${time}`);
}
