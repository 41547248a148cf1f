import pg from 'pg';
import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { poolUrl } from '../../helpers/database/pool-role.ts';
import { withDurablePostgres } from '../durable-postgres.ts';
import { createOurDatabase, newUsers } from '../our-database.ts';
import { cpuSeconds } from '../process-usage.ts';
import { createExecutions, type Execution, perExecution, type Request, requests } from './requests.ts';

/** The default page size of Postgres. */
const pageBytes = 8192;
/** Executions of a request in a repetition. The first repetition makes plans and is not counted. */
const executions = 300;
const repetitions = 5;
/** Number of executions that each follow a checkpoint. */
const afterCheckpoint = 20;
const users = executions * (repetitions + 1) + afterCheckpoint;

/** The cost of one request for the database. */
export type Cost = {
  readonly request: Request;
  /** Milliseconds of CPU of the backend that runs it. */
  readonly cpu: number;
  /** Statements, those inside functions included. */
  readonly statements: number;
  /** Bytes of write-ahead log, without full-page images. */
  readonly wal: number;
  /** Pages of 8 kB that are written as full-page images after a checkpoint: the maximum. */
  readonly pageImages: number;
  /** Bytes by which tables and indexes grow after a full vacuum. */
  readonly growth: number;
};

/** The cost of a sweep with nothing to do: milliseconds of CPU and statements. */
export type Idle = { readonly cpu: number; readonly statements: number };

/**
 * Measures the cost of each request for the database, over one connection of the pool's role, on a server with `fsync`
 * on.
 */
export function measureCapacity(): Promise<{ costs: Cost[]; sweep: Idle }> {
  return withDurablePostgres(async (postgres) => {
    await countStatements(postgres);
    const people = newUsers(users);
    const url = await createOurDatabase(postgres, 'ours', people);
    const owner = await connect(url);
    const client = await connect(poolUrl(url));
    try {
      await owner.query('create extension pg_stat_statements');
      const create = createExecutions(people, owner);
      const costs: Cost[] = [];
      for (const request of Object.keys(requests).filter(isRequest)) {
        for (const execute of await create(request, executions)) await execute(client);
        const chosen = await create(request, executions * repetitions);
        costs.push({
          request,
          ...await costOf(owner, client, perExecution[request] * chosen.length, async () => {
            for (const execute of chosen) await execute(client);
          }),
          pageImages: await pageImages(owner, client, await create(request, afterCheckpoint)) / perExecution[request],
        });
      }
      // As pg_cron does, with the rights of the owner.
      const sweeper = await connect(url);
      const sweeps = 100;
      while ((await sweeper.query('select billing.sweep() as left')).rows[0].left !== 0);
      const sweep = await costOf(owner, sweeper, sweeps, async () => {
        for (let n = 0; n < sweeps; n += 1) await sweeper.query('select billing.sweep()');
      });
      await sweeper.end();
      return { costs, sweep };
    } finally {
      await client.end();
      await owner.end();
    }
  });
}

function isRequest(name: string): name is Request {
  return name in requests;
}

/** The cost of one request. The work runs `count` requests on the connection. */
async function costOf(owner: pg.Client, client: pg.Client, count: number, work: () => Promise<void>) {
  const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid');
  await owner.query('vacuum full');
  const before = await bytesOfTables(owner);
  await owner.query('select pg_stat_statements_reset()');
  const cpu = cpuSeconds(pid);
  await work();
  const used = cpuSeconds(pid) - cpu;
  const { statements, wal, images } = await statementCounts(owner);
  return {
    cpu: used * 1000 / count,
    statements: statements / count,
    wal: (wal - images * pageBytes) / count,
    growth: (await bytesOfTables(owner) - before) / count,
  };
}

async function pageImages(owner: pg.Client, client: pg.Client, chosen: Execution[]): Promise<number> {
  await owner.query('select pg_stat_statements_reset()');
  for (const execute of chosen) {
    await owner.query('checkpoint');
    await execute(client);
  }
  return (await statementCounts(owner)).images / chosen.length;
}

async function statementCounts(owner: pg.Client): Promise<{ statements: number; wal: number; images: number }> {
  const { rows: [row] } = await owner.query(
    `select
       sum(s.calls)::float as statements,
       sum(s.wal_bytes) filter (where s.toplevel)::float as wal,
       sum(s.wal_fpi) filter (where s.toplevel)::float as images
     from pg_stat_statements s
     join pg_database d on d.oid = s.dbid and d.datname = current_database()
     where s.query not like '%pg_stat_statements%'
       and s.query not ilike 'checkpoint'`,
  );
  return row;
}

async function bytesOfTables(owner: pg.Client): Promise<number> {
  await owner.query('vacuum');
  const { rows: [{ bytes }] } = await owner.query(
    `select sum(pg_total_relation_size(c.oid))::float as bytes
     from pg_class c
     where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace)`,
  );
  return bytes;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function countStatements(postgres: Postgres): Promise<void> {
  const client = await connect(postgres.url());
  try {
    await client.query('alter system set shared_preload_libraries = pg_stat_statements');
    await client.query('alter system set "pg_stat_statements.track" = \'all\'');
  } finally {
    await client.end();
  }
  await postgres.restart();
  await postgres.ready();
}
