import { z } from 'zod';
import type { Timed } from './clock.ts';
import { deliverOptions } from './deliver-options.ts';
import type { Subscription } from './entities.ts';
import { SUBSCRIPTION_EVENTS } from './event-names.ts';
import { newId } from './id.ts';
import { irregular } from './irregular.ts';
import { newSubscription } from './new-subscription.ts';
import { emptyAsList, notesRequest } from './pay.ts';

const CYCLE_SECONDS = 30 * 24 * 60 * 60;
/** After this many failed charges of a cycle the gateway halts the subscription. */
const MAX_ATTEMPTS = 4;

const STATUS_AFTER = {
  authenticated: 'authenticated',
  activated: 'active',
  charged: 'active',
  pending: 'pending',
  halted: 'halted',
  cancelled: 'cancelled',
  paused: 'paused',
  resumed: 'active',
  completed: 'completed',
} as const;

const seconds = z.int().min(0);

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
  created_at: seconds.optional(),
  /** The amount of a charge, in minor units. */
  amount: z.int().min(100).default(49900),
  /** A charge also sends the events of its payment: `payment.authorized`, `payment.captured`, `order.paid`. */
  payment_events: z.boolean().default(false),
  irregular: irregular.default({}),
  deliver: deliverOptions.default({}),
});

export type SubscriptionRequest = z.infer<typeof subscriptionRequest>;

/**
 * The subscription after an event. If the request sets no period, an activation starts the first one, and the beginning
 * of a cycle starts the next one: a further charge, or the first failed charge. A charge after failed ones pays the
 * same cycle.
 */
export function advanceSubscription(
  before: Subscription | undefined,
  request: Timed<SubscriptionRequest>,
): Subscription {
  const { event, created_at: at } = request;
  const known = before ?? newSubscription(request.subscription_id ?? newId('sub'), at);
  const charged = event === 'charged';
  const fails = event === 'pending' || event === 'halted';
  const starts = known.current_end === null && (charged || event === 'activated');
  const renews = known.auth_attempts === 0 && known.paid_count > 0 && (charged || fails);
  const [start, end] = renews || starts
    ? [known.current_end ?? at, (known.current_end ?? at) + CYCLE_SECONDS]
    : [known.current_start, known.current_end];
  const { current_start = start, current_end = end } = request;
  const ended = event === 'cancelled' || event === 'completed';
  const paid_count = known.paid_count + (charged ? 1 : 0);
  const total_count = request.total_count ?? known.total_count;
  const start_at = known.start_at ?? current_start;
  return {
    ...known,
    status: event === 'updated' ? known.status : STATUS_AFTER[event],
    plan_id: request.plan_id ?? known.plan_id,
    notes: notesAfter(known, request),
    current_start,
    current_end,
    start_at,
    end_at: start_at === null ? null : start_at + total_count * CYCLE_SECONDS,
    charge_at: ended || event === 'paused' ? null : current_end,
    ended_at: ended ? at : known.ended_at,
    auth_attempts: attemptsAfter(known, event),
    paid_count,
    total_count,
    remaining_count: Math.max(0, total_count - paid_count),
  };
}

function attemptsAfter({ auth_attempts }: Subscription, event: SubscriptionRequest['event']): number {
  if (event === 'pending') return auth_attempts + 1;
  if (event === 'halted') return MAX_ATTEMPTS;
  return event === 'charged' || event === 'activated' ? 0 : auth_attempts;
}

function notesAfter(known: Subscription, { user_id, notes }: SubscriptionRequest): Subscription['notes'] {
  if (user_id === undefined && notes === undefined) return known.notes;
  const kept = notes ?? {};
  return emptyAsList(typeof user_id === 'string' ? { ...kept, user_id } : kept);
}
