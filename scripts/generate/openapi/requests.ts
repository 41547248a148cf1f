/** The bodies of requests, as `http/validation.ts` checks them, with names for the API description. */
import { z } from 'zod';
import * as validation from '../../../supabase/functions/api/http/validation.ts';

const description = '`tier` for its default price, `price` for the price with that lookup key; both must agree.';

export const orderRequest = validation.orderRequest.meta({ id: 'OrderRequest', description });
export const subscriptionRequest = validation.subscriptionRequest.meta({ id: 'SubscriptionRequest', description });
export const changeRequest = validation.changeRequest.meta({ id: 'ChangeRequest', description });
export const cancelRequest = validation.cancelSubscriptionRequest.meta({ id: 'CancelRequest' });
export const billingDetailsRequest = validation.billingDetails.meta({
  id: 'BillingDetailsRequest',
  description: '`state`, `gstin` and `country` must agree.',
});
export const verifyRequest = z.union([
  validation.verifyPaymentRequest.meta({ id: 'PaymentCheckout' }),
  validation.verifySubscriptionRequest.meta({ id: 'SubscriptionCheckout' }),
]).meta({ id: 'VerifyRequest', description: 'What the checkout returned, of an order or of a subscription.' });

/** The default of GATEWAY_RETURN_FIELDS. A failed attempt posts other fields. */
export const returnForm = z.looseObject({
  razorpay_order_id: z.string().optional(),
  razorpay_payment_id: z.string().optional(),
  razorpay_signature: z.string().optional(),
}).meta({ id: 'ReturnForm', description: "The gateway's names; `GATEWAY_RETURN_FIELDS` changes them." });

export const gatewayEvent = z.looseObject({
  event: z.string(),
  created_at: z.int().describe('Unix seconds.'),
  account_id: z.string().optional(),
  payload: z.looseObject({}),
}).meta({
  id: 'GatewayEvent',
  description: 'A notification of the gateway, which documents the entities in `payload`. Required are: of ' +
    '`payment.captured` and `order.paid` `payment.entity.id`; of `payment.failed` `payment.entity.order_id`; of ' +
    '`refund.*` `refund.entity` with `id`, `amount` and `payment_id` (or the entity of the payment), `status` defaults ' +
    'to the name of the event; of `payment.dispute.*` `dispute.entity` with `status` and `payment_id` (or the entity ' +
    'of the payment), `id`, `phase`, `amount` and `amount_deducted` are optional; of `subscription.*` ' +
    '`subscription.entity.notes.user_id` (a UUID), of `activated` and `charged` also `current_start` and `current_end` ' +
    '(Unix seconds, both null in an activation before the first cycle). An event that lacks one is recorded as ' +
    '`ignored: …` and answered 200.',
});
