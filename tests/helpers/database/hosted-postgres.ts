import { localPassword } from '../../../scripts/stack/defaults.ts';
import { spawnChild } from '../../../scripts/stack/process/child.ts';
import { removeFolder } from '../../../scripts/stack/postgres/init-database.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { postgresEnvironment, postgresProgram } from '../../../scripts/stack/postgres/postgres-program.ts';
import { unprivilegedUser } from '../../../scripts/stack/process/unprivileged-user.ts';
import { netSchema } from './call-stand-ins.ts';
import { createCluster } from './clusters.ts';

/** A Postgres on which `pg_net` and `pg_cron` can be installed; they are stand-ins that record their calls. */
export type HostedPostgres = { readonly url: string; stop(): Promise<void> };

/** As the real extensions: pg_net creates schema `net`; pg_cron belongs to `pg_catalog` and creates schema `cron`. */
const extensions = {
  'pg_net.control': "default_version = '1'\nrelocatable = false\n",
  'pg_net--1.sql': netSchema(),
  'pg_cron.control': "default_version = '1'\nrelocatable = false\nschema = pg_catalog\n",
  'pg_cron--1.sql': `
    create schema cron;
    create table cron.job (jobid bigint generated always as identity, jobname text unique, schedule text, command text);
    create table cron.job_run_details (
      runid bigint generated always as identity, jobid bigint, status text, return_message text,
      start_time timestamptz, end_time timestamptz
    );
    create function cron.schedule(job_name text, schedule text, command text)
    returns bigint language sql as
    'insert into cron.job (jobname, schedule, command) values ($1, $2, $3)
      on conflict (jobname) do update set schedule = excluded.schedule, command = excluded.command returning jobid';`,
};

/** The error of pg_cron on a server that has its files and did not preload it. */
const notPreloaded = {
  'pg_cron--1.sql': "do $$ begin raise exception 'pg_cron can only be loaded via shared_preload_libraries'; end $$;",
};

/** Starts a server on a temporary folder, from a copy of the program with the extensions beside it. */
export async function startHostedPostgres({ isCronPreloaded = true } = {}): Promise<HostedPostgres> {
  const user = await unprivilegedUser();
  const folder = await createCluster('empty');
  await copyProgram(folder, { ...extensions, ...(!isCronPreloaded && notPreloaded) });

  const port = freePort();
  const listening = Promise.withResolvers<void>();
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'fsync=off'];
  const server = spawnChild({
    name: 'hosted-postgres',
    command: `${folder}/bin/postgres`,
    args: ['-D', `${folder}/postgres`, ...settings.flatMap((setting) => ['-c', setting])],
    cwd: '/',
    env: postgresEnvironment,
    ...user,
    log: () => {},
    onLine: (line) => line.includes('ready to accept connections') && listening.resolve(),
  });
  void server.exited.then(() => listening.reject(new Error(server.lastLines().join('\n'))));
  await listening.promise;
  return {
    url: `postgresql://postgres:${localPassword}@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.end('SIGINT', 'SIGQUIT');
      await removeFolder(folder);
    },
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
