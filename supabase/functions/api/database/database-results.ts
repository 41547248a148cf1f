/** Schemas of the SQL functions' results. A proxy or an older migration may return something else. */
import { z } from 'zod';

/** JSON text for the answer. The pool transport returns Postgres' text; REST returns the parsed value. */
export const subscriptionJson = z.union([
  z.string().startsWith('{"subscription"'),
  // supabase-js returns null for an empty 404, for example from a proxy. That must not become the answer to a user.
  z.object({
    subscription: z.looseObject({}).nullable(),
    currentTier: z.string(),
    payments: z.array(z.looseObject({})),
  }).transform((value) => JSON.stringify(value)),
]);
export const verifyPaymentResult = z.union([
  z.object({ outcome: z.enum(['applied', 'already_applied']), tier: z.string(), valid_until: z.string() }),
  z.object({ outcome: z.enum(['payment_not_found', 'plan_not_found', 'refunded', 'never_captured', 'user_gone']) }),
]);
export const planList = z.object({ plans: z.array(z.looseObject({})) });
const ordered = {
  payment_id: z.string(),
  amount: z.number(),
  currency: z.string(),
  plan: z.looseObject({}),
  running: z.object({ tier: z.string(), until: z.string(), early_renewal: z.string() }).nullable(),
};
export const createOrderResult = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('created'), ...ordered }),
  z.object({ outcome: z.literal('existing'), order_id: z.string(), ...ordered }),
  z.object({ outcome: z.enum(['plan_not_found', 'user_not_found', 'in_flight', 'key_conflict']) }),
  z.object({ outcome: z.literal('rate_limited'), retry_after: z.number() }),
]);
export const cancelResult = z.union([
  z.object({ outcome: z.literal('cancelled'), subscription: z.looseObject({}) }),
  z.object({ outcome: z.literal('subscription_not_found') }),
]);
export const resumeResult = z.union([
  z.object({ outcome: z.literal('resumed'), subscription: z.looseObject({}) }),
  z.object({ outcome: z.enum(['subscription_not_found', 'cannot_be_resumed']) }),
]);
export const gatewayEventResult = z.object({ outcome: z.string() });
export const outboxClaim = z.object({
  token: z.string(),
  rows: z.array(z.object({ id: z.number(), key: z.string(), kind: z.string(), payload: z.unknown() })),
  parked: z.number(),
});
export const outboxFailure = z.object({ retried: z.number(), parked: z.number() });
export const nextOutboxAttempt = z.object({ next_attempt_at: z.string().nullable() });
export const purgeResult = z.object({ purged: z.number() });
export const paymentsToReconcile = z.object({
  settled: z.number(),
  payments: z.array(z.object({ id: z.string(), order_id: z.string() })),
});
export const orderPaymentsResult = z.object({ applied: z.number(), ended: z.boolean() });
export const subscriptionsToReconcile = z.object({
  subscriptions: z.array(z.object({ id: z.string(), gateway_subscription_id: z.string() })),
});
export const gatewaySubscriptionResult = z.object({ applied: z.boolean() });
export const health = z.object({
  oldest_undelivered_at: z.string().nullable(),
  last_webhook_at: z.string().nullable(),
  last_sweep_at: z.string().nullable(),
});
