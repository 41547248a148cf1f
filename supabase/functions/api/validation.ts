import { z } from 'zod';

const verifyPaymentRequest = z.object({
  gateway_order_id: z.string(),
  gateway_payment_id: z.string(),
  gateway_signature: z.string(),
});

export type VerifyPaymentRequest = z.infer<typeof verifyPaymentRequest>;

/** Checks the body of POST /api/payments/verify (SPEC 4); `details` is zod's flattened error. */
export function parseVerifyPaymentRequest(body: unknown):
  | { ok: true; request: VerifyPaymentRequest }
  | { ok: false; details: unknown } {
  const result = verifyPaymentRequest.safeParse(body);
  return result.success ? { ok: true, request: result.data } : { ok: false, details: z.flattenError(result.error) };
}
