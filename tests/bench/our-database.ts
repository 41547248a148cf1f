import { createHash } from 'node:crypto';
import type pg from 'pg';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { newId } from '../../scripts/stack/gateway/new-id.ts';
import type { Postgres } from '../../scripts/stack/postgres/postgres.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import {
  activatedBody,
  cancelledBody,
  capturedBody,
  chargedBody,
  newPaymentIds,
  periodSeconds,
  proGatewayPlanId,
  proPrice,
  type Subscriber,
} from './gateway-bodies.ts';

/** Payments of each user. */
export const paymentsEach = 4;

/** The users of a database: buyers only buy, subscribers have a subscription that the gateway bills. */
export type Users = { readonly buyers: readonly string[]; readonly subscribers: readonly Subscriber[] };

/** New ids of `count` buyers and of as many subscribers. */
export function newUsers(count: number): Users {
  return {
    buyers: Array.from({ length: count }, () => crypto.randomUUID()),
    subscribers: Array.from(
      { length: count },
      () => ({ userId: crypto.randomUUID(), gatewaySubscriptionId: newId('sub') }),
    ),
  };
}

/** Ids of all users. */
export function userIds({ buyers, subscribers }: Users): string[] {
  return [...buyers, ...subscribers.map(({ userId }) => userId)];
}

/**
 * Creates a migrated database with the role of the pool. Its users bought `pro` four times each, half by verify and
 * half by webhook, and the subscription of each subscriber was charged once. All data is written by the RPCs, so it fits
 * any table layout. Then it is analyzed.
 * @param folder the checkout whose migrations it has; default: this one
 * @returns its connection URL as the owner
 */
export async function createOurDatabase(
  postgres: Postgres,
  name: string,
  users: Users,
  folder?: string,
): Promise<string> {
  const url = postgres.url(name);
  await withClient(postgres.url(), (client) => client.query(`create database ${name}`));
  await prepareDatabase(url);
  await migrate({ url, seed: false, folder, log: () => {} });
  await withClient(url, async (client) => {
    await setPoolPassword(client);
    await client.query("update public.plans set gateway_plan_id = $1 where tier = 'pro'", [proGatewayPlanId]);
    await client.query(
      "insert into auth.users (id, email) select id, id || '@example.com' from unnest($1::uuid[]) u (id)",
      [userIds(users)],
    );
    for (let k = 0; k < paymentsEach; k += 1) await (k % 2 === 0 ? verifyOrders : captureOrders)(client, users);
    const now = Math.floor(Date.now() / 1000);
    // The first charge is not the usual one: a renewal follows it.
    for (const write of [activatedBody, chargedBody]) {
      await applyEvents(client, users.subscribers.map((subscriber) => write(subscriber, now)));
    }
    await client.query('vacuum analyze');
  });
  return url;
}

/**
 * Creates users who started a subscription of `pro` with an order, a period ago: its first cycle was charged and is their
 * access. All that is in the outbox counts as delivered.
 * @param cyclesAgo how many periods ago
 */
export async function createSubscribers(url: string, subscribers: readonly Subscriber[], cyclesAgo = 1): Promise<void> {
  const owners = subscribers.map(({ userId }) => userId);
  const at = Math.floor(Date.now() / 1000) - cyclesAgo * periodSeconds;
  await withClient(url, async (client) => {
    await client.query(
      "insert into auth.users (id, email) select id, id || '@example.com' from unnest($1::uuid[]) u (id) on conflict do nothing",
      [owners],
    );
    await client.query(
      `insert into billing.gateway_subscriptions
         (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, asked_at, expires_at)
       select user_id, 'pro', (select p.id from public.plans p where p.tier = 'pro'), $3, row(null, 99900, 'INR', 12)::billing.price, id, to_timestamp($4), to_timestamp($4) + interval '1 day'
       from unnest($1::uuid[], $2::text[]) s (user_id, id)`,
      [owners, subscribers.map(({ gatewaySubscriptionId }) => gatewaySubscriptionId), proGatewayPlanId, at],
    );
    for (const write of [activatedBody, chargedBody]) {
      await applyEvents(client, subscribers.map((subscriber) => write(subscriber, at)));
    }
  });
  await markDelivered(url);
}

/** Ends the subscriptions of subscribers with their first cycle, as the gateway does after a cancellation. */
export async function endSubscriptions(
  url: string,
  subscribers: readonly Subscriber[],
  cyclesAgo: number,
): Promise<void> {
  const at = Math.floor(Date.now() / 1000) - cyclesAgo * periodSeconds;
  await withClient(url, (client) => applyEvents(client, subscribers.map((one) => cancelledBody(one, at))));
}

/** Counts all that is in the outbox as delivered, and analyzes the database. */
export async function markDelivered(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('update billing.outbox set delivered_at = created_at, attempts = 1 where delivered_at is null');
    await client.query('vacuum analyze');
  });
}

/** Inserts unpaid orders of `pro`, one per owner. */
export async function insertOrders(
  client: Pick<pg.Client, 'query'>,
  owners: readonly string[],
  orderIds: readonly string[],
): Promise<void> {
  await client.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta)
     select user_id, $3, order_id, '{"tier": "pro"}' from unnest($1::uuid[], $2::text[]) o (user_id, order_id)`,
    [owners, orderIds, proPrice],
  );
}

/** The ledger's key of a body: SHA-256 in hex. */
export function sha256(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

async function verifyOrders(client: pg.Client, users: Users): Promise<void> {
  const owners = userIds(users);
  const orders = owners.map(() => newId('order'));
  await insertOrders(client, owners, orders);
  await expectApplied(
    client,
    `select public.verify_payment(user_id, order_id, payment_id, repeat('0', 64)) ->> 'outcome' as outcome
     from unnest($1::uuid[], $2::text[], $3::text[]) o (user_id, order_id, payment_id)`,
    [owners, orders, owners.map(() => newId('pay'))],
  );
}

async function captureOrders(client: pg.Client, users: Users): Promise<void> {
  const owners = userIds(users);
  const payments = owners.map(newPaymentIds);
  await insertOrders(client, owners, payments.map(({ order_id }) => order_id));
  await applyEvents(client, payments.map(capturedBody));
}

async function applyEvents(client: pg.Client, bodies: readonly string[]): Promise<void> {
  await expectApplied(
    client,
    `select public.apply_gateway_event(hash, null, body) ->> 'outcome' as outcome
     from unnest($1::text[], $2::text[]) b (hash, body)`,
    [bodies.map(sha256), bodies],
  );
}

async function expectApplied(client: pg.Client, text: string, values: unknown[]): Promise<void> {
  const { rows } = await client.query<{ outcome: unknown }>(text, values);
  const other = rows.find(({ outcome }) => outcome !== 'applied');
  if (other !== undefined) throw new Error(`The database could not be filled: ${other.outcome}`);
}
