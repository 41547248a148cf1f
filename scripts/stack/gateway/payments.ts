import { z } from 'zod';
import { termsOf } from './account.ts';
import type { Timed } from './clock.ts';
import { signHex } from './delivery.ts';
import type { Payment } from './entities.ts';
import { notesRequest } from './notes.ts';
import { gatewayError, unknownId } from './errors.ts';
import { createWebhook, eventFields, type Webhook } from './events.ts';
import { type GatewayStore, NO_ERROR } from './store.ts';

/** The common fields of `POST /simulate/pay` and `POST /simulate/payment`. */
const common = {
  error_code: z.string().nullable().default('BAD_REQUEST_ERROR'),
  error_description: z.string().nullable().default('The bank declined the payment.'),
  error_reason: z.string().nullable().default('payment_failed'),
  /** Captures even if another payment paid the order: the customer pays twice. */
  although_paid: z.boolean().default(false),
  ...eventFields,
};

/**
 * The body of `POST /simulate/pay`: one attempt of a customer to pay an order. `created`: the customer leaves the
 * checkout. `authorized`: the checkout returns a valid signature, but the money is not captured.
 */
export const payRequest = z.strictObject({
  order_id: z.string(),
  outcome: z.enum(['created', 'authorized', 'captured', 'failed']),
  /** The notes of the payment: at the real gateway the browser sets them. */
  notes: notesRequest.default([]),
  ...common,
});

/** The body of `POST /simulate/payment`: a further step of an existing payment. */
export const paymentRequest = z.strictObject({
  payment_id: z.string(),
  to: z.enum(['authorized', 'captured', 'failed']),
  ...common,
});

type PaymentRequest = Timed<z.infer<typeof paymentRequest>>;

/** The allowed transitions. A failure is not final: the bank may authorise the payment days later. */
const POSSIBLE_FROM: Record<PaymentRequest['to'], readonly Payment['status'][]> = {
  failed: ['created'],
  authorized: ['created', 'failed'],
  captured: ['created', 'failed', 'authorized'],
};

/** The payment after a transition, and its webhooks in the order of the events. */
export type MovedPayment = { payment: Payment; webhooks: Webhook[] };

/** Makes an attempt to pay an order. A refusal changes nothing. */
export function pay(store: GatewayStore, request: Timed<z.infer<typeof payRequest>>): MovedPayment | Response {
  const { order_id, outcome, notes, created_at } = request;
  const order = store.orders.find(order_id);
  if (order === undefined) return unknownId('order_id');
  // A paid order accepts a failure, of an attempt that began earlier in another tab, but no second capture.
  const refusal = refuseSecondCapture(store, order_id, outcome, request);
  if (refusal !== undefined) return refusal;
  const payment = store.attempt(order, notes, created_at, termsOf(store.account.current, order.amount));
  return outcome === 'created' ? { payment, webhooks: [] } : movePayment(store, payment, outcome, request);
}

/** Makes a further step of a payment. A refusal changes nothing. */
export function continuePayment(store: GatewayStore, request: PaymentRequest): MovedPayment | Response {
  const payment = store.payments.find(request.payment_id);
  return payment === undefined ? unknownId('payment_id') : movePayment(store, payment, request.to, request);
}

type Step =
  & Pick<PaymentRequest, 'created_at' | 'irregular'>
  & Partial<Pick<PaymentRequest, 'although_paid' | 'error_code' | 'error_description' | 'error_reason'>>;

/** Moves a payment to another status. A refusal changes nothing. */
export function movePayment(
  store: GatewayStore,
  payment: Payment,
  to: PaymentRequest['to'],
  step: Step,
): MovedPayment | Response {
  if (!POSSIBLE_FROM[to].includes(payment.status)) {
    const description = `A payment that is ${payment.status} can not become ${to}.`;
    return gatewayError(description, { field: 'to', reason: 'invalid_payment_status' });
  }
  const refusal = refuseSecondCapture(store, payment.order_id, to, step);
  if (refusal !== undefined) return refusal;

  if (to === 'failed') {
    const { error_code = null, error_description = null, error_reason = null } = step;
    const failed = store.payments.save({
      ...payment,
      error_code,
      error_description,
      error_source: 'customer',
      error_step: 'payment_authentication',
      error_reason,
      status: 'failed',
    });
    return { payment: failed, webhooks: [createWebhook('payment.failed', { payment: failed }, step)] };
  }
  const authorized = store.payments.save({ ...payment, ...NO_ERROR, status: 'authorized' });
  const webhooks = payment.status === 'authorized'
    ? []
    : [createWebhook('payment.authorized', { payment: authorized }, step)];
  if (to === 'authorized') return { payment: authorized, webhooks };
  const { payment: captured, order } = store.capture(authorized);
  webhooks.push(
    createWebhook('payment.captured', { payment: captured }, step),
    createWebhook('order.paid', { payment: captured, order }, step),
  );
  return { payment: captured, webhooks };
}

function refuseSecondCapture(
  store: GatewayStore,
  orderId: string | null,
  to: Payment['status'],
  { although_paid = false }: Step,
): Response | undefined {
  if (to !== 'captured' || although_paid || store.orders.find(orderId)?.status !== 'paid') return undefined;
  return gatewayError('The order is already paid.', {
    field: 'order_id',
    step: 'payment_initiation',
    reason: 'order_already_paid',
  });
}

/** The result of a checkout: a signature for an authorised or captured payment, the error of a failed one. */
export function checkoutAnswer(payment: Payment, keySecret: string) {
  const { id, order_id, status } = payment;
  const isSigned = status === 'authorized' || status === 'captured';
  const gateway_signature = isSigned ? signHex(keySecret, `${order_id}|${id}`) : null;
  const result = { gateway_order_id: order_id, gateway_payment_id: id, gateway_signature };
  return status === 'failed' ? { ...result, error: checkoutError(payment) } : result;
}

/** The error of a failed payment, as a checkout answers it. */
export function checkoutError(payment: Payment) {
  return {
    code: payment.error_code,
    description: payment.error_description,
    source: payment.error_source,
    step: payment.error_step,
    reason: payment.error_reason,
    metadata: { order_id: payment.order_id, payment_id: payment.id },
  };
}
