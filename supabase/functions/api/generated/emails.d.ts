// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.

/** A mail, ready to be sent. */
export type Mail = { readonly subject: string; readonly html: string; readonly text: string };

/** A language of the mails. */
export type Locale = 'en' | 'hi';

/** What makes the mails the app's. Without a field a mail has none of it. */
export type Look = {
  /** The name of the app, above the mail. */
  readonly brand?: string | undefined;
  /** Shown instead of the name, 32 pixels high. Absolute, http or https. */
  readonly logoUrl?: string | undefined;
  /** Below the mail, such as the seller's name and address. May have several lines. */
  readonly footer?: string | undefined;
  /** The colour of the button: `#1d4ed8`. Its text is black or white, whichever is easier to read. */
  readonly accent?: string | undefined;
  /** Default: English. */
  readonly locale?: Locale | undefined;
};

/** The customer's name, which may be empty. */
export type Addressed = { readonly displayName: string };

/** Values of `payment-success` and `subscription-renewed`, formatted for the reader. Contract: E-mails. */
export type ReceiptProps = Addressed & {
  readonly planName: string;
  /** `₹1234.56` */
  readonly amount: string;
  readonly transactionId: string;
  /** `20 November 2027`; `startsOn` of what waits for it. */
  readonly validUntil: string;
  readonly startsOn?: string;
  /** The day of the gateway's next charge; not shown when absent. */
  readonly nextPaymentOn?: string;
  readonly dashboardUrl: string;
};

/** Values of `payment-failed`, formatted for the reader. Contract: E-mails. */
export type PaymentFailedProps = Addressed & {
  readonly planName: string;
  /** `₹1234.56` */
  readonly amount: string;
  /** The gateway's description of the failure; not shown when empty. */
  readonly reason?: string;
  readonly retryUrl: string;
};

/** Values of the mails about the end of a period, formatted for the reader. Contract: E-mails. */
export type SubscriptionEndProps = Addressed & {
  readonly planName: string;
  /** `subscription-ending`: the last day of the paid period. `subscription-ended`: the day on which access ended. */
  readonly endsOn: string;
  readonly pricingUrl: string;
};

/** Values of `subscription-ended`. */
export type SubscriptionEndedProps = SubscriptionEndProps & {
  /** The end of access, if that was later than `endsOn`: after days of grace. */
  readonly accessEndedOn?: string | undefined;
  /** The amount, if access ended with a refund. */
  readonly refunded?: string | undefined;
  /** With `refunded`. */
  readonly nextCharge?: NextCharge;
};

/** Values of `subscription-ending`. */
export type SubscriptionEndingProps = SubscriptionEndProps & {
  /** Contract: Early renewals. `none`: the plan is off sale. */
  readonly earlyRenewal: 'replace' | 'extend' | 'none';
};

/** Values of `change-scheduled`, formatted for the reader. Contract: E-mails. */
export type ChangeScheduledProps = Addressed & {
  /** The coming plan. */
  readonly planName: string;
  /** `₹1,234.56` */
  readonly amount: string;
  /** `every 3 months` */
  readonly interval: string;
  readonly startsOn: string;
  /** Null: the change cannot be undone any more. */
  readonly undoUntil: string | null;
  readonly pricingUrl: string;
};

/** Values of `subscription-cancelled`, formatted for the reader. Contract: E-mails. */
export type SubscriptionCancelledProps = Addressed & {
  readonly planName: string;
  /** The day on which access ends or ended; null: access does not end with what was cancelled. */
  readonly accessEndsOn: string | null;
  /** Whether access has ended. */
  readonly isEnded: boolean;
  /** Null: the subscription cannot be resumed. */
  readonly resumeUntil: string | null;
  readonly pricingUrl: string;
};

/** What is charged next: `₹1,234.56`, null if that is not known, and its day. Null: nothing. Undefined: nothing for now. */
export type NextCharge = { readonly amount: string | null; readonly on: string } | null | undefined;

/** Values of `change-undone` and `subscription-resumed`, formatted for the reader. Contract: E-mails. */
export type GoingOnProps = Addressed & {
  /** The plan that goes on. */
  readonly planName: string;
  /** The last day of what runs; null: it has no end. */
  readonly validUntil: string | null;
  /** The plan that follows at its end, a change that was scheduled before; null: none. */
  readonly nextPlanName: string | null;
  readonly nextCharge: NextCharge;
  readonly pricingUrl: string;
};

