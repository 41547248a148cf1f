import type { TestDatabase } from './test-database.ts';

/**
 * Sets the time by which the database's rules go, or with null lets it run again. ISO 8601 with a zone. The column
 * defaults of the schema go by it, too.
 */
export async function setClock(database: Pick<TestDatabase, 'query'>, at: string | null): Promise<void> {
  const time = at === null ? 'now()' : `timestamptz '${new Date(at).toISOString()}'`;
  await database.query(`
    create or replace function private.clock()
    returns timestamptz language sql stable set search_path = ''
    return ${time}`);
}
