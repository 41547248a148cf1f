import { spawnChild } from '../../../scripts/stack/process/child.ts';
import { unprivilegedUser } from '../../../scripts/stack/process/unprivileged-user.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { removeFolder } from '../../../scripts/stack/postgres/init-database.ts';
import { postgresEnvironment } from '../../../scripts/stack/postgres/postgres-program.ts';

/** Starts a Postgres on a free port. `stop` ends it and removes `folder`. @throws its last lines, if it exits instead */
export async function startServer(
  { program, folder, data, settings = [] }: { program: string; folder: string; data: string; settings?: string[] },
): Promise<{ port: number; stop(): Promise<void> }> {
  const port = freePort();
  const all = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'fsync=off', ...settings];
  const listening = Promise.withResolvers<void>();
  const server = spawnChild({
    name: 'test-postgres',
    command: program,
    args: ['-D', data, ...all.flatMap((setting) => ['-c', setting])],
    cwd: '/',
    env: postgresEnvironment,
    ...await unprivilegedUser(),
    log: () => {},
    onLine: (line) => line.includes('ready to accept connections') && listening.resolve(),
  });
  void server.exited.then(() => listening.reject(new Error(server.lastLines().join('\n'))));
  await listening.promise;
  return {
    port,
    async stop() {
      await server.end('SIGINT', 'SIGQUIT');
      await removeFolder(folder);
    },
  };
}
