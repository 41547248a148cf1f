import { z } from 'zod';

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

/** The body of POST /api/subscriptions. */
export const subscriptionRequest = z.object({ tier: z.string() });

/** The body of POST /api/payments/orders. */
export const orderRequest = subscriptionRequest.extend({ start: z.enum(['now', 'after_current']).optional() });

/** The body of POST /api/subscriptions/change and of its preview. */
export const changeRequest = z.object({ tier: z.string(), when: z.enum(['now', 'period_end']) });

/** The metadata in the form of a failed attempt. */
export const attemptMetadata = z.object({ order_id: z.string() });

/** The body of POST /api/subscriptions/cancel. */
export const cancelSubscriptionRequest = z.object({ at_period_end: z.boolean() });

/** A valid request, or zod's flattened error. */
export type Parsed<T> = { ok: true; request: T } | { ok: false; details: unknown };

export function parseRequest<T>(schema: z.ZodType<T>, body: unknown): Parsed<T> {
  const result = schema.safeParse(body);
  return result.success ? { ok: true, request: result.data } : { ok: false, details: z.flattenError(result.error) };
}
