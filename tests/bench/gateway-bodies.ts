/**
 * Bodies of the gateway's webhooks, made with the simulator's builders: as large as real ones, with new ids each time.
 */
import type { Payment, Subscription } from '../../scripts/stack/gateway/entities.ts';
import { eventBody } from '../../scripts/stack/gateway/events.ts';
import { createGatewayStore, newId, newSubscription } from '../../scripts/stack/gateway/store.ts';

/** Price of the plan `pro` in minor units. */
export const proPrice = 99_900;

/** `gateway_plan_id` of the plan `pro` in the benchmarks. */
export const proGatewayPlanId = 'plan_BenchPro000001';

/** A user with a subscription that the gateway bills. */
export type Subscriber = { readonly userId: string; readonly gatewaySubscriptionId: string };

/** A captured payment of a new order with the price of `pro`. */
export function newCapturedPayment(): Payment & { readonly order_id: string } {
  const store = createGatewayStore();
  const at = now();
  const order = store.createOrder({ amount: proPrice, currency: 'INR', receipt: null, notes: [] }, at);
  return { ...store.capture(store.attempt(order, [], at)).payment, order_id: order.id };
}

/** `payment.captured`. */
export function capturedBody(payment: Payment): string {
  return eventBody('payment.captured', { payment }, { createdAt: now(), irregular: {} });
}

/** An event with a payment and a type that is not handled. */
export function ignoredBody(): string {
  return eventBody('payment.authorized', { payment: newCapturedPayment() }, { createdAt: now(), irregular: {} });
}

/** `subscription.activated` of the plan `pro`. @param at start of the period and time of the event, Unix seconds */
export function activatedBody(subscriber: Subscriber, at: number): string {
  const subscription = subscriptionOf(subscriber, at);
  return eventBody('subscription.activated', { subscription }, { createdAt: at, irregular: {} });
}

/**
 * Charges subscribers in turn.
 * @returns the body of the next `subscription.charged`
 */
export function createBilling(subscribers: readonly Subscriber[]): () => string {
  const nextRound = createBillingClock();
  let turn = 0;
  let at = 0;
  return () => {
    const subscriber = subscribers[turn % subscribers.length];
    if (subscriber === undefined) throw new Error('no subscribers');
    if (turn % subscribers.length === 0) at = nextRound();
    turn += 1;
    return chargedBody(subscriber, at);
  };
}

/**
 * Returns the time of the next charges of all subscribers, in Unix seconds: never before now, and at least a second
 * after the last time, so that each event of a subscription is newer than the previous one.
 */
export function createBillingClock(): () => number {
  let at = 0;
  return () => at = Math.max(at, now()) + 1;
}

/** `subscription.charged` with its payment. @param at start of the period and time of the event, Unix seconds */
export function chargedBody(subscriber: Subscriber, at: number): string {
  const payment: Payment = {
    ...newCapturedPayment(),
    invoice_id: newId('inv'),
    description: 'Recurring Payment via Subscription',
  };
  const subscription = subscriptionOf(subscriber, at);
  return eventBody('subscription.charged', { subscription, payment }, { createdAt: at, irregular: { captured: '1' } });
}

/** Length of a period that the gateway bills, in seconds. */
export const periodSeconds = 30 * 24 * 3600;

function subscriptionOf({ userId, gatewaySubscriptionId }: Subscriber, at: number): Subscription {
  return {
    ...newSubscription(gatewaySubscriptionId, at),
    plan_id: proGatewayPlanId,
    status: 'active',
    current_start: at,
    current_end: at + periodSeconds,
    charge_at: at + periodSeconds,
    notes: { user_id: userId },
  };
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
