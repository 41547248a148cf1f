import type { TestDatabase } from '../helpers/database/test-database.ts';

const paymentsOfAUser = 5;

/**
 * Loads payments of three years, five per user, with the subscriptions; for the last 90 days the ledger, with three
 * deliveries per payment and payloads of 200 bytes; for the last 30 days the outbox.
 */
export async function loadPayments(database: TestDatabase, payments: number): Promise<void> {
  const users = payments / paymentsOfAUser;
  const client = await database.connect();
  const run = (sql: string, ...parameters: unknown[]) => client.query(sql, parameters);
  await run('set session_replication_role = replica');
  await run("set maintenance_work_mem = '512MB'");
  // Users in the order of their random keys: the indexes load several times as fast and look the same.
  await run(
    `create table bench_users as
     select id, row_number() over () as n
     from (select gen_random_uuid() as id from generate_series(1, $1::int) order by 1) u`,
    users,
  );
  await run("insert into auth.users (id, email) select id, n || '@example.com' from bench_users");
  await run(
    "insert into public.profiles (user_id, subscription_tier, username) select id, 'pro', 'user' || n from bench_users",
  );
  await run(
    `insert into public.subscriptions
       (id, user_id, plan_id, tier, status, current_period_start, current_period_end, created_at, updated_at)
     select id, id, (select id from public.plans where tier = 'pro'), 'pro', 'active', at, at + interval '1 year', at, at
     from (select id, now() - make_interval(mins => (n * 7919 % 500000)::int) as at from bench_users) u`,
  );
  await run(
    `insert into public.payments (
       user_id, subscription_id, amount, status, tier, meta, gateway_order_id, gateway_payment_id, gateway_signature,
       captured_at, confirmed_at, fulfilled_at, period_start, period_end, next_reconcile_at, created_at
     )
     select
       id, id, 99900, 'captured', 'pro', '{"tier": "pro"}', format('order_%s_%s', lpad(n::text, 9, '0'), k),
       format('pay_%s_%s', lpad(n::text, 9, '0'), k), repeat('0', 64), at, at, at, at, at + interval '1 year', null, at
     from bench_users
     cross join generate_series(1, ${paymentsOfAUser}) k
     cross join lateral (
       select now() - make_interval(mins => ((n * 7919 + k * 104729) % (3 * 365 * 1440))::int) as at
     ) t`,
  );
  await run(
    `insert into billing.gateway_events
       (body_sha256, event_id, event, subject_id, payload, outcome, attempts, received_at)
     select
       sha256(convert_to(gateway_order_id || event, 'UTF8')), 'evt_' || gateway_payment_id, event, gateway_order_id,
       jsonb_build_object('event', event, 'filling', repeat('x', 160)), 'applied', 1, created_at
     from public.payments
     cross join unnest(array['payment.authorized', 'payment.captured', 'order.paid']) event
     where created_at > now() - interval '90 days'
     order by created_at`,
  );
  await run(
    `insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, attempts, delivered_at)
     select kind || '/' || id, destination, kind, jsonb_build_object('to', id || '@example.com'), created_at, created_at,
       created_at, 1, created_at
     from public.payments
     cross join (values ('payment-success', 'email'), ('revalidation', 'revalidation')) k (kind, destination)
     where created_at > now() - interval '30 days'
     order by created_at`,
  );
  await run('drop table bench_users');
  await run('vacuum (analyze, freeze)');
  await client.end();
}
