import type { Result } from './database-results.ts';
import type { GatewayEntity, GatewaySubscription } from './gateway.ts';

/** The SQL functions that reconciliation needs. Each throws when the database fails. */
export type ReconcileDatabase = {
  /** Claims at most 20 payments to reconcile, leased for five minutes. */
  claimPaymentsToReconcile(): Promise<Result<'claim_payments_to_reconcile'>>;
  /** Applies the gateway's payments on an order; null: the gateway does not know the order. */
  applyOrderPayments(paymentId: string, items: readonly unknown[] | null): Promise<Result<'apply_order_payments'>>;
  /** Claims at most 20 subscriptions that were asked for or are billed, leased for five minutes. */
  claimSubscriptionsToReconcile(): Promise<Result<'claim_subscriptions_to_reconcile'>>;
  /** Applies the gateway's state of a subscription; null: the gateway does not know the subscription. */
  applyGatewaySubscription(
    id: string,
    entity: GatewaySubscription | null,
  ): Promise<Result<'apply_gateway_subscription'>>;
  /** Applies the invoices of a subscription, whose paid cycles may lack their payment; null: it has none. */
  applyInvoices(
    gatewaySubscriptionId: string,
    items: readonly unknown[] | null,
  ): Promise<Result<'apply_invoices'>>;
  /** Claims the next page of each list of the statement that is due, leased for five minutes. */
  claimStatementPages(): Promise<Result<'claim_statement_pages'>>;
  /**
   * Returns what is new in a page, or moves the mark behind it if nothing is. `items` null: the gateway has no such list.
   * @param applied how many items were new before they were applied
   */
  applyStatementPage(
    page: StatementPage,
    items: readonly unknown[] | null,
    applied: number,
  ): Promise<Result<'apply_statement_page'>>;
  /** Applies a refund, a dispute, a settlement, or the payment of a billed cycle with its invoice and its subscription. */
  applyStatementItem(
    list: StatementPage['list'],
    item: GatewayEntity,
    cycle?: { readonly invoice: GatewayEntity | null; readonly subscription: GatewayEntity | null },
  ): Promise<Result<'apply_statement_item'>>;
  /** Claims the next page of the lines of at most 20 settlements, leased for five minutes. */
  claimSettlementPages(): Promise<Result<'claim_settlement_pages'>>;
  /** Stores the lines of a settlement that a page has. `items` null: the gateway has no such list. */
  applySettlementPage(
    page: Result<'claim_settlement_pages'>['pages'][number],
    items: readonly unknown[] | null,
  ): Promise<Result<'apply_settlement_page'>>;
  /** Starts a run, unless another one is running. Its lease of 75 seconds is longer than a run. */
  beginReconciliation(runId: string): Promise<Result<'begin_reconciliation'>>;
  /**
   * Ends a run. `isDone`: it left nothing to do, or used up its time and got answers. `gatewayNow`: the time of the gateway's
   * clock, in Unix seconds; null: not known.
   */
  endReconciliation(runId: string, isDone: boolean, gatewayNow: number | null): Promise<void>;
};

/** A claimed page of the statement, and what is new in it. */
export type StatementPage = Result<'claim_statement_pages'>['pages'][number];
export type NewestPayment = NonNullable<Result<'claim_statement_pages'>['newest']>;
export type StatementNews = Result<'apply_statement_page'>['news'][number];
