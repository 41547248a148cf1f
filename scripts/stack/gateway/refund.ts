import { z } from 'zod';
import type { Timed } from './clock.ts';
import { deliverOptions } from './deliver-options.ts';
import type { Payment, Refund } from './entities.ts';
import type { Refusal } from './error.ts';
import { REFUND_EVENTS } from './event-names.ts';
import { newId } from './id.ts';
import { irregular } from './irregular.ts';
import { emptyAsList, notesRequest } from './pay.ts';
import type { GatewayStore } from './store.ts';

/** The allowed transitions. A processed refund fails when the bank returns the money days later. */
const POSSIBLE_FROM = {
  processed: ['pending'],
  failed: ['pending', 'processed'],
} as const;

/**
 * The body of `POST /simulate/refund`. With `payment_id` it creates a refund of `amount` minor units, or of the
 * remaining amount; the event `created` leaves it pending. With `refund_id` it moves that refund to another status.
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

/** An event of a refund, with refund and payment after it. */
export type RefundEvent = { event: string; refund: Refund; payment: Payment };

/** Creates a refund. A refusal changes nothing. */
export function createRefund(
  store: GatewayStore,
  payment: Payment,
  { amount, event, notes, created_at }: Timed<z.infer<typeof refundRequest>>,
): RefundEvent[] | { refusal: Refusal } {
  const left = payment.amount - payment.amount_refunded;
  const refusal = refuse(payment, amount ?? left, left);
  if (refusal !== undefined) return { refusal };
  if (event === 'speed_changed') return { refusal: impossible('speed_changed needs the refund_id of a refund.') };
  const refund = store.refunds.save({
    id: newId('rfnd'),
    entity: 'refund',
    amount: amount ?? left,
    currency: payment.currency,
    payment_id: payment.id,
    notes: emptyAsList(notes),
    receipt: null,
    acquirer_data: { arn: null },
    created_at,
    batch_id: null,
    status: 'pending',
    speed_processed: 'normal',
    speed_requested: 'normal',
  });
  // `amount_refunded` of the payment includes pending refunds, but not failed ones.
  const created = { event: 'refund.created', refund, payment: countRefund(store, payment, refund.amount) };
  return event === 'created' ? [created] : [created, settle(store, created.payment, refund, event)];
}

/** Moves a refund to another status. A refusal changes nothing. */
export function moveRefund(
  store: GatewayStore,
  refund: Refund,
  event: z.infer<typeof refundRequest>['event'],
): RefundEvent[] | { refusal: Refusal } {
  const payment = store.payments.find(refund.payment_id);
  if (payment === undefined) throw new Error(`no payment ${refund.payment_id}`);
  if (event === 'speed_changed') return [{ event: 'refund.speed_changed', refund, payment }];
  if (event === 'created' || !POSSIBLE_FROM[event].some((status) => status === refund.status)) {
    return { refusal: impossible(`A refund that is ${refund.status} can not become ${event}.`) };
  }
  return [settle(store, payment, refund, event)];
}

function settle(store: GatewayStore, payment: Payment, before: Refund, status: 'processed' | 'failed'): RefundEvent {
  const refund = store.refunds.save({ ...before, status });
  const after = status === 'failed' ? countRefund(store, payment, -refund.amount) : payment;
  return { event: `refund.${status}`, refund, payment: after };
}

function countRefund(store: GatewayStore, payment: Payment, amount: number): Payment {
  const amount_refunded = payment.amount_refunded + amount;
  const full = amount_refunded === payment.amount;
  return store.payments.save({
    ...payment,
    amount_refunded,
    refund_status: amount_refunded === 0 ? null : full ? 'full' : 'partial',
    status: full ? 'refunded' : payment.captured ? 'captured' : 'authorized',
  });
}

function refuse({ status, amount: paid }: Payment, amount: number, left: number): Refusal | undefined {
  const refusal = (field: string, description: string): Refusal => {
    return { description, field, source: 'NA', reason: 'NA' };
  };
  if (status === 'refunded') return refusal('payment_id', 'The payment has been fully refunded already');
  // The gateway itself refunds an authorised payment that was not captured after some days, always in full.
  if (status !== 'captured' && (status !== 'authorized' || amount !== left)) {
    return refusal('payment_id', 'The payment status should be captured for action to be taken');
  }
  if (amount > paid) return refusal('amount', 'The refund amount provided is greater than amount captured');
  if (amount > left) return refusal('amount', 'The total refund amount is greater than the refund payment amount');
}

function impossible(description: string): Refusal {
  return { description, field: 'event' };
}
