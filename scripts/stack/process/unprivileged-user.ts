/** The user and group of a process. */
export type UserIds = { uid: number; gid: number };

/**
 * The user that runs Postgres. Postgres refuses to run as root, so root (usually in a container) uses the system user
 * `postgres`, which is created if it does not exist. Undefined when this process is not root.
 * @throws Error when the user can't be created
 */
export async function unprivilegedUser(): Promise<UserIds | undefined> {
  if (Deno.uid() !== 0) return undefined;
  const existing = await idsOf('postgres');
  if (existing) return existing;
  await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  const made = await idsOf('postgres');
  if (made) return made;
  throw new Error('Postgres does not run as root, and the user "postgres" could not be created: start as another user');
}

async function idsOf(user: string): Promise<UserIds | undefined> {
  const [uid, gid] = [await run('id', ['-u', user]), await run('id', ['-g', user])];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

async function run(command: string, args: string[]): Promise<string | undefined> {
  try {
    const { success, stdout } = await new Deno.Command(command, { args, stderr: 'null' }).output();
    return success ? new TextDecoder().decode(stdout).trim() : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
