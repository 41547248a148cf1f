import type { Refund } from '../../../scripts/stack/gateway/entities.ts';
import { eventBody, type Irregular } from '../../../scripts/stack/gateway/events.ts';
import {
  disputeRequest,
  moveDispute,
  moveRefund,
  refundRequest,
} from '../../../scripts/stack/gateway/refunds-and-disputes.ts';
import { newId } from '../../../scripts/stack/gateway/new-id.ts';
import { createGatewayStore, newSubscription } from '../../../scripts/stack/gateway/store.ts';
import { uniqueId } from '../records/records.ts';

/** Fields of an entity or an envelope. They replace the built ones; an undefined one is left out of the JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** The entities of an event, each by the fields that differ from the built entity. */
export type EntityFields = Readonly<
  Partial<Record<'refund' | 'subscription' | 'payment' | 'order' | 'dispute', Fields>>
>;

/** The time of an event, ISO 8601; null: the body carries none. `irregular`: see the simulator's field of that name. */
export type EventOptions = { readonly createdAt?: string | null; readonly irregular?: Irregular };

/** The payment of an event: its id and other fields. */
export type PaymentFields = Fields & { readonly id: string };

/** The fields of a refund event. */
export type RefundFields = {
  readonly id?: string;
  readonly status?: Refund['status'];
  readonly notes?: Fields;
  readonly createdAt?: string;
};

/** The time of an event that does not state one. */
const newYear = '2026-01-01T00:00:00Z';

/** The price of the plan pro in minor units. */
const price = 99900;

/** The error of a failed payment unless stated otherwise. */
export const declined = {
  error_code: 'BAD_REQUEST_ERROR',
  error_description: 'The bank declined the payment.',
  error_source: 'customer',
  error_step: 'payment_authentication',
  error_reason: 'payment_failed',
} as const;

/** Unix seconds of an ISO 8601 time, as the gateway writes times. */
export function seconds(at: string): number {
  return Date.parse(at) / 1000;
}

/**
 * The body of an event of any name, with complete entities. Each call returns a different body, even for the same data.
 * A payment is captured, of the full amount of a pro payment and without an order, unless stated otherwise.
 */
export function gatewayEvent(
  event: string,
  { refund, subscription, payment, order, dispute }: EntityFields,
  { createdAt = newYear, irregular = {} }: EventOptions = {},
): string {
  const at = seconds(createdAt ?? newYear);
  const store = createGatewayStore();
  const created = store.createOrder({ amount: price, currency: 'INR', receipt: null, notes: [] }, at);
  const paid = store.capture(store.attempt(created, [], at));
  const { id: payment_id } = paid.payment;
  const newRefund = () => moveRefund(store, { ...refundRequest.parse({ payment_id }), created_at: at });
  const newDispute = () =>
    moveDispute(store, { ...disputeRequest.parse({ payment_id, event: 'created' }), created_at: at });
  return eventBody(event, {
    refund: refund && { ...accepted(newRefund()).refund, ...refund },
    subscription: subscription && { ...newSubscription(newId('sub'), at), ...subscription },
    payment: payment && { ...paid.payment, order_id: null, ...payment },
    order: order && { ...created, ...paid.order, ...order },
    dispute: dispute && { ...accepted(newDispute()).dispute, ...dispute },
  }, {
    createdAt: at,
    irregular: createdAt === null ? { ...irregular, created_at: 'missing' } : irregular,
    accountId: uniqueId('acc'),
  });
}

/** The body with other fields of the envelope. */
export function changeEnvelope(body: string, fields: Fields): string {
  return JSON.stringify({ ...JSON.parse(body), ...fields });
}

/** payment.captured. */
export function paymentCaptured(payment: Fields = {}, options?: EventOptions): string {
  return gatewayEvent('payment.captured', { payment }, options);
}

