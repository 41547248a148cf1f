import pg from 'pg';
import { localKeys } from '../helpers/project/keys.ts';
import { createFunction } from '../../scripts/stack/function/function.ts';
import { type BenchProject, benchSecrets } from './bench-project.ts';
import { startBenchProcess } from './bench-process.ts';
import { openHttpConnection } from './http-connection.ts';
import type { Item } from './workloads.ts';

/** The systems that can be measured. */
export const systems = {
  rest: 'ours over REST',
  pool: 'ours over the pool',
  direct: 'the same RPC from a loop',
  bare: 'a bare handler over a pool',
  empty: 'an empty server',
  naive: 'nine calls in a row',
} as const;
export type SystemName = keyof typeof systems;

/** A running system. */
export type System = {
  /** Process id of the server; undefined for the loop, which has no server. */
  readonly pid: number | undefined;
  /** A connection that sends items and checks their answers. */
  connect(): Promise<{ send(item: Item): Promise<void>; close(): Promise<void> }>;
  stop(): Promise<void>;
};

/** One request over HTTP, and a part of the body of its answer. */
export type HttpItem = Pick<Item, 'request' | 'expected'>;

export async function startSystem(name: SystemName, project: BenchProject): Promise<System> {
  switch (name) {
    case 'direct':
      return startLoop(project);
    case 'empty':
    case 'bare':
    case 'naive':
      return await startServer(`${name}-server.ts`, project, name !== 'empty');
    default:
      return await startOurs(project, name === 'pool' ? { DATABASE_POOL_URL: project.poolUrl } : {});
  }
}

/** Starts the function as it is deployed. */
export async function startOurs(
  project: Pick<BenchProject, 'apiUrl'>,
  environment: Record<string, string>,
): Promise<System & { readonly pid: number; readonly port: number }> {
  const served = createFunction({
    port: 0,
    env: {
      SUPABASE_URL: project.apiUrl,
      SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: localKeys.publishable }),
      SUPABASE_SECRET_KEYS: JSON.stringify({ default: localKeys.secret }),
      ...benchSecrets,
      ...environment,
    },
    log: () => {},
  });
  await served.start();
  await served.ready();
  const port = Number(new URL(served.url).port);
  return {
    pid: served.pid() ?? 0,
    port,
    connect: () => connectHttp(port, true),
    stop: () => served.stop(),
  };
}

async function startServer(file: string, project: BenchProject, checks: boolean): Promise<System> {
  const server = await startBenchProcess(file, {
    DATABASE_POOL_URL: project.poolUrl,
    SUPABASE_URL: project.apiUrl,
    SUPABASE_SECRET_KEY: localKeys.secret,
    SUPABASE_JWKS: project.jwks,
    ...benchSecrets,
  });
  return { pid: server.pid, connect: () => connectHttp(server.port, checks), stop: server.stop };
}

/** Opens a connection to a server on 127.0.0.1. @param checks whether to check the body of an answer */
export async function connectHttp(port: number, checks: boolean) {
  const connection = await openHttpConnection(port);
  return {
    async send({ request, expected }: HttpItem) {
      const { status, body } = await connection.send(request);
      if (status !== 200 || checks && !body.includes(expected)) throw new Error(`${status} ${body}`);
    },
    close: () => Promise.resolve(connection.close()),
  };
}

/** A loop without a server: this process calls the database, with one connection per caller. */
export function startLoop(project: Pick<BenchProject, 'poolUrl'>): System {
  return {
    pid: undefined,
    async connect() {
      const client = new pg.Client({ connectionString: project.poolUrl });
      await client.connect();
      return {
        async send({ call, result }: Item) {
          const { rows } = await client.query(call);
          if (rows[0]?.result?.[result[0]] !== result[1]) throw new Error(JSON.stringify(rows));
        },
        close: () => client.end(),
      };
    },
    stop: () => Promise.resolve(),
  };
}
