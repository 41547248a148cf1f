import type pg from 'pg';
import { createHash, createHmac } from 'node:crypto';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { type BenchProject, benchSecrets } from './bench-project.ts';
import { httpRequest } from './http-connection.ts';

/** The three requests that are measured. */
export const workloads = ['read', 'verify', 'webhook'] as const;
export type Workload = (typeof workloads)[number];

/** One request: over HTTP, and as the call of the database behind it. */
export type Item = {
  readonly request: Uint8Array;
  /** A part of the body of the answer. */
  readonly expected: string;
  readonly call: pg.QueryConfig;
  /** A field of the call's result, and its value. */
  readonly result: readonly [field: string, value: string];
};

/** Users with their sessions. */
export type Buyer = { readonly id: string; readonly token: string };

/** The number of payments that a read returns at most. */
const paymentsEach = 10;

/** Creates users, each with a subscription and its payments. */
export async function createBuyers(
  project: Pick<BenchProject, 'database' | 'createToken'>,
  count: number,
): Promise<Buyer[]> {
  const rows = await project.database.query(
    `insert into auth.users (id, email)
     select id, id || '@example.com' from (select gen_random_uuid() as id from generate_series(1, $1)) u
     returning id`,
    [count],
  );
  const buyers = await Promise.all(rows.map(async ({ id }) => ({
    id: String(id),
    token: await project.createToken(String(id)),
  })));
  for (const { call } of await createItems(project, 'verify', buyers, count * paymentsEach)) {
    await project.database.query(call.text, call.values);
  }
  return buyers;
}

/** Creates requests of a workload, each to be sent once, for all users in rotation. */
export async function createItems(
  project: Pick<BenchProject, 'database' | 'createToken'>,
  workload: Workload,
  buyers: readonly Buyer[],
  count: number,
): Promise<Item[]> {
  const owners = Array.from({ length: count }, (_, index) => buyers[index % buyers.length] ?? fail());
  if (workload === 'read') return owners.map(read);
  const orders = owners.map((buyer) => ({ buyer, orderId: uniqueId('order'), paymentId: uniqueId('pay') }));
  await project.database.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta)
     select user_id, 99900, order_id, '{"tier": "pro"}' from unnest($1::uuid[], $2::text[]) o (user_id, order_id)`,
    [orders.map(({ buyer }) => buyer.id), orders.map(({ orderId }) => orderId)],
  );
  return orders.map(workload === 'verify' ? verify : webhook);
}

type Order = { buyer: Buyer; orderId: string; paymentId: string };

function read({ id, token }: Buyer): Item {
  return {
    request: httpRequest('GET', '/api/subscriptions', { authorization: `Bearer ${token}` }),
    expected: '"currentTier":"pro"',
    call: { text: 'select public.get_subscription($1) as result', values: [id] },
    result: ['currentTier', 'pro'],
  };
}

function verify({ buyer, orderId, paymentId }: Order): Item {
  const signature = hmac(benchSecrets.GATEWAY_KEY_SECRET, `${orderId}|${paymentId}`);
  const body = { gateway_order_id: orderId, gateway_payment_id: paymentId, gateway_signature: signature };
  const headers = { authorization: `Bearer ${buyer.token}`, 'content-type': 'application/json' };
  return {
    request: httpRequest('POST', '/api/payments/verify', headers, JSON.stringify(body)),
    expected: '"success":true',
    call: {
      text: 'select public.verify_payment($1, $2, $3, $4) as result',
      values: [buyer.id, orderId, paymentId, signature],
    },
    result: ['outcome', 'applied'],
  };
}

function webhook({ orderId, paymentId }: Order): Item {
  const body = paymentCaptured({ id: paymentId, order_id: orderId });
  const headers = {
    'x-gateway-signature': hmac(benchSecrets.GATEWAY_WEBHOOK_SECRET, body),
    'x-gateway-event-id': paymentId,
  };
  return {
    request: httpRequest('POST', '/api/webhooks/gateway', headers, body),
    expected: '{"received":true}',
    call: {
      text: 'select public.apply_gateway_event($1, $2, $3) as result',
      values: [createHash('sha256').update(body).digest('hex'), paymentId, body],
    },
    result: ['outcome', 'applied'],
  };
}

function hmac(secret: string, message: string): string {
  return createHmac('sha256', secret).update(message).digest('hex');
}

function fail(): never {
  throw new Error('no buyers');
}
