import { localPassword } from '../project/keys.ts';
import { postgresProgram } from '../../../scripts/stack/postgres/postgres-program.ts';
import { netSchema } from './call-stand-ins.ts';
import { createCluster } from './clusters.ts';
import { startServer } from './start-server.ts';

/** A Postgres on which `pg_net`, `pg_cron` and Vault can be installed; they are stand-ins that record their calls. */
export type HostedPostgres = { readonly url: string; stop(): Promise<void> };

/**
 * As the real extensions: pg_net creates schema `net`; pg_cron belongs to `pg_catalog` and creates schema `cron`, where a job
 * belongs to the role that schedules it. A row of Vault that another project encrypted can be neither read nor updated.
 */
const extensions = {
  'pg_net.control': "default_version = '1'\nrelocatable = false\n",
  'pg_net--1.sql': netSchema(),
  'pg_cron.control': "default_version = '1'\nrelocatable = false\nschema = pg_catalog\n",
  'pg_cron--1.sql': `
    create schema cron;
    create table cron.job (
      jobid bigint generated always as identity, jobname text, schedule text, command text,
      username text not null default current_user, active boolean not null default true, unique (jobname, username)
    );
    create table cron.job_run_details (
      runid bigint generated always as identity, jobid bigint, status text, return_message text,
      start_time timestamptz, end_time timestamptz
    );
    create function cron.schedule(job_name text, schedule text, command text)
    returns bigint language sql as
    'insert into cron.job (jobname, schedule, command) values ($1, $2, $3)
      on conflict (jobname, username) do update set schedule = excluded.schedule, command = excluded.command
      returning jobid';
    create function cron.unschedule(job_id bigint)
    returns boolean language sql as 'delete from cron.job j where j.jobid = $1 returning true';`,
  'supabase_vault.control': "default_version = '1'\nrelocatable = false\nschema = vault\n",
  'supabase_vault--1.sql': `
    create table vault.secrets (
      id uuid primary key default gen_random_uuid(), name text unique, description text, secret text not null
    );
    create function vault.decrypt(secret text) returns text language plpgsql as
    'begin
      if secret not like ''encrypted %'' then raise exception ''invalid ciphertext'' using errcode = ''22000''; end if;
      return substr(secret, 11);
    end';
    create view vault.decrypted_secrets as
    select id, name, description, vault.decrypt(secret) as decrypted_secret from vault.secrets;
    create function vault.create_secret(
      new_secret text, new_name text default null, new_description text default '', new_key_id uuid default null
    )
    returns uuid language sql as
    'insert into vault.secrets (secret, name, description) values (''encrypted '' || $1, $2, $3) returning id';
    create function vault.update_secret(
      secret_id uuid, new_secret text default null, new_name text default null, new_description text default null,
      new_key_id uuid default null
    )
    returns void language sql as
    'update vault.secrets s
    set secret = ''encrypted '' || coalesce($2, d.decrypted_secret), name = coalesce($3, s.name)
    from vault.decrypted_secrets d
    where s.id = $1 and d.id = $1 and d.decrypted_secret is not null';`,
};

/** The error of pg_cron on a server that has its files and did not preload it. */
const notPreloaded = {
  'pg_cron--1.sql': "do $$ begin raise exception 'pg_cron can only be loaded via shared_preload_libraries'; end $$;",
};

/** Starts a server on a temporary folder, from a copy of the program with the extensions beside it. */
export async function startHostedPostgres({ isCronPreloaded = true } = {}): Promise<HostedPostgres> {
  const folder = await createCluster('empty');
  await copyProgram(folder, { ...extensions, ...(!isCronPreloaded && notPreloaded) });

  const { port, stop } = await startServer({ program: `${folder}/bin/postgres`, folder, data: `${folder}/postgres` });
  return {
    url: `postgresql://postgres:${localPassword}@127.0.0.1:${port}/postgres`,
    stop,
  };
}

/** The server looks for extensions beside its program, and resolves links: the program is copied, the rest linked. */
async function copyProgram(folder: string, files: Record<string, string>): Promise<void> {
  const home = postgresProgram('postgres').replace('/bin/postgres', '');
  const share = 'share/postgresql';
  await Deno.mkdir(`${folder}/bin`);
  await Deno.copyFile(`${home}/bin/postgres`, `${folder}/bin/postgres`);
  await Deno.symlink(`${home}/lib`, `${folder}/lib`);
  await Deno.mkdir(`${folder}/${share}/extension`, { recursive: true });
  for (const within of [share, `${share}/extension`]) {
    for await (const { name } of Deno.readDir(`${home}/${within}`)) {
      if (name !== 'extension') await Deno.symlink(`${home}/${within}/${name}`, `${folder}/${within}/${name}`);
    }
  }
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folder}/${share}/extension/${name}`, text);
  }
}
