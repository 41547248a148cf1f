import { postgresEnvironment, postgresProgram } from './postgres-program.ts';
import type { UserIds } from '../process/unprivileged-user.ts';

/**
 * Creates a database cluster in the folder: superuser `postgres`, password over TCP, UTF-8 with a collation that is the
 * same on every machine. The cluster is created in another folder and renamed, so that an interrupted start leaves no
 * incomplete one. @throws Error with the output of initdb
 */
export async function initDatabase(folder: string, password: string, user: UserIds | undefined): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  const passwordFile = `${folder}.password`;
  await removeFolder(unfinished);
  await removeFolder(folder);
  await Deno.mkdir(unfinished, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(passwordFile, password, { mode: 0o600 });
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

/**
 * Sets the password of `postgres` in a cluster whose server is stopped and whose password is not known. @throws Error
 * with the output of Postgres
 */
export async function setPassword(folder: string, password: string, user: UserIds | undefined): Promise<void> {
  const child = new Deno.Command(postgresProgram('postgres'), {
    // Without -j a statement ends with its line.
    args: ['--single', '-D', folder, '-c', 'exit_on_error=on', 'postgres'],
    cwd: '/',
    clearEnv: true,
    env: postgresEnvironment,
    ...{ stdin: 'piped', stdout: 'null', stderr: 'piped' },
    ...user,
  }).spawn();
  // On stdin: other users can read arguments.
  await new Blob([`alter role postgres password '${password}'\n`]).stream().pipeTo(child.stdin).catch(() => {});
  const { success, stderr } = await child.output();
  if (!success) throw new Error(`The password was not set in ${folder}: ${new TextDecoder().decode(stderr).trim()}`);
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
