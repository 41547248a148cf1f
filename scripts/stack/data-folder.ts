import postgres from 'postgres';
import { databaseUrlAt } from './postgres/database-url.ts';
import { removeJournal } from './gateway/journal.ts';
import { removeFolder } from './postgres/init-database.ts';
import { postgresEnvironment, postgresProgram } from './postgres/postgres-program.ts';
import { root } from './root.ts';
import { unprivilegedUser } from './process/unprivileged-user.ts';

/** The data of `npm start`; Git ignores the folder. */
export const dataFolder = `${root}/supabase/.temp/stack`;

/** Creates the data folder, or closes it to other users. Postgres, which runs as another user under root, can enter it. */
export async function openDataFolder(): Promise<void> {
  await Deno.mkdir(dataFolder, { recursive: true });
  await Deno.chmod(dataFolder, 0o700);
  const user = await unprivilegedUser();
  if (user) await Deno.chown(dataFolder, user.uid, user.gid);
}

/** What the gateway simulator knows about those data. */
export const gatewayJournal = `${dataFolder}/gateway.jsonl`;

/** Hashes of the migrations that the data were created with; see `guardMigrations`. */
export const migrationRecord = `${dataFolder}/applied-migrations.json`;

/**
 * Locks the data folder until this process ends, and with `reset` deletes the data. Stops a Postgres that an earlier,
 * killed `npm start` left running. @throws Error when another `npm start` holds the lock.
 */
export async function claimDataFolder(reset: boolean, password: string): Promise<void> {
  await openDataFolder();
  // The file is never closed: the system releases the lock when this process ends, also after a SIGKILL.
  const lock = await Deno.open(`${dataFolder}/lock`, { read: true, write: true, create: true });
  if (!await lock.tryLock(true)) {
    throw new Error(`Another \`npm start\` is using the data in ${dataFolder}: stop it, or add --ephemeral`);
  }
  await stopOrphanedServer(`${dataFolder}/postgres`, password);
  if (!reset) return;
  await removeFolder(`${dataFolder}/postgres`);
  await Deno.remove(migrationRecord).catch(() => {});
  removeJournal(gatewayJournal);
}

/**
 * Stops the server of `postmaster.pid`. After a restart of the machine the process id may belong to another program, so
 * the data folder of the server is checked first.
 */
async function stopOrphanedServer(folder: string, password: string): Promise<void> {
  const [, , , port] = await Deno.readTextFile(`${folder}/postmaster.pid`).then((text) => text.split('\n'), () => []);
  if (!port || await dataFolderOf(Number(port), password) !== folder) return;
  const { success, stderr } = await new Deno.Command(postgresProgram('pg_ctl'), {
    args: ['stop', '--pgdata', folder, '--mode', 'fast', '--timeout', '10'],
    cwd: '/',
    clearEnv: true,
    env: postgresEnvironment,
    ...await unprivilegedUser(),
  }).output();
  if (!success) {
    throw new Error(
      `A Postgres of an earlier start is still running and can't be stopped: ${new TextDecoder().decode(stderr)}`,
    );
  }
}

async function dataFolderOf(port: number, password: string): Promise<string | undefined> {
  const sql = postgres(databaseUrlAt(port, password), { max: 1, connect_timeout: 2 });
  try {
    const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`;
    return row?.folder;
  } catch {
    return undefined;
  } finally {
    await sql.end();
  }
}
