import { type Cycle, cyclesBefore, endOfCycle, endOfCycleFrom } from './cycles.ts';
import type { Plan, Subscription } from '../entities.ts';
import { newId } from '../new-id.ts';
import { newSubscription } from '../store.ts';
import type { SubscriptionRequest } from './subscription-requests.ts';

/** After this many failed charges of a cycle the gateway halts the subscription. */
export const MAX_ATTEMPTS = 4;
const RETRY_SECONDS = 24 * 60 * 60;

/** The cycle of a subscription whose plan the gateway does not know. */
const THIRTY_DAYS: Cycle = { period: 'daily', interval: 30 };

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

/** The cycle that begins at a time, Unix seconds. */
export function cycleFrom(
  { start_at }: Pick<Subscription, 'start_at'>,
  start: number,
  plan: Cycle = THIRTY_DAYS,
): { current_start: number; current_end: number } {
  return { current_start: start, current_end: endOfCycleFrom(plan, start_at ?? start, start) };
}

/**
 * The subscription after an event. If the request sets no period, an activation starts the first one, and the beginning
 * of a cycle starts the next one: a further charge, or the first failed charge. A charge after failed ones pays the
 * same cycle. `plan`: undefined for a plan that the gateway does not know.
 */
export function advance(
  before: Subscription | undefined,
  request: SubscriptionRequest,
  plan: Plan | undefined,
): Subscription {
  const { event, created_at: at } = request;
  const known = before ?? newSubscription(request.subscription_id ?? newId('sub'), at);
  const charged = event === 'charged';
  const fails = event === 'pending' || event === 'halted';
  const starts = known.current_end === null && (charged || event === 'activated');
  const renews = known.auth_attempts === 0 && known.paid_count > 0 && (charged || fails);
  const period = renews || starts ? cycleFrom(known, known.current_end ?? at, plan) : known;
  const { current_start = period.current_start, current_end = period.current_end } = request;
  const ended = event === 'cancelled' || event === 'completed';
  const status = event === 'updated' ? known.status : STATUS_AFTER[event];
  const paid_count = known.paid_count + (charged ? 1 : 0);
  const total_count = request.total_count ?? known.total_count;
  const start_at = known.start_at ?? current_start;
  const begun = plan === undefined || start_at === null || current_end === null
    ? paid_count
    : cyclesBefore(plan, start_at, current_end);
  return {
    ...known,
    status,
    plan_id: request.plan_id ?? known.plan_id,
    notes: notesAfter(known, request),
    current_start,
    current_end,
    start_at,
    end_at: start_at === null ? null : endOfCycle(plan ?? THIRTY_DAYS, start_at, total_count),
    charge_at: event === 'pending' ? at + RETRY_SECONDS : chargeAfter(status, known, current_end ?? start_at),
    ended_at: ended ? at : known.ended_at,
    auth_attempts: attemptsAfter(known, event),
    paid_count,
    total_count,
    remaining_count: Math.max(0, total_count - begun),
  };
}

function chargeAfter(status: Subscription['status'], { charge_at }: Subscription, next: number | null): number | null {
  if (status === 'pending') return charge_at;
  return status === 'cancelled' || status === 'completed' || status === 'paused' ? null : next;
}

function attemptsAfter({ auth_attempts }: Subscription, event: SubscriptionRequest['event']): number {
  if (event === 'pending') return auth_attempts + 1;
  if (event === 'halted') return MAX_ATTEMPTS;
  return event === 'charged' || event === 'activated' ? 0 : auth_attempts;
}

function notesAfter(known: Subscription, { user_id, notes }: SubscriptionRequest): Subscription['notes'] {
  if (user_id === undefined && notes === undefined) return known.notes;
  return typeof user_id === 'string' ? { ...notes, user_id } : notes ?? [];
}
