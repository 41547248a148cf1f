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
  /** The answer of GET /api/subscriptions. SPEC 4. */
  getSubscription(userId: string): Promise<unknown>;
  /** SPEC 4, POST /api/payments/verify, steps 5 to 12. */
  verifyPayment(payment: VerifiedPayment): Promise<VerifyPaymentResult>;
  /** SPEC 6. @returns the outcome as the ledger holds it. */
  applyGatewayEvent(delivery: GatewayDelivery): Promise<{ outcome: string }>;
  /** Times are ISO 8601. */
  getHealth(): Promise<
    { oldest_undelivered_at: string | null; last_webhook_at: string | null }
  >;
};

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
  | { outcome: 'payment_not_found' | 'plan_not_found' };

export type GatewayDelivery = {
  /** Of the raw bytes, as hex. */
  readonly bodySha256: string;
  /** From the header; not signed. */
  readonly eventId: string | null;
  /** JSON that jsonb accepts; null: nested too deep to be read. */
  readonly body: string | null;
};

/** What createApp needs from outside. */
export type Ports = {
  readonly auth: Auth;
  readonly database: Database;
};
