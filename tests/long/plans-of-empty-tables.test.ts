import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

const rounds = 2500;

let database: TestDatabase;
beforeAll(async () => {
  // Each user has a purchase and a newer subscription of the same plan.
  database = await createTestDatabase({ findings: { paid_twice: 0 } });
});
afterAll(() => database.close());

test(`${6 * rounds} events on tables that were analyzed empty read at the end less than 1.5 times the blocks per round of the start`, async () => {
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
  // The tables get statistics of empty tables, which nothing updates.
  const tables = await database.query(`
    select format('alter table %1$s set (autovacuum_enabled = false); analyze %1$s', c.oid::regclass) as analyze
    from pg_class c
    where c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace) and c.relkind = 'r'`);
  for (const { analyze } of tables) await database.query(String(analyze));
  // One session, as one of a pool: its plans are made in the first rounds.
  const session = await database.connect();
  await session.query(`
    create function pg_temp.play(p_first integer, p_last integer)
    returns void
    language plpgsql
    as $$
    declare
      v_user_id uuid;
      v_payment text;
      v_body text;
      v_second constant bigint := floor(extract(epoch from now())) - 60;
    begin
      for n in p_first..p_last loop
        v_user_id := md5('user' || n)::uuid;
        v_payment := format('"payment": {"entity": {"id": "pay_%1$s", "order_id": "order_%1$s", "amount": 99900, "currency": "INR", "status": "captured"}}', n);
        insert into auth.users (id, email) values (v_user_id, n || '@example.com');
        insert into public.payments (user_id, amount, gateway_order_id, meta)
        values (v_user_id, 99900, 'order_' || n, '{"tier": "pro"}');
        for v_body in
          select format('{"event": "%s", "created_at": %s, "payload": {%s}}', e.event, coalesce((v_second + nullif(e.charge, 0))::text, 'null'), case
            when e.event like 'subscription.%' then format(
              '"subscription": {"entity": {"id": "sub_%s", "plan_id": "plan_pro", "notes": {"user_id": "%s"}, "current_start": %s, "current_end": %s}}',
              n, v_user_id, 4922812800 + e.charge, 4925491200 + e.charge
            )
            when e.event like 'refund.%' then format(
              '%s, "refund": {"entity": {"id": "rfnd_%s", "payment_id": "pay_%s", "amount": 100, "status": "processed"}}', v_payment, n, n
            )
            else v_payment
          end)
          from (
            values
              ('payment.captured', 0), ('order.paid', 0), ('refund.processed', 0), ('subscription.activated', 0),
              ('subscription.charged', 1), ('subscription.charged', 2)
          ) e (event, charge)
        loop
          perform public.apply_gateway_event(encode(sha256(convert_to(v_body, 'UTF8')), 'hex'), null, v_body);
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
  // An index of more rows is a page or two deeper: 1.4 times as many blocks. A scan of the payments would make it 1.7.
  expect(atEnd).toBeLessThan(1.5 * atStart);
});
