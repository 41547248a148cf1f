import { z } from 'zod';
import { isStorableText } from '../database/storable-json.ts';

/** The body of POST /api/payments/verify. */
export const verifyPaymentRequest = z.object({
  gateway_order_id: z.string(),
  gateway_payment_id: z.string(),
  gateway_signature: z.string(),
});

/** The body of POST /api/payments/verify for the first payment of a subscription. */
export const verifySubscriptionRequest = z.object({
  gateway_order_id: z.undefined({ error: 'Either an order or a subscription' }).optional(),
  gateway_subscription_id: z.string(),
  gateway_payment_id: z.string(),
  gateway_signature: z.string(),
});

/** Whether the body names a subscription, so that it must satisfy `verifySubscriptionRequest`. */
export function namesSubscription(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'gateway_subscription_id' in body;
}

/** The body of POST /api/subscriptions: the default price of a tier, or a price by its lookup key. Contract: Price. */
export const subscriptionRequest = z.object({ tier: z.string().optional(), price: z.string().optional() })
  .refine(({ tier, price }) => tier !== undefined || price !== undefined, {
    path: ['tier'],
    error: 'Invalid input: expected string, received undefined',
    // Also beside problems of other fields, as for a required field.
    when: ({ issues }) => issues.every(({ path = [] }) => path.length > 0),
  });

/** The body of POST /api/payments/orders. */
export const orderRequest = subscriptionRequest.safeExtend({ start: z.enum(['now', 'after_current']).optional() });

/** The body of POST /api/subscriptions/change and of its preview. */
export const changeRequest = subscriptionRequest.safeExtend({ when: z.enum(['now', 'period_end']) });

/** The metadata in the form of a failed attempt. */
export const attemptMetadata = z.object({ order_id: z.string() });

/** The body of PUT /api/billing-details. What the fields may hold, the database knows. */
const detail = z.string().refine(isStorableText, 'Not a text').nullish();
export const billingDetails = z.object({
  name: detail,
  gstin: detail,
  address: detail,
  state: detail,
  country: detail,
});

/** The body of POST /api/subscriptions/cancel. */
export const cancelSubscriptionRequest = z.object({ at_period_end: z.boolean() });

/** A valid request, or zod's flattened error. */
export type Parsed<T> = { ok: true; request: T } | { ok: false; details: unknown };

export function parseRequest<T>(schema: z.ZodType<T>, body: unknown): Parsed<T> {
  const result = schema.safeParse(body);
  return result.success ? { ok: true, request: result.data } : { ok: false, details: z.flattenError(result.error) };
}
