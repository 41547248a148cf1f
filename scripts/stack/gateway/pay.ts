import { z } from 'zod';
import type { Timed } from './clock.ts';
import { deliverOptions } from './deliver-options.ts';
import type { Notes, Order, Payment, PaymentError } from './entities.ts';
import type { Refusal } from './error.ts';
import { irregular } from './irregular.ts';
import { type Moved, movePayment, refuseOrder } from './move-payment.ts';
import { signHex } from './signature.ts';
import type { GatewayStore } from './store.ts';

/** What the requests for a new and for a further step of a payment have in common. */
const common = {
  error_code: z.string().nullable().default('BAD_REQUEST_ERROR'),
  error_description: z.string().nullable().default('The bank declined the payment.'),
  error_reason: z.string().nullable().default('payment_failed'),
  /** Captures though another payment paid the order: a customer who paid twice. */
  although_paid: z.boolean().default(false),
  /** When it happens, in Unix seconds: the time of the events and of a payment that begins. */
  created_at: z.int().min(0).optional(),
  irregular: irregular.default({}),
  deliver: deliverOptions.default({}),
};

/** Notes that people send: text and numbers. */
export const notesRequest = z.record(z.string(), z.union([z.string(), z.number()]));

/**
 * The body of `POST /simulate/pay`: one attempt of a customer to pay an order. `created` leaves it at the checkout,
 * `authorized` leaves it without capture: the checkout hands over a good signature, and yet no money comes.
 */
export const payRequest = z.strictObject({
  order_id: z.string(),
  outcome: z.enum(['created', 'authorized', 'captured', 'failed']),
  /** The payment's own notes: on the real gateway the browser sets them. */
  notes: notesRequest.default({}),
  ...common,
});

/** The body of `POST /simulate/payment`: a further step of a payment that is there. */
export const paymentRequest = z.strictObject({
  payment_id: z.string(),
  to: z.enum(['authorized', 'captured', 'failed']),
  ...common,
});

type Common = Timed<Pick<z.infer<typeof paymentRequest>, keyof typeof common>>;

/** Makes the attempt in the books, or tells why not; nothing is written then. */
export function pay(
  store: GatewayStore,
  order: Order,
  request: Timed<z.infer<typeof payRequest>>,
): Moved | { refusal: Refusal } {
  const { outcome, although_paid } = request;
  // A failure on a paid order is an attempt begun before it was paid, in another tab say; a second capture is refused.
  const refusal = outcome === 'captured' && !although_paid ? refuseOrder(store, order.id) : undefined;
  if (refusal !== undefined) return { refusal };
  const payment = store.attempt(order, emptyAsList(request.notes), request.created_at);
  return outcome === 'created' ? { payment, webhooks: [] } : step(store, payment, outcome, request);
}

/** Moves a payment on as the request says, or tells why it can't. */
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

/** What a checkout hands to the page: a signature once the bank let the payment through, the reason when it failed. */
export async function checkoutAnswer(payment: Payment, keySecret: string) {
  const { id, order_id, status } = payment;
  const through = status === 'authorized' || status === 'captured';
  const gateway_signature = through ? await signHex(keySecret, `${order_id}|${id}`) : null;
  const handed = { gateway_order_id: order_id, gateway_payment_id: id, gateway_signature };
  if (status !== 'failed') return handed;
  const error = {
    code: payment.error_code,
    description: payment.error_description,
    source: payment.error_source,
    step: payment.error_step,
    reason: payment.error_reason,
    metadata: { order_id, payment_id: id },
  };
  return { ...handed, error };
}

/** Notes as the gateway writes them. */
export function emptyAsList(notes: z.infer<typeof notesRequest>): Notes {
  return Object.keys(notes).length === 0 ? [] : notes;
}
