import type { TestDatabase } from './test-database.ts';

/** Stops the clock of the rules and of column defaults at a time (ISO 8601 with a zone); null lets it run again. */
export async function setClock(database: Pick<TestDatabase, 'query'>, at: string | null): Promise<void> {
  const time = at === null ? 'now()' : `timestamptz '${new Date(at).toISOString()}'`;
  await database.query(`
    create or replace function billing.clock()
    returns timestamptz language sql stable set search_path = pg_catalog, pg_temp
    return ${time}`);
}
