import { z } from 'zod';
import { deliverOptions } from './gateway-simulator-deliver-options.ts';
import type { Webhook } from './gateway-simulator-delivery.ts';
import type { Notes, PaymentError } from './gateway-simulator-entities.ts';
import { eventBody } from './gateway-simulator-event.ts';
import type { GatewayStore } from './gateway-simulator-store.ts';

/** The body of `POST /simulate/pay`: one attempt of a customer to pay an order. */
export const payRequest = z.strictObject({
  order_id: z.string(),
  outcome: z.enum(['captured', 'failed']),
  /** The payment's own notes: on the real gateway the browser sets them. */
  notes: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  error_code: z.string().nullable().default('BAD_REQUEST_ERROR'),
  error_description: z.string().nullable().default('The bank declined the payment.'),
  error_reason: z.string().nullable().default('payment_failed'),
  deliver: deliverOptions.default({}),
});

export type PayRequest = z.infer<typeof payRequest>;

/** What came of an attempt: `error` is set on a failed one. The webhooks are in the order in which they came about. */
export type Paid = { paymentId: string; error: PaymentError | null; webhooks: Webhook[] };

/** Makes the attempt in the books. The order must be known; a capture also needs it unpaid. */
export function pay(store: GatewayStore, request: PayRequest): Paid {
  const notes: Notes = Object.keys(request.notes).length === 0 ? [] : request.notes;
  if (request.outcome === 'failed') {
    const { error_code, error_description, error_reason } = request;
    const error = {
      error_code,
      error_description,
      error_source: 'customer',
      error_step: 'payment_authentication',
      error_reason,
    };
    const payment = store.fail(request.order_id, notes, error);
    return { paymentId: payment.id, error, webhooks: [webhook('payment.failed', { payment })] };
  }
  const authorized = store.authorize(request.order_id, notes);
  const { payment, order } = store.capture(authorized);
  const webhooks = [
    webhook('payment.authorized', { payment: authorized }),
    webhook('payment.captured', { payment }),
    webhook('order.paid', { payment, order }),
  ];
  return { paymentId: payment.id, error: null, webhooks };
}

function webhook(event: string, entities: Parameters<typeof eventBody>[1]): Webhook {
  return { event, body: eventBody(event, entities) };
}
