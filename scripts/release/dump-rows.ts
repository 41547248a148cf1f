import type pg from 'pg';
import type { UnstableValues } from './stable-values.ts';

/** The rows of a table, each as JSON text without its nulls, in the order of the columns. No generated columns. */
export type TableRows = { readonly table: string; readonly columns: string; readonly rows: readonly string[] };

/** Every auth server has these columns of `auth.users`. */
const userColumns = 'id, aud, role, email, created_at, updated_at';

/**
 * Reads the rows of `auth.users` and of all tables of schemas public and billing, those without rows included. Not the sums of
 * revenue: they are kept by the first digits of the users' ids, which a release replaces, and the sweep computes them.
 */
export async function dumpRows(client: pg.Client): Promise<TableRows[]> {
  const { rows } = await client.query<{ name: string; columns: string }>(`
    select format('%I.%I', n.nspname, c.relname) as name, listed.columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
      from pg_attribute a
      where a.attrelid = c.oid
        and a.attnum > 0
        and not a.attisdropped
        and a.attgenerated = ''
    ) listed
    where n.nspname in ('public', 'billing')
      and c.relkind in ('r', 'p')
      and c.relname <> 'revenue_sums'
    order by n.nspname = 'billing', c.relname`);
  const tables: TableRows[] = [];
  for (const { name: table, columns } of [{ name: 'auth.users', columns: userColumns }, ...rows]) {
    tables.push({ table, columns, rows: await jsonRows(client, `(select ${columns} from ${table})`) });
  }
  return tables;
}

/** The text of each value is kept as Postgres writes it: a number may be larger than JavaScript's. */
async function jsonRows(client: pg.Client, source: string): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(`
    select (
      select '{' || string_agg(to_json(f.key) || ':' || f.value, ',' order by f.position) || '}'
      from json_each(row_to_json(t)) with ordinality f (key, value, position)
      where json_typeof(f.value) <> 'null'
    ) as row
    from ${source} t`);
  return rows.map(({ row }) => row);
}

/** The last value of each sequence that was used. */
export async function dumpSequences(client: pg.Client): Promise<{ name: string; value: string }[]> {
  const { rows } = await client.query<{ name: string; value: string }>(`
    select format('%I.%I', s.schemaname, s.sequencename) as name, s.last_value::text as value
    from pg_sequences s
    where s.schemaname in ('public', 'billing')
      and s.last_value is not null
    order by 1`);
  return rows;
}

/** Finds the values of a database that the next run will not repeat: columns with a random default, and claims. */
export async function findRandomIds(client: pg.Client): Promise<UnstableValues['randomIds']> {
  const { rows: columns } = await client.query<{ query: string }>(`
    select format('select %I::text as id from %I.%I', c.column_name, c.table_schema, c.table_name) as query
    from information_schema.columns c
    where c.table_schema in ('public', 'billing')
      and c.column_default = 'gen_random_uuid()'`);
  const queries = [...columns.map(({ query }) => query), 'select unnest(claims)::text from billing.outbox'];
  const { rows } = await client.query<{ id: string | null }>(queries.join('\nunion\n'));
  return new Set(rows.flatMap(({ id }) => id ?? []));
}
