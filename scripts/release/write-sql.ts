import type { TableRows } from './dump-rows.ts';
import { userColumns } from './dump-rows.ts';

/** A migration as `supabase db push` recorded it. */
export type AppliedMigration = {
  readonly version: string;
  readonly name: string;
  readonly statements: readonly string[];
};

/** The line between the two parts of a release. */
export const sampleMarker = '-- Sample\n';

/** The first part: applies and records the migrations, in a database as every Supabase project has it. */
export function schemaSql(version: string, migrations: readonly AppliedMigration[]): string {
  return `-- Release ${version}: schema and sample. Written by \`npm run release\`, never edited.
-- Restores into a database that has the API's roles and schema auth, and no migration.

create schema if not exists supabase_migrations;
create table if not exists supabase_migrations.schema_migrations (
  version text not null primary key,
  statements text[],
  name text,
  created_by text,
  idempotency_key text unique,
  rollback text[]
);
create table if not exists supabase_migrations.seed_files (
  path text not null primary key,
  hash text not null
);

create function pg_temp.apply_migration(p_version text, p_name text, p_statements text[])
returns void
language plpgsql
as $$
declare
  v_statement text;
begin
  foreach v_statement in array p_statements loop
    execute v_statement;
  end loop;
  insert into supabase_migrations.schema_migrations (version, name, statements)
  values (p_version, p_name, p_statements);
end
$$;

${migrations.map(migrationSql).join('\n')}
`;
}

function migrationSql({ version, name, statements }: AppliedMigration): string {
  return `-- migrations/${version}_${name}.sql
select pg_temp.apply_migration(${quote(version)}, ${quote(name)}, array[
${statements.map(dollarQuote).join(',\n')}
]);
`;
}

/** The second part: replaces the rows of the migrations by those of the sample. Each row is one line. */
export function sampleSql(tables: readonly TableRows[], sequences: readonly { name: string; value: string }[]): string {
  const names = tables.map(({ table }) => table).filter((table) => table !== 'auth.users');
  return `${sampleMarker}
-- The rows are complete: no trigger may add others.
set session_replication_role = replica;
truncate ${names.join(', ')};

${tables.filter(({ rows }) => rows.length > 0).map(insertSql).join('\n')}
${sequences.map(({ name, value }) => `select setval('${name}', ${value});\n`).join('')}
reset session_replication_role;
`;
}

function insertSql({ table, rows }: TableRows): string {
  const columns = table === 'auth.users' ? userColumns.join(', ') : null;
  const target = columns === null ? `${table} overriding system value` : `${table} (${columns})`;
  return `insert into ${target}
select ${columns ?? '*'}
from jsonb_populate_recordset(null::${table}, ${dollarQuote(`[\n${rows.join(',\n')}\n]`)});
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** @throws Error when the text contains the quote. */
function dollarQuote(text: string): string {
  const mark = '$_$';
  if (text.includes(mark)) throw new Error(`${mark} stands in a text of the release`);
  return mark + text + mark;
}
