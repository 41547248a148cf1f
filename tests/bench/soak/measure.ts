import { createScheduler } from '../../../scripts/stack/scheduler.ts';
import { localKeys } from '../../helpers/project/keys.ts';
import { poolUrl, setPoolPassword } from '../../helpers/database/pool-role.ts';
import { withClient } from '../../helpers/database/postgres-client.ts';
import type { Row, TestDatabase } from '../../helpers/database/test-database.ts';
import { type BenchProcess, startBenchProcess } from '../bench-process.ts';
import { createSessions } from '../bench-project.ts';
import { withDurablePostgres } from '../durable-postgres.ts';
import { createBilling, proGatewayPlanId } from '../gateway-bodies.ts';
import { createDatabase } from '../growth.ts';
import { percentile } from '../load.ts';
import { createSubscribers, newUsers } from '../our-database.ts';
import { startOurs } from '../systems.ts';
import { createBuyers } from '../workloads.ts';
import { load, nothingShown, rate, type Shown, type Source } from './load.ts';
import { startPgBouncer } from './pgbouncer.ts';

/** Payments, and as many charges, of 300,000 other customers, so that the passes never end. */
const defaultPayments = 1_000_000;
/** Rows of the ledger and of the outbox that become old enough for the purge in each turn. */
const purged = 10_000;
const turns = 5;
const secret = 'bench-revalidate-secret';
const tables = [
  'public.payments',
  'public.subscriptions',
  'public.profiles',
  'billing.gateway_subscriptions',
  'billing.gateway_events',
  'billing.outbox',
  'billing.scheduled_jobs',
  'billing.passes',
  'billing.checked_findings',
  'billing.revenue_sums',
];

type Stand = Source & { readonly apiUrl: string; readonly receiver: BenchProcess };
type Part = { readonly name: string; readonly functions: number; readonly minutes: number; readonly isPooled: boolean };

/** @returns the tables: times by part, what became of the tables, and the refusals while connections are short */
export function measureSoak(minutes: number, payments = defaultPayments): Promise<string> {
  return withDurablePostgres(async (postgres) => {
    const sessions = await createSessions();
    const api = await startBenchProcess('api-server.ts', { BENCH_API: JSON.stringify({ jwks: sessions.jwks }) });
    const receiver = await startBenchProcess('receiver-server.ts', { REVALIDATE_SECRET: secret });
    const database = await createDatabase(postgres, payments);
    try {
      const apiUrl = `http://127.0.0.1:${api.port}`;
      await withClient(database.url, setPoolPassword);
      await database.query("update public.plans set gateway_plan_id = $1 where tier = 'pro'", [proGatewayPlanId]);
      const createToken = (userId: string) => sessions.createToken(userId, `${apiUrl}/auth/v1`);
      const buyers = await createBuyers({ database, createToken }, 500);
      const { subscribers } = newUsers(2000);
      await createSubscribers(database.url, subscribers);
      const stand = { database, buyers, nextCharge: createBilling(subscribers), apiUrl, receiver };
      const before = await sizes(database);
      const lines = [
        await compare(stand, { name: 'one function, connected directly', functions: 1, minutes, isPooled: false }),
        await compare(stand, {
          name: '4 functions behind PgBouncer',
          functions: 4,
          minutes: minutes * 0.4,
          isPooled: true,
        }),
        await compare(stand, {
          name: '16 functions behind PgBouncer',
          functions: 16,
          minutes: minutes * 0.4,
          isPooled: true,
        }),
      ];
      const growth = await describeGrowth(database, before);
      return [
        '| p50, p99 in ms | webhook without jobs | with jobs | p99, times | read without | with | verify without | with | not 200 |',
        '|---|---|---|---|---|---|---|---|---|',
        ...lines,
        '',
        ...growth,
        '',
        await shortOfConnections(stand),
        '',
      ].join('\n');
    } finally {
      await database.close();
      await receiver.stop();
      await api.stop();
    }
  });
}

