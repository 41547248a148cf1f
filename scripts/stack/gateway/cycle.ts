import { z } from 'zod';
import { deliverOptions } from './deliver-options.ts';
import type { Subscription } from './entities.ts';
import { subscriptionRequest } from './subscription.ts';

/** The body of `POST /simulate/cycle`: ends the cycle of a subscription, with a charge that succeeds or fails. */
export const cycleRequest = z.strictObject({
  subscription_id: z.string(),
  outcome: z.enum(['charged', 'pending', 'halted']).default('charged'),
  ...subscriptionRequest.pick({ created_at: true, amount: true, payment_events: true, irregular: true }).shape,
  deliver: deliverOptions.default({}),
});

/**
 * The event at the end of a cycle: a pending cancellation, else completion after the last cycle, else the requested
 * outcome.
 */
export function endOfCycle(
  { total_count, paid_count }: Subscription,
  isEnding: boolean,
  outcome: z.infer<typeof cycleRequest>['outcome'],
): 'cancelled' | 'completed' | z.infer<typeof cycleRequest>['outcome'] {
  if (isEnding) return 'cancelled';
  return paid_count >= total_count ? 'completed' : outcome;
}
