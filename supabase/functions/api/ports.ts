import type { RetentionConfig } from './config.ts';
import type { Result } from './ports/database-results.ts';
import type { Gateway, GatewayEntity, GatewaySubscription, MadeSubscription } from './ports/gateway.ts';
import type { ReconcileDatabase } from './ports/reconcile.ts';
import type { Delivered, Destination, Failure, Sender } from './ports/outbox.ts';

export type { Result, Unread } from './ports/database-results.ts';
export type { IssuedDocument } from './ports/document-results.ts';
export type * from './ports/gateway.ts';
export type * from './ports/outbox.ts';
export type * from './ports/reconcile.ts';

/** Authenticates requests. Contract: Sessions. */
export type Auth = {
  /**
   * @returns the id of the signed-in user, or null when the request carries no valid session.
   * @throws when the auth server is unavailable: an outage is not a refusal.
   */
  authenticate(request: Request): Promise<string | null>;
};

/**
 * The SQL functions of the service, one round trip a call. Every method throws when the database fails or its result is
 * not the expected one.
 */
export type Database = ReconcileDatabase & {
  /** The body of the answer, as JSON text. Contract: GET /api/subscriptions. */
  getSubscription(userId: string): Promise<Result<'get_subscription'>>;
  /** The body of the answer. Contract: GET /api/subscriptions/plans. */
  listPlans(): Promise<Result<'list_plans'>>;
  /** As `listPlans`, each price with its scenario for this user. */
  listPlansForUser(userId: string): Promise<Result<'list_plans_for_user'>>;
  /** Returns the user's open order of a price, or stores a new payment without an order. @param isRead as `previewChange` */
  createOrder(request: OrderRequest, isRead: boolean): Promise<Result<'create_order'>>;
  /** Stores the gateway's id of a payment's order. */
  storeOrder(paymentId: string, orderId: string): Promise<void>;
  /** Deletes a payment for which the gateway created no order. */
  discardOrder(paymentId: string): Promise<void>;
  /** Returns the user's open subscription at a price, or stores a new one without the gateway's id. */
  createSubscription(request: Omit<OrderRequest, 'start'>): Promise<Result<'create_subscription'>>;
  /**
   * What a change of the plan would cost, and when it begins. Writes nothing.
   * @param isRead false: the result is `unread` where the gateway has not named the payment that gives a credit
   */
  previewChange(request: ChangeRequest, isRead: boolean): Promise<Result<'preview_change'>>;
  /** Stores the new subscription of a change, or undoes a change. `paymentId`: pays for the first period. */
  createChange(request: ChangeRequest & { readonly paymentId: string | null }): Promise<Result<'create_change'>>;
  /**
   * Stores what the gateway made for it; null: nothing, and it is forgotten. What was made for one that was withdrawn or
   * forgotten in the meantime is to be cancelled.
   */
  storeSubscription(id: string, made: MadeSubscription | null): Promise<Result<'store_subscription'>>;
  /** Grants the first cycle of a subscription that the user authorised. Contract: POST /api/payments/verify. */
  verifySubscription(first: VerifiedSubscription): Promise<Result<'verify_subscription'>>;
  /**
   * Returns the state of a user's order, and whether to read it from the gateway: then call `applyOrderRead`. One of
   * several requests at once gets that outcome. @param canRead whether the gateway's API is configured
   */
  getOrder(userId: string, orderId: string, canRead: boolean): Promise<Result<'get_order'>>;
  /** Applies the gateway's payments on an order; null: the gateway does not know it. @returns the order afterwards */
  applyOrderRead(paymentId: string, items: readonly unknown[] | null): Promise<Result<'apply_order_read'>>;
  /** Contract: POST /api/payments/verify, "Order of checks" from step 5, and "Effect". */
  verifyPayment(payment: VerifiedPayment): Promise<Result<'verify_payment'>>;
  /** As `verifyPayment`, for the user of the order. */
  verifyReturnedPayment(payment: Omit<VerifiedPayment, 'userId'>): Promise<Result<'verify_payment'>>;
  /** The receipt of a user's payment. Contract: GET /api/payments/:id/receipt. */
  getReceipt(userId: string, paymentId: string): Promise<Result<'get_receipt'>>;
  /** A user's receipt or credit note. Contract: GET /api/receipts/:id. */
  getDocument(userId: string, id: string): Promise<Result<'get_document'>>;
  /** The body of the answer. Contract: GET /api/billing-details. */
  getBillingDetails(userId: string): Promise<Result<'get_billing_details'>>;
  /** Replaces what documents say about a user. Contract: PUT /api/billing-details. */
  putBillingDetails(userId: string, details: BillingDetails): Promise<Result<'put_billing_details'>>;
  /**
   * Ends a user's subscription, now or at the end of the period.
   * @returns the subscription as the read endpoint shows it.
   */
  cancelSubscription(userId: string, atPeriodEnd: boolean): Promise<Result<'cancel_subscription'>>;
  /** Withdraws a cancellation at the end of the period. */
  resumeSubscription(userId: string): Promise<Result<'resume_subscription'>>;
  /** Contract: Events. */
  applyGatewayEvent(delivery: GatewayDelivery): Promise<Result<'apply_gateway_event'>>;
  /** Claims at most 20 due rows of each destination, leased for 60 seconds. */
  claimOutbox(destinations: readonly string[]): Promise<Result<'claim_outbox'>>;
  /** Marks claimed rows as delivered, also after the lease, and stores the refund that the gateway made. */
  completeOutbox(token: string, ids: readonly number[], delivery?: Delivered): Promise<void>;
  /** Marks claimed rows as not delivered. @returns how many will be retried, and how many were parked. */
  failOutbox(token: string, ids: readonly number[], failure: Failure): Promise<Result<'fail_outbox'>>;
  /** When the next row of these destinations is due, ISO 8601. */
  nextOutboxAttempt(destinations: readonly string[]): Promise<Result<'next_outbox_attempt'>>;
  /** Deletes one batch of old records. @returns how many; 0: none is left */
  purgeRecords(retention: RetentionConfig): Promise<Result<'purge_records'>>;
  /**
   * Applies what was read of a subscription before the gateway is told to stop billing it, and says whether that still
   * stands. `invoices`: null, if they were not read.
   */
  confirmStop(stop: {
    readonly id: number;
    readonly atCycleEnd: boolean;
    readonly subscription: GatewaySubscription | null;
    readonly invoices: readonly unknown[] | null;
  }): Promise<Result<'confirm_stop'>>;
  /** Times are ISO 8601. @param destinations the configured ones: rows of others do not count as undelivered */
  getHealth(destinations: readonly string[]): Promise<Result<'get_health'>>;
};

