import { createHmac } from 'node:crypto';
import { newId } from '../../../scripts/stack/gateway/new-id.ts';
import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { poolUrl } from '../../helpers/database/pool-role.ts';
import { withClient } from '../../helpers/database/postgres-client.ts';
import { benchSecrets } from '../bench-project.ts';
import {
  capturedBody,
  chargedBody,
  createBillingClock,
  ignoredBody,
  newPaymentIds,
  type Subscriber,
} from '../gateway-bodies.ts';
import { httpRequest } from '../http-connection.ts';
import { createOurDatabase, createSubscribers, insertOrders, type Users } from '../our-database.ts';
import { startReceivers, untilDelivered } from '../receivers.ts';
import { startOurs } from '../systems.ts';
import { readBatches, type Readers } from './reads.ts';
import { type Batch, billingBatches, type Started, type Subject } from './subject.ts';

/** The shares of the mix; the rest is not handled. */
const mix = { renewals: 0.7, captures: 0.2 };

/**
 * Starts the function as it is deployed, over the pool: without receivers, so that nothing is delivered meanwhile, and on
 * a database of its own with them.
 * @param subscribers whose charges are renewals
 * @param others users with payments, who also make the purchases
 */
export async function startOurSubjects(
  postgres: Postgres,
  subscribers: readonly Subscriber[],
  others: Users,
  { apiUrl, tokens }: Readers,
): Promise<Started> {
  const url = await createOurDatabase(postgres, 'ours', others);
  await createSubscribers(url, subscribers);
  const server = await startOurs({ apiUrl }, { DATABASE_POOL_URL: poolUrl(url) });
  const mailing = await startMailing(postgres, subscribers, others, apiUrl);
  const nextRound = createBillingClock();
  const renew = (whom: readonly Subscriber[]) => renewals(url, whom, nextRound);
  const renewAll = renew(subscribers);
  const capture = (count: number) => createCaptures(url, others.buyers, count);
  const createBatches: [string, Subject['createBatch']][] = [
    ['our renewal', renewAll],
    ['our read', readBatches(tokens)],
    ['our purchase', capture],
    ['our mix', async (count) => {
      const renewals = subscribers.slice(0, count * mix.renewals);
      const captures = count * mix.captures;
      return mixed([
        await renew(renewals)(renewals.length),
        await capture(captures),
        ignored(count - renewals.length - captures),
      ]);
    }],
  ];
  return {
    subjects: [
      ...createBatches.map(([name, createBatch]) => ({
        name,
        peer: null,
        server,
        expected: name === 'our read' ? '"currentTier":"pro"' : '{"received":true}',
        createBatch,
      })),
      ...mailing.subjects,
    ],
    async stop() {
      await server.stop();
      await mailing.stop();
    },
  };
}

/** Renewals of subscribers whose charges have the times of the clock. */
export function renewals(
  url: string,
  subscribers: readonly Subscriber[],
  nextRound: () => number,
  isDelivered = false,
): Subject['createBatch'] {
  const count = isDelivered ? `${renewed} and o.delivered_at is not null` : renewed;
  return billingBatches({ url, subscribers, write: renewalRequest, count, nextRound });
}

async function startMailing(
  postgres: Postgres,
  subscribers: readonly Subscriber[],
  others: Users,
  apiUrl: string,
): Promise<Started> {
  const url = await createOurDatabase(postgres, 'ours_mailing', others);
  await createSubscribers(url, subscribers);
  const receivers = await startReceivers();
  const server = await startOurs({ apiUrl }, { DATABASE_POOL_URL: poolUrl(url), ...receivers.environment });
  const renew = renewals(url, subscribers, createBillingClock(), true);
  const createBatch = async (count: number) => ({
    ...await renew(count),
    untilSettled: () => untilDelivered(url, server.port),
  });
  return {
    subjects: [{ name: 'our renewal with its mail', peer: null, server, expected: '{"received":true}', createBatch }],
    async stop() {
      await server.stop();
      await receivers.stop();
    },
  };
}

/** Counts the renewals of a cycle that wrote all they must: the period, the payment and its mail. */
const renewed = `
  select count(*)
  from public.subscriptions s
  join public.payments p
    on p.user_id = s.user_id
    and p.gateway_subscription_id = s.gateway_subscription_id
    and p.period_end = s.current_period_end
  join billing.outbox o on o.key = 'subscription-renewed/' || p.gateway_payment_id
  where s.status = 'active'
    and s.current_period_end = to_timestamp($1)`;

function renewalRequest(subscriber: Subscriber, at: number): Uint8Array {
  return gatewayRequest(chargedBody(subscriber, at, 2));
}

/** Captures of new orders, of one buyer after the other. */
export async function createCaptures(url: string, buyers: readonly string[], count: number): Promise<Batch> {
  const payments = Array.from({ length: count }, newPaymentIds);
  const owners = payments.map((_, index) => buyers[index % buyers.length] ?? '');
  const orderIds = payments.map(({ order_id }) => order_id);
  await withClient(url, (client) => insertOrders(client, owners, orderIds));
  return {
    requests: payments.map((payment) => gatewayRequest(capturedBody(payment))),
    async isApplied() {
      const { rows: [row] } = await withClient(url, (client) =>
        client.query(
          `select count(*) from public.payments
           where gateway_order_id = any ($1) and status = 'captured' and fulfilled_at is not null`,
          [orderIds],
        ));
      return Number(row.count) === count;
    },
  };
}

function ignored(count: number): Batch {
  return {
    requests: Array.from({ length: count }, () => gatewayRequest(ignoredBody())),
    isApplied: () => Promise.resolve(true),
  };
}

/** The webhooks of several batches, evenly spread. */
function mixed(batches: readonly Batch[]): Batch {
  return {
    requests: batches
      .flatMap(({ requests }) =>
        requests.map((request, index) => ({ request, place: (index + 0.5) / requests.length }))
      )
      .toSorted((a, b) => a.place - b.place)
      .map(({ request }) => request),
    isApplied: async () => (await Promise.all(batches.map((batch) => batch.isApplied()))).every(Boolean),
  };
}

function gatewayRequest(body: string): Uint8Array {
  const signature = createHmac('sha256', benchSecrets.GATEWAY_WEBHOOK_SECRET).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-gateway-signature': signature,
    'x-gateway-event-id': newId('evt'),
  };
  return httpRequest('POST', '/api/webhooks/gateway', headers, body);
}
