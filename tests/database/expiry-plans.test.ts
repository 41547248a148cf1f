import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plans, scansOf, watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { isLong } from '../helpers/project/is-long.ts';

const rows = isLong ? 50_000 : 10_000;

let database: TestDatabase;
let plans: Plans;
beforeAll(async () => {
  // The rows are inserted directly, without the facts behind them.
  database = await createTestDatabase({ findings: { entitled_not_paid: 'any' } });
  // A fifth of the periods is over, a tenth ends within a week. The triggers are off: they would take a minute.
  await database.query(`
    begin;
    set local session_replication_role = replica;
    insert into auth.users (id, email)
    select md5(n::text)::uuid, n || '@example.com' from generate_series(1, ${rows}) n;
    insert into public.profiles (user_id, subscription_tier) select id, 'basic' from auth.users;
    insert into public.subscriptions
      (id, user_id, tier, status, current_period_start, current_period_end, created_at, updated_at)
    select id, id, 'basic', 'active', '2020-01-01', now() + make_interval(hours => n % 1700 - 400), '2020-01-01', '2020-01-01'
    from (select id, (row_number() over ())::int as n from auth.users) u;
    insert into public.payments (id, user_id, amount, status, tier, fulfilled_at, period_start, period_end)
    select id, user_id, 9900, 'captured', 'basic', '2020-01-01', current_period_start, current_period_end
    from public.subscriptions;
    insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, period_start, period_end)
    select gen_random_uuid(), 'sub_' || n, '2020-01-01', '2020-02-01' from generate_series(1, ${rows}) n;
    insert into billing.grants (user_id, tier, until, at)
    select gen_random_uuid(), 'pro', '2020-02-01', '2020-01-01' from generate_series(1, ${rows});
    insert into billing.manual_subscriptions (user_id, tier, status, cancel_at_period_end, at)
    select gen_random_uuid(), 'pro', 'cancelled', false, '2020-01-01' from generate_series(1, ${rows});
    commit`);
  // An automatic analyze in the middle would end the state before the first one.
  for (const table of ['auth.users', 'public.profiles', 'public.subscriptions', 'public.payments']) {
    await database.query(`alter table ${table} set (autovacuum_enabled = off)`);
  }
  plans = await watchPlans(database);
});
afterAll(() => database.close());

/** The tables that each function reads, and by which indexes. */
const reads = {
  'billing.expire_subscriptions()': {
    subscriptions: ['subscriptions_current_period_end_idx', 'subscriptions_user_id_key'],
    payments: ['payments_user_id_created_at_idx'],
    gateway_subscriptions: ['gateway_subscriptions_pkey'],
    grants: ['grants_user_id_idx'],
    manual_subscriptions: ['manual_subscriptions_pkey'],
    profiles: ['profiles_pkey'],
    users: ['users_pkey'],
  },
  'billing.announce_ends()': {
    subscriptions: ['subscriptions_current_period_end_idx', 'subscriptions_pkey'],
    payments: ['payments_user_id_created_at_idx'],
    gateway_subscriptions: ['gateway_subscriptions_pkey'],
  },
};

describe.each([
  ['before the first analyze', ''],
  ['after an analyze', 'analyze'],
])(`with ${rows.toLocaleString('en')} subscriptions, %s`, (_, first) => {
  beforeAll(() => database.query(first));

  test.each(Object.entries(reads))('%s reads each table by its indexes, batch after batch', async (call, tables) => {
    // Often enough for a generic plan that Postgres keeps for later calls.
    for (let batch = 0; batch < 8; batch++) {
      if (call === 'billing.announce_ends()') {
        await database.query("update billing.scheduled_jobs set announced_until = '-infinity'");
      }
      // Plans are read for values at first, and for any values from the sixth call on. Reading them is slow.
      const isRead = batch === 0 || batch >= 6;
      const found = await plans.of(
        `set auto_explain.log_min_duration = ${isRead ? 0 : -1};
         set enable_seqscan = off; -- as billing.sweep() does
         select ${call}`,
      );
      if (!isRead) continue;
      for (const [table, indexes] of Object.entries(tables)) {
        const scans = scansOf(table, found);
        for (const index of indexes) expect(scans.filter((scan) => scan.includes(index)), scans.join()).not.toEqual([]);
        expect(scans).not.toContain(`Seq Scan on ${table}`);
      }
    }
  });
});
