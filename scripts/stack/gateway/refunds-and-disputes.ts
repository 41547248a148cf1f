import { z } from 'zod';
import type { Timed } from './clock.ts';
import type { Dispute, Payment, Refund } from './entities.ts';
import { notesRequest } from './notes.ts';
import { gatewayError, unknownId } from './errors.ts';
import { createWebhook, DISPUTE_EVENTS, eventFields, REFUND_EVENTS, type Webhook } from './events.ts';
import { newId } from './new-id.ts';
import type { GatewayStore } from './store.ts';

/**
 * The body of `POST /simulate/refund`. With `payment_id` it creates a refund of `amount` minor units, or of the
 * remaining amount; the event `created` leaves it pending. With `refund_id` it moves that refund to another status.
 */
export const refundRequest = z.strictObject({
  payment_id: z.string().optional(),
  refund_id: z.string().optional(),
  amount: z.int().min(1).optional(),
  event: z.enum(REFUND_EVENTS).default('processed'),
  notes: notesRequest.default([]),
  ...eventFields,
}).refine(({ payment_id, refund_id }) => (payment_id === undefined) !== (refund_id === undefined), {
  error: 'Either payment_id or refund_id is required.',
  path: ['payment_id'],
});

type RefundRequest = Timed<z.infer<typeof refundRequest>>;

/** The allowed transitions. A processed refund fails when the bank returns the money days later. */
const POSSIBLE_FROM: Record<RefundRequest['event'], readonly Refund['status'][]> = {
  created: [],
  processed: ['pending'],
  failed: ['pending', 'processed'],
  speed_changed: ['pending', 'processed', 'failed'],
};

/** Refund and payment after the events, and the webhooks about them. */
type Refunded = { refund: Refund; payment: Payment; webhooks: Webhook[] };

/** Creates a refund of a payment, or moves a refund to another status. A refusal changes nothing. */
export function moveRefund(store: GatewayStore, request: RefundRequest): Refunded | Response {
  const { payment_id, refund_id, event } = request;
  const paid = store.payments.find(payment_id);
  if (paid !== undefined) return createRefund(store, paid, request);
  const refund = store.refunds.find(refund_id);
  if (refund === undefined) return unknownId(refund_id === undefined ? 'payment_id' : 'refund_id');
  const payment = store.payments.find(refund.payment_id);
  if (payment === undefined) throw new Error(`no payment ${refund.payment_id}`);
  if (!POSSIBLE_FROM[event].includes(refund.status)) {
    return gatewayError(`A refund that is ${refund.status} can not become ${event}.`, { field: 'event' });
  }
  const moved = settle(store, payment, refund, event);
  return { ...moved, webhooks: [createWebhook(`refund.${event}`, moved, request)] };
}

function createRefund(store: GatewayStore, payment: Payment, request: RefundRequest): Refunded | Response {
  const left = payment.amount - payment.amount_refunded;
  const { amount = left, event, notes, created_at } = request;
  const refusal = refuse(payment, amount, left);
  if (refusal !== undefined) return refusal;
  if (event === 'speed_changed') {
    return gatewayError('speed_changed needs the refund_id of a refund.', { field: 'event' });
  }
  const refund = store.refunds.save({
    id: newId('rfnd'),
    entity: 'refund',
    amount,
    currency: payment.currency,
    payment_id: payment.id,
    notes,
    receipt: null,
    acquirer_data: { arn: null },
    created_at,
    batch_id: null,
    status: 'pending',
    speed_processed: 'normal',
    speed_requested: 'normal',
  });
  // `amount_refunded` of the payment includes pending refunds, but not failed ones.
  const created = { refund, payment: countRefund(store, payment, amount) };
  const webhooks = [createWebhook('refund.created', created, request)];
  if (event === 'created') return { ...created, webhooks };
  const settled = settle(store, created.payment, refund, event);
  return { ...settled, webhooks: [...webhooks, createWebhook(`refund.${event}`, settled, request)] };
}

