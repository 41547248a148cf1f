/** The payment gateway's API. */
export type Gateway = {
  /** Whether a key is, as this one, for tests or for real money. Neither knows what the other made. */
  hasModeOf(keyId: string): boolean;
  /** The time of the gateway's clock by its newest answer, in Unix seconds; null: no answer said it. */
  now(): number | null;
  /**
   * Creates an order with automatic capture.
   * @param receipt unique, at most 40 characters
   * @returns the order's id
   */
  createOrder(order: { amount: number; currency: string; receipt: string }): Promise<Making<string>>;
  /**
   * Creates a subscription that the customer authorises on the page `short_url`. The gateway notifies the customer of
   * each charge.
   */
  createSubscription(subscription: SubscriptionTerms): Promise<Making<MadeSubscription>>;
  /** Cancels a subscription, at once or at the end of its billing cycle. */
  cancelSubscription(id: string, atCycleEnd: boolean): Promise<GatewayReply>;
  /**
   * Refunds a part of a payment, or all of it. `key` makes a repeat harmless: it is answered with the first refund.
   * @param amount minor units
   */
  refundPayment(
    refund: { paymentId: string; amount: number; action: string | null; key: string },
  ): Promise<RefundReply>;
  readSubscription(id: string): Promise<Reading<GatewaySubscription>>;
  readPayment(id: string): Promise<Reading<GatewayEntity>>;
  readOrder(id: string): Promise<Reading<GatewayEntity>>;
  /** All payment attempts on an order. */
  listOrderPayments(orderId: string): Promise<Reading<readonly GatewayEntity[]>>;
  /** The newest 100 refunds of a payment, in any state. */
  listRefunds(paymentId: string): Promise<Reading<readonly GatewayEntity[]>>;
  /** The newest 100 invoices of a subscription: one for each cycle, with its payment once it is paid. */
  listInvoices(subscriptionId: string): Promise<Reading<readonly GatewayEntity[]>>;
  readInvoice(id: string): Promise<Reading<GatewayEntity>>;
  /** At most 100 payments, refunds, disputes or settlements that were created between two times, the newest first. */
  listCreated(page: CreatedPage): Promise<Reading<readonly GatewayEntity[]>>;
  /** At most 1000 lines of all settlements of a day in India. `day`: `2026-11-12`. */
  listSettlementLines(page: { day: string; skip: number }): Promise<Reading<readonly GatewayEntity[]>>;
};

/** A page of what was created between two times, Unix seconds, both included. */
export type CreatedPage = {
  readonly list: 'payments' | 'refunds' | 'disputes' | 'settlements';
  readonly from: number;
  readonly to: number;
  readonly skip: number;
};

/** What the gateway is to bill. `expireBy`: the last time of an authorisation, Unix seconds. */
export type SubscriptionTerms = {
  readonly userId: string;
  /** Ours: an event that arrives before the gateway's answer names it. */
  readonly requestId: string;
  readonly planId: string;
  readonly cycles: number;
  readonly expireBy: number;
  /** When the first cycle is charged, Unix seconds; null: at the authorisation. */
  readonly startAt: number | null;
};

/** A subscription that waits for its authorisation. `id`: the gateway's. */
export type MadeSubscription = { readonly id: string; readonly status: string; readonly short_url: string };

/** A payment or a refund as the gateway returns it. */
export type GatewayEntity = Readonly<Record<string, unknown>>;

/**
 * What the gateway made. `refused`: it answered 400, with a reason that a log may have; `unanswered`: it failed, or did not
 * answer in time.
 */
export type Making<T> =
  | { readonly status: 'made'; readonly value: T }
  | { readonly status: 'refused'; readonly reason: string }
  | { readonly status: 'unanswered' };

/**
 * A read from the gateway. `unknown`: the gateway has no such entity; `unanswered`: no usable answer, retry later, after what
 * a 429 asks for.
 */
export type Reading<T> =
  | { readonly status: 'found'; readonly value: T }
  | { readonly status: 'unknown' }
  | { readonly status: 'unanswered'; readonly limited?: GatewayReply };

/** `current_end`: Unix seconds; null before the first cycle. */
export type GatewaySubscription = { readonly status: string; readonly current_end?: unknown };

/** The gateway's answer; status 0: no answer. */
export type GatewayReply = { readonly status: number; readonly retryAfter: string | null };

/** `refund`: null without a usable answer. `reason`: why the gateway refuses, in its words. */
export type RefundReply = GatewayReply & { readonly refund: GatewayEntity | null; readonly reason: string | null };
