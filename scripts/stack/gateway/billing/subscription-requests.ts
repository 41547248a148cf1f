import { z } from 'zod';
import type { Timed } from '../clock.ts';
import { notesRequest } from '../notes.ts';
import { eventFields, SUBSCRIPTION_EVENTS } from '../events.ts';

/** The last second that a date can show with a year of four digits. */
const MAX_SECONDS = 253_402_300_799;
const seconds = z.int().min(0).max(MAX_SECONDS);

/**
 * The body of `POST /simulate/subscription`. Without `subscription_id` it creates a subscription, with an unknown id
 * one with that id. `created_at` is the time of the event; all times are Unix seconds. `deliver: {drop: true}` changes
 * the subscription without a webhook, so that only a read of the API shows the change.
 */
export const subscriptionRequest = z.strictObject({
  event: z.enum(SUBSCRIPTION_EVENTS),
  subscription_id: z.string().min(1).optional(),
  user_id: z.string().nullable().optional(),
  /** Further notes beside the user's id. */
  notes: notesRequest.optional(),
  plan_id: z.string().optional(),
  current_start: seconds.nullable().optional(),
  current_end: seconds.nullable().optional(),
  total_count: z.int().min(1).optional(),
  /** The amount of a charge, in minor units; default: the price of the plan, or 49900 without a known plan. */
  amount: z.int().min(100).optional(),
  /**
   * A charge also sends the events of its payment: `payment.authorized`, `payment.captured`, `order.paid`. A failed
   * charge also has a failed payment, and sends `payment.failed`.
   */
  payment_events: z.boolean().default(false),
  ...eventFields,
});

export type SubscriptionRequest = Timed<z.infer<typeof subscriptionRequest>>;

/** The body of `POST /simulate/cycle`: ends the cycle of a subscription, with a charge that succeeds or fails. */
export const cycleRequest = z.strictObject({
  subscription_id: z.string(),
  outcome: z.enum(['charged', 'pending', 'halted']).default('charged'),
  ...subscriptionRequest.pick({ amount: true, payment_events: true }).shape,
  ...eventFields,
});

/** An event of the gateway itself, which no control requested. `created_at`: Unix seconds. */
export function eventRequest(
  event: SubscriptionRequest['event'],
  subscription_id: string,
  created_at: number,
  fields: Partial<SubscriptionRequest> = {},
): SubscriptionRequest {
  return { ...subscriptionRequest.parse({ event, subscription_id }), ...fields, created_at };
}
