import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plans, watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { isLong } from '../helpers/project/is-long.ts';

const rows = isLong ? 100_000 : 30_000;

let database: TestDatabase;
let plans: Plans;
beforeAll(async () => {
  database = await createTestDatabase();
  // Three in a hundred are due. The triggers are off: they would take minutes.
  await database.query(`
    begin;
    set local session_replication_role = replica;
    create table public.numbers as
    select md5('user' || n)::uuid as id, n from generate_series(1, ${rows}) n order by 1;
    insert into auth.users (id, email) select id, n || '@example.com' from public.numbers;
    insert into public.subscriptions
      (id, user_id, tier, status, current_period_start, current_period_end, gateway_subscription_id)
    select id, id, 'pro', 'active', now() - interval '29 days', now() + interval '1 day', 'sub_' || n from public.numbers;
    insert into billing.gateway_subscriptions
      (user_id, gateway_subscription_id, status, period_start, period_end, next_check_at, arrived_at)
    select id, 'sub_' || n, 'active', now() - interval '29 days', now() + interval '12 hours',
      case when n % 100 < 3 then now() - make_interval(secs => n % 3600) else now() + interval '5 days' end, now()
    from public.numbers;
    insert into billing.subscription_orders (user_id, tier, gateway_plan_id, gateway_subscription_id, created_at, expires_at, next_check_at)
    select id, 'pro', 'plan_pro', 'sub_new_' || n, now(), now() + interval '1 day',
      case when n % 100 < 3 then now() - make_interval(secs => n % 3600) else now() + interval '1 hour' end
    from public.numbers;
    insert into public.payments (user_id, amount, tier, meta, gateway_order_id, next_reconcile_at)
    select id, 99900, 'pro', '{"tier": "pro"}', 'order_' || n,
      case when n % 100 < 3 then now() - make_interval(secs => n % 3600) else now() + interval '1 hour' end
    from public.numbers;
    drop table public.numbers;
    commit`);
  plans = await watchPlans(database);
});
afterAll(async () => {
  // The rows have no facts behind them, so each would be a finding.
  await database.query('truncate auth.users, billing.gateway_subscriptions cascade');
  await database.close();
});

/** The table from which each function claims, its index, and the key of the claimed ones in its result. */
const claims = [
  [
    'claim_subscriptions_to_reconcile',
    'gateway_subscriptions',
    'gateway_subscriptions_next_check_at_idx',
    'subscriptions',
  ],
  ['claim_subscription_orders', 'subscription_orders', 'subscription_orders_next_check_at_idx', 'orders'],
  ['claim_payments_to_reconcile', 'payments', 'payments_next_reconcile_at_idx', 'payments'],
] as const;

describe.each([
  ['before the first analyze', ''],
  ['after an analyze', 'analyze'],
])(`with ${rows} rows, %s`, (_, first) => {
  beforeAll(() => database.query(first));

  test.each(claims)('%s reads %s by %s, call after call', async (name, table, index) => {
    // Often enough for a generic plan that Postgres keeps for later calls, for any parameters.
    for (let count = 0; count < 8; count += 1) {
      const plan = await plans.of(`select public.${name}()`);
      expect(plan).toMatch(new RegExp(`Index Scan (using ${index} on ${table}|on ${index})\\b`));
      expect(plan).not.toMatch(/Seq Scan on (gateway_subscriptions|subscription_orders|payments|subscriptions)\b/);
      expect(plan).not.toMatch(/Hash Join/);
    }
  });

  test('a claim of subscriptions locks no more rows than it may settle', async () => {
    const plan = await plans.of('select public.claim_subscriptions_to_reconcile()');
    const locked = /LockRows.*actual rows=(\d+)/.exec(plan)?.[1];
    expect(Number(locked)).toBeLessThanOrEqual(200);
  });
});

test('each claim returns 20 of those that are due, others each time', async () => {
  for (const [name, , , key] of claims) {
    const ids = new Set<string>();
    for (let count = 0; count < 5; count += 1) {
      const { claimed } = await database.one(`select public.${name}() -> '${key}' as claimed`);
      for (const { id } of Array.isArray(claimed) ? claimed : []) ids.add(id);
    }
    expect(ids.size).toBe(100);
  }
});
