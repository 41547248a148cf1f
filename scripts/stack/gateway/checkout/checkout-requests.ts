import { z } from 'zod';
import { type Account, termsOf } from '../account.ts';
import { eventFields } from '../events.ts';
import { method, type Order, type Plan, type Subscription } from '../entities.ts';
import { notesRequest } from '../notes.ts';
import { gatewayError, unknownId } from '../errors.ts';
import type { GatewayStore } from '../store.ts';
import { priceOf } from '../billing/subscriptions.ts';

/** The body of `POST /simulate/checkout`: how payments in the checkout go from now on. Missing fields have defaults. */
export const checkoutSettings = z.strictObject({
  deliver: eventFields.deliver,
  irregular: eventFields.irregular,
  /** After so long a shown QR code is paid, unless its window is closed before. */
  qr_delay_ms: z.int().min(0).max(600_000).default(5_000),
});

export type CheckoutSettings = z.infer<typeof checkoutSettings>;

/** What a window pays: an order or a subscription, as the app's page named it. */
export const targetRequest = z.strictObject({
  key: z.string(),
  order_id: z.string().optional(),
  subscription_id: z.string().optional(),
  amount: z.coerce.number().optional(),
  currency: z.string().optional(),
});

/** One attempt of a person to pay it. */
export const attemptRequest = targetRequest.extend({
  outcome: z.enum(['captured', 'failed']),
  method: method.default('upi'),
  notes: notesRequest.default([]),
});

export const qrRequest = targetRequest.extend({ notes: notesRequest.default([]) });

type Target = { order: Order } | { subscription: Subscription; plan: Plan };

/**
 * Finds what a window pays, and refuses what the real checkout refuses: a wrong key, an unknown id, an amount that is
 * not the order's, and what is paid or authorised already.
 */
export function findTarget(
  store: GatewayStore,
  keyId: string,
  { key, order_id, subscription_id, amount, currency }: z.infer<typeof targetRequest>,
): Target | Response {
  if (key !== keyId) return gatewayError('Authentication failed', { status: 401, source: 'NA', reason: 'NA' });
  if (subscription_id !== undefined) return findSubscription(store, subscription_id);
  const order = store.orders.find(order_id);
  if (order === undefined) return unknownId('order_id');
  if (order.status === 'paid') return refuse('order_id', 'The order is already paid.', 'order_already_paid');
  if ((amount ?? order.amount) !== order.amount) {
    return refuse('amount', 'Your payment amount is different from your order amount.');
  }
  if ((currency ?? order.currency) !== order.currency) {
    return refuse('currency', 'Your payment currency is different from your order currency.');
  }
  return { order };
}

function findSubscription(store: GatewayStore, id: string): Target | Response {
  const subscription = store.subscriptions.find(id);
  const plan = store.plans.find(subscription?.plan_id);
  if (subscription === undefined || plan === undefined) return unknownId('subscription_id');
  if (subscription.status === 'created') return { subscription, plan };
  return refuse('subscription_id', `A subscription that is ${subscription.status} can not be authorised.`);
}

function refuse(field: string, description: string, reason?: string): Response {
  return gatewayError(description, { field, reason, step: 'payment_initiation' });
}

/** What a window shows of its target, and what is paid there. `plan` is null for an order. */
export function describeTarget(target: Target, account: Account) {
  if ('order' in target) {
    const { id, amount: ordered, currency } = target.order;
    const { amount, fee } = termsOf(account, ordered);
    return { id, amount, currency, plan: null, ordered, fee: fee ?? 0, discount: ordered + (fee ?? 0) - amount };
  }
  const { subscription, plan } = target;
  const { item, period, interval } = plan;
  const shown = { name: item.name, period, interval, start_at: subscription.start_at };
  return { id: subscription.id, amount: priceOf(subscription, plan), currency: item.currency, plan: shown };
}
