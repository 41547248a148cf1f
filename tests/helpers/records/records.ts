import { setClock } from '../database/clock.ts';
import type { TestDatabase } from '../database/test-database.ts';

let counter = 0;

/** An id in the gateway's shape: the prefix and 14 alphanumerics, unique in the database. */
export function uniqueId(prefix: string): string {
  counter += 1;
  return `${prefix}_${crypto.randomUUID().replaceAll('-', '').slice(0, 9)}${String(counter).padStart(5, '0')}`;
}

/** Inserts a user as the auth server does. A trigger creates the profile. */
export async function createUser(
  database: TestDatabase,
  { email = `${uniqueId('user')}@example.com` }: { email?: string | null } = {},
): Promise<{ id: string; email: string | null }> {
  const id = crypto.randomUUID();
  await database.query('insert into auth.users (id, email) values ($1, $2)', [id, email]);
  return { id, email };
}

/** Inserts a payment as an app does: user, amount, order id and `meta`. */
export async function createPayment(
  database: TestDatabase,
  { userId, amount = 99900, orderId = uniqueId('order'), meta = { tier: 'pro' } }: {
    userId: string;
    amount?: number;
    orderId?: string;
    meta?: unknown;
  },
): Promise<{ id: string; orderId: string }> {
  const { id } = await database.one(
    'insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, $2, $3, $4) returning id',
    [userId, amount, orderId, JSON.stringify(meta)],
  );
  return { id: String(id), orderId };
}

/** Inserts users with a running subscription to basic. `end` is SQL of the user's number `n`: the end of the period. */
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
       (user_id, tier, status, current_period_start, current_period_end, created_at, updated_at, due_at)
     select p.id, 'basic', 'active', p.ends_at - interval '1 month', p.ends_at, '2025-12-01', '2025-12-01',
       p.ends_at - interval '1 month'
     from periods p`,
    [count],
  );
  await database.query("update public.profiles set subscription_tier = 'basic' where subscription_tier = 'free'");
}

/** Deletes all users and their records. Not by truncate, which makes every session plan its statements again. */
export async function deleteUsers(database: TestDatabase): Promise<void> {
  await setClock(database, null);
  const tables = [
    'auth.users',
    'public.payments',
    'billing.gateway_subscriptions',
    'billing.refunds',
    'billing.deleted_users',
    'billing.outbox',
  ];
  await database.query(tables.map((table) => `delete from ${table}`).join('; '));
}
