import { z } from 'zod';

const verifyPaymentRequest = z.object({
  gateway_order_id: z.string(),
  gateway_payment_id: z.string(),
  gateway_signature: z.string(),
});

const createOrderRequest = z.object({ tier: z.string() });

const cancelSubscriptionRequest = z.object({ at_period_end: z.boolean() });

export type VerifyPaymentRequest = z.infer<typeof verifyPaymentRequest>;

/** A valid request, or zod's flattened error. */
export type Parsed<T> = { ok: true; request: T } | { ok: false; details: unknown };

/** Checks the body of POST /api/payments/verify. */
export function parseVerifyPaymentRequest(body: unknown): Parsed<VerifyPaymentRequest> {
  return parse(verifyPaymentRequest, body);
}

/** Checks the body of POST /api/payments/orders. */
export function parseCreateOrderRequest(body: unknown): Parsed<z.infer<typeof createOrderRequest>> {
  return parse(createOrderRequest, body);
}

/** Checks the body of POST /api/subscriptions/cancel. */
export function parseCancelSubscriptionRequest(body: unknown): Parsed<z.infer<typeof cancelSubscriptionRequest>> {
  return parse(cancelSubscriptionRequest, body);
}

function parse<T>(schema: z.ZodType<T>, body: unknown): Parsed<T> {
  const result = schema.safeParse(body);
  return result.success ? { ok: true, request: result.data } : { ok: false, details: z.flattenError(result.error) };
}
