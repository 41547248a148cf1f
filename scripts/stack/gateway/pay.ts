import { z } from 'zod';
import type { Timed } from './clock.ts';
import { deliverOptions } from './deliver-options.ts';
import type { Notes, Order, Payment, PaymentError } from './entities.ts';
import type { Refusal } from './error.ts';
import { irregular } from './irregular.ts';
import { type Moved, movePayment, refuseOrder } from './move-payment.ts';
import { signHex } from './signature.ts';
import type { GatewayStore } from './store.ts';

/** The common fields of `POST /simulate/pay` and `POST /simulate/payment`. */
const common = {
  error_code: z.string().nullable().default('BAD_REQUEST_ERROR'),
  error_description: z.string().nullable().default('The bank declined the payment.'),
  error_reason: z.string().nullable().default('payment_failed'),
  /** Captures even if another payment paid the order: the customer pays twice. */
  although_paid: z.boolean().default(false),
  /** Unix seconds: the time of the events and of a new payment. */
  created_at: z.int().min(0).optional(),
  irregular: irregular.default({}),
  deliver: deliverOptions.default({}),
};

/** Notes of a request: text and numbers. */
export const notesRequest = z.record(z.string(), z.union([z.string(), z.number()]));

/**
 * The body of `POST /simulate/pay`: one attempt of a customer to pay an order. `created`: the customer leaves the
 * checkout. `authorized`: the checkout returns a valid signature, but the money is not captured.
 */
export const payRequest = z.strictObject({
  order_id: z.string(),
  outcome: z.enum(['created', 'authorized', 'captured', 'failed']),
  /** The notes of the payment: at the real gateway the browser sets them. */
  notes: notesRequest.default({}),
  ...common,
});

/** The body of `POST /simulate/payment`: a further step of an existing payment. */
export const paymentRequest = z.strictObject({
  payment_id: z.string(),
  to: z.enum(['authorized', 'captured', 'failed']),
  ...common,
});

type Common = Timed<Pick<z.infer<typeof paymentRequest>, keyof typeof common>>;

/** Makes an attempt to pay an order. A refusal changes nothing. */
export function pay(
  store: GatewayStore,
  order: Order,
  request: Timed<z.infer<typeof payRequest>>,
): Moved | { refusal: Refusal } {
  const { outcome, although_paid } = request;
  // A paid order accepts a failure, of an attempt that began earlier in another tab, but no second capture.
  const refusal = outcome === 'captured' && !although_paid ? refuseOrder(store, order.id) : undefined;
  if (refusal !== undefined) return { refusal };
  const payment = store.attempt(order, emptyAsList(request.notes), request.created_at);
  return outcome === 'created' ? { payment, webhooks: [] } : step(store, payment, outcome, request);
}

/** Moves a payment to the requested status. A refusal changes nothing. */
export function step(
  store: GatewayStore,
  payment: Payment,
  to: z.infer<typeof paymentRequest>['to'],
  { although_paid, created_at, irregular, ...fields }: Common,
): Moved | { refusal: Refusal } {
  const error: PaymentError = {
    error_code: fields.error_code,
    error_description: fields.error_description,
    error_source: 'customer',
    error_step: 'payment_authentication',
    error_reason: fields.error_reason,
  };
  return movePayment(store, payment, { to, error, although_paid, createdAt: created_at, irregular });
}

/** The result of a checkout: a signature for an authorised or captured payment, the error of a failed one. */
export async function checkoutAnswer(payment: Payment, keySecret: string) {
  const { id, order_id, status } = payment;
  const isSigned = status === 'authorized' || status === 'captured';
  const gateway_signature = isSigned ? await signHex(keySecret, `${order_id}|${id}`) : null;
  const result = { gateway_order_id: order_id, gateway_payment_id: id, gateway_signature };
  if (status !== 'failed') return result;
  const error = {
    code: payment.error_code,
    description: payment.error_description,
    source: payment.error_source,
    step: payment.error_step,
    reason: payment.error_reason,
    metadata: { order_id, payment_id: id },
  };
  return { ...result, error };
}

/** The gateway writes empty notes as an empty list. */
export function emptyAsList(notes: z.infer<typeof notesRequest>): Notes {
  return Object.keys(notes).length === 0 ? [] : notes;
}
