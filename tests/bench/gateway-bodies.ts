/** Bodies of the gateway's webhooks: complete, with new ids each time, at the time of the machine. */
import { gatewayEvent, paymentCaptured, subscriptionEvent } from '../helpers/gateway/events.ts';
import { uniqueId } from '../helpers/records/records.ts';

/** Price of the plan `pro` in minor units. */
export const proPrice = 99_900;

/** `gateway_plan_id` of the plan `pro` in the benchmarks. */
export const proGatewayPlanId = 'plan_BenchPro000001';

/** A user with a subscription that the gateway bills. */
export type Subscriber = { readonly userId: string; readonly gatewaySubscriptionId: string };

/** The ids of a payment and its order, at the gateway. */
export type PaymentIds = { readonly id: string; readonly order_id: string };

/** A payment of a new order. */
export function newPaymentIds(): PaymentIds {
  return { id: uniqueId('pay'), order_id: uniqueId('order') };
}

/** `payment.captured` with the price of `pro`. */
export function capturedBody(payment: PaymentIds): string {
  return paymentCaptured({ ...payment, amount: proPrice }, { createdAt: iso(now()) });
}

/** An event with a payment and a type that is not handled. */
export function ignoredBody(): string {
  return gatewayEvent('payment.authorized', { payment: newPaymentIds() }, { createdAt: iso(now()) });
}

/** `subscription.activated` of the plan `pro`. @param at start of the period and time of the event, Unix seconds */
export function activatedBody(subscriber: Subscriber, at: number): string {
  return subscriptionEvent({ name: 'activated', ...cycle(subscriber, at) });
}

/** `subscription.cancelled` at the end of its period. @param at start of the period, Unix seconds */
export function cancelledBody(subscriber: Subscriber, at: number): string {
  return subscriptionEvent({ name: 'cancelled', ...cycle(subscriber, at), createdAt: iso(at + periodSeconds) });
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

/**
 * `subscription.charged` with its payment.
 * @param at start of the period and time of the event, Unix seconds
 * @param paidCount how many cycles were paid, with this one; the second and each later one is a renewal
 */
export function chargedBody(subscriber: Subscriber, at: number, paidCount = 1): string {
  const { fields, ...rest } = cycle(subscriber, at);
  return subscriptionEvent({
    name: 'charged',
    ...rest,
    fields: { ...fields, paid_count: paidCount },
    payment: {
      ...newPaymentIds(),
      amount: proPrice,
      invoice_id: uniqueId('inv'),
      description: 'Recurring Payment via Subscription',
    },
    irregular: { captured: '1' },
  });
}

/** Length of a period that the gateway bills, in seconds. */
export const periodSeconds = 30 * 24 * 3600;

function cycle({ userId, gatewaySubscriptionId }: Subscriber, at: number) {
  const [start, end] = [iso(at), iso(at + periodSeconds)];
  return {
    userId,
    id: gatewaySubscriptionId,
    planId: proGatewayPlanId,
    start,
    end,
    createdAt: start,
    fields: { charge_at: at + periodSeconds },
  };
}

function iso(at: number): string {
  return new Date(at * 1000).toISOString();
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
