import { z } from 'zod';

export const unread = z.unknown().transform(() => {});

/** A subscription to read from the gateway. */
export const toRead = z.object({ id: z.string(), gateway_subscription_id: z.string() });

/** Schemas of the results of reconciliation's SQL functions. */
export const reconcileResults = {
  claim_payments_to_reconcile: z.object({
    /** Here and below: how many others that were due needed no call of the gateway. */
    settled: z.number(),
    payments: z.array(z.object({ id: z.string(), order_id: z.string(), amount: z.number() })),
  }),
  apply_order_payments: z.object({ applied: z.number(), ended: z.boolean() }),
  claim_subscriptions_to_reconcile: z.object({
    settled: z.number(),
    subscriptions: z.array(toRead),
  }),
  /** `lacks_payment`: the gateway did not name the payment of the newest cycle yet. */
  apply_gateway_subscription: z.object({ applied: z.boolean(), lacks_payment: z.boolean() }),
  apply_invoices: z.object({ applied: z.number() }),
  claim_statement_pages: z.object({
    /** The payment that the gateway confirmed last, with the id of its key (null: not known); null: none. */
    newest: z.object({ payment: z.string(), key: z.string().nullable() }).nullable(),
    pages: z.array(z.object({
      list: z.enum(['payments', 'refunds', 'disputes', 'settlements']),
      pass: z.enum(['new', 'again']),
      /** Both in Unix seconds. */
      from: z.number(),
      to: z.number(),
      skip: z.number(),
    })),
  }),
  apply_statement_page: z.object({
    news: z.array(z.object({
      item: z.looseObject({}),
      /** The order that it pays; null: it pays for a billed cycle, or is no payment. */
      payment: z.object({ id: z.string(), order_id: z.string(), amount: z.number() }).nullable(),
    })),
  }),
  apply_statement_item: z.object({ applied: z.boolean() }),
  claim_settlement_pages: z.object({
    /** `day`: in India. */
    pages: z.array(z.object({ settlement_id: z.string(), day: z.string(), skip: z.number() })),
  }),
  apply_settlement_page: z.object({ is_complete: z.boolean() }),
  begin_reconciliation: z.object({ began: z.boolean() }),
  end_reconciliation: unread,
};
