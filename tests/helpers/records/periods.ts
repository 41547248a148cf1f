import type { TestDatabase } from '../database/test-database.ts';

/**
 * Inserts users with a running basic subscription that was last written in 2025. `end` is an SQL expression of the user's
 * number `n`: the end of the period.
 */
export async function insertSubscriptions(database: TestDatabase, count: number, end: string): Promise<void> {
  await database.query(
    `with users as (
       insert into auth.users (id, email)
       select gen_random_uuid(), 'user-' || gen_random_uuid() || '@example.com' from generate_series(1, $1::int)
       returning id
     ),
     periods as (
       select u.id, ${end} as ends_at from (select id, row_number() over ()::int as n from users) u
     )
     insert into public.subscriptions
       (user_id, tier, status, current_period_start, current_period_end, created_at, updated_at)
     select p.id, 'basic', 'active', p.ends_at - interval '1 month', p.ends_at, '2025-12-01', '2025-12-01'
     from periods p`,
    [count],
  );
  await database.query("update public.profiles set subscription_tier = 'basic' where subscription_tier = 'free'");
}
