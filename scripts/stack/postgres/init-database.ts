import { localPassword } from '../defaults.ts';
import { postgresEnvironment, postgresProgram } from './postgres-program.ts';
import type { UserIds } from '../process/unprivileged-user.ts';

/**
 * Creates a database cluster in the folder, if there is none: superuser `postgres`, password over TCP, UTF-8 with a
 * collation that is the same on every machine. The cluster is created in another folder and renamed, so that an
 * interrupted start leaves no incomplete one. @throws Error with the output of initdb
 */
export async function initDatabase(folder: string, user: UserIds | undefined): Promise<void> {
  if (await hasCluster(folder)) return;
  const unfinished = `${folder}.unfinished`;
  const passwordFile = `${folder}.password`;
  await removeFolder(unfinished);
  await removeFolder(folder);
  await Deno.mkdir(unfinished, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(passwordFile, localPassword, { mode: 0o600 });
  if (user) {
    await Deno.chown(unfinished, user.uid, user.gid);
    await Deno.chown(passwordFile, user.uid, user.gid);
  }
  try {
    const { success, stderr } = await new Deno.Command(postgresProgram('initdb'), {
      args: [
        `--pgdata=${unfinished}`,
        `--pwfile=${passwordFile}`,
        '--username=postgres',
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-sync',
      ],
      cwd: '/',
      clearEnv: true,
      env: postgresEnvironment,
      ...user,
    }).output();
    if (!success) throw new Error(`initdb failed in ${folder}: ${new TextDecoder().decode(stderr).trim()}`);
    await Deno.rename(unfinished, folder);
  } finally {
    await Deno.remove(passwordFile);
  }
}

/** Removes a folder with its contents, if it exists. */
export async function removeFolder(folder: string): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch((error: unknown) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/** Whether the folder has a database cluster. */
export async function hasCluster(folder: string): Promise<boolean> {
  try {
    await Deno.stat(`${folder}/PG_VERSION`);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
