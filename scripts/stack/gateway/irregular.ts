import { z } from 'zod';

/**
 * How a webhook's body departs from the regular one, on demand, in the `irregular` field of what makes webhooks. The real
 * gateway does each of these somewhere:
 * - `created_at`: the envelope's is left out, or stands inside `payload`;
 * - `contains`: names the first entity alone;
 * - `key_order`: the keys sorted or reversed, at every level;
 * - `order_id`: null in the payment;
 * - `captured`: the payment's, as text or as a flag, whatever its status is;
 * - `error_description`: the payment's, `""` or text though nothing failed.
 */
export const irregular = z.strictObject({
  created_at: z.enum(['missing', 'in_payload']).optional(),
  contains: z.literal('incomplete').optional(),
  key_order: z.enum(['sorted', 'reversed']).optional(),
  order_id: z.null().optional(),
  captured: z.union([z.boolean(), z.enum(['0', '1'])]).optional(),
  error_description: z.string().nullable().optional(),
});

export type Irregular = z.infer<typeof irregular>;
