import { App } from '@supabase/lite';
import { createPostgresConnection } from '@supabase/lite/postgres';
import postgres from 'postgres';

/**
 * Creates what every Supabase project has before its first migration: the API's roles and the schemas `auth` and
 * `extensions`. Safe to run again. The API's roles get usage of `auth`, because policies call `auth.uid()`, but no
 * right on its tables.
 */
export async function prepareDatabase(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(rolesOf(new URL(url).password));
    await createAuthSchema(url);
    await sql.unsafe(usage);
    await sql.unsafe(metadata);
  } finally {
    await sql.end();
  }
}

async function createAuthSchema(url: string): Promise<void> {
  const connection = createPostgresConnection({ url, postgresOptions: { max: 1, onnotice: () => {} } });
  try {
    const app = new App({ connection, auth: { enabled: true } });
    await app.init();
    await app.ensureSystemSchema();
  } finally {
    await connection.close();
  }
}

// Roles belong to the whole cluster. The lock protects against another database that creates them at the same time.
const rolesOf = (password: string) => `
do $$
declare
  v_role text;
begin
  lock table pg_catalog.pg_authid in share row exclusive mode;
  foreach v_role in array array['anon', 'authenticated', 'service_role', 'authenticator', 'supabase_auth_admin'] loop
    if not exists (select from pg_roles where rolname = v_role) then
      execute format('create role %I nologin', v_role);
    end if;
  end loop;
  alter role service_role bypassrls;
  alter role authenticator noinherit login password '${password}';
  grant anon, authenticated, service_role to authenticator;
end
$$`;

const usage = `
create schema if not exists extensions;
grant usage on schema public, extensions, auth to anon, authenticated, service_role`;

// Lite stores the metadata of a sign-up as a JSON string. Supabase stores an object, from which a profile gets its name.
const metadata = `
create or replace function auth.parse_metadata() returns trigger language plpgsql set search_path = '' as $$
begin
  if jsonb_typeof(new.raw_user_meta_data) = 'string' then
    new.raw_user_meta_data := (new.raw_user_meta_data #>> '{}')::jsonb;
  end if;
  return new;
end $$;
create or replace trigger parse_metadata before insert or update of raw_user_meta_data on auth.users
for each row execute function auth.parse_metadata()`;
