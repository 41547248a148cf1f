import type { z } from 'zod';
import type { Timed } from '../clock.ts';
import type { Payment, Plan, Subscription } from '../entities.ts';
import { gatewayError, unknownId } from '../errors.ts';
import { createWebhook, type Webhook } from '../events.ts';
import { movePayment } from '../payments.ts';
import { newId } from '../new-id.ts';
import type { GatewayStore } from '../store.ts';
import { billAddons } from './addons.ts';
import { issueInvoice } from './invoices.ts';
import type { cycleRequest, SubscriptionRequest } from './subscription-requests.ts';
import { advance } from './subscription-states.ts';

/** The amount of a charge without a known plan, in minor units. */
const DEFAULT_AMOUNT = 49900;
const DECLINED = {
  error_code: 'BAD_REQUEST_ERROR',
  error_description: 'The bank declined the payment.',
  error_reason: 'payment_failed',
};

/** The subscription after an event, its payment, and its webhooks in the order of the events. */
export type MovedSubscription = { subscription: Subscription; payment?: Payment | undefined; webhooks: Webhook[] };

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
  if (isFinal(subscription)) {
    const description = `A subscription that is ${subscription.status} has no further cycle.`;
    return gatewayError(description, { field: 'subscription_id' });
  }
  return moveSubscription(store, { ...request, event: finalEvent(store, subscription) ?? outcome });
}

/** True if no event can change the subscription again. */
export function isFinal({ status }: Subscription): boolean {
  return status === 'cancelled' || status === 'completed' || status === 'expired';
}

/** The event that ends a subscription at the end of its cycle, if it ends then. */
export function finalEvent(
  store: GatewayStore,
  { id, remaining_count }: Subscription,
): 'cancelled' | 'completed' | undefined {
  if (store.endingWithCycle.has(id)) return 'cancelled';
  return remaining_count === 0 ? 'completed' : undefined;
}

/** Applies an event to a subscription. `named`: a payment that the webhook names although the event does not make it. */
export function moveSubscription(
  store: GatewayStore,
  request: SubscriptionRequest,
  named?: Payment,
): MovedSubscription {
  const { event } = request;
  const before = store.subscriptions.find(request.subscription_id);
  const plan = store.plans.find(request.plan_id ?? before?.plan_id);
  const subscription = advance(before, request, plan);
  // A cancellation is final: a later event is sent, but does not change the entity.
  if (before?.status !== 'cancelled') store.subscriptions.save(subscription);
  if (event === 'cancelled' || event === 'completed') store.endingWithCycle.delete(subscription.id);
  const made = charge(store, subscription, plan, request);
  const last = event === 'completed' ? store.payments.find(store.charges.get(subscription.id)) : named;
  const payment = made?.payment ?? last;
  // In webhooks of subscriptions `captured` is text, in others a flag.
  const captured = payment && (payment.captured ? '1' as const : '0' as const);
  const irregular = { captured, ...request.irregular };
  const about = createWebhook(`subscription.${event}`, { subscription, payment }, { ...request, irregular });
  return { subscription, payment, webhooks: [...made?.webhooks ?? [], about] };
}

/** Creates the payment of a charge, if the event is one. A failed charge has a payment only with `payment_events`. */
function charge(
  store: GatewayStore,
  subscription: Subscription,
  plan: Plan | undefined,
  request: SubscriptionRequest,
): { payment: Payment; webhooks: Webhook[] } | undefined {
  const { event, payment_events } = request;
  const fails = event === 'pending' || event === 'halted';
  if (event !== 'charged' && !fails) return undefined;
  const price = priceOf(subscription, plan);
  const issued = issueInvoice(store, subscription, request.amount ?? price, request.created_at);
  const { amount = price + billAddons(store, issued) } = request;
  const invoice = amount > issued.amount ? store.invoices.save({ ...issued, amount }) : issued;
  if (fails && !payment_events) return undefined;
  const outcome = fails ? 'failed' : 'captured';
  const made = paySubscription(store, subscription, { ...request, amount, outcome, invoice_id: invoice.id });
  if (!fails) {
    const { id: payment_id, order_id } = made.payment;
    store.invoices.save({ ...invoice, status: 'paid', payment_id, order_id, paid_at: request.created_at });
    store.charges.set(subscription.id, payment_id);
  }
  return { payment: made.payment, webhooks: payment_events ? made.webhooks : [] };
}

/** The amount of one cycle, in minor units. */
export function priceOf({ quantity }: Subscription, plan: Plan | undefined): number {
  return plan === undefined ? DEFAULT_AMOUNT : plan.item.amount * quantity;
}

type SubscriptionPayment =
  & Pick<SubscriptionRequest, 'created_at' | 'irregular'>
  & Partial<Pick<typeof DECLINED, 'error_description' | 'error_reason'>>
  & { amount: number; outcome: 'captured' | 'failed'; description?: string; invoice_id?: string };

/** Makes a payment of a subscription, on a new order. */
export function paySubscription(
  store: GatewayStore,
  { id, plan_id }: Subscription,
  {
    amount,
    outcome,
    description = 'Recurring Payment via Subscription',
    invoice_id = newId('inv'),
    ...step
  }: SubscriptionPayment,
): { payment: Payment; webhooks: Webhook[] } {
  const { created_at } = step;
  const currency = store.plans.find(plan_id)?.item.currency ?? 'INR';
  const method = store.billing.get(id)?.method ?? 'upi';
  const order = store.createOrder({ amount, currency, receipt: null, notes: [] }, created_at);
  const attempt = store.attempt(order, [], created_at);
  const created = store.payments.save({
    ...attempt,
    method,
    vpa: method === 'upi' ? attempt.vpa : null,
    invoice_id,
    description,
  });
  const moved = movePayment(store, created, outcome, { ...DECLINED, ...step });
  if (moved instanceof Response) throw new Error('a new order refuses its payment');
  return moved;
}
