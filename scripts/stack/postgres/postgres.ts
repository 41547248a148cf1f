import { memoryFolder } from '../memory-folder.ts';
import { type Child, spawnChild, writeLine } from '../process/child.ts';
import { databaseUrlAt } from './database-url.ts';
import { hasCluster, initDatabase, removeFolder, setPassword } from './init-database.ts';
import { checkPostgresProgram, postgresEnvironment, postgresProgram } from './postgres-program.ts';
import type { Service } from '../service.ts';
import { unprivilegedUser } from '../process/unprivileged-user.ts';

/** A Postgres server on 127.0.0.1, with the superuser `postgres`. */
export type Postgres = Service & {
  /** Connection URL of a database; default `postgres`. */
  url(database?: string): string;
  /** Process id of the server; undefined while it is not running. */
  pid(): number | undefined;
  /** Stops and starts the server. The data are kept, also in a temporary folder. */
  restart(): Promise<void>;
};

export type PostgresOptions = {
  port: number;
  /** Of `postgres`. Default: a random one. */
  password?: string;
  /** Folder of the data. Default: a temporary folder that `stop` removes. */
  dataFolder?: string;
  /** Faster, but a crash of the machine may lose the data. */
  ephemeral: boolean;
  /** Default: 150. */
  maxConnections?: number;
  log?: (line: string) => void;
  /** Called when the server ends without `stop`. */
  onCrash?: (error: Error) => void;
};

const readyLine = 'database system is ready to accept connections';
/**
 * The CLI sends a migration as one implicit transaction, in which its first statement, a `set local`, holds. The server warns
 * all the same.
 */
const untrueWarning = 'WARNING:  SET LOCAL can only be used in transaction blocks';

/**
 * The local Postgres. `start` throws when the cluster can't be created, `ready` when the server ends before it answers.
 */
export function createPostgres(options: PostgresOptions): Postgres {
  const password = options.password ?? crypto.randomUUID();
  let folder: string | undefined;
  let child: Child | undefined;
  let answers = Promise.resolve();
  const { log = (line: string) => writeLine(`[postgres] ${line}`) } = options;

  async function startServer(): Promise<void> {
    const user = await unprivilegedUser();
    await checkPostgresProgram(user);
    folder ??= options.dataFolder ?? await temporaryFolder(user);
    const cluster = `${folder}/postgres`;
    if (!await hasCluster(cluster)) await initDatabase(cluster, password, user);
    // Kept data may have the password of an earlier start.
    else if (!options.ephemeral) await setPassword(cluster, password, user);
    const listening = Promise.withResolvers<void>();
    const server = spawnChild({
      name: 'postgres',
      command: postgresProgram('postgres'),
      args: serverArguments(cluster, options),
      // Postgres needs a working folder that it can enter.
      cwd: '/',
      env: postgresEnvironment,
      ...user,
      log: (line) => {
        if (!line.endsWith(untrueWarning)) log(line);
      },
      onLine: (line) => line.includes(readyLine) && listening.resolve(),
    });
    child = server;
    answers = listening.promise;
    answers.catch(() => {}); // `ready` reports the error, if it is called
    void server.exited.then((status) => {
      const isExpected = child !== server;
      if (!isExpected) child = undefined;
      const error = new Error(`Postgres ended with code ${status.code}:\n${server.lastLines().join('\n')}`);
      listening.reject(error);
      if (!isExpected) options.onCrash?.(error);
    });
  }

  async function stopServer(): Promise<void> {
    const server = child;
    child = undefined;
    // Fast shutdown, then immediate shutdown, then SIGKILL, for example for a stopped process.
    await server?.end('SIGINT', 'SIGQUIT');
  }

  return {
    name: 'Postgres',
    start: startServer,
    ready: () => answers,
    async stop() {
      await stopServer();
      if (folder !== undefined && options.dataFolder === undefined) await removeFolder(folder);
      folder = undefined;
    },
    url: (database) => databaseUrlAt(options.port, password, database),
    pid: () => child?.pid,
    async restart() {
      await stopServer();
      await startServer();
      await answers;
    },
  };
}

function serverArguments(dataFolder: string, options: PostgresOptions): string[] {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${options.port}`,
    'unix_socket_directories=',
    `max_connections=${options.maxConnections ?? 150}`,
    'timezone=UTC',
    'log_timezone=UTC',
    'log_checkpoints=off',
    ...(options.ephemeral ? ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'] : []),
  ];
  return ['-D', dataFolder, ...settings.flatMap((setting) => ['-c', setting])];
}

async function temporaryFolder(user: { uid: number; gid: number } | undefined): Promise<string> {
  const folder = await Deno.makeTempDir({ dir: memoryFolder(), prefix: 'local-postgres-' });
  if (user) await Deno.chown(folder, user.uid, user.gid);
  return folder;
}
