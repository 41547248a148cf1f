import type { TestDatabase } from './test-database.ts';

/**
 * Stops the database's clock at a time (ISO 8601 with a zone); null lets it run again. The rules and the column defaults
 * use this clock. Only the first call replaces the function: to replace it makes every session plan its statements again. It is
 * in plpgsql as the product's is, since a function in sql is planned at each call.
 */
export async function setClock(database: Pick<TestDatabase, 'query'>, at: string | null): Promise<void> {
  const time = at === null ? 'null' : `timestamptz '${new Date(at).toISOString()}'`;
  await database.query(`do $do$ begin
    if to_regclass('stopped.clock') is null then
      create schema stopped;
      create table stopped.clock as select null::timestamptz as at;
      create or replace function billing.clock()
      returns timestamptz language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$ begin
        return coalesce((select c.at from stopped.clock c), now());
      end $$;
    end if;
    update stopped.clock set at = ${time} where at is distinct from ${time};
  end $do$`);
}
