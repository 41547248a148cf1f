import { z } from 'zod';
import { deliverOptions } from './gateway-simulator-deliver-options.ts';
import type { Subscription } from './gateway-simulator-entities.ts';
import { SUBSCRIPTION_EVENTS } from './gateway-simulator-event-names.ts';
import { newId } from './gateway-simulator-id.ts';

const CYCLE_SECONDS = 30 * 24 * 60 * 60;
const CYCLES = 12;

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
 * The body of `POST /simulate/subscription`. Without `subscription_id` a new subscription is made, with an unknown one a
 * subscription of that id. `created_at` is the event's own time; all times are Unix seconds.
 */
export const subscriptionRequest = z.strictObject({
  event: z.enum(SUBSCRIPTION_EVENTS),
  subscription_id: z.string().min(1).optional(),
  user_id: z.string().nullable().optional(),
  plan_id: z.string().optional(),
  current_start: seconds.nullable().optional(),
  current_end: seconds.nullable().optional(),
  created_at: seconds.optional(),
  /** What a `charged` took, in minor units. */
  amount: z.int().min(100).default(49900),
  deliver: deliverOptions.default({}),
});

export type SubscriptionRequest = z.infer<typeof subscriptionRequest>;

/** The subscription as it is after the event. Where the request sets no period, activation starts one and a further charge moves it on. */
export function advanceSubscription(before: Subscription | undefined, request: SubscriptionRequest): Subscription {
  const at = request.created_at ?? Math.floor(Date.now() / 1000);
  const known = before ?? newSubscription(request.subscription_id ?? newId('sub'), at);
  const charged = request.event === 'charged';
  const renews = charged && known.paid_count > 0;
  const starts = known.current_end === null && (charged || request.event === 'activated');
  const [start, end] = renews || starts
    ? [known.current_end ?? at, (known.current_end ?? at) + CYCLE_SECONDS]
    : [known.current_start, known.current_end];
  const { current_start = start, current_end = end } = request;
  const ended = request.event === 'cancelled' || request.event === 'completed';
  const paid_count = known.paid_count + (charged ? 1 : 0);
  return {
    ...known,
    status: request.event === 'updated' ? known.status : STATUS_AFTER[request.event],
    plan_id: request.plan_id ?? known.plan_id,
    notes: request.user_id === undefined ? known.notes : request.user_id === null ? [] : { user_id: request.user_id },
    current_start,
    current_end,
    start_at: known.start_at ?? current_start,
    charge_at: ended ? null : current_end,
    ended_at: ended ? at : known.ended_at,
    paid_count,
    remaining_count: Math.max(0, known.total_count - paid_count),
  };
}

function newSubscription(id: string, at: number): Subscription {
  return {
    id,
    entity: 'subscription',
    plan_id: newId('plan'),
    customer_id: newId('cust'),
    status: 'created',
    current_start: null,
    current_end: null,
    ended_at: null,
    quantity: 1,
    notes: [],
    charge_at: null,
    start_at: null,
    end_at: null,
    auth_attempts: 0,
    total_count: CYCLES,
    paid_count: 0,
    remaining_count: CYCLES,
    customer_notify: true,
    created_at: at,
    expire_by: null,
    short_url: null,
    has_scheduled_changes: false,
    change_scheduled_at: null,
    source: 'api',
  };
}
