import type { Result, results } from '../ports/database-results.ts';
import type { ReconcileDatabase } from '../ports.ts';
import type { Parameters, Rpcs } from './rpc.ts';

/** The SQL functions whose results have a schema. */
export type ResultName = keyof typeof results & keyof Rpcs;
/** Calls an SQL function. @throws when the database fails */
export type Call = <Name extends ResultName>(name: Name, parameters: Parameters<Name>) => Promise<Result<Name>>;

/** The SQL functions of reconciliation. */
export function reconcileCalls(call: Call): ReconcileDatabase {
  return {
    claimPaymentsToReconcile: () => call('claim_payments_to_reconcile', {}),

    applyOrderPayments: (paymentId, items) =>
      call('apply_order_payments', { p_payment_id: paymentId, p_items: toJson(items) }),

    claimSubscriptionsToReconcile: () => call('claim_subscriptions_to_reconcile', {}),

    applyGatewaySubscription: (id, entity) =>
      call('apply_gateway_subscription', { p_id: id, p_entity: toJson(entity) }),

    applyInvoices: (gatewaySubscriptionId, items) =>
      call('apply_invoices', { p_gateway_subscription_id: gatewaySubscriptionId, p_items: toJson(items) }),

    claimStatementPages: () => call('claim_statement_pages', {}),

    applyStatementPage: ({ list, pass, to, skip }, items, applied) =>
      call('apply_statement_page', {
        p_list: list,
        p_pass: pass,
        p_to: to,
        p_skip: skip,
        p_items: toJson(items),
        p_applied: applied,
      }),

    applyStatementItem: (list, item, cycle) =>
      call('apply_statement_item', {
        p_list: list,
        p_item: JSON.stringify(item),
        p_invoice: toJson(cycle?.invoice ?? null),
        p_subscription: toJson(cycle?.subscription ?? null),
      }),

    claimSettlementPages: () => call('claim_settlement_pages', {}),

    applySettlementPage: ({ settlement_id, day, skip }, items) =>
      call('apply_settlement_page', {
        p_settlement_id: settlement_id,
        p_day: day,
        p_skip: skip,
        p_items: toJson(items),
      }),

    beginReconciliation: (runId) => call('begin_reconciliation', { p_run_id: runId }),

    endReconciliation: (runId, isDone, gatewayNow) =>
      call('end_reconciliation', {
        p_run_id: runId,
        p_is_done: isDone,
        ...(gatewayNow !== null && { p_gateway_now: gatewayNow }),
      }),
  };
}

/** An answer of the gateway for an SQL function, whose default stands for null. */
export function toJson(answer: unknown): string | undefined {
  return answer === null ? undefined : JSON.stringify(answer);
}
