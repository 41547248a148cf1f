import { z } from 'zod';
import type { Subscription } from '../entities.ts';
import { gatewayError } from '../errors.ts';
import type { GatewayStore, SubscriptionUpdate } from '../store.ts';
import { usePlan } from './plans.ts';
import { eventRequest } from './subscription-requests.ts';
import { type MovedSubscription, moveSubscription } from './subscriptions.ts';

const count = z.int().min(1).max(1200).optional();

/** The body of `PATCH /v1/subscriptions/:id`. `customer_notify` has no effect here. */
export const changeRequest = z.strictObject({
  plan_id: z.string().min(1).optional(),
  quantity: count,
  remaining_count: count,
  schedule_change_at: z.enum(['now', 'cycle_end']).default('now'),
  customer_notify: z.union([z.boolean(), z.literal([0, 1, '0', '1'])]).optional(),
});

/**
 * Changes the plan, the quantity or the number of cycles, now or at the end of the cycle. The current cycle keeps its
 * price and its end.
 */
export function update(
  store: GatewayStore,
  subscription: Subscription,
  at: number,
  { schedule_change_at, customer_notify: _, ...changes }: z.infer<typeof changeRequest>,
): MovedSubscription | Response {
  const { id, status, current_end } = subscription;
  const billing = store.billing.get(id);
  if (Object.values(changes).every((value) => value === undefined)) {
    return gatewayError('The plan id field is required.', { field: 'plan_id' });
  }
  if (status !== 'authenticated' && status !== 'active') {
    return gatewayError(`Subscription can not be updated in ${status} status.`);
  }
  if (billing?.method !== 'card') {
    return gatewayError('Subscription can not be updated when the payment mode is UPI or e-mandate.');
  }
  if (changes.plan_id !== undefined) {
    const [before, after] = [usePlan(store, subscription.plan_id, at), usePlan(store, changes.plan_id, at)];
    if (before.period !== after.period || before.interval !== after.interval) {
      return gatewayError('The plan must have the period and interval of the current plan.', { field: 'plan_id' });
    }
  }
  if (schedule_change_at === 'now') {
    unschedule(store, subscription);
    return applyUpdate(store, subscription, at, changes);
  }
  if (current_end === null) {
    return gatewayError('No billing cycle of the subscription is running.', { field: 'schedule_change_at' });
  }
  store.billing.set(id, { ...billing, next: changes });
  const schedule = { has_scheduled_changes: true, change_scheduled_at: current_end };
  return { subscription: store.subscriptions.save({ ...subscription, ...schedule }), webhooks: [] };
}

/** Applies a change now. */
export function applyUpdate(
  store: GatewayStore,
  { id, total_count, remaining_count }: Subscription,
  at: number,
  { plan_id, quantity, remaining_count: left }: SubscriptionUpdate,
): MovedSubscription {
  const changed = store.subscriptions.find(id);
  if (changed !== undefined && quantity !== undefined) store.subscriptions.save({ ...changed, quantity });
  const total = left === undefined ? undefined : total_count - remaining_count + left;
  return moveSubscription(store, eventRequest('updated', id, at, { plan_id, total_count: total }));
}

/** The subscription as it will be after the change that waits for the end of the cycle. */
export function scheduled(store: GatewayStore, subscription: Subscription): Subscription | Response {
  const next = store.billing.get(subscription.id)?.next ?? null;
  if (next === null) return nothingScheduled();
  const { plan_id = subscription.plan_id, quantity = subscription.quantity } = next;
  return { ...subscription, plan_id, quantity, remaining_count: next.remaining_count ?? subscription.remaining_count };
}

/** Cancels the change that waits for the end of the cycle. */
export function cancelScheduled(store: GatewayStore, subscription: Subscription): MovedSubscription | Response {
  if (!subscription.has_scheduled_changes) return nothingScheduled();
  return { subscription: unschedule(store, subscription), webhooks: [] };
}

/** Forgets the change that waits, if any. */
export function unschedule(store: GatewayStore, subscription: Subscription): Subscription {
  const billing = store.billing.get(subscription.id);
  if (billing !== undefined) store.billing.set(subscription.id, { ...billing, next: null });
  return store.subscriptions.save({ ...subscription, has_scheduled_changes: false, change_scheduled_at: null });
}

function nothingScheduled(): Response {
  return gatewayError('The subscription has no scheduled changes.');
}
