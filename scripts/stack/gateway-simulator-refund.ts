import { z } from 'zod';
import { deliverOptions } from './gateway-simulator-deliver-options.ts';
import type { Payment, Refund } from './gateway-simulator-entities.ts';
import type { Refusal } from './gateway-simulator-error.ts';
import { REFUND_EVENTS } from './gateway-simulator-event-names.ts';
import { newId } from './gateway-simulator-id.ts';
import { irregular } from './gateway-simulator-irregular.ts';
import { emptyAsList, notesRequest } from './gateway-simulator-pay.ts';
import type { GatewayStore } from './gateway-simulator-store.ts';

/**
 * The body of `POST /simulate/refund`. With `payment_id` it begins a refund, of `amount` minor units or of all that is left:
 * `created` leaves it pending. With `refund_id` it moves that one on.
 */
export const refundRequest = z.strictObject({
  payment_id: z.string().optional(),
  refund_id: z.string().optional(),
  amount: z.int().min(1).optional(),
  event: z.enum(REFUND_EVENTS).default('processed'),
  notes: notesRequest.default({}),
  created_at: z.int().min(0).optional(),
  irregular: irregular.default({}),
  deliver: deliverOptions.default({}),
}).refine(({ payment_id, refund_id }) => (payment_id === undefined) !== (refund_id === undefined), {
  error: 'Either payment_id or refund_id is required.',
  path: ['payment_id'],
});

/** What happened to a refund, one by one. */
export type RefundEvent = { event: string; refund: Refund; payment: Payment };

/** Begins a refund in the books, or tells why not. */
export function beginRefund(
  store: GatewayStore,
  payment: Payment,
  { amount, event, notes }: z.infer<typeof refundRequest>,
): RefundEvent[] | { refusal: Refusal } {
  const left = payment.amount - payment.amount_refunded;
  const refusal = refuse(payment, amount ?? left, left);
  if (refusal !== undefined) return { refusal };
  if (event === 'speed_changed') return { refusal: notPending('speed_changed needs the refund_id of a refund.') };
  const refund = store.refunds.save({
    id: newId('rfnd'),
    entity: 'refund',
    amount: amount ?? left,
    currency: payment.currency,
    payment_id: payment.id,
    notes: emptyAsList(notes),
    receipt: null,
    acquirer_data: { arn: null },
    created_at: Math.floor(Date.now() / 1000),
    batch_id: null,
    status: 'pending',
    speed_processed: 'normal',
    speed_requested: 'normal',
  });
  // The money counts as given back from the beginning on; a refund that fails takes that back.
  const begun = { event: 'refund.created', refund, payment: giveBack(store, payment, refund.amount) };
  return event === 'created' ? [begun] : [begun, end(store, begun.payment, refund, event)];
}

/** Moves a refund on, or tells why it can't. */
export function moveRefund(
  store: GatewayStore,
  refund: Refund,
  event: z.infer<typeof refundRequest>['event'],
): RefundEvent[] | { refusal: Refusal } {
  const payment = store.payments.find(refund.payment_id);
  if (payment === undefined) throw new Error(`no payment ${refund.payment_id}`);
  if (event === 'speed_changed') return [{ event: 'refund.speed_changed', refund, payment }];
  if (refund.status !== 'pending' || event === 'created') {
    return { refusal: notPending(`A refund that is ${refund.status} can not become ${event}.`) };
  }
  return [end(store, payment, refund, event)];
}

function end(store: GatewayStore, payment: Payment, pending: Refund, status: 'processed' | 'failed'): RefundEvent {
  const refund = store.refunds.save({ ...pending, status });
  const after = status === 'failed' ? giveBack(store, payment, -refund.amount) : payment;
  return { event: `refund.${status}`, refund, payment: after };
}

function giveBack(store: GatewayStore, payment: Payment, amount: number): Payment {
  const amount_refunded = payment.amount_refunded + amount;
  const full = amount_refunded === payment.amount;
  return store.payments.save({
    ...payment,
    amount_refunded,
    refund_status: amount_refunded === 0 ? null : full ? 'full' : 'partial',
    status: full ? 'refunded' : payment.captured ? 'captured' : 'authorized',
  });
}

function refuse({ status }: Payment, amount: number, left: number): Refusal | undefined {
  if (status === 'refunded') return { description: 'The payment has been fully refunded already', field: 'payment_id' };
  // After some days the gateway itself gives back, all at once, what was never captured.
  if (status !== 'captured' && (status !== 'authorized' || amount !== left)) {
    return { description: 'The payment must be captured to be refunded.', field: 'payment_id' };
  }
  if (amount <= left) return undefined;
  return { description: `The refund amount is greater than what is left, ${left}.`, field: 'amount' };
}

function notPending(description: string): Refusal {
  return { description, field: 'event' };
}
