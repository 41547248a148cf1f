/** Measures what migrations cost on a large database: their time, and the strongest lock on each table that was there. */
import type pg from 'pg';
import type { Postgres } from '../../scripts/stack/postgres/postgres.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { root } from '../../scripts/stack/root.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import type { Sized } from './growth-admin.ts';

/** From the weakest to the strongest. */
const modes = [
  'AccessShareLock',
  'RowShareLock',
  'RowExclusiveLock',
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
];

/** What upgrades consist of. */
const statements: Record<string, string> = {
  'a column without a default': 'alter table public.subscriptions add column bench_at timestamptz',
  'a column with a constant default': "alter table public.payments add column bench_state text not null default 'new'",
  'its values, for all subscriptions':
    'set local session_replication_role = replica; update public.subscriptions set bench_at = current_period_end',
  'an index on subscriptions': 'create index bench_at_idx on public.subscriptions (bench_at)',
  'an index on payments': 'create index bench_captured_idx on public.payments (captured_at)',
  'the same, concurrently': 'create index concurrently bench_captured_2_idx on public.payments (captured_at)',
  'a partial index on payments': "create index bench_failed_idx on public.payments (user_id) where status = 'failed'",
  'a check of payments': 'alter table public.payments add constraint bench_check check (amount >= 0)',
  'the same, not valid': 'alter table public.payments add constraint bench_late check (amount >= 0) not valid',
  'validated later': 'alter table public.payments validate constraint bench_late',
  'a new table of users': 'create table billing.bench_rows (user_id uuid references auth.users on delete cascade)',
  'settings of autovacuum': 'alter table public.payments set (autovacuum_vacuum_scale_factor = 0.01)',
};

type Step = { readonly name: string; readonly seconds: number; readonly locks: string };

/** @returns the tables: of the installation beside that number of users and profiles, and of statements of an upgrade */
export async function benchUpgrade(postgres: Postgres, users: number, { payments, database }: Sized): Promise<string> {
  const steps: Step[] = [];
  for (const [name, sql] of Object.entries(statements)) {
    steps.push(await withClient(database.url, async (client) => runStep(client, name, sql, await tablesOf(client))));
  }
  return [
    table(`installation beside ${users} users and profiles`, await install(postgres, users)),
    table(`an upgrade of ${payments} payments and charges`, steps),
  ].join('\n');
}

/** Applies the migrations to the database of an app with that many users and profiles of its own. */
async function install(postgres: Postgres, users: number): Promise<Step[]> {
  await withClient(postgres.url(), (client) => client.query('create database bench_upgrade'));
  const url = postgres.url('bench_upgrade');
  await prepareDatabase(url);
  const folder = `${root}/supabase/migrations`;
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith('.sql'))
    .toSorted();
  return await withClient(url, async (client) => {
    await client.query('set session_replication_role = replica');
    await client.query(
      "insert into auth.users (id, email) select gen_random_uuid(), n || '@example.com' from generate_series(1, $1::int) n",
      [users],
    );
    await client.query(
      'create table public.profiles (id uuid primary key references auth.users on delete cascade, name text)',
    );
    await client.query('insert into public.profiles select id, email from auth.users');
    await client.query('set session_replication_role = origin');
    await client.query('vacuum (analyze, freeze)');
    const tables = await tablesOf(client);
    const steps: Step[] = [];
    for (const file of files) {
      steps.push(await runStep(client, file, await Deno.readTextFile(`${folder}/${file}`), tables));
    }
    return steps;
  });
}

/** Runs SQL as `db push` does: a migration is a transaction, but for what can't run in one. */
async function runStep(client: pg.Client, name: string, sql: string, tables: readonly number[]): Promise<Step> {
  const isAlone = sql.includes('concurrently');
  const start = performance.now();
  if (!isAlone) await client.query('begin');
  await client.query(sql);
  const { rows } = await client.query(
    `select distinct on (relation) relation::regclass::text as table, mode
     from pg_locks
     where pid = pg_backend_pid() and relation = any ($1::oid[]) and array_position($2, mode) > 2
     order by relation, array_position($2, mode) desc`,
    [tables, modes],
  );
  if (!isAlone) await client.query('commit');
  const seconds = (performance.now() - start) / 1000;
  const locks = isAlone
    ? 'not read: it runs outside of a transaction'
    : rows.map(({ table, mode }) => `${table}: ${mode}`).join(', ');
  return { name, seconds, locks };
}

async function tablesOf(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query(
    "select c.oid from pg_class c where c.relkind = 'r' and c.relnamespace::regnamespace::text in ('auth', 'public', 'billing')",
  );
  return rows.map(({ oid }) => oid);
}

function table(title: string, steps: readonly Step[]): string {
  return [
    `| ${title} | seconds | strongest lock on a table that was there |`,
    '|---|---|---|',
    ...steps.map(({ name, seconds, locks }) =>
      `| ${name} | ${seconds.toFixed(seconds < 10 ? 2 : 0)} | ${locks || 'none'} |`
    ),
    '',
  ].join('\n');
}
