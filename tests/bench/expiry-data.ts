import type pg from 'pg';

/**
 * Loads users who each paid for a subscription. `lapsed` of the subscriptions are over, scattered over the tables as
 * after years of use.
 */
export async function loadSubscriptions(
  client: pg.Client,
  { subscriptions, lapsed }: { subscriptions: number; lapsed: number },
): Promise<void> {
  const every = subscriptions / lapsed;
  await client.query('set session_replication_role = replica');
  await client.query(
    `create table bench as
     select
       n,
       md5('user' || n)::uuid as user_id,
       n % $2 = 0 as is_lapsed,
       case
         when n % $2 = 0 then date_trunc('day', now()) - interval '10 days' + make_interval(secs => n / $2 * 4)
         else now() + make_interval(hours => 24 + n % 8500)
       end as ends_at,
       (select id from public.plans where tier = 'basic') as plan_id
     from generate_series(1, $1::int) n
     -- In the order of the random keys: the indexes load several times as fast, and the lapsed users stay scattered.
     order by 2`,
    [subscriptions, every],
  );
  await client.query("insert into auth.users (id, email) select user_id, format('user%s@example.com', n) from bench");
  await client.query(
    "insert into public.profiles (user_id, subscription_tier, username) select user_id, 'basic', 'user' || n from bench",
  );
  await client.query(
    `insert into public.subscriptions
       (id, user_id, plan_id, tier, status, current_period_start, current_period_end, created_at, updated_at,
        due_at)
     select user_id, user_id, plan_id, 'basic', 'active', ends_at - interval '1 month', ends_at, ends_at - interval '1 month',
       ends_at - interval '1 month', case when is_lapsed then 'infinity' else ends_at - interval '7 days' end
     from bench`,
  );
  await client.query(
    `insert into public.payments (
       id, user_id, subscription_id, amount, status, tier, gateway_order_id, gateway_payment_id, captured_at, fulfilled_at,
       period_start, period_end
     )
     select user_id, user_id, user_id, 9900, 'captured', 'basic', 'order_' || user_id, 'pay_' || user_id,
       ends_at - interval '1 month', ends_at - interval '1 month', ends_at - interval '1 month', ends_at
     from bench`,
  );
  await client.query('create table bench_lapsed as select user_id, ends_at from bench where is_lapsed');
  await client.query('drop table bench');
  await client.query('vacuum analyze');
}

/** Makes the lapsed subscriptions active again and deletes their renewals. */
export async function resetLapsed(client: pg.Client): Promise<void> {
  await client.query('set session_replication_role = replica');
  await client.query("delete from public.payments where gateway_order_id like 'bench!_%' escape '!'");
  await client.query(
    `update public.subscriptions s
     set status = 'active', cancelled_at = null, ended_reason = null, current_period_end = b.ends_at,
       current_period_start = b.ends_at - interval '1 month', updated_at = b.ends_at - interval '1 month',
       due_at = b.ends_at
     from bench_lapsed b
     where s.user_id = b.user_id`,
  );
  await client.query(
    "update public.profiles p set subscription_tier = 'basic' from bench_lapsed b where p.user_id = b.user_id",
  );
  await client.query('truncate billing.outbox, billing.tier_changes');
  await client.query('vacuum analyze public.subscriptions, public.profiles, public.payments');
}