/** Values of `plan-changed`, formatted for the reader. Contract: E-mails. */
export type PlanChangedProps = Addressed & {
  readonly planName: string;
  readonly oldPlanName: string;
  /** For the unused time of the old plan: `₹1,234.56`. Null, as the amount: it was changed at the gateway. */
  readonly credit: string | null;
  readonly amount: string | null;
  readonly validUntil: string;
  readonly nextCharge: NextCharge;
  /** Whether the customer has authorised the next charge. */
  readonly isAuthorised: boolean;
  readonly pricingUrl: string;
};

/** Values of `payment-refunded`, formatted for the reader. Contract: E-mails. */
export type PaymentRefundedProps = Addressed & {
  /** What the payment was for. */
  readonly planName: string;
  /** `₹1,234.56` */
  readonly refunded: string;
  readonly paid: string;
  readonly paidOn: string;
  readonly transactionId: string;
  /** The plan that the customer has after the refund; null: none. */
  readonly accessPlanName: string | null;
  /** Null: access has no end. */
  readonly accessEndsOn: string | null;
  readonly nextCharge: NextCharge;
  readonly pricingUrl: string;
};

/** Values of `payment-pending` and `subscription-halted`. */
export type FailedRenewalProps = Addressed & {
  readonly planName: string;
  /** What could not be charged: `₹1,234.56`. Not shown when absent. */
  readonly amount?: string | undefined;
  /** The day on which access ends without a payment, or ended; null: the customer has other access. */
  readonly accessEndsOn: string | null;
  /** Whether access has ended. */
  readonly isEnded: boolean;
  /** The gateway's page of the subscription, absolute, http or https; null: the mail links to `pricingUrl`. */
  readonly manageUrl: string | null;
  readonly pricingUrl: string;
};

/** Values of `subscription-completed`. */
export type SubscriptionCompletedProps = Addressed & {
  readonly planName: string;
  /** The last day of the last paid period. */
  readonly endsOn: string;
  /** The day on which access ends or ended; null: other access continues after `endsOn`. */
  readonly accessEndsOn: string | null;
  /** Whether access has ended. */
  readonly isEnded: boolean;
  readonly pricingUrl: string;
};

/** Values of `receipt-issued`, formatted for the reader. */
export type ReceiptIssuedProps = Addressed & {
  /** `Tax invoice`, `Receipt` or `Credit note`. */
  readonly title: string;
  readonly documentNumber: string;
  readonly date: string;
  /** `₹1,234.56` */
  readonly total: string;
  readonly dashboardUrl: string;
};

/** The mails of the service. Each throws when an address is not absolute, http or https. */
export type Mails = {
  readonly paymentSuccess: (props: ReceiptProps, look?: Look) => Mail;
  readonly paymentFailed: (props: PaymentFailedProps, look?: Look) => Mail;
  readonly paymentPending: (props: FailedRenewalProps, look?: Look) => Mail;
  readonly paymentRefunded: (props: PaymentRefundedProps, look?: Look) => Mail;
  readonly receiptIssued: (props: ReceiptIssuedProps, look?: Look) => Mail;
  readonly changeScheduled: (props: ChangeScheduledProps, look?: Look) => Mail;
  readonly changeUndone: (props: GoingOnProps, look?: Look) => Mail;
  readonly planChanged: (props: PlanChangedProps, look?: Look) => Mail;
  readonly subscriptionResumed: (props: GoingOnProps, look?: Look) => Mail;
  readonly subscriptionCancelled: (props: SubscriptionCancelledProps, look?: Look) => Mail;
  readonly subscriptionRenewed: (props: ReceiptProps, look?: Look) => Mail;
  readonly subscriptionHalted: (props: FailedRenewalProps, look?: Look) => Mail;
  readonly subscriptionCompleted: (props: SubscriptionCompletedProps, look?: Look) => Mail;
  readonly subscriptionEnding: (props: SubscriptionEndingProps, look?: Look) => Mail;
  readonly subscriptionEnded: (props: SubscriptionEndedProps, look?: Look) => Mail;
};

export declare const mails: Mails;
