/**
 * `deno run -A tests/bench/statement.ts`: reads a usual hour of the statement, and its daily pass over the last ten days, where
 * each payment, refund and dispute is known. It prints the calls to the gateway, the rows written and the CPU of Postgres, and
 * writes them to `statement.result.md`. Arguments: payments a month.
 */
import type pg from 'pg';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { createPostgres } from '../../scripts/stack/postgres/postgres.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { createDatabase } from '../../supabase/functions/api/database/database.ts';
import { createPoolTransport } from '../../supabase/functions/api/database/pool-transport.ts';
import { createRateLimit, limitRate } from '../../supabase/functions/api/gateway/rate-limit.ts';
import { reconcileAll } from '../../supabase/functions/api/gateway/reconciler.ts';
import type { ReconcileDatabase } from '../../supabase/functions/api/ports.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { silentGateway } from '../unit/silent-gateway.ts';
import { treeCpuSeconds } from './process-usage.ts';
import { progress, publish } from './report.ts';
import { createLists, type Lists, loadStatement } from './statement-data.ts';

/** The default of RECONCILE_CALLS_PER_SECOND. It is not kept here, so that the pass takes minutes less. */
const callsPerSecond = 10;
const unlimited = 10_000;

type Cost = { readonly calls: number; readonly rows: number; readonly postgresCpu: number; readonly seconds: number };
type Bench = {
  readonly client: pg.Client;
  readonly database: ReconcileDatabase;
  readonly lists: Lists;
  readonly postgresPid: number;
};

const sizes = Deno.args.length > 0 ? Deno.args.map(Number) : [100, 10_000, 1_000_000];
const rows: string[] = [];
for (const size of sizes) rows.push(...await measure(size));
await publish(
  'statement.result.md',
  [
    '| payments a month | pass | calls | at 10 calls/s | rows written | CPU of Postgres | took here |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n'),
);
Deno.exit(); // the pool keeps a connection

async function measure(size: number): Promise<string[]> {
  const postgres = createPostgres({ port: freePort(), ephemeral: true, log: () => {} });
  await postgres.start();
  try {
    await postgres.ready();
    await prepareDatabase(postgres.url());
    await migrate({ url: postgres.url(), seed: false, log: () => {} });
    return await withClient(postgres.url(), async (client) => {
      await setPoolPassword(client);
      const now = Math.floor(Date.now() / 1000);
      await loadStatement(client, size, now);
      progress(`${size} payments a month: loaded`);
      const database = createDatabase(createPoolTransport(poolUrl(postgres.url()), null));
      const bench = { client, database, lists: createLists(size, now), postgresPid: postgres.pid() ?? 0 };
      const hour = await read(bench, 'new');
      const day = await read(bench, 'again');
      const perDay = { ...hour, calls: 24 * hour.calls + day.calls };
      return [
        row(size, 'an hour', hour),
        row(size, 'the daily pass', day),
        `| ${size} | a day: 24 hours and the pass | ${perDay.calls} | | ${24 * hour.rows + day.rows} | ${
          (24 * hour.postgresCpu + day.postgresCpu).toFixed(2)
        } s | |`,
      ];
    });
  } finally {
    await postgres.stop();
  }
}

function row(size: number, pass: string, { calls, rows, postgresCpu, seconds }: Cost): string {
  const cells = [size, pass, calls, `${(calls / callsPerSecond).toFixed(1)} s`, rows, `${postgresCpu.toFixed(2)} s`];
  return `| ${[...cells, `${seconds.toFixed(1)} s`].join(' | ')} |`;
}

/** Reads what is due of one pass to its end, as the schedule does each minute. */
async function read({ client, database, lists, postgresPid }: Bench, pass: 'new' | 'again'): Promise<Cost> {
  // The mark of the new pass is an hour before its end.
  await client.query(
    `update billing.statement_windows
     set next_read_at = case when pass = $1 then billing.clock() else 'infinity' end,
       read_until = billing.clock() - interval '70 minutes'`,
    [pass],
  );
  await client.query('checkpoint');
  const [rowsBefore, cpuBefore, started] = [await writes(client), treeCpuSeconds(postgresPid), performance.now()];
  lists.calls = 0;
  const gateway = limitRate({ ...silentGateway, listCreated: lists.read }, createRateLimit(unlimited));
  const fail = (error: unknown) => {
    throw error;
  };
  let [asked, applied] = [0, 0];
  for (let report = await reconcileAll(database, gateway, fail); report.asked > 0;) {
    asked += report.asked;
    applied += report.applied;
    report = await reconcileAll(database, gateway, fail);
  }
  const [cpu, seconds] = [treeCpuSeconds(postgresPid) - cpuBefore, (performance.now() - started) / 1000];
  const { rows: [read] } = await client.query(
    `select sum(completed_items)::int as items, sum(completed_news)::int as news, bool_or(window_end is not null) as is_open
     from billing.statement_windows where pass = $1`,
    [pass],
  );
  const expected = lists.countOf(pass);
  if (read.is_open || read.news !== 0 || applied !== 0 || read.items !== expected || asked !== lists.calls) {
    throw new Error(
      `not read as it should: ${JSON.stringify({ ...read, applied, asked, expected, calls: lists.calls })}`,
    );
  }
  return { calls: lists.calls, rows: await writes(client) - rowsBefore, postgresCpu: cpu, seconds };
}

/** How many rows were written so far, by all. */
async function writes(client: pg.Client): Promise<number> {
  // An idle connection flushes its counts after ten seconds.
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const { rows: [{ count }] } = await client.query(
    `select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as count from pg_stat_user_tables where schemaname in ('public', 'billing')`,
  );
  return count;
}
