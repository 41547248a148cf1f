import { readOrderPayments } from './order-payments.ts';
import { valueOf } from './value-of.ts';
import type { GatewayReads } from './rate-limit.ts';
import type { Answer } from '../http/answer.ts';
import type { ReconcileDatabase, Result } from '../ports.ts';

/** So many reads wait at most. The schedule makes the others. */
const maxWaiting = 20;

export type DueOrder = NonNullable<Result<'apply_gateway_event'>['read']>;

/** Reads an order from the gateway and applies the answer, once: what fails remains due, and the schedule reads it. */
export type ReadDueOrder = (order: DueOrder, dispatchLater: () => void) => Promise<Answer>;

/** @param gateway keeps the rate of the calls; null: the gateway's API is not configured */
export function createDueOrderReader(
  database: Pick<ReconcileDatabase, 'applyOrderPayments'>,
  gateway: GatewayReads | null,
): ReadDueOrder {
  let waiting = 0;
  return async ({ payment_id: paymentId, order_id: orderId, amount }, dispatchLater) => {
    if (gateway === null || waiting >= maxWaiting) return outcome('not_read');
    waiting += 1;
    try {
      const reading = await readOrderPayments(gateway, orderId, amount);
      if (reading.status === 'unanswered') return outcome('unanswered');
      const { applied } = await database.applyOrderPayments(paymentId, valueOf(reading));
      if (applied > 0) dispatchLater();
      return outcome(applied > 0 ? 'read_applied' : 'read');
    } finally {
      waiting -= 1;
    }
  };
}

/** The answer of work in the background, of which only the outcome is logged. */
function outcome(name: string): Answer {
  return { status: 200, body: {}, outcome: name };
}
