// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.

/** A mail, ready to be sent. */
export type Mail = { readonly subject: string; readonly html: string; readonly text: string };

/** Values of `payment-success`, formatted for the reader. Contract: E-mails. */
export type PaymentSuccessProps = {
  /** May be empty. */
  readonly displayName: string;
  readonly planName: string;
  /** `₹1234.56` */
  readonly amount: string;
  readonly transactionId: string;
  /** `20 November 2027` */
  readonly validUntil: string;
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

/** The mails of the service. Each throws when its link is not an http(s) URL. */
export type Mails = {
  readonly paymentSuccess: (props: PaymentSuccessProps) => Mail;
  readonly paymentFailed: (props: PaymentFailedProps) => Mail;
  readonly subscriptionEnding: (props: SubscriptionEndingProps) => Mail;
  readonly subscriptionEnded: (props: SubscriptionEndProps) => Mail;
};

export declare const mails: Mails;
