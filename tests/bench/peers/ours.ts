import { createHmac } from 'node:crypto';
import { newId } from '../../../scripts/stack/gateway/store.ts';
import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { poolUrl } from '../../helpers/database/pool-role.ts';
import { withClient } from '../../helpers/database/postgres-client.ts';
import { benchSecrets } from '../bench-project.ts';
import { capturedBody, chargedBody, newPaymentIds } from '../gateway-bodies.ts';
import { httpRequest } from '../http-connection.ts';
import { createOurDatabase, insertOrders, type Users } from '../our-database.ts';
import { startOurs } from '../systems.ts';
import { type Batch, billingBatches, type Started } from './subject.ts';

/**
 * Starts the function as it is deployed, over the pool. No receivers are configured, so nothing is delivered
 * meanwhile.
 */
export async function startOurSubjects(postgres: Postgres, users: Users): Promise<Started> {
  const url = await createOurDatabase(postgres, 'ours', users);
  // Webhooks over the pool do not call the project's API.
  const server = await startOurs({ apiUrl: 'http://127.0.0.1:1' }, { DATABASE_POOL_URL: poolUrl(url) });
  const expected = '{"received":true}';
  return {
    subjects: [
      {
        name: 'ours, `subscription.charged`',
        peer: null,
        server,
        expected,
        createBatch: billingBatches({
          url,
          subscribers: users.subscribers,
          write: (subscriber, at) => gatewayRequest(chargedBody(subscriber, at)),
          count: 'select count(*) from public.subscriptions where current_period_end = to_timestamp($1)',
        }),
      },
      {
        name: 'ours, `payment.captured` that fulfils',
        peer: null,
        server,
        expected,
        createBatch: (count) => createCaptures(url, users.buyers, count),
      },
    ],
    stop: () => server.stop(),
  };
}

async function createCaptures(url: string, buyers: readonly string[], count: number): Promise<Batch> {
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

function gatewayRequest(body: string): Uint8Array {
  const signature = createHmac('sha256', benchSecrets.GATEWAY_WEBHOOK_SECRET).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-gateway-signature': signature,
    'x-gateway-event-id': newId('evt'),
  };
  return httpRequest('POST', '/api/webhooks/gateway', headers, body);
}
