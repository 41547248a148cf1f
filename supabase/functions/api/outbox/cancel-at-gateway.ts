import { z } from 'zod';
import { type Attempt, type Delivery, type OutboxRow, readStatus, type Sender } from './outbox.ts';
import type { Gateway, GatewayReply, GatewaySubscription } from '../ports.ts';

const payload = z.object({ gateway_subscription_id: z.string(), at_cycle_end: z.boolean() });

/** States in which the gateway bills a subscription no more. */
const over = ['cancelled', 'completed', 'expired'];

/** States before the first cycle. */
const notBegun = ['created', 'authenticated'];

/** Tells the gateway to stop billing subscriptions, one attempt a row. A cancellation is final there. */
export function createCanceller(gateway: Gateway): Sender {
  return (rows) => rows.map((row): Attempt => ({ rows: [row], deliver: () => cancel(gateway, row) }));
}

async function cancel(gateway: Gateway, row: OutboxRow): Promise<Delivery> {
  const parsed = payload.safeParse(row.payload);
  if (row.kind !== 'cancel-subscription' || !parsed.success) return { status: 'refused', error: 'unknown row' };
  const { gateway_subscription_id: id, at_cycle_end: atCycleEnd } = parsed.data;

  const reply = await gateway.cancelSubscription(id, atCycleEnd);
  const delivery = readReply(reply);
  if (delivery.status !== 'refused') return delivery;
  const reading = await gateway.readSubscription(id);
  // Why it was refused may be read by the next attempt. A refused key gets no answer here either, and stays a refusal.
  if (reading.status === 'unanswered' && reply.status === 400) return { status: 'failed', error: delivery.error };
  if (reading.status !== 'found') return delivery;
  // A second cancellation is refused: what counts is that nothing is billed any more.
  if (over.includes(reading.value.status)) return { status: 'delivered' };
  return atCycleEnd && reply.status === 400 && hasNoCycle(reading.value) ? await cancelAtOnce(gateway, id) : delivery;
}

/**
 * The gateway refuses to cancel at the end of a cycle while none runs. Nothing is paid yet, so nothing is lost at once; a
 * subscription with a cycle is never cancelled here.
 */
async function cancelAtOnce(gateway: Gateway, id: string): Promise<Delivery> {
  const delivery = readReply(await gateway.cancelSubscription(id, false));
  // Its state may have changed since it was read: the next attempt reads it again. Another call would outlast the lease.
  return delivery.status === 'refused' ? { status: 'failed', error: delivery.error } : delivery;
}

function hasNoCycle({ status, current_end: currentEnd }: GatewaySubscription): boolean {
  return notBegun.includes(status) && currentEnd === null;
}

function readReply({ status, retryAfter }: GatewayReply): Delivery {
  return readStatus(status, status === 0 ? 'no answer' : `HTTP ${status}`, retryAfter);
}
