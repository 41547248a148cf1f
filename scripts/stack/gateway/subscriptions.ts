import { z } from 'zod';
import type { Timed } from './clock.ts';
import { notesRequest, type Payment, type Subscription } from './entities.ts';
import { gatewayError, unknownId } from './errors.ts';
import { createWebhook, eventFields, SUBSCRIPTION_EVENTS, type Webhook } from './events.ts';
import { movePayment } from './payments.ts';
import { type GatewayStore, newId, newSubscription } from './store.ts';

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
  /** The amount of a charge, in minor units. */
  amount: z.int().min(100).default(49900),
  /** A charge also sends the events of its payment: `payment.authorized`, `payment.captured`, `order.paid`. */
  payment_events: z.boolean().default(false),
  ...eventFields,
});

type SubscriptionRequest = Timed<z.infer<typeof subscriptionRequest>>;

/** The body of `POST /simulate/cycle`: ends the cycle of a subscription, with a charge that succeeds or fails. */
export const cycleRequest = z.strictObject({
  subscription_id: z.string(),
  outcome: z.enum(['charged', 'pending', 'halted']).default('charged'),
  ...subscriptionRequest.pick({ amount: true, payment_events: true }).shape,
  ...eventFields,
});

/** The subscription after an event, and its webhooks in the order of the events. */
type MovedSubscription = { subscription: Subscription; webhooks: Webhook[] };

/**
 * Ends the cycle of a subscription: by its pending cancellation, else completes it after its last cycle, else applies
 * the requested outcome.
 */
export function endCycle(
  store: GatewayStore,
  { outcome, ...request }: Timed<z.infer<typeof cycleRequest>>,
): MovedSubscription | Response {
  const subscription = store.subscriptions.find(request.subscription_id);
  if (subscription === undefined) return unknownId('subscription_id');
  const { id, status, paid_count, total_count } = subscription;
  if (status === 'cancelled' || status === 'completed') {
    return gatewayError(`A subscription that is ${status} has no further cycle.`, { field: 'subscription_id' });
  }
  const paidEvent = paid_count >= total_count ? 'completed' : outcome;
  return moveSubscription(store, { ...request, event: store.endingWithCycle.has(id) ? 'cancelled' : paidEvent });
}

/** Applies an event to a subscription. */
export function moveSubscription(store: GatewayStore, request: SubscriptionRequest): MovedSubscription {
  const { event } = request;
  const before = store.subscriptions.find(request.subscription_id);
  const subscription = advance(before, request);
  // A cancellation is final: a later event is sent, but does not change the entity.
  if (before?.status !== 'cancelled') store.subscriptions.save(subscription);
  if (event === 'cancelled' || event === 'completed') store.endingWithCycle.delete(subscription.id);
  const paid = event === 'charged' ? charge(store, subscription.id, request) : undefined;
  const payment = event === 'completed' ? store.payments.find(store.charges.get(subscription.id)) : paid?.payment;
  // In webhooks of subscriptions `captured` is text, in others a flag.
  const irregular = { captured: payment === undefined ? undefined : '1' as const, ...request.irregular };
  const about = createWebhook(`subscription.${event}`, { subscription, payment }, { ...request, irregular });
  return { subscription, webhooks: [...paid?.webhooks ?? [], about] };
}

/** Creates the payment of a cycle, on a new order. */
function charge(
  store: GatewayStore,
  subscriptionId: string,
  request: SubscriptionRequest,
): { payment: Payment; webhooks: Webhook[] } {
  const { amount, payment_events, created_at } = request;
  const order = store.createOrder({ amount, currency: 'INR', receipt: null, notes: [] }, created_at);
  const created = store.payments.save({
    ...store.attempt(order, [], created_at),
    invoice_id: newId('inv'),
    description: 'Recurring Payment via Subscription',
  });
  const moved = movePayment(store, created, 'captured', request);
  if (moved instanceof Response) throw new Error('a new order refuses its payment');
  store.charges.set(subscriptionId, moved.payment.id);
  return { payment: moved.payment, webhooks: payment_events ? moved.webhooks : [] };
}

/**
 * The subscription after an event. If the request sets no period, an activation starts the first one, and the beginning
 * of a cycle starts the next one: a further charge, or the first failed charge. A charge after failed ones pays the
 * same cycle.
 */
function advance(before: Subscription | undefined, request: SubscriptionRequest): Subscription {
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
  return typeof user_id === 'string' ? { ...notes, user_id } : notes ?? [];
}
