import { localKeys, localPassword } from '../project/keys.ts';
import { createFunction, type EdgeFunction } from '../../../scripts/stack/function/function.ts';
import { createReverseProxy } from '../../../scripts/stack/http/reverse-proxy.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { createPostgres, type Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { createLite } from '../../../scripts/stack/supabase-lite/lite.ts';
import { poolUrl } from '../database/pool-role.ts';
import { withClient } from '../database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../database/test-database.ts';
import { secrets } from '../gateway/sign.ts';
import { removeFolder } from '../../../scripts/stack/postgres/init-database.ts';
import { createCluster } from '../database/clusters.ts';
import { templateDatabase } from '../database/postgres-client.ts';

/** A project with the service in front of it. Each part can fail on its own. */
export type FaultProject = {
  readonly database: TestDatabase;
  readonly postgres: Postgres;
  readonly edgeFunction: EdgeFunction;
  /** Sends a request to the function; the path starts with /api. */
  request(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
};

/**
 * Starts Postgres, Lite behind a fixed port, and the function. `environment` adds variables of the function;
 * `transport` is how the function calls the database.
 */
export async function startFaultProject(
  environment: Record<string, string> = {},
  transport: 'REST' | 'the pool' = 'REST',
): Promise<FaultProject> {
  const log = () => {};
  const [postgresPort, apiPort] = [freePort(), freePort()];
  const folder = await createCluster('migrated');
  const postgres = createPostgres({
    port: postgresPort,
    password: localPassword,
    dataFolder: folder,
    ephemeral: true,
    // Over the pool few enough for a test to take all.
    maxConnections: transport === 'the pool' ? 80 : 150,
    log,
  });
  const lite = createLite({
    databaseUrl: postgres.url(),
    jwtSecret: localKeys.jwtSecret,
    publishableKey: localKeys.publishable,
    secretKey: localKeys.secret,
    siteUrl: 'http://127.0.0.1:3000',
  }, { log });
  const proxy = createReverseProxy({
    name: 'API',
    port: apiPort,
    route: (path) => ({ path, base: () => lite.apiUrl() }),
  });
  const direct: Record<string, string> = transport === 'the pool' ? { DATABASE_POOL_URL: poolUrl(postgres.url()) } : {};
  const env = { ...functionEnvironment(`http://127.0.0.1:${apiPort}`), ...direct, ...environment };
  const edgeFunction = createFunction({ port: 0, env, log });
  const database = openDatabase(postgres.url());

  async function stop(): Promise<void> {
    const endings = [edgeFunction.stop, proxy.stop, lite.stop, database.close, postgres.stop];
    const failures: unknown[] = [];
    for (const end of [...endings, () => removeFolder(folder)]) await end().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  try {
    await postgres.start();
    await postgres.ready();
    await withClient(postgres.url('template1'), async (client) => {
      await client.query('drop database postgres');
      await client.query(`alter database ${templateDatabase} rename to postgres`);
    });
    // Nothing sweeps here: see global-setup.ts.
    await database.query("update billing.scheduled_jobs set since = 'infinity'");
    await Promise.all([proxy.start(), lite.start(), edgeFunction.start()]);
    await Promise.all([lite.ready(), edgeFunction.ready()]);
  } catch (error) {
    // Errors of the stop are hidden: a database without its migrations raises others.
    await stop().catch(() => {});
    throw error;
  }

  return {
    database,
    postgres,
    edgeFunction,
    // Far above the function's own deadline: a request that gets no answer at all must fail.
    request: (path, init) => fetch(edgeFunction.url + path, { signal: AbortSignal.timeout(60_000), ...init }),
    stop,
  };
}

/** The environment variables of the function for a project at that address. */
export function functionEnvironment(apiUrl: string): Record<string, string> {
  return {
    SUPABASE_URL: apiUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: localKeys.publishable }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: localKeys.secret }),
    ...secrets,
  };
}
