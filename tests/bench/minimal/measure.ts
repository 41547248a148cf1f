import pg from 'pg';
import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { poolUrl } from '../../helpers/database/pool-role.ts';
import { withDurablePostgres } from '../durable-postgres.ts';
import { createBilling } from '../gateway-bodies.ts';
import { fire, percentile } from '../load.ts';
import { createOurDatabase, newUsers } from '../our-database.ts';
import { createMinimalDatabase, createRowsDatabase } from './database.ts';
import { measureFunctions } from './function-time.ts';
import {
  type Call,
  type Calls,
  createCalls,
  type Kind,
  kinds,
  sendCall,
  type Setting,
  type Side,
  sides,
} from './requests.ts';

const repetitions = 7;
/**
 * Requests of a kind in each repetition: first one after the other on one connection, then on all connections in
 * parallel.
 */
const requests = { one: 200, all: 600 };
/**
 * On one connection the sides alternate after this number of requests, so that other load on the machine affects all
 * sides.
 */
const block = 20;
const connections = 8;
/** The number of buyers, and of subscribers whom the gateway bills. Each has four payments. */
const users = 800;

/** The result of one repetition for one side. */
export type Run = {
  /** Milliseconds, on one connection. */
  readonly p50: number;
  /** Requests a second on eight connections. */
  readonly rate: number;
  /** Bytes of write-ahead log a request, on one connection. */
  readonly wal: number;
};

/** The results of one kind of request. */
export type Comparison = {
  readonly kind: Kind;
  /** The runs of one repetition have the same index on every side. */
  readonly runs: Record<Side, Run[]>;
  /** Microseconds inside the function. */
  readonly functionTime: Record<Side, number>;
};

/**
 * Measures the same requests on one Postgres server, without HTTP, in our database, in one that only writes its rows,
 * and in the minimal one.
 */
export function compareWithMinimal(chosen: readonly Kind[] = kinds): Promise<Comparison[]> {
  return withDurablePostgres(async (postgres) => {
    const clients: pg.Client[] = [];
    try {
      return await compareSides(chosen, postgres, async (url) => {
        const client = new pg.Client({ connectionString: url });
        clients.push(client);
        await client.connect();
        return client;
      });
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
  });
}

type Connect = (url: string) => Promise<pg.Client>;

async function compareSides(chosen: readonly Kind[], postgres: Postgres, connect: Connect): Promise<Comparison[]> {
  const people = newUsers(users);
  const urls = {
    ours: await createOurDatabase(postgres, 'ours', people),
    rows: await createRowsDatabase(postgres, 'rows', 'ours'),
    minimal: await createMinimalDatabase(postgres, 'minimal', people),
  };
  const setting: Setting = {
    users: people,
    nextCharge: createBilling(people.subscribers),
    owners: { ours: await connect(urls.ours), rows: await connect(urls.rows), minimal: await connect(urls.minimal) },
  };
  // Opened once, like a pool. The plans are made in the first repetition, which is not counted.
  const open = (side: Side) => Promise.all(Array.from({ length: connections }, () => connect(poolUrl(urls[side]))));
  const pools = { ours: await open('ours'), rows: await open('rows'), minimal: await open('minimal') };

  const comparisons = chosen.map((kind): Omit<Comparison, 'functionTime'> => ({
    kind,
    runs: { ours: [], rows: [], minimal: [] },
  }));
  for (let repetition = 0; repetition <= repetitions; repetition += 1) {
    for (const { kind, runs } of comparisons) {
      const calls = await createCalls(kind, requests.one + requests.all, setting);
      const run = await measure(pools, calls, setting);
      if (repetition > 0) { for (const side of sides) runs[side].push(run[side]); }
    }
  }
  const warm = { ours: pools.ours[0] ?? fail(), rows: pools.rows[0] ?? fail(), minimal: pools.minimal[0] ?? fail() };
  const result: Comparison[] = [];
  for (const comparison of comparisons) {
    result.push({ ...comparison, functionTime: await measureFunctions(comparison.kind, setting, warm) });
  }
  return result;
}

/** One repetition of a kind. */
async function measure(
  pools: Record<Side, pg.Client[]>,
  calls: Calls,
  { owners }: Setting,
): Promise<Record<Side, Run>> {
  const times: Record<Side, number[]> = { ours: [], rows: [], minimal: [] };
  const wal: Record<Side, number> = { ours: 0, rows: 0, minimal: 0 };
  for (let sent = 0; sent < requests.one; sent += block) {
    for (const side of sides) {
      const before = await walPosition(owners[side]);
      const one = await send(pools[side].slice(0, 1), calls[side].slice(sent, sent + block));
      wal[side] += await walPosition(owners[side]) - before;
      times[side].push(...one.times);
    }
  }
  const finish = async (side: Side): Promise<Run> => {
    const all = await send(pools[side], calls[side].slice(requests.one));
    return {
      p50: percentile(times[side], 0.5),
      rate: all.times.length / (all.elapsed / 1000),
      wal: wal[side] / requests.one,
    };
  };
  return { ours: await finish('ours'), rows: await finish('rows'), minimal: await finish('minimal') };
}

async function send(pool: readonly pg.Client[], calls: readonly Call[]) {
  let next = 0;
  return await fire(pool.length, Infinity, (shooter) => {
    const call = calls[next++];
    const client = pool[shooter];
    return call && client && (() => sendCall(client, call));
  });
}

async function walPosition(client: pg.Client): Promise<number> {
  const { rows: [row] } = await client.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as position");
  return Number(row.position);
}

function fail(): never {
  throw new Error('no connection');
}
