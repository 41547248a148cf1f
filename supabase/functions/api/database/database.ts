import type { z } from 'zod';
import type { Config } from '../config.ts';
import { type Result, results } from '../ports/database-results.ts';
import type { Database, PriceRequest } from '../ports.ts';
import { type Call, reconcileCalls, type ResultName, toJson } from './reconcile-calls.ts';
import { retryOnce, type Transport } from './rpc.ts';

const schemas: { readonly [Name in ResultName]: z.ZodType<Result<Name>> } = results;

/** The SQL functions of the service, over a transport. */
export function createDatabase(
  transport: Transport,
  { gateway = null, gatewayAccountId = null }: Partial<Pick<Config, 'gateway' | 'gatewayAccountId'>> = {},
): Database {
  const retrying = retryOnce(transport);

  const call: Call = async (name, parameters) => schemas[name].parse(await retrying(name, parameters));

  return {
    getSubscription: (userId) => call('get_subscription', { p_user_id: userId }),

    listPlans: () => call('list_plans', {}),
    listPlansForUser: (userId) => call('list_plans_for_user', { p_user_id: userId }),

    createOrder: ({ userId, start, idempotencyKey, ...asked }, isRead) =>
      call('create_order', {
        p_user_id: userId,
        ...priceOf(asked),
        p_idempotency_key: idempotencyKey ?? undefined,
        p_gateway_key_id: gateway?.keyId,
        p_start: start,
        p_is_read: isRead,
      }),

    storeOrder: (paymentId, orderId) => call('store_order', { p_payment_id: paymentId, p_order_id: orderId }),
    discardOrder: (paymentId) => call('discard_order', { p_payment_id: paymentId }),

    createSubscription: ({ userId, idempotencyKey, ...asked }) =>
      call('create_subscription', {
        p_user_id: userId,
        ...priceOf(asked),
        p_idempotency_key: idempotencyKey ?? undefined,
        p_gateway_key_id: gateway?.keyId,
      }),

    previewChange: ({ userId, when, ...asked }, isRead) =>
      call('preview_change', { p_user_id: userId, p_when: when, ...priceOf(asked), p_is_read: isRead }),

    createChange: ({ userId, when, paymentId, ...asked }) =>
      call('create_change', {
        p_user_id: userId,
        p_when: when,
        ...priceOf(asked),
        p_payment_id: paymentId ?? undefined,
        p_gateway_key_id: gateway?.keyId,
      }),

    storeSubscription: (id, made) =>
      call('store_subscription', {
        p_id: id,
        p_gateway_subscription_id: made?.id,
        p_short_url: made?.short_url,
      }),

    verifySubscription: ({ userId, subscriptionId, paymentId, subscription, payment }) =>
      call('verify_subscription', {
        p_user_id: userId,
        p_gateway_subscription_id: subscriptionId,
        p_payment_id: paymentId,
        p_entity: subscription && JSON.stringify(subscription),
        p_payment: payment ? JSON.stringify(payment) : undefined,
      }),

    verifyPayment: ({ userId, orderId, paymentId, signature }) =>
      call('verify_payment', {
        p_user_id: userId,
        p_order_id: orderId,
        p_payment_id: paymentId,
        p_signature: signature,
      }),

    verifyReturnedPayment: ({ orderId, paymentId, signature }) =>
      call('verify_returned_payment', { p_order_id: orderId, p_payment_id: paymentId, p_signature: signature }),

    getOrder: (userId, orderId, canRead) =>
      call('get_order', { p_user_id: userId, p_order_id: orderId, p_can_read: canRead }),

    applyOrderRead: (paymentId, items) => call('apply_order_read', { p_payment_id: paymentId, p_items: toJson(items) }),

    getReceipt: (userId, paymentId) => call('get_receipt', { p_user_id: userId, p_payment_id: paymentId }),
    getDocument: (userId, id) => call('get_document', { p_user_id: userId, p_id: id }),

    getBillingDetails: (userId) => call('get_billing_details', { p_user_id: userId }),
    putBillingDetails: (userId, details) =>
      call('put_billing_details', { p_user_id: userId, p_details: JSON.stringify(details) }),

    cancelSubscription: (userId, atPeriodEnd) =>
      call('cancel_subscription', { p_user_id: userId, p_at_period_end: atPeriodEnd }),
    resumeSubscription: (userId) => call('resume_subscription', { p_user_id: userId }),

    applyGatewayEvent: ({ bodySha256, eventId, body }) =>
      call('apply_gateway_event', {
        p_body_sha256: bodySha256,
        p_event_id: eventId ?? undefined,
        p_body: body ?? undefined,
        p_account_id: gatewayAccountId ?? undefined,
      }),

    claimOutbox: (destinations) => call('claim_outbox', { p_destinations: destinations.join(',') }),

    completeOutbox: (token, ids, { note, refund } = {}) =>
      call('complete_outbox', {
        p_token: token,
        p_ids: ids.join(','),
        p_note: note,
        p_refund: refund && JSON.stringify(refund),
      }),

    failOutbox: (token, ids, failure) =>
      call('fail_outbox', {
        p_token: token,
        p_ids: ids.join(','),
        p_error: failure.error,
        p_final: failure.status === 'refused',
        p_pause_seconds: failure.status === 'paused' ? failure.seconds : undefined,
      }),

    nextOutboxAttempt: (destinations) => call('next_outbox_attempt', { p_destinations: destinations.join(',') }),

    purgeRecords: ({ ledgerDays, outboxDays, tierHistoryDays }) =>
      call('purge_records', {
        p_ledger_days: ledgerDays,
        p_outbox_days: outboxDays,
        p_tier_history_days: tierHistoryDays,
      }),

    confirmStop: ({ id, atCycleEnd, subscription, invoices }) =>
      call('confirm_stop', {
        p_id: id,
        p_at_cycle_end: atCycleEnd,
        p_entity: toJson(subscription),
        p_invoices: toJson(invoices),
      }),

    ...reconcileCalls(call),

    getHealth: (destinations) => call('get_health', { p_destinations: destinations.join(',') }),
  };
}

const priceOf = ({ tier, price }: PriceRequest) => ({ p_tier: tier ?? null, p_price: price });