/** The methods that the dispatcher needs. */
export type OutboxDatabase = Pick<Database, 'claimOutbox' | 'completeOutbox' | 'failOutbox' | 'nextOutboxAttempt'>;

/** The method that a stop at the gateway needs. */
export type StopDatabase = Pick<Database, 'confirmStop'>;

export type VerifiedPayment = {
  readonly userId: string;
  readonly orderId: string;
  readonly paymentId: string;
  /** Checked by the route. */
  readonly signature: string;
};

/** The first payment of a subscription, with both as the gateway has them; without them the result may be `unread`. */
export type VerifiedSubscription = {
  readonly userId: string;
  readonly subscriptionId: string;
  readonly paymentId: string;
  readonly subscription?: GatewaySubscription;
  readonly payment?: GatewayEntity | null;
};

/** What is asked for: the default price of a tier, or a price by its lookup key. At least one is there. */
export type PriceRequest = {
  readonly tier?: string | undefined;
  readonly price?: string | undefined;
};

export type OrderRequest = PriceRequest & {
  readonly userId: string;
  /** When the period begins. Contract: Start and credit. */
  readonly start?: 'now' | 'after_current' | undefined;
  /** The same key returns the same order. */
  readonly idempotencyKey: string | null;
};

/** A change to another plan or price. */
export type ChangeRequest = PriceRequest & {
  readonly userId: string;
  readonly when: 'now' | 'period_end';
};

/** Of a user, as the form has them. */
export type BillingDetails = {
  readonly [Field in 'name' | 'gstin' | 'address' | 'state' | 'country']?: string | null | undefined;
};

export type GatewayDelivery = {
  /** Hash of the raw bytes, as hex. */
  readonly bodySha256: string;
  /** From the header, which the signature does not cover. */
  readonly eventId: string | null;
  /** JSON text that jsonb accepts; null: nested too deep. */
  readonly body: string | null;
};

/** The dependencies of `createApp`. */
export type Ports = {
  readonly auth: Auth;
  readonly database: Database;
  /** Null: the gateway's API is not configured. */
  readonly gateway: Gateway | null;
  /** The configured senders; outbox rows of other destinations wait. */
  readonly senders: Readonly<Partial<Record<Destination, Sender>>>;
};
