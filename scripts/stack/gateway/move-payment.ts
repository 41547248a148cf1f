import type { Payment, PaymentError } from './entities.ts';
import type { Refusal } from './error.ts';
import { eventBody, type EventOptions } from './event.ts';
import { NO_ERROR } from './new-payment.ts';
import type { GatewayStore } from './store.ts';
import type { Webhook } from './webhook.ts';

/** The allowed transitions. A failure is not final: the bank may authorise the payment days later. */
const POSSIBLE_FROM = {
  failed: ['created'],
  authorized: ['created', 'failed'],
  captured: ['created', 'failed', 'authorized'],
} as const;

type Step = EventOptions & {
  to: keyof typeof POSSIBLE_FROM;
  /** The error fields of a failure. */
  error: PaymentError;
  /** Captures even if another payment paid the order. */
  although_paid: boolean;
};

/** The payment after a transition, and its webhooks in the order of the events. */
export type Moved = { payment: Payment; webhooks: Webhook[] };

/** Moves a payment to another status. A refusal changes nothing. */
export function movePayment(store: GatewayStore, payment: Payment, step: Step): Moved | { refusal: Refusal } {
  const { to } = step;
  if (!POSSIBLE_FROM[to].some((status) => status === payment.status)) {
    const description = `A payment that is ${payment.status} can not become ${to}.`;
    return { refusal: { description, field: 'to', reason: 'invalid_payment_status' } };
  }
  const refusal = to === 'captured' && !step.although_paid ? refuseOrder(store, payment.order_id) : undefined;
  if (refusal !== undefined) return { refusal };

  const about = (event: string, entities: Parameters<typeof eventBody>[1]): Webhook => {
    return { event, body: eventBody(event, entities, step) };
  };
  if (to === 'failed') {
    const failed = store.payments.save({ ...payment, ...step.error, status: 'failed' });
    return { payment: failed, webhooks: [about('payment.failed', { payment: failed })] };
  }
  const authorized = store.payments.save({ ...payment, ...NO_ERROR, status: 'authorized' });
  const webhooks = payment.status === 'authorized' ? [] : [about('payment.authorized', { payment: authorized })];
  if (to === 'authorized') return { payment: authorized, webhooks };
  const { payment: captured, order } = store.capture(authorized);
  webhooks.push(about('payment.captured', { payment: captured }), about('order.paid', { payment: captured, order }));
  return { payment: captured, webhooks };
}

/** @returns a refusal when the order is paid already. */
export function refuseOrder(store: GatewayStore, orderId: string | null): Refusal | undefined {
  if (store.orders.find(orderId)?.status !== 'paid') return undefined;
  return {
    description: 'The order is already paid.',
    field: 'order_id',
    step: 'payment_initiation',
    reason: 'order_already_paid',
  };
}
