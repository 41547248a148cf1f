import { createHmac } from 'node:crypto';
import { newId } from '../../../scripts/stack/gateway/new-id.ts';
import { withClient } from '../../helpers/database/postgres-client.ts';
import { benchSecrets } from '../bench-project.ts';
import { httpRequest } from '../http-connection.ts';
import { insertOrders, type Users } from '../our-database.ts';
import type { Readers } from '../peers/reads.ts';
import type { Subject } from '../peers/subject.ts';
import { untilDelivered } from '../receivers.ts';
import type { Shop } from './shop.ts';

/** Open orders of each user, of which one is paid. */
const openOrders = 3;

/** Verifications of users with open orders, with the mail and the revalidation that follow. */
export function verifySubject(name: string, { url, server }: Shop, { buyers }: Users, { tokens }: Readers): Subject {
  return {
    name,
    peer: null,
    server,
    expected: '"success":true',
    async createBatch(count) {
      const owners = buyers.slice(0, count);
      const orders = owners.map(() => newId('order'));
      await withClient(url, async (client) => {
        await client.query("delete from public.payments where status = 'created'");
        for (let open = 1; open < openOrders; open += 1) {
          await insertOrders(client, owners, owners.map(() => newId('order')));
        }
        await insertOrders(client, owners, orders);
      });
      return {
        requests: orders.map((order, index) => verifyRequest(order, tokens[index] ?? '')),
        untilSettled: () => untilDelivered(url, server.port),
        async isApplied() {
          const { rows: [row] } = await withClient(url, (client) =>
            client.query(
              `select count(*) from public.payments p
               join billing.outbox o on o.key = 'payment-success/' || p.id and o.delivered_at is not null
               where p.gateway_order_id = any ($1) and p.fulfilled_at is not null`,
              [orders],
            ));
          return Number(row.count) === orders.length;
        },
      };
    },
  };
}

function verifyRequest(orderId: string, token: string): Uint8Array {
  const paymentId = newId('pay');
  const signature = createHmac('sha256', benchSecrets.GATEWAY_KEY_SECRET).update(`${orderId}|${paymentId}`).digest(
    'hex',
  );
  const body = { gateway_order_id: orderId, gateway_payment_id: paymentId, gateway_signature: signature };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return httpRequest('POST', '/api/payments/verify', headers, JSON.stringify(body));
}
