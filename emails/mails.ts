// Copied into the generated bundle's types as it stands: types only, no imports.

/** A mail, ready to be sent. */
export type Mail = { readonly subject: string; readonly html: string; readonly text: string };

/** Values of `payment-success` and `subscription-renewed`, formatted for the reader. Contract: E-mails. */
export type ReceiptProps = {
  /** May be empty. */
  readonly displayName: string;
  readonly planName: string;
  /** `₹1234.56` */
  readonly amount: string;
  readonly transactionId: string;
  /** `20 November 2027` */
  readonly validUntil: string;
  /** The day of the gateway's next charge; not shown when absent. */
  readonly nextPaymentOn?: string;
  /** Absolute, http or https. */
  readonly dashboardUrl: string;
};

/** Values of `payment-failed`, formatted for the reader. Contract: E-mails. */
export type PaymentFailedProps = {
  /** May be empty. */
  readonly displayName: string;
  readonly planName: string;
  /** `₹1234.56` */
  readonly amount: string;
  /** The gateway's description of the failure; not shown when empty. */
  readonly reason?: string;
  /** Absolute, http or https. */
  readonly retryUrl: string;
};

/** Values of `subscription-ended`, formatted for the reader. Contract: E-mails. */
export type SubscriptionEndProps = {
  /** May be empty. */
  readonly displayName: string;
  readonly planName: string;
  /** `subscription-ending`: the last day of the paid period. `subscription-ended`: the day on which access ended. */
  readonly endsOn: string;
  /** Absolute, http or https. */
  readonly pricingUrl: string;
};

/** Values of `subscription-ending`. */
export type SubscriptionEndingProps = SubscriptionEndProps & {
  /** Contract: Early renewals. */
  readonly earlyRenewal: 'replace' | 'extend';
};

/** Values of `payment-pending` and `subscription-halted`. */
export type FailedRenewalProps = {
  /** May be empty. */
  readonly displayName: string;
  readonly planName: string;
  /** The day on which access ends without a payment; null: the customer has other access. */
  readonly accessEndsOn: string | null;
  /** The gateway's page of the subscription, absolute, http or https; null: the mail links to `pricingUrl`. */
  readonly manageUrl: string | null;
  /** Absolute, http or https. */
  readonly pricingUrl: string;
};

/** Values of `subscription-completed`. */
export type SubscriptionCompletedProps = {
  /** May be empty. */
  readonly displayName: string;
  readonly planName: string;
  /** The last day of the last paid period. */
  readonly endsOn: string;
  /** The day on which access ends; null: other access continues after `endsOn`. */
  readonly accessEndsOn: string | null;
  /** Absolute, http or https. */
  readonly pricingUrl: string;
};

/** The mails of the service. Each throws when its link is not an http(s) URL. */
export type Mails = {
  readonly paymentSuccess: (props: ReceiptProps) => Mail;
  readonly paymentFailed: (props: PaymentFailedProps) => Mail;
  readonly paymentPending: (props: FailedRenewalProps) => Mail;
  readonly subscriptionRenewed: (props: ReceiptProps) => Mail;
  readonly subscriptionHalted: (props: FailedRenewalProps) => Mail;
  readonly subscriptionCompleted: (props: SubscriptionCompletedProps) => Mail;
  readonly subscriptionEnding: (props: SubscriptionEndingProps) => Mail;
  readonly subscriptionEnded: (props: SubscriptionEndProps) => Mail;
};