/** Refund and payment after an event of an existing refund. */
function settle(store: GatewayStore, payment: Payment, before: Refund, event: RefundRequest['event']) {
  if (event !== 'processed' && event !== 'failed') return { refund: before, payment };
  const refund = store.refunds.save({ ...before, status: event });
  return { refund, payment: event === 'failed' ? countRefund(store, payment, -refund.amount) : payment };
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

function refuse({ status, amount: paid }: Payment, amount: number, left: number): Response | undefined {
  const refusal = (field: string, description: string) =>
    gatewayError(description, { field, source: 'NA', reason: 'NA' });
  if (status === 'refunded') return refusal('payment_id', 'The payment has been fully refunded already');
  // The gateway itself refunds an authorised payment that was not captured after some days, always in full.
  if (status !== 'captured' && (status !== 'authorized' || amount !== left)) {
    return refusal('payment_id', 'The payment status should be captured for action to be taken');
  }
  if (amount > paid) return refusal('amount', 'The refund amount provided is greater than amount captured');
  if (amount > left) return refusal('amount', 'The total refund amount is greater than the refund payment amount');
}

const TIME_TO_RESPOND_SECONDS = 7 * 24 * 60 * 60;
const DISPUTE_STATUS_AFTER = {
  created: 'open',
  under_review: 'under_review',
  action_required: 'open',
  won: 'won',
  lost: 'lost',
  closed: 'closed',
} as const;

/**
 * The body of `POST /simulate/dispute`. `created` opens a dispute of a payment, for its whole amount or for `amount`
 * minor units; `dispute_id` names it. The other events change that dispute, else the newest one of the payment. `phase`,
 * `amount`, `amount_deducted` and `status` replace what follows from the event.
 */
export const disputeRequest = z.strictObject({
  payment_id: z.string(),
  dispute_id: z.string().min(1).optional(),
  event: z.enum(DISPUTE_EVENTS),
  phase: z.enum(['retrieval', 'chargeback', 'pre_arbitration', 'arbitration', 'fraud']).optional(),
  amount: z.int().min(1).optional(),
  amount_deducted: z.int().min(0).optional(),
  status: z.enum(['open', 'under_review', 'won', 'lost', 'closed']).optional(),
  reason_code: z.string().default('goods_or_services_not_received_or_partially_received'),
  ...eventFields,
});

type DisputeRequest = Timed<z.infer<typeof disputeRequest>>;

/** The dispute after an event, its payment, and the webhook about them. */
type Disputed = { dispute: Dispute; payment: Payment; webhooks: Webhook[] };

/** Opens a dispute of a payment, or moves one of its disputes to another status or phase. */
export function moveDispute(store: GatewayStore, request: DisputeRequest): Disputed | Response {
  const { payment_id, dispute_id, event } = request;
  const payment = store.payments.find(payment_id);
  if (payment === undefined) return unknownId('payment_id');
  const known = store.disputes.list().find((dispute) =>
    dispute.payment_id === payment_id && (dispute_id === undefined || dispute.id === dispute_id)
  );
  const before = event === 'created' && (dispute_id === undefined || known === undefined)
    ? newDispute(payment, request)
    : known;
  if (before === undefined) return gatewayError('There is no such dispute about this payment.', { field: 'event' });
  const { amount = before.amount, phase = before.phase, status = DISPUTE_STATUS_AFTER[event] } = request;
  const { amount_deducted = status === 'lost' ? amount : before.amount_deducted } = request;
  const dispute = store.disputes.save({ ...before, amount, phase, status, amount_deducted });
  return { dispute, payment, webhooks: [createWebhook(`payment.dispute.${event}`, { payment, dispute }, request)] };
}

function newDispute(
  { id: payment_id, amount: paid, currency }: Payment,
  { amount = paid, dispute_id = newId('disp'), reason_code, created_at }: DisputeRequest,
): Dispute {
  return {
    id: dispute_id,
    entity: 'dispute',
    payment_id,
    amount,
    currency,
    amount_deducted: 0,
    reason_code,
    respond_by: created_at + TIME_TO_RESPOND_SECONDS,
    status: 'open',
    phase: 'chargeback',
    evidence: { amount, summary: null, others: null, submitted_at: null },
    created_at,
  };
}
