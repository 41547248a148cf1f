import { type GatewayClock, type Timed, timed } from './clock.ts';
import type { Payment, Subscription } from './entities.ts';
import { eventBody } from './event.ts';
import { newId } from './id.ts';
import type { Irregular } from './irregular.ts';
import { movePayment } from './move-payment.ts';
import { NO_ERROR } from './new-payment.ts';
import type { Send } from './send.ts';
import type { GatewayStore } from './store.ts';
import { advanceSubscription, type SubscriptionRequest } from './subscription.ts';
import type { Webhook } from './webhook.ts';

/** Applies an event to a subscription and sends its webhooks. */
export type MoveSubscription = (
  request: SubscriptionRequest,
) => Promise<{ subscription: Subscription; event_ids: string[] }>;

export function createMoveSubscription(store: GatewayStore, send: Send, clock: GatewayClock): MoveSubscription {
  return async (untimed) => {
    const request = timed(untimed, clock);
    const { event, created_at: createdAt, deliver } = request;
    const before = store.subscriptions.find(request.subscription_id);
    const subscription = advanceSubscription(before, request);
    // A cancellation is final: a later event is sent, but does not change the entity.
    if (before?.status !== 'cancelled') store.subscriptions.save(subscription);
    if (event === 'cancelled' || event === 'completed') store.endingWithCycle.delete(subscription.id);
    const paid = event === 'charged' ? charge(store, subscription.id, request) : undefined;
    const payment = event === 'completed' ? store.payments.find(store.charges.get(subscription.id)) : paid?.payment;
    // In webhooks of subscriptions `captured` is text, in others a flag.
    const irregular: Irregular = { captured: payment === undefined ? undefined : '1', ...request.irregular };
    const body = eventBody(`subscription.${event}`, { subscription, payment }, { createdAt, irregular });
    const webhooks = [...paid?.webhooks ?? [], { event: `subscription.${event}`, body }];
    return { subscription, event_ids: await send(webhooks, deliver) };
  };
}

/** Creates the payment of a cycle, on a new order. */
function charge(
  store: GatewayStore,
  subscriptionId: string,
  { amount, payment_events, created_at: createdAt, irregular }: Timed<SubscriptionRequest>,
): { payment: Payment; webhooks: Webhook[] } {
  const order = store.createOrder({ amount, currency: 'INR', receipt: null, notes: [] }, createdAt);
  const created = store.payments.save({
    ...store.attempt(order, [], createdAt),
    invoice_id: newId('inv'),
    description: 'Recurring Payment via Subscription',
  });
  const step = { to: 'captured', error: NO_ERROR, although_paid: false, createdAt, irregular } as const;
  const moved = movePayment(store, created, step);
  if ('refusal' in moved) throw new Error(moved.refusal.description);
  store.charges.set(subscriptionId, moved.payment.id);
  return { payment: moved.payment, webhooks: payment_events ? moved.webhooks : [] };
}
