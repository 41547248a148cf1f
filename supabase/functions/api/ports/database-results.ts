/** Schemas of the SQL functions' results. A proxy or an older migration may return something else. */
import { z } from 'zod';
import { documentResults } from './document-results.ts';
import { outboxResults } from './outbox-results.ts';
import { reconcileResults, toRead, unread } from './reconcile-results.ts';

const subscription = z.looseObject({});
const time = z.string().nullable();
const refused = <Outcome extends string>(...outcomes: Outcome[]) => z.object({ outcome: z.enum(outcomes) });
/** Contract: Price. */
const price = z.looseObject({ lookup_key: z.string(), amount: z.number(), currency: z.string() });
const planPrice = price.extend({ id: z.string(), gateway_plan_id: z.string().nullable(), is_default: z.boolean() });
/** The running subscription. `until`: its end, ISO 8601 in UTC, with milliseconds. Contract: Early renewals. */
const runningPeriod = z.object({
  tier: z.string(),
  until: z.string(),
  early_renewal: z.string(),
  price: price.nullable(),
});
const running = runningPeriod.nullable();
/** Contract: Scenarios. */
const scenario = z.enum(['buy', 'current', 'renew', 'upgrade', 'downgrade', 'scheduled']);
const ordered = {
  payment_id: z.string(),
  /** In minor units of `currency`. */
  amount: z.number(),
  currency: z.string(),
  plan: z.looseObject({}),
  /** Null: the app made the order itself. */
  price: planPrice.nullable(),
  /** `starts_at`: the start of the period that a payment would buy now, ISO 8601. */
  running: runningPeriod.extend({ starts_at: z.string() }).nullable(),
  prefill: z.object({ email: z.string().nullable(), name: z.string().nullable() }),
  /** Of a request with `start`: minor units, and the expected period, ISO 8601. Contract: Start and credit. */
  credit: z.number().optional(),
  starts_at: z.string().optional(),
  ends_at: z.string().optional(),
};
const subscribed = {
  id: z.string(),
  gateway_plan_id: z.string(),
  billing_cycles: z.number(),
  /** Unix seconds. */
  expire_by: z.number(),
  start_at: z.number().nullable(),
  status: z.string(),
  plan: z.looseObject({}),
  price: planPrice,
  running,
};
/** A change that is not possible before that time, ISO 8601 in UTC. */
const tooLate = z.object({ outcome: z.literal('too_late'), possible_from: z.string() });
const notNow = z.object({ outcome: z.literal('not_now'), reason: z.enum(['currency', 'downgrade', 'credit']) });
/** The invoices of this subscription are to be read first: they name the payment that gives a credit. */
const unreadCredit = z.object({ outcome: z.literal('unread'), subscription: toRead });
export type Unread = z.infer<typeof unreadCredit>;
/** `subscription_not_found`, `undone`, `not_now` and `too_late` are outcomes of a change. */
const subscribing = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('created'), ...subscribed }),
  z.object({
    outcome: z.literal('existing'),
    gateway_subscription_id: z.string(),
    short_url: z.string(),
    ...subscribed,
  }),
  refused(
    'plan_not_found',
    'not_at_gateway',
    'price_conflict',
    'user_not_found',
    'in_flight',
    'key_conflict',
    'already_subscribed',
    'subscription_not_found',
  ),
  z.object({ outcome: z.literal('undone') }),
  notNow,
  tooLate,
  z.object({ outcome: z.literal('rate_limited'), retry_after: z.number() }),
]);
/** `amount_due` and `credit` in minor units of `currency`; times are ISO 8601 in UTC, with milliseconds. */
const change = z.object({
  amount_due: z.number(),
  due_at: z.string().nullable(),
  credit: z.number(),
  currency: z.string(),
  starts_at: z.string(),
  ends_at: z.string(),
  from: z.string(),
  to: z.string(),
  from_price: z.string().nullable(),
  to_price: z.string(),
  renews: z.boolean(),
  next_charge: z.object({ at: z.string(), amount: z.number() }).nullable(),
});
/** Contract: GET /api/payments/orders/:order_id. */
const order = z.object({
  order_id: z.string(),
  status: z.enum(['open', 'paid', 'failed']),
  tier: z.string(),
  /** In minor units of `currency`. */
  amount: z.number(),
  currency: z.string(),
  valid_until: time,
  attempts: z.number(),
  last_error: z.string().nullable(),
});
const verifiedPayment = z.union([
  /** `valid_until`: ISO 8601 in UTC, with milliseconds. */
  z.object({ outcome: z.enum(['applied', 'already_applied']), tier: z.string(), valid_until: z.string() }),
  z.object({ outcome: z.enum(['payment_not_found', 'plan_not_found', 'refunded', 'never_captured', 'user_gone']) }),
]);

