import { z } from 'zod';
import type { Delivery, Gateway, GatewayReply, GatewaySubscription, OutboxRow, StopDatabase } from '../ports.ts';
import { valueOf } from '../gateway/value-of.ts';
import { readStatus } from './outbox.ts';

const payload = z.object({ gateway_subscription_id: z.string(), at_cycle_end: z.boolean() });

/** States in which the gateway no longer bills a subscription. */
const over = ['cancelled', 'completed', 'expired'];

/** States before the first cycle. */
const notBegun = ['created', 'authenticated'];

/** For the log of an admin: the next claim tells what is still to be told. */
const changed: Delivery = { status: 'failed', error: 'planned anew' };

/**
 * Cancels a subscription at the gateway. A cancellation there is final, and what is known here may be old. So the
 * subscription is read first, and its invoices where a paid cycle is not known; the database applies what was read, plans
 * again, and says whether the stop still stands. Contract: Gateway subscriptions.
 */
export async function cancelAtGateway(gateway: Gateway, database: StopDatabase, row: OutboxRow): Promise<Delivery> {
  const parsed = payload.safeParse(row.payload);
  if (!parsed.success) return { status: 'refused', error: 'unknown row' };
  const { gateway_subscription_id: id, at_cycle_end: atCycleEnd } = parsed.data;

  const reading = await gateway.readSubscription(id);
  if (reading.status === 'unanswered') return readReply(reading.limited, 'not read: ');
  const subscription = valueOf(reading);
  const stop = { id: row.id, atCycleEnd, subscription };
  let { outcome } = await database.confirmStop({ ...stop, invoices: null });
  if (outcome === 'unnamed') {
    const invoices = await gateway.listInvoices(id);
    if (invoices.status === 'unanswered') return readReply(invoices.limited, 'invoices not read: ');
    ({ outcome } = await database.confirmStop({ ...stop, invoices: valueOf(invoices) ?? [] }));
  }
  if (subscription === null) return { status: 'refused', error: 'the gateway has no such subscription' };
  if (over.includes(subscription.status)) return { status: 'delivered' };
  if (outcome !== 'stands') return changed;

  // The gateway refuses a cancellation at the end of the cycle before the first cycle. Nothing is paid then.
  const delivery = readReply(await gateway.cancelSubscription(id, atCycleEnd && !hasNoCycle(subscription)));
  // The state may have changed since it was read. The next attempt reads it again.
  return delivery.status === 'refused' ? { status: 'failed', error: delivery.error } : delivery;
}

function hasNoCycle({ status, current_end: currentEnd }: GatewaySubscription): boolean {
  return notBegun.includes(status) && (currentEnd ?? null) === null;
}

function readReply({ status, retryAfter }: GatewayReply = { status: 0, retryAfter: null }, what = ''): Delivery {
  return readStatus(status, what + (status === 0 ? 'no answer' : `HTTP ${status}`), retryAfter);
}
