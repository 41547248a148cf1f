import { z } from 'zod';
import type { Delivery, Gateway, OutboxRow } from '../ports.ts';
import { readStatus } from './outbox.ts';

const payload = z.object({
  gateway_payment_id: z.string(),
  amount: z.int().positive(),
  /** The id of the row of billing.support_actions; null: the row was written by an older version. */
  support_action: z.string().nullable().default(null),
});

/**
 * Asks the gateway for a refund. The row's key is the gateway's idempotency key, and the body is the same at each try: an
 * answer that was lost is given again, with the first refund. Contract: Refunds.
 */
export async function refundAtGateway(gateway: Gateway, row: OutboxRow): Promise<Delivery> {
  const parsed = payload.safeParse(row.payload);
  if (!parsed.success) return { status: 'refused', error: 'unknown row' };
  const { gateway_payment_id: paymentId, amount, support_action: action } = parsed.data;
  const { status, retryAfter, refund, reason } = await gateway.refundPayment({
    paymentId,
    amount,
    action,
    key: row.key,
  });
  const answer = status === 0 ? 'no answer' : [`HTTP ${status}`, reason].filter(Boolean).join(': ').slice(0, 200);
  const delivery = readStatus(status, answer, retryAfter);
  if (delivery.status !== 'delivered') return delivery;
  return refund === null ? { status: 'failed', error: 'an answer without a refund' } : { ...delivery, refund };
}
