import { z } from 'zod';
import { type Delivery, type OutboxRow, readStatus } from './outbox.ts';
import type { Gateway, GatewayReply, GatewaySubscription } from '../ports.ts';

const payload = z.object({ gateway_subscription_id: z.string(), at_cycle_end: z.boolean() });

/** States in which the gateway no longer bills a subscription. */
const over = ['cancelled', 'completed', 'expired'];

/** States before the first cycle. */
const notBegun = ['created', 'authenticated'];

/** Cancels a subscription at the gateway. A cancellation there is final. */
export async function cancelAtGateway(gateway: Gateway, row: OutboxRow): Promise<Delivery> {
  const parsed = payload.safeParse(row.payload);
  if (!parsed.success) return { status: 'refused', error: 'unknown row' };
  const { gateway_subscription_id: id, at_cycle_end: atCycleEnd } = parsed.data;

  const reply = await gateway.cancelSubscription(id, atCycleEnd);
  const delivery = readReply(reply);
  if (delivery.status !== 'refused') return delivery;
  const reading = await gateway.readSubscription(id);
  // Without the state the reason of a 400 is unknown: retry. With a refused API key this read fails, too: no retry.
  if (reading.status === 'unanswered' && reply.status === 400) return { status: 'failed', error: delivery.error };
  if (reading.status !== 'found') return delivery;
  // The gateway refuses a second cancellation. The subscription is no longer billed, so the row is delivered.
  if (over.includes(reading.value.status)) return { status: 'delivered' };
  return atCycleEnd && reply.status === 400 && hasNoCycle(reading.value) ? await cancelAtOnce(gateway, id) : delivery;
}

/**
 * The gateway refuses a cancellation at the end of the cycle before the first cycle. Nothing is paid then, so the
 * customer loses nothing by a cancellation at once. Contract: Gateway subscriptions.
 */
async function cancelAtOnce(gateway: Gateway, id: string): Promise<Delivery> {
  const delivery = readReply(await gateway.cancelSubscription(id, false));
  // The state may have changed since it was read. The next attempt reads it again; a third call might outlast the
  // lease.
  return delivery.status === 'refused' ? { status: 'failed', error: delivery.error } : delivery;
}

function hasNoCycle({ status, current_end: currentEnd }: GatewaySubscription): boolean {
  return notBegun.includes(status) && currentEnd === null;
}

function readReply({ status, retryAfter }: GatewayReply): Delivery {
  return readStatus(status, status === 0 ? 'no answer' : `HTTP ${status}`, retryAfter);
}
