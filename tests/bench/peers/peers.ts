import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { withClient } from '../../helpers/database/postgres-client.ts';
import { createBillingClock, type Subscriber } from '../gateway-bodies.ts';
import { installPeer, type peers, type Runtime, startPeer } from './peer-process.ts';
import { customerId, stripeRequest, stripeSettings, updatedBody } from './stripe-event.ts';
import { billingBatches, type Started } from './subject.ts';

type Peer = (typeof peers)[number];

/** How a peer receives `customer.subscription.updated`, and where it stores the period. */
const details: Record<Peer, { path: string; expected: string; count: string }> = {
  'better-auth': {
    path: '/api/auth/stripe/webhook',
    expected: '"success":true',
    count: 'select count(*) from public.subscription where "periodEnd" = to_timestamp($1)',
  },
  'stripe-sync-engine': {
    path: '/webhooks',
    expected: '"received":true',
    count: 'select count(*) from stripe.subscription_items where current_period_end = $1',
  },
};

/** Installs and starts a peer on its own database. @throws Error when its packages cannot be installed */
export async function startPeerSubject(
  peer: Peer,
  runtime: Runtime,
  postgres: Postgres,
  subscribers: readonly Subscriber[],
): Promise<Started> {
  const { path, expected, count } = details[peer];
  const folder = await installPeer(peer);
  const database = `${peer}_${runtime}`.replaceAll('-', '_');
  await withClient(postgres.url(), (client) => client.query(`create database ${database}`));
  const url = postgres.url(database);
  // The peer applies its own migrations before it listens.
  const server = await startPeer(peer, folder, runtime, { DATABASE_URL: url, ...stripeSettings });
  // stripe-sync-engine inserts unknown subscriptions. better-auth only updates the rows of a checkout.
  if (peer === 'better-auth') await insertSubscriptions(url, subscribers);
  const write = (subscriber: Subscriber, at: number) => stripeRequest(path, updatedBody(subscriber, at));
  return {
    subjects: [{
      name: `${peer} on ${runtime === 'deno' ? 'Deno' : 'Node'}, a renewal`,
      peer,
      server,
      expected,
      createBatch: billingBatches({ url, subscribers, write, count, nextRound: createBillingClock() }),
    }],
    stop: () => server.stop(),
  };
}

async function insertSubscriptions(url: string, subscribers: readonly Subscriber[]): Promise<void> {
  const values = [
    subscribers.map(({ userId }) => userId),
    subscribers.map(({ gatewaySubscriptionId }) => gatewaySubscriptionId),
    subscribers.map(customerId),
  ];
  await withClient(url, async (client) => {
    await client.query(
      `insert into public."user" (id, name, email, "emailVerified", "createdAt", "updatedAt", "stripeCustomerId")
       select id, id, id || '@example.com', true, now(), now(), customer
       from unnest($1::text[], $2::text[], $3::text[]) s (id, subscription, customer)`,
      values,
    );
    await client.query(
      `insert into public.subscription
         (id, plan, "referenceId", "stripeCustomerId", "stripeSubscriptionId", status, "periodStart", "periodEnd")
       select subscription, 'pro', id, customer, subscription, 'active', now(), now()
       from unnest($1::text[], $2::text[], $3::text[]) s (id, subscription, customer)`,
      values,
    );
    await client.query('vacuum analyze');
  });
}
