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
