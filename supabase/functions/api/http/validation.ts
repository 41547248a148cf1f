import { z } from 'zod';

/** The body of POST /api/payments/verify. */
export const verifyPaymentRequest = z.object({
  gateway_order_id: z.string(),
  gateway_payment_id: z.string(),
  gateway_signature: z.string(),
});

/** The metadata in the form of a failed attempt. */
export const attemptMetadata = z.object({ order_id: z.string() });

/** The body of POST /api/payments/orders and POST /api/subscriptions. */
export const orderRequest = z.object({ tier: z.string() });

/** The body of POST /api/subscriptions/cancel. */
export const cancelSubscriptionRequest = z.object({ at_period_end: z.boolean() });

/** A valid request, or zod's flattened error. */
export type Parsed<T> = { ok: true; request: T } | { ok: false; details: unknown };

export function parseRequest<T>(schema: z.ZodType<T>, body: unknown): Parsed<T> {
  const result = schema.safeParse(body);
  return result.success ? { ok: true, request: result.data } : { ok: false, details: z.flattenError(result.error) };
}
