import { z } from 'zod';
import { deliverOptions } from './deliver-options.ts';
import type { Subscription } from './entities.ts';
import { subscriptionRequest } from './subscription.ts';

/** The body of `POST /simulate/cycle`: the end of a subscription's cycle comes, and with it a charge that goes well or fails. */
export const cycleRequest = z.strictObject({
  subscription_id: z.string(),
  outcome: z.enum(['charged', 'pending', 'halted']).default('charged'),
  ...subscriptionRequest.pick({ created_at: true, amount: true, payment_events: true, irregular: true }).shape,
  deliver: deliverOptions.default({}),
});

/**
 * What the end of the cycle brings: the cancellation that was put off until now, completion after the last of the cycles,
 * else the outcome asked for.
 */
export function endOfCycle(
  { total_count, paid_count }: Subscription,
  isEnding: boolean,
  outcome: z.infer<typeof cycleRequest>['outcome'],
): 'cancelled' | 'completed' | z.infer<typeof cycleRequest>['outcome'] {
  if (isEnding) return 'cancelled';
  return paid_count >= total_count ? 'completed' : outcome;
}
