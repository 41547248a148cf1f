import type { RetentionConfig } from './config.ts';
import type { Destination, Failure, OutboxRow, Sender } from './outbox/outbox.ts';

/** Says who sent a request. SPEC 5. */
export type Auth = {
  /**
   * @returns the id of the signed-in user, or null when the request carries no valid session.
   * @throws when the auth server can't be asked: an outage is not a refusal.
   */
  authenticate(request: Request): Promise<string | null>;
};

/** The service's rules, one round trip a call. Every method throws when the database can't be reached or fails. */
export type Database = {
  /** The answer of GET /api/subscriptions, as JSON. SPEC 4. */
  getSubscription(userId: string): Promise<string>;
  /** The answer of GET /api/subscriptions/plans. */
  listPlans(): Promise<unknown>;
  /** A user's open order of a tier, or a new payment to order at the gateway. */
  createOrder(request: OrderRequest): Promise<CreateOrderResult>;
  /** Notes the id that the gateway gave to a payment's order. */
  storeOrder(paymentId: string, orderId: string): Promise<void>;
  /** Forgets a payment that the gateway made no order for. */
  discardOrder(paymentId: string): Promise<void>;
  /** SPEC 4, POST /api/payments/verify, steps 5 to 12. */
  verifyPayment(payment: VerifiedPayment): Promise<VerifyPaymentResult>;
  /** Ends a user's subscription, now or when the paid period ends. @returns it as the read endpoint shows it. */
  cancelSubscription(
    userId: string,
    atPeriodEnd: boolean,
  ): Promise<{ outcome: 'cancelled'; subscription: unknown } | { outcome: 'subscription_not_found' }>;
  /** Drops a user's intent to cancel. */
  resumeSubscription(
    userId: string,
  ): Promise<
    { outcome: 'resumed'; subscription: unknown } | { outcome: 'subscription_not_found' | 'cannot_be_resumed' }
  >;
  /** SPEC 6. @returns the outcome as the ledger holds it. */
  applyGatewayEvent(delivery: GatewayDelivery): Promise<{ outcome: string }>;
  /** At most 20 rows that are due. */
  claimOutbox(destination: string): Promise<OutboxClaim>;
  /** Notes claimed rows as delivered, with a note why where nothing was sent; late is fine. */
  completeOutbox(token: string, ids: readonly number[], note?: string): Promise<void>;
  /** Notes claimed rows as not delivered. @returns how many are tried again, and how many were given up. */
  failOutbox(token: string, ids: readonly number[], failure: Failure): Promise<{ retried: number; parked: number }>;
  /** When a row of these destinations is due next, ISO 8601. */
  nextOutboxAttempt(destinations: readonly string[]): Promise<{ nextAttemptAt: string | null }>;
  /** Deletes a batch of the records that are older than that. @returns how many; 0: none is left */
  purgeRecords(retention: RetentionConfig): Promise<{ purged: number }>;
  /** Payments that the gateway is to be asked about, leased for five minutes, at most 20. */
  claimPaymentsToReconcile(): Promise<PaymentsToReconcile>;
  /** Applies what the gateway knows of the payments on an order; null: it knows no such order. */
  applyOrderPayments(paymentId: string, items: readonly unknown[] | null): Promise<{ applied: number; ended: boolean }>;
  /** Subscriptions that the gateway is to be asked about before their period ends, leased likewise. */
  claimSubscriptionsToReconcile(): Promise<readonly SubscriptionToReconcile[]>;
  /** Applies a subscription as the gateway has it; null: it knows no such one. */
  applyGatewaySubscription(
    subscription: SubscriptionToReconcile,
    entity: GatewaySubscription | null,
  ): Promise<{ applied: boolean }>;
  /** Notes that the gateway was asked about all that was due. */
  finishReconciliation(): Promise<void>;
  /** Times are ISO 8601. @param destinations the ones that are configured: what others wait for is not undelivered */
  getHealth(destinations: readonly string[]): Promise<
    { oldest_undelivered_at: string | null; last_webhook_at: string | null; last_sweep_at: string | null }
  >;
};

/** What delivering side effects needs of the database. */
export type OutboxDatabase = Pick<Database, 'claimOutbox' | 'completeOutbox' | 'failOutbox' | 'nextOutboxAttempt'>;

