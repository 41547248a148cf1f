import { z } from 'zod';
import { charge } from './charges.ts';
import type { Timed } from '../clock.ts';
import { method, type Subscription } from '../entities.ts';
import { gatewayError, unknownId } from '../errors.ts';
import { eventFields } from '../events.ts';
import type { GatewayStore } from '../store.ts';
import { eventRequest } from './subscription-requests.ts';
import { isFinal, type MovedSubscription, moveSubscription } from './subscriptions.ts';

/** The body of `POST /simulate/update-method`: the customer replaces the card, or changes to another method. */
export const updateMethodRequest = z.strictObject({
  subscription_id: z.string(),
  method: method.optional(),
  ...eventFields,
});

/** A change that a call of the API makes. `at`: Unix seconds. */
type Change = (store: GatewayStore, subscription: Subscription, at: number) => MovedSubscription | Response;

/** Pauses an active subscription: the cycles that begin until `resume` are never charged. */
export const pause: Change = (store, { id, status }, at) =>
  status === 'active' ? moveSubscription(store, eventRequest('paused', id, at)) : refuse('can not be paused', status);

/** Resumes a paused subscription, without a charge of its current cycle. */
export const resume: Change = (store, { id, status }, at) =>
  status === 'paused' ? moveSubscription(store, eventRequest('resumed', id, at)) : refuse('can not be resumed', status);

/** Cancels at once. */
export const cancel: Change = (store, subscription, at) =>
  isFinal(subscription)
    ? refuse('is not cancellable', subscription.status)
    : moveSubscription(store, eventRequest('cancelled', subscription.id, at));

/** Notes a cancellation at the end of the cycle, which no field of the entity shows. */
export const cancelAtCycleEnd: Change = (store, subscription) => {
  if (isFinal(subscription)) return refuse('is not cancellable', subscription.status);
  if (subscription.current_end === null) return noCycle('cancel_at_cycle_end');
  store.endingWithCycle.set(subscription.id, true);
  return { subscription, webhooks: [] };
};

/**
 * The customer changes the method of payment, which ends the failures of charges. A halted subscription is active again
 * without a charge, and a pending one pays its open cycle.
 */
export function updateMethod(
  store: GatewayStore,
  { subscription_id: id, method: next, created_at: at, irregular }: Timed<z.infer<typeof updateMethodRequest>>,
): MovedSubscription | Response {
  const billing = store.billing.get(id);
  const subscription = store.subscriptions.find(id);
  if (billing === undefined || subscription === undefined) return unknownId('subscription_id');
  const { status } = subscription;
  if (status === 'created' || isFinal(subscription)) return refuse('has no method to change', status);
  store.billing.set(id, { ...billing, method: next ?? billing.method, failures: 0 });
  const { webhooks } = moveSubscription(store, eventRequest('updated', id, at, { irregular }));
  if (status === 'halted') {
    const activated = moveSubscription(store, eventRequest('activated', id, at, { irregular }));
    return { ...activated, webhooks: [...webhooks, ...activated.webhooks] };
  }
  if (status === 'pending') webhooks.push(...charge(store, subscription, at, { irregular }));
  return { subscription: store.subscriptions.find(id) ?? subscription, webhooks };
}

function refuse(what: string, status: Subscription['status']): Response {
  return gatewayError(`Subscription ${what} in ${status} status.`);
}

function noCycle(field: string): Response {
  return gatewayError('No billing cycle of the subscription is running.', { field });
}
