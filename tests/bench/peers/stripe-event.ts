import { createHmac } from 'node:crypto';
import { newId } from '../../../scripts/stack/gateway/new-id.ts';
import { periodSeconds, proPrice, type Subscriber } from '../gateway-bodies.ts';
import { httpRequest } from '../http-connection.ts';

/** The webhook secret of Stripe, and the price of the plan `pro`. */
export const stripeSettings = {
  STRIPE_WEBHOOK_SECRET: 'whsec_bench',
  STRIPE_PRICE_ID: 'price_bench_pro',
} as const;

/** The id of a subscriber's customer at Stripe. */
export function customerId({ userId }: Subscriber): string {
  return `cus_${userId}`;
}

/** `customer.subscription.updated` after a period was paid. @param at start of the period and time of the event */
export function updatedBody(subscriber: Subscriber, at: number): string {
  return JSON.stringify({
    id: newId('evt'),
    object: 'event',
    api_version: '2025-09-30.clover',
    created: at,
    data: {
      object: subscriptionOf(subscriber, at),
      previous_attributes: {
        items: { data: [{ current_period_start: at - periodSeconds, current_period_end: at }] },
        latest_invoice: newId('in'),
      },
    },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: 'customer.subscription.updated',
  });
}

/** A request with Stripe's signature: HMAC of time and body. */
export function stripeRequest(path: string, body: string): Uint8Array {
  const time = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', stripeSettings.STRIPE_WEBHOOK_SECRET).update(`${time}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': `t=${time},v1=${mac}` };
  return httpRequest('POST', path, headers, body);
}

/** All fields of a Stripe subscription that a card pays monthly. */
function subscriptionOf(subscriber: Subscriber, at: number) {
  const { userId, gatewaySubscriptionId: id } = subscriber;
  return {
    id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: at,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, reason: null },
    collection_method: 'charge_automatically',
    created: at - periodSeconds,
    currency: 'inr',
    customer: customerId(subscriber),
    customer_account: null,
    days_until_due: null,
    default_payment_method: 'pm_1Bench0000000000000000',
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null,
    invoice_settings: { account_tax_ids: null, issuer: { type: 'self' } },
    items: {
      object: 'list',
      data: [itemOf(id, at)],
      has_more: false,
      total_count: 1,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: newId('in'),
    livemode: false,
    // The metadata that better-auth writes at the checkout. It matches its row by the primary key.
    metadata: { userId, subscriptionId: id, referenceId: userId },
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: { payment_method_options: null, payment_method_types: null, save_default_payment_method: 'off' },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: at - periodSeconds,
    status: 'active',
    test_clock: null,
    transfer_data: null,
    trial_end: null,
    trial_settings: { end_behavior: { missing_payment_method: 'create_invoice' } },
    trial_start: null,
  };
}

function itemOf(subscriptionId: string, at: number) {
  return {
    id: `si_${subscriptionId}`,
    object: 'subscription_item',
    billing_thresholds: null,
    created: at - periodSeconds,
    current_period_end: at + periodSeconds,
    current_period_start: at,
    discounts: [],
    metadata: {},
    price: {
      id: stripeSettings.STRIPE_PRICE_ID,
      object: 'price',
      active: true,
      billing_scheme: 'per_unit',
      created: at - periodSeconds,
      currency: 'inr',
      custom_unit_amount: null,
      livemode: false,
      lookup_key: null,
      metadata: {},
      nickname: null,
      product: 'prod_BenchPro000001',
      recurring: { interval: 'month', interval_count: 1, meter: null, trial_period_days: null, usage_type: 'licensed' },
      tax_behavior: 'unspecified',
      tiers_mode: null,
      transform_quantity: null,
      type: 'recurring',
      unit_amount: proPrice,
      unit_amount_decimal: String(proPrice),
    },
    quantity: 1,
    subscription: subscriptionId,
    tax_rates: [],
  };
}