/** What asking the gateway needs of the database. */
export type ReconcileDatabase = Pick<
  Database,
  | 'claimPaymentsToReconcile'
  | 'claimSubscriptionsToReconcile'
  | 'applyOrderPayments'
  | 'applyGatewaySubscription'
  | 'finishReconciliation'
>;

export type VerifiedPayment = {
  readonly userId: string;
  readonly orderId: string;
  readonly paymentId: string;
  /** Checked already. */
  readonly signature: string;
};

export type VerifyPaymentResult =
  /** `validUntil` is ISO 8601 in UTC, with milliseconds. */
  | { outcome: 'applied' | 'already_applied'; tier: string; validUntil: string }
  | { outcome: 'payment_not_found' | 'plan_not_found' | 'refunded' | 'never_captured' | 'user_gone' };

export type OrderRequest = {
  readonly userId: string;
  readonly tier: string;
  /** The same key is the same order. */
  readonly idempotencyKey: string | null;
};

/** `amount` in minor units of `currency`. */
export type OrderedPayment = {
  readonly paymentId: string;
  readonly amount: number;
  readonly currency: string;
  readonly plan: unknown;
  /** Null: none runs. */
  readonly running: RunningSubscription | null;
};

/** The subscription that runs when an order is made. `until`: its end, ISO 8601 in UTC, with milliseconds. */
export type RunningSubscription = { readonly tier: string; readonly until: string };

export type CreateOrderResult =
  | OrderedPayment & { outcome: 'created' }
  | OrderedPayment & { outcome: 'existing'; orderId: string }
  | { outcome: 'plan_not_found' | 'user_not_found' | 'in_flight' | 'key_conflict' }
  | { outcome: 'rate_limited'; retryAfter: number };

export type GatewayDelivery = {
  /** Of the raw bytes, as hex. */
  readonly bodySha256: string;
  /** From the header; not signed. */
  readonly eventId: string | null;
  /** JSON that jsonb accepts; null: nested too deep to be read. */
  readonly body: string | null;
};

/** The payment gateway's API. */
export type Gateway = {
  /**
   * Makes an order with automatic capture.
   * @param receipt unique, at most 40 characters
   * @returns the order's id, or null when the gateway refused, failed or did not answer in time.
   */
  createOrder(order: { amount: number; currency: string; receipt: string }): Promise<string | null>;
  /** Ends a subscription, at once or with its billing cycle. */
  cancelSubscription(id: string, atCycleEnd: boolean): Promise<GatewayReply>;
  /** A subscription as the gateway has it. */
  readSubscription(id: string): Promise<Reading<GatewaySubscription>>;
  /** The payments on an order, every attempt. */
  listOrderPayments(orderId: string): Promise<Reading<readonly GatewayEntity[]>>;
  /** The refunds of a payment, in any state; the newest 100. */
  listRefunds(paymentId: string): Promise<Reading<readonly GatewayEntity[]>>;
};

/** A payment or a refund as the gateway has it. */
export type GatewayEntity = Readonly<Record<string, unknown>>;

/** What the gateway knows. `unknown`: there is no such thing; `unanswered`: it did not say, ask again later. */
export type Reading<T> = { readonly status: 'found'; readonly value: T } | {
  readonly status: 'unknown' | 'unanswered';
};

/** `current_end`: Unix seconds; null before the first cycle. */
export type GatewaySubscription = { readonly status: string; readonly current_end?: unknown };

/** How the gateway answered; status 0: it did not. */
export type GatewayReply = { readonly status: number; readonly retryAfter: string | null };

/** Rows of one destination, claimed for 60 seconds. `parked`: how many more were due and too old. */
export type OutboxClaim = { readonly token: string; readonly rows: readonly OutboxRow[]; readonly parked: number };

/** `settled`: how many more were due and needed no asking. */
export type PaymentsToReconcile = {
  readonly settled: number;
  readonly payments: readonly { readonly id: string; readonly orderId: string }[];
};

export type SubscriptionToReconcile = { readonly id: string; readonly gatewaySubscriptionId: string };

/** What createApp needs from outside. */
export type Ports = {
  readonly auth: Auth;
  readonly database: Database;
  /** Null: the gateway's API is not configured. */
  readonly gateway: Gateway | null;
  /** The receivers of side effects that are configured. */
  readonly senders: Readonly<Partial<Record<Destination, Sender>>>;
};
