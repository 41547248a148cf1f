import type { TestDatabase } from '../helpers/database/test-database.ts';

/** Customers with a wrong tier, which the passes find. */
export const planted = 50;
/** At most so many payments are of the last day: with three webhooks each it is a busy one. */
const lastDay = 33_000;

/**
 * Loads that number of payments, and as many charges of gateway subscriptions: a fifth of the payments are one customer's
 * years in a row, a tenth of the charges another one's months. For the last 90 days the ledger, with three deliveries for a
 * payment, one for a charge, and payloads of 200 bytes; for the last 30 days the outbox. Nothing is wrong but what is planted.
 */
export async function loadPayments(database: TestDatabase, payments: number): Promise<void> {
  const client = await database.connect();
  const run = (sql: string, ...parameters: unknown[]) => client.query(sql, parameters);
  await run('set session_replication_role = replica');
  await run("set maintenance_work_mem = '512MB'");
  // Users in the order of their random keys: the indexes load several times as fast and look the same.
  await run(
    `create table bench_users as
     select id, n, kind
     from (select id, row_number() over () as n from (select gen_random_uuid() as id from generate_series(1, $1::int) order by 1) u) u
     cross join lateral (select case when n % 3 = 0 then 'billed' when n <= $2::int * 3 then 'new' else 'years' end as kind) k`,
    payments * 3 / 10,
    Math.min(lastDay, payments / 20),
  );
  await run("insert into auth.users (id, email) select id, n || '@example.com' from bench_users");
  await run(
    `insert into public.profiles (user_id, subscription_tier, username)
     select id, case kind when 'billed' then 'basic' else 'pro' end, 'user' || n from bench_users`,
  );
  // The end of the running period, and the periods of each customer, the newest first.
  await run(
    `create table bench_periods as
     select u.id, u.n, u.kind, k, p.tier, p.id as plan_id, p.price as amount,
       t.first - k * t.step as starts, t.first - (k - 1) * t.step as ends
     from bench_users u
     join public.plans p on p.tier = case u.kind when 'billed' then 'basic' else 'pro' end and p.lookup_key is null
     cross join lateral (
       select
         case u.kind when 'billed' then interval '1 month' else interval '1 year' end as step,
         date_trunc('second', now()) - case u.kind
           when 'new' then make_interval(secs => (u.n * 7919 % 86000)::int)
           when 'billed' then make_interval(mins => (u.n * 7919 % 40000)::int)
           else make_interval(mins => 1440 + (u.n * 7919 % 500000)::int)
         end as first
     ) t
     cross join lateral generate_series(0, case u.kind when 'billed' then 9 when 'new' then 0 else 4 end) k`,
  );
  await run('create index on bench_periods (id) where k = 0');
  await run(
    `insert into public.subscriptions
       (id, user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id, revision,
        created_at, updated_at, due_at)
     select id, id, plan_id, tier, 'active', starts, ends, case kind when 'billed' then 'sub_' || n end, 1, starts, starts,
       case when kind <> 'billed' and ends > now() + interval '7 days' then ends - interval '7 days' else ends end
     from bench_periods where k = 0`,
  );
  await run(
    `insert into public.payments (
       user_id, subscription_id, amount, status, tier, plan_id, meta, gateway_order_id, gateway_payment_id, gateway_signature,
       captured_at, confirmed_at, fulfilled_at, period_start, period_end, since, next_reconcile_at, created_at
     )
     select
       id, id, amount, 'captured', tier, plan_id, '{"tier": "pro"}', format('order_%s_%s', lpad(n::text, 9, '0'), k),
       format('pay_%s_%s', lpad(n::text, 9, '0'), k), repeat('0', 64), starts, starts, starts, starts, ends, starts, null, starts
     from bench_periods
     where kind <> 'billed'`,
  );
  await run(
    `insert into public.payments (
       user_id, amount, status, tier, plan_id, price_key, duration_months, gateway_payment_id, gateway_subscription_id,
       captured_at, confirmed_at, period_start, period_end, next_reconcile_at, created_at
     )
     select
       id, amount, 'captured', tier, plan_id, null, 1, format('pay_%s_%s', lpad(n::text, 9, '0'), k), 'sub_' || n,
       starts, starts, starts, ends, null, starts
     from bench_periods
     where kind = 'billed'`,
  );
  await run(
    `insert into billing.gateway_subscriptions (
       user_id, gateway_subscription_id, gateway_plan_id, plan_id, sold, plan_event_at, status, status_event_at, activated_at,
       first_activated_at, first_charged_at, period_start, period_end, period_event_at, arrived_at, next_check_at,
       gateway_status, gateway_status_event_at, charge_at, paid_count, paid_period_start, paid_period_end, paid_period_event_at
     )
     select
       id, 'sub_' || n, 'plan_basic', plan_id, row(null, amount, 'INR', 1)::billing.price, starts, 'active', starts,
       starts - interval '9 months', starts - interval '9 months', starts - interval '9 months', starts, ends, starts, starts,
       ends - interval '1 day', 'active', starts, ends, 10, starts, ends, starts
     from bench_periods
     where kind = 'billed' and k = 0`,
  );
  await run(
    `insert into billing.gateway_events
       (body_sha256, event_id, event, subject_id, payload, outcome, attempts, received_at)
     select
       sha256(convert_to(gateway_payment_id || event, 'UTF8')), 'evt_' || gateway_payment_id, event,
       coalesce(gateway_order_id, gateway_subscription_id), jsonb_build_object('event', event, 'filling', repeat('x', 160)),
       'applied', 1, created_at
     from public.payments
     cross join unnest(
       case when gateway_order_id is null then array['subscription.charged']
       else array['payment.authorized', 'payment.captured', 'order.paid'] end
     ) event
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
  await run(
    `update public.profiles set subscription_tier = 'premium'
     where user_id in (select id from bench_users where n % ($1::int / ${planted}) = 1 limit ${planted})`,
    payments * 3 / 10,
  );
  await run('drop table bench_users, bench_periods');
  await run('vacuum (analyze, freeze)');
  await client.end();
}
