import { postgresEnvironment, postgresProgram } from './postgres/postgres-program.ts';
import { removeFolder } from './postgres/init-database.ts';
import postgres from 'postgres';
import { localPassword } from './defaults.ts';
import { root } from './root.ts';
import { unprivilegedUser } from './process/unprivileged-user.ts';

/** Where `npm start` keeps its data; Git ignores it. */
export const dataFolder = `${root}/supabase/.temp/stack`;

/** Notes the migrations that made the kept data; see `guardMigrations`. */
export const migrationRecord = `${dataFolder}/applied-migrations.json`;

/**
 * Makes the kept data this process's own until it ends, and with `reset` deletes them. Throws when another `npm start`
 * has them. A Postgres that outlived an earlier, killed start is ended first.
 */
export async function claimDataFolder(reset: boolean): Promise<void> {
  await Deno.mkdir(dataFolder, { recursive: true });
  // The system lets go of the lock when this process ends, however it ends. The file is never closed before.
  const lock = await Deno.open(`${dataFolder}/lock`, { read: true, write: true, create: true });
  if (!await lock.tryLock(true)) {
    throw new Error(`Another \`npm start\` is using the data in ${dataFolder}: stop it, or add --ephemeral`);
  }
  await endLeftOver(`${dataFolder}/postgres`);
  if (!reset) return;
  await removeFolder(`${dataFolder}/postgres`);
  await Deno.remove(migrationRecord).catch(() => {});
}

/**
 * Ends the server that `postmaster.pid` names, if it is one: after a restart of the machine the number may belong to
 * any program, so it is asked for its data folder first.
 */
async function endLeftOver(folder: string): Promise<void> {
  const [, , , port] = await Deno.readTextFile(`${folder}/postmaster.pid`).then((text) => text.split('\n'), () => []);
  if (!port || await dataFolderOf(Number(port)) !== folder) return;
  const { success, stderr } = await new Deno.Command(postgresProgram('pg_ctl'), {
    args: ['stop', '--pgdata', folder, '--mode', 'fast', '--timeout', '10'],
    cwd: '/',
    clearEnv: true,
    env: postgresEnvironment,
    ...await unprivilegedUser(),
  }).output();
  if (!success) {
    throw new Error(
      `A Postgres of an earlier start still runs and can't be ended: ${new TextDecoder().decode(stderr)}`,
    );
  }
}

async function dataFolderOf(port: number): Promise<string | undefined> {
  const sql = postgres({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password: localPassword,
    database: 'postgres',
    max: 1,
    connect_timeout: 2,
  });
  try {
    const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`;
    return row?.folder;
  } catch {
    return undefined;
  } finally {
    await sql.end();
  }
}
