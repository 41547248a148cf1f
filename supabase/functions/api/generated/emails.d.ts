// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.

/** A mail, ready to be sent. */
export type Mail = { readonly subject: string; readonly html: string; readonly text: string };

/** SPEC 6, payment-success e-mail; every value as the reader sees it. */
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

/** SPEC 6, payment-failed e-mail; every value as the reader sees it. */
export type PaymentFailedProps = {
  /** May be empty. */
  readonly displayName: string;
  readonly planName: string;
  /** `₹1234.56` */
  readonly amount: string;
  /** The gateway's words; left out when empty. */
  readonly reason?: string;
  /** Absolute, http or https. */
  readonly retryUrl: string;
};

/** The mails about the end of access; every value as the reader sees it. */
export type SubscriptionEndProps = {
  /** May be empty. */
  readonly displayName: string;
  readonly planName: string;
  /** Before the end the last day of the paid period, after it the day on which access ended: `20 November 2027`. */
  readonly endsOn: string;
  /** Absolute, http or https. */
  readonly pricingUrl: string;
};

/** The mail before the end of a paid period. */
export type SubscriptionEndingProps = SubscriptionEndProps & {
  /** What a purchase before the end does: it starts a new period at once, or adds to the one that runs. */
  readonly earlyRenewal: 'replace' | 'extend';
};

/** The mails of the service. Each throws when its link is no http(s) address. */
export type Mails = {
  readonly paymentSuccess: (props: PaymentSuccessProps) => Mail;
  readonly paymentFailed: (props: PaymentFailedProps) => Mail;
  readonly subscriptionEnding: (props: SubscriptionEndingProps) => Mail;
  readonly subscriptionEnded: (props: SubscriptionEndProps) => Mail;
};

export declare const mails: Mails;
