import { afterAll, beforeAll, expect, test } from 'vitest';
import { watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

const rounds = 2500;

let database: TestDatabase;
beforeAll(async () => {
  // Each user has a purchase and a newer subscription of the same plan.
  database = await createTestDatabase({ findings: { paid_twice: 0 } });
});
afterAll(() => database.close());

test(`${6 * rounds} events on tables that were analyzed empty read less than 1.5 times as many blocks per round at the end as at the start`, async () => {
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
  // The tables get statistics of empty tables, which nothing updates.
  await database.query(`
    do $$
    declare
      v_table regclass;
    begin
      for v_table in
        select c.oid
        from pg_class c
        where c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace)
          and c.relkind = 'r'
      loop
        execute format('alter table %s set (autovacuum_enabled = false)', v_table);
        execute format('analyze %s', v_table);
      end loop;
    end
    $$`);
  // One session, as one of a pool: its plans are made in the first rounds.
  const session = await database.connect();
  await session.query("set track_functions = 'pl'");
  await session.query(`
    create function pg_temp.play(p_first integer, p_last integer)
    returns void
    language plpgsql
    as $$
    declare
      v_user_id uuid;
      v_body jsonb;
      v_second constant bigint := floor(extract(epoch from now())) - 60;
    begin
      for n in p_first..p_last loop
        v_user_id := md5('user' || n)::uuid;
        insert into auth.users (id, email) values (v_user_id, n || '@example.com');
        insert into public.payments (user_id, amount, gateway_order_id, meta)
        values (v_user_id, 99900, 'order_' || n, '{"tier": "pro"}');
        for v_body in
          select jsonb_build_object('event', e.event, 'created_at', v_second + e.charge, 'payload', jsonb_strip_nulls(jsonb_build_object(
            'payment', case when e.event not like 'subscription.%' then jsonb_build_object('entity', jsonb_build_object(
              'id', 'pay_' || n, 'order_id', 'order_' || n, 'amount', 99900, 'currency', 'INR', 'status', 'captured'
            )) end,
            'refund', case when e.event like 'refund.%' then jsonb_build_object('entity', jsonb_build_object(
              'id', 'rfnd_' || n, 'payment_id', 'pay_' || n, 'amount', 100, 'status', 'processed'
            )) end,
            'subscription', case when e.event like 'subscription.%' then jsonb_build_object('entity', jsonb_build_object(
              'id', 'sub_' || n, 'plan_id', 'plan_pro', 'notes', jsonb_build_object('user_id', v_user_id),
              'current_start', 4922812800 + coalesce(e.charge, 0), 'current_end', 4925491200 + coalesce(e.charge, 0)
            )) end
          )))
          from (
            values
              ('payment.captured', null), ('order.paid', null), ('refund.processed', null), ('subscription.activated', null),
              ('subscription.charged', 1), ('subscription.charged', 2)
          ) e (event, charge)
        loop
          perform public.apply_gateway_event(encode(sha256(convert_to(v_body::text, 'UTF8')), 'hex'), null, v_body::text);
        end loop;
      end loop;
    end
    $$`);
  const blocksOf = async (first: number, last: number): Promise<number> => {
    const { rows } = await session.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, timing off, format json) select pg_temp.play(${first}, ${last})`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    return ((plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)) / (last - first + 1);
  };

  await blocksOf(1, 20);
  const atStart = await blocksOf(21, 120);
  for (let round = 121; round < rounds - 100; round += 100) {
    await session.query('select pg_temp.play($1, $2)', [round, Math.min(round + 99, rounds - 100)]);
  }
  const atEnd = await blocksOf(rounds - 99, rounds);
  const { events } = await database.one(
    "select count(*)::int as events from billing.gateway_events where outcome in ('applied', 'already')",
  );
  expect(events).toBe(6 * rounds);
  // The second charge is the usual one, which is not merged.
  const { merged } = await session.query('select pg_stat_force_next_flush()').then(() =>
    database.one(
      "select calls::int as merged from pg_stat_user_functions where funcname = 'merge_gateway_subscription'",
    )
  );
  expect(merged).toBe(2 * rounds);
  // An index of more rows is a page or two deeper: 1.4 times as many blocks. A scan of the payments would make it 1.7.
  expect(atEnd).toBeLessThan(1.5 * atStart);
});

test('a query without enable_seqscan = off scans an empty table, so the test above can fail', async () => {
  const plans = await watchPlans(database);
  await database.query('create table public.empty (id integer primary key)');
  await database.query('analyze public.empty');
  expect(await plans.of('select from public.empty where id = $1', [1])).toContain('Seq Scan');
});