export const results = {
  /** JSON text for the answer. The pool transport returns Postgres' text; REST returns the parsed value. */
  get_subscription: z.union([
    z.string().startsWith('{"subscription"'),
    // supabase-js returns null for an empty 404, for example from a proxy. That must not become the answer to a user.
    z.object({
      subscription: subscription.nullable(),
      currentTier: z.string(),
      entitlements: z.looseObject({}),
      payments: z.array(z.looseObject({})),
      billing: subscription.nullable().optional(),
    })
      .transform((value) => JSON.stringify(value)),
  ]),
  list_plans: z.object({ plans: z.array(z.looseObject({})) }),
  list_plans_for_user: z.object({
    needs_state: z.literal(true).optional(),
    plans: z.array(z.looseObject({ scenario, prices: z.array(z.looseObject({ scenario })) })),
  }),
  create_order: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('created'), ...ordered }),
    z.object({ outcome: z.literal('existing'), order_id: z.string(), ...ordered }),
    refused('plan_not_found', 'price_conflict', 'user_not_found', 'in_flight', 'key_conflict'),
    notNow,
    unreadCredit,
    z.object({ outcome: z.literal('rate_limited'), retry_after: z.number() }),
  ]),
  store_order: unread,
  discard_order: unread,
  create_subscription: subscribing,
  preview_change: z.union([
    z.object({
      outcome: z.enum(['change', 'undo']),
      order_start: z.enum(['now', 'after_current']).nullable(),
      is_billed: z.boolean(),
      change,
    }),
    refused('plan_not_found', 'price_conflict', 'already_subscribed', 'subscription_not_found'),
    unreadCredit,
    notNow,
    tooLate,
  ]),
  create_change: subscribing,
  store_subscription: z.object({ outcome: z.enum(['stored', 'withdrawn', 'discarded', 'order_not_found']) }),
  get_order: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.enum(['known', 'read']), payment_id: z.string(), order }),
    z.object({ outcome: z.literal('order_not_found') }),
  ]),
  verify_subscription: z.union([
    /** `starts_at`: null unless the first cycle begins later. Times are ISO 8601 in UTC, with milliseconds. */
    z.object({ outcome: z.enum(['applied', 'already_applied']), tier: z.string(), valid_until: time, starts_at: time }),
    z.object({ outcome: z.enum(['unread', 'subscription_not_found', 'refunded']) }),
  ]),
  apply_order_read: z.object({ applied: z.number(), order }),
  ...documentResults,
  verify_payment: verifiedPayment,
  verify_returned_payment: verifiedPayment,
  cancel_subscription: z.union([
    z.object({ outcome: z.literal('cancelled'), subscription: subscription.nullable() }),
    z.object({ outcome: z.literal('subscription_not_found') }),
  ]),
  resume_subscription: z.union([
    z.object({ outcome: z.literal('resumed'), subscription: subscription.nullable() }),
    z.object({ outcome: z.enum(['subscription_not_found', 'cannot_be_resumed']) }),
  ]),
  /** The outcome as the ledger stores it, whether there is a side effect to dispatch, and an order to read at once. */
  apply_gateway_event: z.object({
    outcome: z.string(),
    enqueued: z.boolean(),
    read: z.object({ payment_id: z.string(), order_id: z.string(), amount: z.number() }).optional(),
  }),
  ...outboxResults,
  purge_records: z.object({ purged: z.number() }),
  ...reconcileResults,
  /** `unnamed`: the invoices are to be read, and it is to be called again with them. */
  confirm_stop: z.object({ outcome: z.enum(['stands', 'changed', 'unnamed']) }),
  get_health: z.object({
    oldest_undelivered_at: time,
    last_webhook_at: time,
    last_sweep_at: time,
    statement: z.object({ read_until: z.string(), completed_at: z.string(), payments: z.number(), news: z.number() })
      .nullable(),
  }),
};

/** The checked result of an SQL function. */
export type Result<Name extends keyof typeof results> = z.infer<(typeof results)[Name]>;
