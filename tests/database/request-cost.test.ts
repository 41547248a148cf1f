import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { gatewayEvent, paymentCaptured, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let renewing: Awaited<ReturnType<typeof subscriber>>['next'];
beforeAll(async () => {
  // The purchases follow each other and are not mailed.
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
  renewing = (await paying()).next;
});
afterAll(() => database.close());

type Statement = [text: string, parameters: unknown[]];
const webhook = (body: string): Statement => ['select public.apply_gateway_event($1, null, $2)', [sha256(body), body]];

/** A subscription that was asked for here and is charged every month. @returns its user and its next event */
async function subscriber(): Promise<{ userId: string; next: (name: 'activated' | 'charged') => Statement }> {
  const { id: userId } = await createUser(database);
  const id = uniqueId('sub');
  await database.query(
    `insert into billing.gateway_subscriptions (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at)
     select $1, 'pro', p.id, 'plan_pro', billing.price_of(p), $2, now() + interval '1 day' from public.plans p where p.tier = 'pro'`,
    [userId, id],
  );
  let at = Math.floor(Date.now() / 1000) * 1000;
  const next = (name: 'activated' | 'charged') => {
    at += 1000;
    const [start, end] = [new Date(at).toISOString(), new Date(at + 30 * 24 * 3600 * 1000).toISOString()];
    return webhook(subscriptionEvent({
      ...{ name, userId, id, planId: 'plan_pro', start, end, createdAt: start },
      ...(name === 'charged' && { payment: { id: uniqueId('pay'), amount: 99900 } }),
      fields: { paid_count: 2, charge_at: Date.parse(end) / 1000 },
    }));
  };
  return { userId, next };
}

/** A subscription whose first cycle is paid. */
async function paying(): ReturnType<typeof subscriber> {
  const made = await subscriber();
  for (const name of ['activated', 'charged'] as const) await database.query(...made.next(name));
  return made;
}

/** The next call of each kind, always one that has its usual effect. */
const kinds: Record<string, () => Promise<Statement>> = {
  renewal: () => Promise.resolve(renewing('charged')),
  activated: async () => (await subscriber()).next('activated'),
  cancellation: async () => ['select public.cancel_subscription($1, true)', [(await paying()).userId]],
  async 'cancellation of who came back'() {
    const { userId } = await paying();
    const [id, start, end] = [uniqueId('sub'), '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
    for (const name of ['activated', 'charged', 'cancelled'] as const) {
      const payment = name === 'charged' && { payment: { id: uniqueId('pay'), amount: 99900 } };
      await database.query(
        ...webhook(subscriptionEvent({ name, userId, id, planId: 'plan_pro', start, end, ...payment })),
      );
    }
    return ['select public.cancel_subscription($1, true)', [userId]];
  },
  captured: async () => webhook(paymentCaptured(paymentOf(await placeOrder(database)))),
  async verify() {
    const { user, orderId, paymentId } = await placeOrder(database);
    return ["select public.verify_payment($1, $2, $3, 'signature')", [user.id, orderId, paymentId]];
  },
  resumption: async () => {
    const { userId } = await paying();
    await database.query('select public.cancel_subscription($1, true)', [userId]);
    return ['select public.resume_subscription($1)', [userId]];
  },
  preview: async () => ["select public.preview_change($1, 'premium', 'now')", [(await paying()).userId]],
  read: async () => ['select public.get_subscription($1)', [(await paying()).userId]],
  'read of an order': async () => {
    const { user, orderId } = await placeOrder(database);
    return ['select public.get_order($1, $2, true)', [user.id, orderId]];
  },
  order: async () => ["select public.create_order($1, 'pro')", [(await createUser(database)).id]],
  subscription: async () => ["select public.create_subscription($1, 'pro')", [(await createUser(database)).id]],
  health: () => Promise.resolve(['select public.get_health()', []]),
  'read of billing details': async () => ['select public.get_billing_details($1)', [(await createUser(database)).id]],
  ignored: () => Promise.resolve(webhook(gatewayEvent('payment.authorized', { payment: { id: uniqueId('pay') } }))),
};
const next = (kind: string) => kinds[kind]!();

const table = /(?:Insert|Update|Delete|Seq Scan|Index Scan using \w+|Index Only Scan using \w+|Bitmap Heap Scan) on /;
const foreignKey = /^SELECT 1 FROM ONLY/;

// What a call may cost. A greater number here makes each such request dearer.
test.each([
  { kind: 'renewal', statements: 6, checks: 1, bytes: 4800 },
  { kind: 'activated', statements: 10, checks: 2, bytes: 4050 },
  { kind: 'captured', statements: 8, checks: 3, bytes: 5100 },
  { kind: 'verify', statements: 7, checks: 3, bytes: 3700 },
  { kind: 'ignored', statements: 1, checks: 0, bytes: 1650 },
])('$kind: at most $statements statements, $checks checks of foreign keys, $bytes bytes of log', async (budget) => {
  const plans = await watchPlans(database, { 'auto_explain.log_wal': 'on' });
  const costs = [];
  for (let call = 0; call < 10; call += 1) {
    const text = await plans.of(...await next(budget.kind));
    // Those that read or write a table: others only call a function.
    const statements = text.split('Query Text: ').filter((plan) => table.test(plan));
    costs.push({
      statements: statements.filter((plan) => !foreignKey.test(plan)).length,
      checks: statements.filter((plan) => foreignKey.test(plan)).length,
      // Of the whole call. The first write to a page after a checkpoint logs the page, so the least of several counts.
      bytes: Math.max(0, ...[...text.matchAll(/WAL: .*bytes=(\d+)/g)].map(([, bytes]) => Number(bytes))),
    });
  }
  expect(Math.min(...costs.map(({ bytes }) => bytes))).toBeLessThanOrEqual(budget.bytes);
  expect(costs.at(-1)!.statements).toBeLessThanOrEqual(budget.statements);
  expect(costs.at(-1)!.checks).toBeLessThanOrEqual(budget.checks);
});

/** Makes the second call of a kind on a connection. @returns the functions, and how often each was called */
async function functionsOf(kind: string): Promise<Record<string, number>> {
  const session = await database.connect();
  await session.query(...await next(kind));
  const call = await next(kind);
  await session.query("set track_functions = 'all'");
  await session.query('begin');
  await session.query(...call);
  const { rows } = await session.query(
    `select p.proname as name, pg_stat_get_xact_function_calls(p.oid)::int as calls from pg_catalog.pg_proc p
     where pg_stat_get_xact_function_calls(p.oid) > 0`,
  );
  await session.query('rollback');
  return Object.fromEntries(rows.map(({ name, calls }) => [name, calls]));
}

test('a renewal with its mail calls at most eight functions', async () => {
  const calls = await functionsOf('renewal');
  expect(calls).toHaveProperty('apply_next_charge');
  expect(Object.values(calls).reduce((sum, count) => sum + count), JSON.stringify(calls)).toBeLessThanOrEqual(8);
});

// Each reads all that gives access.
test.each([
  { kind: 'cancellation', rankings: 2 },
  { kind: 'resumption', rankings: 1 },
])('a $kind ranks the sources of its user at most so often: $rankings', async ({ kind, rankings }) => {
  const calls = await functionsOf(kind);
  expect(calls.find_ruling, JSON.stringify(calls)).toBeLessThanOrEqual(rankings);
  // It answers with the subscription alone.
  expect(calls).not.toHaveProperty('get_subscription');
});

test('a cancellation computes an older subscription that has ended at most once', async () => {
  const calls = await functionsOf('cancellation');
  const later = await functionsOf('cancellation of who came back');
  expect(calls.mirrored_end).toBeGreaterThan(0);
  expect(later.mirrored_end! - calls.mirrored_end!, JSON.stringify(later)).toBeLessThanOrEqual(1);
});

async function pagesOf(kind: string, session: pg.Client): Promise<number> {
  const [text, values] = await next(kind);
  const { rows } = await session.query(`explain (analyze, buffers, format json) ${text}`, values);
  const [{ Plan: plan, Planning: planning }] = rows[0]['QUERY PLAN'];
  return plan['Shared Hit Blocks'] + planning['Shared Hit Blocks'];
}

// The least of several: while autovacuum analyzes a table, every connection reads the catalog and plans again.
test.each(Object.keys(kinds))('a connection soon plans nothing for a %s, and soon reads few pages', async (kind) => {
  const planning = await database.connect();
  let planned = 0;
  planning.on('notice', ({ message }) => planned += Number(message === 'plan:'));
  await planning.query('set debug_print_plan = on; set client_min_messages = log');
  const counts: number[] = [];
  for (let call = 0; call < 10; call += 1) {
    const [text, values] = await next(kind);
    planned = 0;
    await planning.query({ name: 'call', text, values });
    counts.push(planned);
  }
  expect(counts[0]).toBeGreaterThan(0);
  expect(Math.min(...counts.slice(6))).toBe(0);

  const seconds: number[] = [];
  const later: number[] = [];
  for (let connection = 0; connection < 3; connection += 1) {
    const reading = await database.connect();
    await pagesOf(kind, reading);
    seconds.push(await pagesOf(kind, reading));
    for (let call = 0; call < 4; call += 1) later.push(await pagesOf(kind, reading));
  }
  expect(Math.min(...seconds)).toBeLessThanOrEqual(2 * Math.min(...later));
});
