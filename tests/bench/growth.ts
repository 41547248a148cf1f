/** Measures whether a request takes longer with a thousand times as many payments. */
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import type { Postgres } from '../../scripts/stack/postgres/postgres.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { startBenchProcess } from './bench-process.ts';
import { withPostgresOnDisk } from './durable-postgres.ts';
import { createSessions, type Sessions } from './bench-project.ts';
import { benchAdmin, type Sized } from './growth-admin.ts';
import { loadPayments } from './growth-data.ts';
import { benchCosts, completePasses } from './growth-costs.ts';
import { benchUpgrade } from './growth-upgrade.ts';
import { fire, percentile } from './load.ts';
import { median, progress } from './report.ts';
import { startLoop, startOurs, type System } from './systems.ts';
import { type Buyer, createItems, type Workload, workloads } from './workloads.ts';

const defaultSizes = [100_000, 1_000_000, 10_000_000];
const repetitions = 5;
/** Requests of each workload in a repetition, one after the other. */
const requests = 1000;
const users = 1000;

type Stand = {
  readonly payments: number;
  readonly database: TestDatabase;
  readonly createToken: (userId: string) => Promise<string>;
  readonly systems: { readonly pool: System; readonly direct: System };
  readonly buyers: readonly Buyer[];
};
type SystemName = keyof Stand['systems'];
const names: SystemName[] = ['pool', 'direct'];

/**
 * @returns the tables: of requests the medians of the repetitions' medians, in milliseconds, and the ratio to the
 * smallest; what the console takes; what every path costs the database; and what migrations cost. With `isAdminOnly` without requests.
 */
export async function benchGrowth(isAdminOnly: boolean, given: readonly number[]): Promise<string> {
  const sizes = given.length > 0 ? given : defaultSizes;
  return await withPostgresOnDisk(true, async (postgres) => {
    await withClient(postgres.url(), (client) => client.query("alter system set max_wal_size = '8GB'"));
    await postgres.restart();
    return isAdminOnly ? await benchAdminOnly(postgres, sizes) : await benchAll(postgres, sizes);
  });
}

async function benchAdminOnly(postgres: Postgres, sizes: readonly number[]): Promise<string> {
  const sized: Sized[] = [];
  for (const payments of sizes) sized.push({ payments, database: await createDatabase(postgres, payments) });
  return [await benchAdmin(sized), await benchCosts(sized), await upgradeLargest(postgres, sized)].join('\n');
}

async function benchAll(postgres: Postgres, sizes: readonly number[]): Promise<string> {
  const sessions = await createSessions();
  const api = await startBenchProcess('api-server.ts', { BENCH_API: JSON.stringify({ jwks: sessions.jwks }) });
  const stands: Stand[] = [];
  try {
    for (const payments of sizes) {
      stands.push(await createStand(postgres, sessions, `http://127.0.0.1:${api.port}`, payments));
    }
    return [
      await benchAdmin(stands),
      await benchCosts(stands),
      await compareSizes(stands),
      await upgradeLargest(postgres, stands),
    ].join('\n');
  } finally {
    for (const { systems, database } of stands) {
      await systems.pool.stop();
      await database.close();
    }
    await api.stop();
  }
}

async function upgradeLargest(postgres: Postgres, sized: readonly Sized[]): Promise<string> {
  const largest = sized.at(-1);
  return largest === undefined ? '' : await benchUpgrade(postgres, largest.payments, largest);
}

/** Creates a database with that number of payments and charges, whose passes are complete. */
export async function createDatabase(postgres: Postgres, payments: number): Promise<TestDatabase> {
  const url = postgres.url(`payments_${payments}`);
  await withClient(postgres.url(), (client) => client.query(`create database payments_${payments}`));
  await prepareDatabase(url);
  await migrate({ url, seed: false, log: () => {} });
  const database = openDatabase(url, { findings: 'compared elsewhere' });
  const start = performance.now();
  await loadPayments(database, payments);
  progress(`${payments} payments and charges were loaded in ${Math.round((performance.now() - start) / 1000)} s`);
  await completePasses({ payments, database });
  return database;
}

/** Creates a database with that number of payments, and a function in front of it. */
async function createStand(postgres: Postgres, sessions: Sessions, apiUrl: string, payments: number): Promise<Stand> {
  const database = await createDatabase(postgres, payments);
  const { url } = database;
  await withClient(url, setPoolPassword);
  const createToken = (userId: string) => sessions.createToken(userId, `${apiUrl}/auth/v1`);
  const rows = await database.query(
    "select user_id as id from public.profiles where subscription_tier = 'pro' order by random() limit $1",
    [users],
  );
  const buyers = await Promise.all(
    rows.map(async ({ id }) => ({ id: String(id), token: await createToken(String(id)) })),
  );
  const project = { apiUrl, poolUrl: poolUrl(url) };
  const systems = {
    pool: await startOurs(project, { DATABASE_POOL_URL: project.poolUrl }),
    direct: startLoop(project),
  };
  return { payments, database, createToken, systems, buyers };
}

async function compareSizes(stands: readonly Stand[]): Promise<string> {
  const medians = new Map<string, number[]>();
  const cell = (workload: Workload, system: SystemName, { payments }: Stand) => `${workload}/${system}/${payments}`;
  // The first repetition warms the caches and is not counted.
  for (let repetition = 0; repetition <= repetitions; repetition += 1) {
    for (const workload of workloads) {
      for (const system of names) {
        for (const stand of stands) {
          const p50 = percentile(await measure(stand, workload, system), 0.5);
          const key = cell(workload, system, stand);
          if (repetition > 0) medians.set(key, [...medians.get(key) ?? [], p50]);
        }
      }
    }
  }
  const lines = workloads.flatMap((workload) =>
    names.map((system) => {
      const cells = stands.map((stand) => {
        const values = medians.get(cell(workload, system, stand)) ?? [];
        return { text: `${median(values).toFixed(2)} (${low(values)} to ${high(values)})`, value: median(values) };
      });
      const ratio = (cells.at(-1)?.value ?? NaN) / (cells[0]?.value ?? NaN);
      const name = system === 'pool' ? 'ours over the pool' : 'the same RPC from a loop';
      return `| ${workload} | ${name} | ${cells.map(({ text }) => text).join(' | ')} | ${ratio.toFixed(2)} |`;
    })
  );
  return [
    `| p50 in ms of one connection | system | ${
      stands.map(({ payments }) => `${payments} payments`).join(' | ')
    } | largest to smallest |`,
    `|---|---|${stands.map(() => '---|').join('')}---|`,
    ...lines,
    '',
  ].join('\n');
}

const low = (values: number[]) => Math.min(...values).toFixed(2);
const high = (values: number[]) => Math.max(...values).toFixed(2);

async function measure(stand: Stand, workload: Workload, name: SystemName): Promise<readonly number[]> {
  const items = await createItems(stand, workload, stand.buyers, requests);
  const client = await stand.systems[name].connect();
  const { times } = await fire(1, Infinity, () => {
    const item = items.pop();
    return item && (() => client.send(item));
  });
  await client.close();
  return times;
}
