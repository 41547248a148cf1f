import { z } from 'zod';

/**
 * Irregular bodies of webhooks: the field `irregular` of each request that sends webhooks. The real gateway sends each
 * of them in some case. - `created_at`: missing in the envelope, or inside `payload` - `contains`: names only the first
 * entity - `key_order`: keys sorted or reversed, at every level - `order_id`: null in the payment - `captured`: text or
 * a flag in the payment, independent of its status - `error_description`: `""` or text in a payment that did not fail
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
