import { postgresEnvironment } from '../../../scripts/stack/postgres/postgres-program.ts';
import { prepareDatabase } from '../../../scripts/stack/postgres/prepare-database.ts';
import { unprivilegedUser, type UserIds } from '../../../scripts/stack/process/unprivileged-user.ts';
import { localPassword } from '../project/keys.ts';
import { withClient } from './postgres-client.ts';
import { startServer } from './start-server.ts';

const home = '/usr/lib/postgresql';
const extensions = ['pg_cron', 'plpgsql_check'];

/** The newest Postgres of Debian's packages that has the extensions, or what to install for one. */
export async function findDebianPostgres(): Promise<{ programs: string } | { missing: string }> {
  const versions = await namesIn(home);
  const complete = (await Promise.all(versions.map(async (version) => {
    const files = await namesIn(`/usr/share/postgresql/${version}/extension`);
    const programs = await namesIn(`${home}/${version}/bin`);
    const isComplete = programs.includes('initdb') && extensions.every((name) => files.includes(`${name}.control`));
    return isComplete ? [Number(version)] : [];
  }))).flat();
  if (complete.length > 0) return { programs: `${home}/${Math.max(...complete)}/bin` };
  const version = versions.at(-1) ?? '<version>';
  return {
    missing: `apt-get install postgresql-${version} postgresql-${version}-cron postgresql-${version}-plpgsql-check`,
  };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A server with compiled plans and pg_cron, as Debian sets them. */
export type DebianPostgres = {
  /** URL of a database for its owner `postgres`, which is no superuser. */
  url(database: string): string;
  /** The same for the superuser, whom an app does not have. */
  adminUrl(database: string): string;
  /** Creates a database that has what the platform makes before the first migration. Only `postgres` has pg_cron. */
  prepare(database: string): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a server on a temporary folder. Its settings are Debian's but for the port and `fsync`. */
export async function startDebianPostgres(programs: string): Promise<DebianPostgres> {
  const user = await unprivilegedUser();
  const folder = await Deno.makeTempDir({ prefix: 'debian-postgres-' });
  if (user) await Deno.chown(folder, user.uid, user.gid);
  await initialize(programs, folder, user);
  const { port, stop } = await startServer({
    ...{ program: `${programs}/postgres`, folder, data: `${folder}/data` },
    settings: ['shared_preload_libraries=pg_cron', 'cron.database_name=postgres', 'cron.use_background_workers=on'],
  });
  const urlOf = (role: string) => (database: string) =>
    `postgresql://${role}:${localPassword}@127.0.0.1:${port}/${database}`;
  const adminUrl = urlOf(admin);
  return {
    url: urlOf('postgres'),
    adminUrl,
    async prepare(database) {
      await withClient(adminUrl('template1'), async (client) => {
        const { rows } = await client.query('select from pg_database where datname = $1', [database]);
        if (rows.length === 0) await client.query(`create database ${database}`);
      });
      await prepareDatabase(adminUrl(database));
      await withClient(adminUrl(database), (client) => client.query(platform(database)));
    },
    stop,
  };
}

const admin = 'supabase_admin';

/** Without the locale of the local stack's server, which needs Postgres 17. */
async function initialize(programs: string, folder: string, user: UserIds | undefined): Promise<void> {
  const passwordFile = `${folder}/password`;
  await Deno.writeTextFile(passwordFile, localPassword, { mode: 0o600 });
  if (user) await Deno.chown(passwordFile, user.uid, user.gid);
  const { success, stderr } = await new Deno.Command(`${programs}/initdb`, {
    args: [
      ...[`--pgdata=${folder}/data`, `--username=${admin}`, `--pwfile=${passwordFile}`],
      ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
    ],
    ...{ cwd: '/', clearEnv: true, env: postgresEnvironment },
    ...user,
  }).output();
  if (!success) throw new Error(`initdb failed: ${new TextDecoder().decode(stderr).trim()}`);
}

/** What a hosted project has: an owner without the rights of a superuser, and a schema `auth` that is not the owner's. */
const platform = (database: string) => `
do $$
declare
  v_table regclass;
begin
  if not exists (select from pg_roles where rolname = 'postgres') then
    create role postgres login createrole createdb replication bypassrls password '${localPassword}';
  end if;
  grant anon, authenticated, service_role, authenticator to postgres with admin option;
  grant create on database ${database} to postgres;
  alter schema public owner to postgres;
  alter schema extensions owner to postgres;
  -- Made by the superuser here, and by the CLI as the owner there.
  drop schema if exists supabase_migrations cascade;
  alter schema auth owner to supabase_auth_admin;
  for v_table in select oid from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r' loop
    execute format('alter table %s owner to supabase_auth_admin', v_table);
  end loop;
  grant usage on schema auth to postgres;
  grant all on all tables in schema auth to postgres;
  create extension plpgsql_check with schema extensions;
  if current_database() = 'postgres' then
    -- Nothing more: what everybody may call of pg_cron is what the owner may call.
    create extension pg_cron with schema pg_catalog;
    grant usage on schema cron to postgres;
  end if;
end $$;
alter default privileges for role postgres in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on functions to anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on sequences to anon, authenticated, service_role;`;
