import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { gatewayEvent, paymentCaptured, subscriptionEvent } from '../helpers/gateway/events.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let owner: pg.Client;
let renewing: Awaited<ReturnType<typeof subscriber>>;
beforeAll(async () => {
  // The purchases follow each other and are not mailed.
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
  owner = await database.connect();
  renewing = await subscriber();
  for (const name of ['activated', 'charged'] as const) await owner.query(...renewing(name));
});
afterAll(() => database.close());

type Statement = [text: string, parameters: unknown[]];
const webhook = (body: string): Statement => ['select public.apply_gateway_event($1, null, $2)', [sha256(body), body]];

const day = 24 * 3600 * 1000;

/** A subscription that was asked for here and is charged every month. @returns its next event */
async function subscriber(): Promise<(name: 'activated' | 'charged' | 'cancelled') => Statement> {
  const { id: userId } = await createUser(database);
  const id = uniqueId('sub');
  await owner.query(
    `insert into billing.subscription_orders (user_id, tier, gateway_plan_id, gateway_subscription_id, expires_at)
     values ($1, 'pro', 'plan_pro', $2, now() + interval '1 day')`,
    [userId, id],
  );
  let at = Math.floor(Date.now() / 1000) * 1000;
  return (name) => {
    at += 1000;
    return webhook(subscriptionEvent({
      name,
      userId,
      id,
      planId: 'plan_pro',
      start: new Date(at).toISOString(),
      end: new Date(at + 30 * day).toISOString(),
      createdAt: new Date(at).toISOString(),
      ...(name === 'charged' && { payment: { id: uniqueId('pay'), amount: 99900 } }),
      fields: { paid_count: 2, charge_at: Math.floor((at + 30 * day) / 1000) },
    }));
  };
}

async function order(): Promise<{ userId: string; money: { id: string; order_id: string } }> {
  const { id: userId } = await createUser(database);
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  await owner.query(
    `insert into public.payments (user_id, amount, meta, gateway_order_id) values ($1, 99900, '{"tier": "pro"}', $2)`,
    [userId, money.order_id],
  );
  return { userId, money };
}

/** The next call of each kind, always one that has its usual effect. */
const kinds: Record<string, () => Promise<Statement>> = {
  renewal: () => Promise.resolve(renewing('charged')),
  activated: async () => (await subscriber())('activated'),
  captured: async () => webhook(paymentCaptured((await order()).money)),
  async verify() {
    const { userId, money } = await order();
    return ["select public.verify_payment($1, $2, $3, 'signature')", [userId, money.order_id, money.id]];
  },
  ignored: () => Promise.resolve(webhook(gatewayEvent('payment.authorized', { payment: { id: uniqueId('pay') } }))),
};

const table = /(?:Insert|Update|Delete|Seq Scan|Index Scan using \w+|Index Only Scan using \w+|Bitmap Heap Scan) on /;
const foreignKey = /^SELECT 1 FROM ONLY/;

// What a call may cost. A greater number here makes each such request dearer.
test.each([
  { kind: 'renewal', statements: 3, checks: 1, bytes: 4800 },
  { kind: 'activated', statements: 10, checks: 2, bytes: 4050 },
  { kind: 'captured', statements: 8, checks: 3, bytes: 5100 },
  { kind: 'verify', statements: 7, checks: 3, bytes: 3700 },
  { kind: 'ignored', statements: 1, checks: 0, bytes: 1650 },
])('$kind: at most $statements statements, $checks checks of foreign keys, $bytes bytes of log', async (budget) => {
  const plans = await watchPlans(database, { 'auto_explain.log_wal': 'on' });
  const costs = [];
  for (let call = 0; call < 10; call += 1) {
    const text = await plans.of(...await kinds[budget.kind]!());
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

test.each(Object.keys(kinds))('a connection that ran %s some times plans nothing for it', async (kind) => {
  const client = await database.connect();
  let planned = 0;
  client.on('notice', ({ message }) => planned += Number(message === 'plan:'));
  await client.query('set debug_print_plan = on; set client_min_messages = log');
  const counts = [];
  for (let call = 0; call < 10; call += 1) {
    const [text, values] = await kinds[kind]!();
    planned = 0;
    await client.query({ name: 'call', text, values });
    counts.push(planned);
  }
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts.at(-1)).toBe(0);
});

test.each(Object.keys(kinds))(
  'the second %s of a connection reads at most twice the pages of a later one',
  async (kind) => {
    const client = await database.connect();
    const buffers = [];
    for (let call = 0; call < 10; call += 1) {
      const [text, values] = await kinds[kind]!();
      const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
      const [{ Plan: plan, Planning: planning }] = rows[0]['QUERY PLAN'];
      buffers.push(plan['Shared Hit Blocks'] + planning['Shared Hit Blocks']);
    }
    expect(buffers[1]).toBeLessThanOrEqual(2 * buffers.at(-1)!);
  },
);
