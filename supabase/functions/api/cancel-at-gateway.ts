import { z } from 'zod';
import { type Attempt, type Delivery, type OutboxRow, readStatus, type Sender } from './outbox.ts';
import type { Gateway } from './ports.ts';

const payload = z.object({ gateway_subscription_id: z.string(), at_cycle_end: z.boolean() });

/** States in which the gateway bills a subscription no more. */
const over = ['cancelled', 'completed', 'expired'];

/** Tells the gateway to stop billing subscriptions, one attempt a row. A cancellation is final there. */
export function createCanceller(gateway: Gateway): Sender {
  return (rows) => rows.map((row): Attempt => ({ rows: [row], deliver: () => cancel(gateway, row) }));
}

async function cancel(gateway: Gateway, row: OutboxRow): Promise<Delivery> {
  const parsed = payload.safeParse(row.payload);
  if (row.kind !== 'cancel-subscription' || !parsed.success) return { status: 'refused', error: 'unknown row' };
  const { gateway_subscription_id: id, at_cycle_end: atCycleEnd } = parsed.data;

  const { status, retryAfter } = await gateway.cancelSubscription(id, atCycleEnd);
  const delivery = readStatus(status, status === 0 ? 'no answer' : `HTTP ${status}`, retryAfter);
  // A second cancellation is refused: what counts is that nothing is billed any more.
  if (delivery.status !== 'refused') return delivery;
  const reading = await gateway.readSubscription(id);
  return reading.status === 'found' && over.includes(reading.value.status) ? { status: 'delivered' } : delivery;
}
