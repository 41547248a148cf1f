import type { Config } from '../config.ts';
import type { Database as DatabaseTypes } from '../generated/database.types.ts';
import {
  cancelResult,
  createOrderResult,
  gatewayEventResult,
  gatewaySubscriptionResult,
  health,
  nextOutboxAttempt,
  orderPaymentsResult,
  outboxClaim,
  outboxFailure,
  paymentsToReconcile,
  planList,
  purgeResult,
  resumeResult,
  subscriptionJson,
  subscriptionsToReconcile,
  verifyPaymentResult,
} from './database-results.ts';
import type { Database } from '../ports.ts';

type Rpcs = DatabaseTypes['public']['Functions'];

/** Calls an SQL function with scalar parameters, in one round trip. @throws DatabaseError */
export type Transport = <Name extends keyof Rpcs & string>(
  name: Name,
  parameters: Rpcs[Name]['Args'],
) => Promise<unknown>;

/** A call of the database failed. The message names the SQL function, never its data. */
export class DatabaseError extends Error {
  /** SQLSTATE, or a code of `driverCode`. Undefined for everything that does not look like a code. */
  readonly code: string | undefined;

  constructor(rpc: string, code: string | undefined) {
    const safe = code !== undefined && /^[A-Z0-9_]{3,64}$/.test(code) ? code : undefined;
    super(safe ? `${rpc} failed: ${safe}` : `${rpc} failed`);
    this.name = 'DatabaseError';
    this.code = safe;
  }
}

/** The SQL functions of the service, over a transport. */
export function createDatabase(
  transport: Transport,
  { gateway = null, gatewayAccountId = null }: Partial<Pick<Config, 'gateway' | 'gatewayAccountId'>> = {},
): Database {
  const call = retryOnce(transport);
  return {
    getSubscription: async (userId) => subscriptionJson.parse(await call('get_subscription', { p_user_id: userId })),

    listPlans: async () => planList.parse(await call('list_plans', {})),

    async createOrder({ userId, tier, idempotencyKey }) {
      const result = createOrderResult.parse(
        await call('create_order', {
          p_user_id: userId,
          p_tier: tier,
          p_idempotency_key: idempotencyKey ?? undefined,
          p_gateway_key_id: gateway?.keyId,
        }),
      );
      if (result.outcome === 'rate_limited') return { outcome: result.outcome, retryAfter: result.retry_after };
      if (!('payment_id' in result)) return result;
      const { payment_id: paymentId, amount, currency, plan, running } = result;
      const payment = { paymentId, amount, currency, plan, running };
      return result.outcome === 'created'
        ? { outcome: result.outcome, ...payment }
        : { outcome: result.outcome, orderId: result.order_id, ...payment };
    },

    async storeOrder(paymentId, orderId) {
      await call('store_order', { p_payment_id: paymentId, p_order_id: orderId });
    },

    async discardOrder(paymentId) {
      await call('discard_order', { p_payment_id: paymentId });
    },

    async verifyPayment({ userId, orderId, paymentId, signature }) {
      const result = verifyPaymentResult.parse(
        await call('verify_payment', {
          p_user_id: userId,
          p_order_id: orderId,
          p_payment_id: paymentId,
          p_signature: signature,
        }),
      );
      return 'valid_until' in result
        ? { outcome: result.outcome, tier: result.tier, validUntil: result.valid_until }
        : result;
    },

    cancelSubscription: async (userId, atPeriodEnd) =>
      cancelResult.parse(await call('cancel_subscription', { p_user_id: userId, p_at_period_end: atPeriodEnd })),

    resumeSubscription: async (userId) => resumeResult.parse(await call('resume_subscription', { p_user_id: userId })),

    applyGatewayEvent: async ({ bodySha256, eventId, body }) =>
      gatewayEventResult.parse(
        await call('apply_gateway_event', {
          p_body_sha256: bodySha256,
          p_event_id: eventId ?? undefined,
          p_body: body ?? undefined,
          p_account_id: gatewayAccountId ?? undefined,
        }),
      ),

    claimOutbox: async (destination) => outboxClaim.parse(await call('claim_outbox', { p_destination: destination })),

    async completeOutbox(token, ids, note) {
      await call('complete_outbox', { p_token: token, p_ids: ids.join(','), p_note: note });
    },

    failOutbox: async (token, ids, failure) =>
      outboxFailure.parse(
        await call('fail_outbox', {
          p_token: token,
          p_ids: ids.join(','),
          p_error: failure.error,
          p_final: failure.status === 'refused',
          p_pause_seconds: failure.status === 'paused' ? failure.seconds : undefined,
        }),
      ),

    async nextOutboxAttempt(destinations) {
      const result = await call('next_outbox_attempt', { p_destinations: destinations.join(',') });
      return { nextAttemptAt: nextOutboxAttempt.parse(result).next_attempt_at };
    },

    purgeRecords: async ({ ledgerDays, outboxDays, tierHistoryDays }) =>
      purgeResult.parse(
        await call('purge_records', {
          p_ledger_days: ledgerDays,
          p_outbox_days: outboxDays,
          p_tier_history_days: tierHistoryDays,
        }),
      ),

    async claimPaymentsToReconcile() {
      const { settled, payments } = paymentsToReconcile.parse(await call('claim_payments_to_reconcile', {}));
      return { settled, payments: payments.map(({ id, order_id: orderId }) => ({ id, orderId })) };
    },

    applyOrderPayments: async (paymentId, items) =>
      orderPaymentsResult.parse(
        await call('apply_order_payments', {
          p_payment_id: paymentId,
          p_items: items === null ? undefined : JSON.stringify(items),
        }),
      ),

    async claimSubscriptionsToReconcile() {
      const result = subscriptionsToReconcile.parse(await call('claim_subscriptions_to_reconcile', {}));
      return result.subscriptions.map(({ id, gateway_subscription_id: gatewaySubscriptionId }) => ({
        id,
        gatewaySubscriptionId,
      }));
    },

    applyGatewaySubscription: async ({ id, gatewaySubscriptionId }, entity) =>
      gatewaySubscriptionResult.parse(
        await call('apply_gateway_subscription', {
          p_subscription_id: id,
          p_gateway_subscription_id: gatewaySubscriptionId,
          p_entity: entity === null ? undefined : JSON.stringify(entity),
        }),
      ),

    async finishReconciliation() {
      await call('finish_reconciliation', {});
    },

    getHealth: async (destinations) =>
      health.parse(await call('get_health', { p_destinations: destinations.join(',') })),
  };
}

/** A serialization failure or a deadlock rolls everything back, so one retry is safe. */
function retryOnce(transport: Transport): Transport {
  return async (name, parameters) => {
    try {
      return await transport(name, parameters);
    } catch (error) {
      const isTransient = error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01');
      if (!isTransient) throw error;
      return await transport(name, parameters);
    }
  };
}
