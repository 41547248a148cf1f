import { z } from 'zod';
import type { Subscription } from '../entities.ts';
import { unknownId } from '../errors.ts';
import type { Webhook } from '../events.ts';
import type { Billing, GatewayStore } from '../store.ts';
import { eventRequest, type SubscriptionRequest } from './subscription-requests.ts';
import { applyUpdate, unschedule } from './subscription-updates.ts';
import { cycleFrom, MAX_ATTEMPTS } from './subscription-states.ts';
import { finalEvent, type MovedSubscription, moveSubscription } from './subscriptions.ts';

/**
 * The body of `POST /simulate/subscription-fault`. `fail`: the next charges of a subscription fail, `times` of them or
 * all; a retry is a charge, too. `succeed`: they succeed again.
 */
export const subscriptionFaultRequest = z.strictObject({
  subscription_id: z.string(),
  charges: z.enum(['fail', 'succeed']),
  times: z.int().min(1).optional(),
});

/**
 * The body of `POST /simulate/debit`: how many hours before its start a further cycle is charged, at the real gateway up
 * to 36. A cancellation at the end of the cycle that comes after that charge ends the subscription a cycle later.
 */
export const debitRequest = z.strictObject({ hours_before: z.number().min(0).max(36) });

/** Sets when further cycles are charged, of all subscriptions that bill themselves. */
export function setDebit(store: GatewayStore, { hours_before }: z.infer<typeof debitRequest>) {
  store.debit.current = Math.round(hours_before * 3600);
  return { hours_before };
}

/** Lets the next charges of a subscription fail or succeed. A subscription that bills itself only. */
export function setSubscriptionFault(
  store: GatewayStore,
  { subscription_id, charges, times }: z.infer<typeof subscriptionFaultRequest>,
) {
  const billing = store.billing.get(subscription_id);
  if (billing === undefined) return unknownId('subscription_id');
  const failures: Billing['failures'] = charges === 'fail' ? times ?? 'all' : 0;
  store.billing.set(subscription_id, { ...billing, failures });
  return { subscription_id, failing_charges: failures };
}

/**
 * Makes everything happen that is due at a time, Unix seconds: charges, retries, ends and expiries, each at its own
 * time and in the order of the times. @returns the webhooks, and the subscription that each list is about
 */
export function settleDue(store: GatewayStore, now: number): { subscription: Subscription; webhooks: Webhook[] }[] {
  const settled = [];
  for (let next = nextDue(store, now); next !== undefined; next = nextDue(store, now)) {
    const { subscription, at } = next;
    settled.push({ subscription, webhooks: settle(store, subscription, at) });
  }
  return settled;
}

/** The subscription that is due first, by a time in Unix seconds, and when it is due. */
export function nextDue(store: GatewayStore, now: number): { subscription: Subscription; at: number } | undefined {
  let first: { subscription: Subscription; at: number } | undefined;
  for (const id of store.billing.keys()) {
    const subscription = store.subscriptions.find(id);
    const at = subscription && dueAt(store, subscription);
    if (subscription && typeof at === 'number' && at <= now && at < (first?.at ?? Infinity)) {
      first = { subscription, at };
    }
  }
  return first;
}

function dueAt(store: GatewayStore, subscription: Subscription): number | null {
  const { status, expire_by, charge_at, current_start, current_end } = subscription;
  switch (status) {
    case 'created':
      return expire_by;
    case 'active':
      // The cycle that was charged early begins before the next one is charged.
      if (charge_at === null || finalEvent(store, subscription) !== undefined) return charge_at;
      return Math.max(charge_at - store.debit.current, current_start ?? 0);
    case 'authenticated':
    case 'pending':
      return charge_at;
    case 'halted':
    case 'paused':
      return current_end;
    default:
      return null;
  }
}

function settle(store: GatewayStore, subscription: Subscription, at: number): Webhook[] {
  const { id, status } = subscription;
  if (status === 'created') {
    store.subscriptions.save({ ...subscription, status: 'expired' });
    return [];
  }
  if (status === 'pending') return charge(store, subscription, at);
  if (status === 'authenticated') return charge(store, subscription, at, nextCycle(store, subscription, at));
  const ends = finalEvent(store, subscription);
  if (ends !== undefined) return moveSubscription(store, eventRequest(ends, id, at)).webhooks;
  const changed = applyNext(store, subscription, at);
  const period = nextCycle(store, changed.subscription, subscription.current_end ?? at);
  if (status === 'active') return [...changed.webhooks, ...charge(store, changed.subscription, at, period)];
  // A cycle that begins while the subscription is halted or paused is never charged, and has no event.
  moveSubscription(store, eventRequest('updated', id, at, period));
  return changed.webhooks;
}

/** The cycle of a subscription that begins at a time, Unix seconds. */
export function nextCycle(store: GatewayStore, subscription: Subscription, at: number) {
  return cycleFrom(subscription, at, store.plans.find(subscription.plan_id));
}

/** Applies the change that waits for the end of the cycle. */
function applyNext(
  store: GatewayStore,
  subscription: Subscription,
  at: number,
): Pick<MovedSubscription, 'subscription' | 'webhooks'> {
  const billing = store.billing.get(subscription.id);
  if (billing === undefined || billing.next === null) return { subscription, webhooks: [] };
  unschedule(store, subscription);
  return applyUpdate(store, subscription, at, billing.next);
}

type ChargeFields = Partial<Pick<SubscriptionRequest, 'current_start' | 'current_end' | 'irregular'>>;

/** Tries to charge a cycle: the current one, or the one that begins. After four failures the subscription is halted. */
export function charge(
  store: GatewayStore,
  subscription: Subscription,
  at: number,
  fields: ChargeFields = {},
): Webhook[] {
  const { id, auth_attempts } = subscription;
  const billing = store.billing.get(id);
  if (billing === undefined || billing.failures === 0) return collect(store, subscription, at, fields).webhooks;
  if (billing.failures !== 'all') store.billing.set(id, { ...billing, failures: billing.failures - 1 });
  const event = auth_attempts + 1 < MAX_ATTEMPTS ? 'pending' : 'halted';
  return moveSubscription(store, eventRequest(event, id, at, { ...fields, payment_events: true })).webhooks;
}

/** Charges a cycle, without a failure. The first charge of a subscription activates it. */
export function collect(
  store: GatewayStore,
  { id, paid_count }: Subscription,
  at: number,
  fields: ChargeFields = {},
): MovedSubscription {
  const charged = moveSubscription(store, eventRequest('charged', id, at, { ...fields, payment_events: true }));
  if (paid_count > 0) return charged;
  const { irregular = {} } = fields;
  const activated = moveSubscription(store, eventRequest('activated', id, at, { irregular }), charged.payment);
  const [paid, last] = [charged.webhooks.slice(0, -1), charged.webhooks.slice(-1)];
  return { ...charged, subscription: activated.subscription, webhooks: [...paid, ...activated.webhooks, ...last] };
}
