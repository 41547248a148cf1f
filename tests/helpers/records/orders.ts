import type pg from 'pg';
import { expect } from 'vitest';
import { callRpc } from '../database/session.ts';
import type { Purchase } from './purchases.ts';
import { uniqueId } from './records.ts';

/** An order of the RPC, with its answer. */
export type Order = Purchase & { readonly answer: Record<string, unknown> };

/** Creates an order and stores the id of the gateway's. A null of `start` or `price`: the request does not name it. */
export async function orderTier(
  session: pg.Client,
  { user, tier, start = null, price = null }: {
    user: Purchase['user'];
    tier: string;
    start?: 'now' | 'after_current' | null;
    price?: string | null;
  },
): Promise<Order> {
  const answer = await callRpc(session, 'create_order', user.id, tier, null, null, start, price);
  expect(answer).toMatchObject({ outcome: expect.stringMatching(/^(created|existing)$/) });
  const [id, orderId] = [String(answer.payment_id), String(answer.order_id ?? uniqueId('order'))];
  if (answer.outcome === 'created') await callRpc(session, 'store_order', id, orderId);
  return { user, id, orderId, paymentId: uniqueId('pay'), answer };
}