/** payment.failed: a failed attempt on an order. */
export function paymentFailed(payment: Fields = {}, options?: EventOptions): string {
  const failed = { status: 'failed', captured: false, fee: null, tax: null, ...declined };
  return gatewayEvent('payment.failed', { payment: { ...failed, ...payment } }, options);
}

/**
 * order.paid: of the amount and the currency of the payment, unless the order names others. The receipt of an order is the id
 * of our payment without dashes.
 */
export function orderPaid(payment: PaymentFields, order: Fields & { readonly id: string }): string {
  const { amount, currency } = payment;
  const paid = {
    ...(amount === undefined ? {} : { amount, amount_paid: amount }),
    ...(currency === undefined ? {} : { currency }),
  };
  return gatewayEvent('order.paid', { payment: { order_id: order.id, ...payment }, order: { ...paid, ...order } });
}

/**
 * refund.created, refund.processed or refund.failed, by the status; processed by default. `amount` is the amount of this
 * refund. The payment's `amount_refunded` includes it in every status, as the gateway's does for a pending refund.
 */
export function refundEvent(
  payment: PaymentFields,
  amount: unknown,
  { id = uniqueId('rfnd'), status = 'processed', notes, createdAt = newYear }: RefundFields = {},
): string {
  return gatewayEvent(`refund.${status === 'pending' ? 'created' : status}`, {
    refund: { id, payment_id: payment.id, amount, status, ...(notes && { notes }) },
    payment: { amount_refunded: amount, ...payment },
  }, { createdAt });
}

/** An event of a dispute, with the disputed payment. It is about the whole payment, and always the same one, by default. */
export function disputeEvent(
  name: string,
  status: unknown,
  payment: PaymentFields,
  dispute: Fields = {},
  options?: EventOptions,
): string {
  const built = { id: `disp_of_${payment.id}`, payment_id: payment.id, amount: payment.amount, status };
  return gatewayEvent(`payment.dispute.${name}`, { payment, dispute: { ...built, ...dispute } }, options);
}

/** Events of an active subscription. The others have the name of its new status. */
const ofActive = ['activated', 'charged', 'resumed', 'updated'] as const;
const statuses = ['authenticated', 'pending', 'halted', 'paused', 'cancelled', 'completed'] as const;

/** A subscription event. By default it has no plan, no cycle and no `created_at`. */
export type SubscriptionEvent = {
  readonly name: typeof ofActive[number] | typeof statuses[number];
  readonly userId: string;
  readonly id?: string | null;
  readonly planId?: string;
  readonly start?: string | null;
  readonly end?: string | null;
  readonly createdAt?: string | null;
  readonly payment?: PaymentFields;
  readonly fields?: Fields;
  readonly irregular?: Irregular;
};

/** An event about a subscription. */
export function subscriptionEvent(
  { name, userId, id = 'sub_A', planId, start = null, end = null, createdAt = null, payment, fields, irregular }:
    SubscriptionEvent,
): string {
  const isCancelled = name === 'cancelled';
  return gatewayEvent(`subscription.${name}`, {
    subscription: {
      id: id ?? undefined,
      plan_id: planId,
      status: statuses.find((status) => status === name) ?? 'active',
      current_start: start === null ? null : seconds(start),
      current_end: end === null ? null : seconds(end),
      charge_at: end === null || ['paused', 'cancelled', 'completed'].includes(name) ? null : seconds(end),
      ended_at: isCancelled && createdAt !== null ? seconds(createdAt) : null,
      notes: { user_id: userId },
      // How often it was charged is not known here.
      ...(name !== 'activated' && name !== 'charged' && { paid_count: undefined }),
      ...fields,
    },
    ...(payment && { payment }),
  }, { createdAt, ...(irregular && { irregular }) });
}

/** What a change at the gateway made. @throws when the gateway refuses it */
function accepted<Change>(change: Change | Response): Change {
  if (change instanceof Response) throw new Error(`the gateway answered ${change.status}`);
  return change;
}
