/** Measures the expiry of 100,000 subscriptions, and its effect on concurrent verifies. */
import pg from 'pg';
import { withMigratedDatabase } from '../../scripts/stack/postgres/migrated-database.ts';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { loadSubscriptions, resetLapsed } from './expiry-data.ts';
import { median, milliseconds, type Row, seconds } from './report.ts';

const repetitions = 3;
const size = { subscriptions: 2_000_000, lapsed: 100_000 };

/** Times of calls in milliseconds, by the kind of user. */
type Times = Record<'others' | 'ending', number[]>;

/** @returns the rows of the report. */
export function benchExpiry(): Promise<Row[]> {
  return withMigratedDatabase(async (url) => {
    const clients = Array.from({ length: 4 }, () => new pg.Client({ connectionString: url }));
    const [admin, sweeping, ...verifying] = clients;
    if (admin === undefined || sweeping === undefined) throw new Error('no connection');
    await Promise.all(clients.map((client) => client.connect()));
    try {
      await loadSubscriptions(admin, size);
      for (const client of verifying) await client.query('set role service_role');
      // The notices of the week are enqueued first, so that the timed sweeps only end lapsed subscriptions, due after the reset.
      const announced = await time(
        sweeping,
        'do $$ begin while billing.settle_due() > 0 loop commit; end loop; end $$',
      );
      const notices = await countMails(admin, 'subscription-ending');
      const runs = [];
      for (let i = 0; i < repetitions; i++) runs.push(await run(admin, sweeping, verifying));
      return report(announced, notices, runs);
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
  });
}

type Run = { elapsed: number; alone: Times; beside: Times };

async function run(admin: pg.Client, sweeping: pg.Client, verifying: pg.Client[]): Promise<Run> {
  await resetLapsed(admin);
  const alone = await verifyUntil(verifying, new Promise((resolve) => setTimeout(resolve, 5000)));
  await resetLapsed(admin);
  const swept = time(sweeping, sweep);
  const beside = await verifyUntil(verifying, swept);
  const elapsed = await swept;
  // The first sweep skips users that a request has locked. The next sweep ends their subscriptions.
  await sweeping.query(sweep);

  const { rows: [left] } = await admin.query(
    `select count(*) filter (where s.status = 'cancelled')::int as ended,
       count(*) filter (where s.status = 'active' and s.current_period_end > now())::int as renewed,
       count(*) filter (where (s.status = 'cancelled') <> (p.subscription_tier = 'free'))::int as wrong
     from bench_lapsed b join public.subscriptions s using (user_id) join public.profiles p using (user_id)`,
  );
  const mails = await countMails(admin, 'subscription-ended');
  if (left.wrong > 0 || left.ended + left.renewed !== size.lapsed || mails < left.ended) {
    throw new Error(`not ended as it should: ${JSON.stringify({ ...left, mails })}`);
  }
  return { elapsed, alone, beside };
}

async function time(client: pg.Client, statement: string): Promise<number> {
  const started = performance.now();
  await client.query(statement);
  return performance.now() - started;
}

async function countMails(client: pg.Client, kind: string): Promise<number> {
  const { rows: [row] } = await client.query('select count(*)::int as mails from billing.outbox where kind = $1', [
    kind,
  ]);
  return row.mails;
}

/** Verifies payments one after the other, half of them of users whose subscription is about to end. */
async function verifyUntil(clients: pg.Client[], over: Promise<unknown>): Promise<Times> {
  const times: Times = { others: [], ending: [] };
  let isOver = false;
  const note = () => isOver = true;
  const ended = over.then(note, note);
  await Promise.all(clients.map(async (client, index) => {
    const whose = index % 2 === 0 ? 'others' : 'ending';
    while (!isOver) {
      const order = await placeOrder(client, whose);
      const started = performance.now();
      const { rows } = await client.query(
        `select public.verify_payment($1, $2, $3, 'signature') ->> 'outcome' as outcome`,
        order,
      );
      times[whose].push(performance.now() - started);
      if (rows[0].outcome !== 'applied') throw new Error(`verify: ${rows[0].outcome}`);
    }
  }));
  await ended;
  return times;
}

/** Inserts an unpaid order of a user who keeps the subscription, or of one of the next users in the expiry. */
async function placeOrder(client: pg.Client, whose: 'others' | 'ending'): Promise<string[]> {
  const user = whose === 'others'
    ? `select md5('user' || ceil(random() * ${size.subscriptions / 20 - 1})::int * 20 + 1)::uuid`
    : `select user_id from public.subscriptions
       where status = 'active' and current_period_end < now() - interval '4 days'
       order by current_period_end offset floor(random() * 400)::int limit 1`;
  const id = crypto.randomUUID();
  const { rows } = await client.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta)
     select coalesce((${user}), md5('user1')::uuid), 9900, $1, '{"tier": "basic"}' returning user_id`,
    [`bench_${id}`],
  );
  return [rows[0].user_id, `bench_${id}`, `pay_${id}`];
}

function report(announced: number, notices: number, runs: Run[]): Row[] {
  const of = (when: 'alone' | 'beside', whose: keyof Times) => runs.map((run) => run[when][whose]);
  const longest = (times: number[][]) => milliseconds(times.map((all) => Math.max(...all)));
  const usual = (times: number[][]) => milliseconds(times.map(median), 1);
  return [
    [
      'expiry of 100,000 of 2,000,000 subscriptions, with their mails, while customers verify payments',
      seconds(runs.map(({ elapsed }) => elapsed)),
    ],
    ['verify meanwhile, users whose subscription goes on, p50', usual(of('beside', 'others'))],
    ['… the longest', longest(of('beside', 'others'))],
    ['verify meanwhile, users whose subscription is just ending, p50', usual(of('beside', 'ending'))],
    ['… the longest', longest(of('beside', 'ending'))],
    ['verify without expiry, the same users, p50', usual(of('alone', 'ending'))],
    ['… the longest', longest(of('alone', 'ending'))],
    [`notices of ${notices} periods that end within a week, all at once`, `${(announced / 1000).toFixed(1)} s`],
  ];
}
