import { root } from '../../../scripts/stack/root.ts';
import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { withClient } from '../../helpers/database/postgres-client.ts';
import { proPrice } from '../gateway-bodies.ts';
import { paymentsEach, userIds, type Users } from '../our-database.ts';

/**
 * Creates a database with the minimal schema, the same users and as many payments as ours, and analyzes it.
 * @returns its connection URL as the owner
 */
export async function createMinimalDatabase(postgres: Postgres, name: string, users: Users): Promise<string> {
  const url = postgres.url(name);
  await withClient(postgres.url(), (client) => client.query(`create database ${name}`));
  await withClient(url, async (client) => {
    await client.query(await Deno.readTextFile(`${root}/tests/bench/minimal/schema.sql`));
    await client.query(
      `insert into public.profiles (user_id, subscription_tier, username)
       select id, 'pro', id from unnest($1::uuid[]) u (id)`,
      [userIds(users)],
    );
    await client.query(
      `insert into public.subscriptions
         (user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id)
       select id, (select pl.id from public.plans pl where pl.tier = 'pro'), 'pro', 'active', now(),
         now() + interval '1 year', gateway_id
       from unnest($1::uuid[], $2::text[]) u (id, gateway_id)`,
      [userIds(users), [...users.buyers.map(() => null), ...users.subscribers.map((one) => one.gatewaySubscriptionId)]],
    );
    await client.query(
      `insert into public.payments (
         user_id, subscription_id, amount, status, gateway_order_id, gateway_payment_id, gateway_signature, meta
       )
       select s.user_id, s.id, $1, 'captured', 'order_' || md5(s.id::text || k), 'pay_' || md5(s.id::text || k),
         repeat('0', 64), '{"tier": "pro"}'
       from generate_series(1, $2::int) k
       cross join public.subscriptions s`,
      [proPrice, paymentsEach],
    );
    await client.query('vacuum analyze');
  });
  return url;
}

/**
 * Copies our database, which must have no open connection, and replaces its RPCs by ones that only write a request's
 * rows.
 * @returns its connection URL as the owner
 */
export async function createRowsDatabase(postgres: Postgres, name: string, ours: string): Promise<string> {
  const url = postgres.url(name);
  await withClient(postgres.url(), (client) => client.query(`create database ${name} template ${ours}`));
  await withClient(url, async (client) => {
    await client.query(await Deno.readTextFile(`${root}/tests/bench/minimal/rows-only.sql`));
  });
  return url;
}