/** Turns of the load without and with everything that runs beside requests. @returns a line of the table */
async function compare(stand: Stand, { name, functions, minutes, isPooled }: Part): Promise<string> {
  const pooler = isPooled ? await startPgBouncer(poolUrl(stand.database.url)) : undefined;
  const url = pooler?.url ?? poolUrl(stand.database.url);
  const [bare, full] = [
    await startFunctions(stand, url, functions, {}),
    await startFunctions(stand, url, functions, delivery(stand)),
  ];
  const [alone, together] = [nothingShown(), nothingShown()];
  // The first seconds make plans and are not counted.
  for (const ports of [bare.ports, full.ports]) await load(stand, ports, 10, nothingShown());
  for (let turn = 0; turn < turns; turn += 1) {
    const seconds = minutes * 60 / turns;
    await load(stand, bare.ports, seconds / 2, alone);
    await prepareTurn(stand.database);
    const scheduler = createScheduler({
      databaseUrl: stand.database.url,
      internalUrl: `http://127.0.0.1:${full.ports[0]}/api/internal`,
      secretKey: localKeys.secret,
      sweepMs: Math.min(60_000, seconds * 1000 / 2),
    });
    await scheduler.start();
    await load(stand, full.ports, seconds, together);
    await scheduler.stop();
  }
  await Promise.all([bare.stop(), full.stop()]);
  await pooler?.stop();
  await expectApplied(stand.database, [...alone.events, ...together.events]);
  const cell = (times: number[]) => `${percentile(times, 0.5).toFixed(1)}, ${percentile(times, 0.99).toFixed(1)}`;
  const ratio = percentile(together.times.webhook, 0.99) / percentile(alone.times.webhook, 0.99);
  const cells = [
    name,
    cell(alone.times.webhook),
    cell(together.times.webhook),
    ratio.toFixed(2),
    ...(['read', 'verify'] as const).flatMap((kind) => [cell(alone.times[kind]), cell(together.times[kind])]),
    String(alone.faulty + alone.refused + together.faulty + together.refused),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** 16 functions that open up to 128 connections where the role has 8. @returns what was refused, and what became of it */
async function shortOfConnections(stand: Stand): Promise<string> {
  const available = 8;
  await stand.database.query(`alter role subscriptions_api connection limit ${available}`);
  const functions = await startFunctions(stand, poolUrl(stand.database.url), 16, {});
  const shown: Shown = nothingShown();
  const blocked = await stand.database.connect();
  try {
    // Requests wait for a table, so that the functions need more connections than they have.
    const loading = load(stand, functions.ports, 30, shown);
    for (let turn = 0; turn < 5; turn += 1) {
      await blocked.query('begin; lock table public.subscriptions in exclusive mode');
      await new Promise((resolve) => setTimeout(resolve, 2000));
      await blocked.query('rollback');
      await new Promise((resolve) => setTimeout(resolve, 3000));
    }
    await loading;
  } finally {
    await blocked.end();
    await functions.stop();
    await stand.database.query('alter role subscriptions_api connection limit -1');
  }
  await expectApplied(stand.database, shown.events);
  const { refused, faulty, events } = shown;
  return `16 functions with ${available} connections, ${rate} requests a second for 30 s, five times blocked for 2 s: ` +
    `${refused} answers with \`retry-after\`, ${faulty} errors without it; after retries all ${events.length} webhooks were applied once.`;
}

async function startFunctions({ apiUrl }: Stand, url: string, count: number, environment: Record<string, string>) {
  const started: Awaited<ReturnType<typeof startOurs>>[] = [];
  for (let index = 0; index < count; index += 1) {
    started.push(await startOurs({ apiUrl }, { DATABASE_POOL_URL: url, ...environment }));
  }
  return {
    ports: started.map(({ port }) => port),
    stop: () => Promise.all(started.map((each) => each.stop())),
  };
}

/** The receivers of side effects. */
function delivery({ receiver: { port } }: Stand): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  return {
    APP_URL: 'https://app.example.com',
    REVALIDATE_URL: `${url}/api/revalidate`,
    REVALIDATE_SECRET: secret,
    RESEND_API_KEY: 're_bench',
    RESEND_BASE_URL: url,
    EMAIL_FROM: 'Bench <bench@example.com>',
  };
}

/** Takes what was not delivered without jobs as delivered, and gives the purge something to do. */
async function prepareTurn(database: TestDatabase): Promise<void> {
  await database.query('update billing.outbox set delivered_at = now(), attempts = 1 where delivered_at is null');
  await database.query(
    `insert into billing.gateway_events (body_sha256, event, outcome, received_at)
     select sha256(gen_random_uuid()::text::bytea), 'payment.captured', 'applied', now() - interval '500 days'
     from generate_series(1, $1::int)`,
    [purged],
  );
  await database.query(
    `insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, attempts, delivered_at)
     select gen_random_uuid(), 'revalidation', 'revalidation', '{}', at, at, at, 1, at
     from (select now() - interval '60 days' as at from generate_series(1, $1::int)) o`,
    [purged],
  );
}

/** @throws when an event that was answered with 200 is not in the ledger once, as applied */
async function expectApplied(database: TestDatabase, events: readonly string[]): Promise<void> {
  const [row] = await database.query(
    `select count(*)::int as count from billing.gateway_events where event_id = any ($1) and outcome = 'applied'`,
    [events],
  );
  if (row?.count !== events.length) throw new Error(`${row?.count} of ${events.length} events were applied`);
}

async function sizes(database: TestDatabase): Promise<Row[]> {
  await database.query('vacuum (analyze)');
  return await readSizes(database);
}

async function readSizes(database: TestDatabase): Promise<Row[]> {
  return await database.query(
    `select t.name, s.n_live_tup::float as live, s.n_dead_tup::float as dead, s.autovacuum_count::int as vacuums,
       s.n_tup_ins::float as inserted, s.n_tup_upd::float as updated, s.n_tup_hot_upd::float as hot,
       pg_total_relation_size(t.name::regclass)::float / 1e6 as megabytes
     from unnest($1::text[]) t (name)
     join pg_stat_user_tables s on s.relid = t.name::regclass`,
    [tables],
  );
}

async function describeGrowth(database: TestDatabase, before: readonly Row[]): Promise<string[]> {
  const after = await readSizes(database);
  const lines = after.map((row) => {
    const old = before.find(({ name }) => name === row.name) ?? {};
    const of = (field: string) => Number(row[field]) - Number(old[field]);
    const cells = [
      row.name,
      of('inserted'),
      of('updated'),
      `${Math.round(of('hot') / Math.max(1, of('updated')) * 100)} %`,
      `${row.dead} (${(Number(row.dead) / Math.max(1, Number(row.live)) * 100).toFixed(1)} %)`,
      of('vacuums'),
      `${Number(old.megabytes).toFixed(1)} → ${Number(row.megabytes).toFixed(1)}`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| table | rows inserted | updated | HOT | dead at the end | autovacuums | MB |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ];
}
