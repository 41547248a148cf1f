import type {
  ChangeScheduledProps,
  FailedRenewalProps,
  GoingOnProps,
  NextCharge,
  PaymentFailedProps,
  PaymentRefundedProps,
  PlanChangedProps,
  ReceiptIssuedProps,
  ReceiptProps,
  SubscriptionCancelledProps,
  SubscriptionCompletedProps,
  SubscriptionEndedProps,
  SubscriptionEndingProps,
} from '../mails.ts';

/** Every text of the mails in English. `hi.ts` is Hindi. */
export const en = () => {
  const charge = (next: NextCharge, condition = '') =>
    next
      ? `The next charge is ${next.amount ? `${next.amount} ` : ''}on ${next.on}${condition}.`
      : `Nothing more is charged${next === null ? '' : ' for now'}.`;
  const bought = 'If you have bought a plan since, or do not want to go on, there is nothing left to do.';
  const changed = 'If you have changed or cancelled it since, there is nothing left to do.';
  const otherAccess = 'You also have other access, which is not affected.';
  const begun = (day: string | undefined) => day === undefined ? 'is active' : `starts on ${day}`;
  const valid = (until: string | null) => until === null ? '' : ` and is valid until ${until}`;
  const goesOn = ({ planName, validUntil, nextPlanName, nextCharge }: GoingOnProps) => {
    const end = !nextCharge || nextPlanName !== null ? valid(validUntil) : '';
    const next = nextPlanName === null ? '' : ` Then your ${nextPlanName} plan starts.`;
    return `Your ${planName} plan goes on${end}.${next} ${charge(nextCharge)}`;
  };
  type End = Pick<FailedRenewalProps, 'accessEndsOn' | 'isEnded'>;
  const access = ({ accessEndsOn: day, isEnded }: End, beside: string, ends: (day: string) => string) =>
    day === null ? beside : isEnded ? `Your access ended on ${day}.` : ends(day);
  const cancelled = (props: SubscriptionCancelledProps) => {
    const other = props.isEnded ? 'You have no access to a plan now.' : 'Your other access continues.';
    return access(props, other, (day) => `Your access lasts until ${day}.`);
  };
  const receiptNote =
    'Keep this e-mail for your records. If you have a question about this payment, quote the transaction ID.';
  return {
    /** The language of the HTML. */
    lang: 'en',
    hello: 'Hello',
    amountOn: (amount: string | null, day: string) => amount === null ? day : `${amount} on ${day}`,
    /** Names of facts. */
    labels: {
      plan: 'Plan',
      nextPlan: 'Next plan',
      amount: 'Amount',
      amountPaid: 'Amount paid',
      credit: 'Credit',
      price: 'Price',
      payment: 'Payment',
      refunded: 'Refunded',
      reason: 'Reason',
      notCharged: 'Not charged',
      withoutPayment: 'Without a payment',
      validUntil: 'Valid until',
      paidUntil: 'Paid until',
      accessUntil: 'Access until',
      accessEnded: 'Access ended on',
      ended: 'Ended on',
      starts: 'Starts on',
      undoUntil: 'Undo until',
      resumeUntil: 'Resume until',
      nextPayment: 'Next payment',
      transaction: 'Transaction ID',
      number: 'Number',
      date: 'Date',
      total: 'Total',
    },
    /** Texts of the button. */
    actions: {
      plans: 'See the plans',
      dashboard: 'Open your dashboard',
      retry: 'Try again',
      manage: 'Manage your payment',
      renew: 'Renew your plan',
    },
    accessUntil: (day: string) => `Access until ${day}`,
    paymentSuccess: {
      subject: ({ planName, startsOn }: ReceiptProps) => `Payment received: your ${planName} plan ${begun(startsOn)}`,
      preview: ({ amount, validUntil }: ReceiptProps) => `${amount} paid. Your plan is valid until ${validUntil}.`,
      heading: 'Payment received',
      body: (p: ReceiptProps) => `Thank you. We have received your payment, and your plan ${begun(p.startsOn)}.`,
      note: receiptNote,
    },
    subscriptionRenewed: {
      subject: ({ planName }: ReceiptProps) => `Your ${planName} plan has been renewed`,
      preview: ({ amount, validUntil }: ReceiptProps) => `${amount} paid. Your plan is valid until ${validUntil}.`,
      heading: 'Your plan has been renewed',
      body: 'Thank you. We have received your payment, and your plan has been renewed.',
      note: receiptNote,
    },
    paymentFailed: {
      subject: ({ planName }: PaymentFailedProps) => `Your payment for the ${planName} plan failed`,
      preview: ({ amount }: PaymentFailedProps) => `${amount} could not be charged. You can try again.`,
      heading: 'Payment failed',
      body: 'Your payment did not go through. This attempt has not changed your subscription, and you can try again.',
      note: 'If you have paid since with another attempt, there is nothing left to do.',
    },
    paymentPending: {
      subject: ({ planName }: FailedRenewalProps) => `Your ${planName} plan could not be renewed yet`,
      preview: 'The payment did not go through. It will be tried again automatically.',
      heading: 'Your plan could not be renewed yet',
      body: ({ planName, ...props }: FailedRenewalProps) =>
        `The payment for the next period of your ${planName} plan did not go through. ` +
        'It will be tried again automatically over the next few days. Please check that your payment method works. ' +
        access(props, otherAccess, (day) => `If no payment succeeds, your access ends on ${day}.`),
      note: 'If you have paid since, there is nothing left to do.',
    },
    subscriptionHalted: {
      subject: ({ planName }: FailedRenewalProps) => `Your ${planName} plan could not be renewed`,
      preview: 'The payment did not go through. It will not be tried again automatically.',
      heading: 'Your plan could not be renewed',
      body: ({ planName, manageUrl, ...props }: FailedRenewalProps) =>
        `The payment for the next period of your ${planName} plan did not go through, and all further attempts ` +
        'failed. It will not be tried again automatically. ' +
        access(props, otherAccess, (day) => `Without a payment, your access lasts until ${day}.`) +
        (manageUrl === null
          ? ' To continue, choose a plan again.'
          : ' To continue, pay or change your payment method.'),
      note: 'If you have paid since, or do not want to go on, there is nothing left to do.',
    },
    paymentRefunded: {
      subject: ({ refunded }: PaymentRefundedProps) => `${refunded} was refunded`,
      preview: ({ paid, planName }: PaymentRefundedProps) => `Of your payment of ${paid} for the ${planName} plan.`,
      heading: 'Your refund',
      body: ({ refunded, paid, planName, accessPlanName, accessEndsOn, nextCharge }: PaymentRefundedProps) =>
        (refunded === paid ? 'Your' : `${refunded} of your`) +
        ` payment of ${paid} for the ${planName} plan was refunded. ` +
        (accessPlanName === null
          ? 'You have no access to a plan now.'
          : `Your ${accessPlanName} plan remains${valid(accessEndsOn)}.`) +
        ` ${charge(nextCharge)} Your bank may need some days to show the refund.`,
      note: 'Keep this e-mail for your records. If you have a question about this refund, quote the transaction ID.',
    },
    /** The titles of documents. */
    titles: {} as Readonly<Record<string, string>>,
    receiptIssued: {
      subject: ({ title, documentNumber }: ReceiptIssuedProps) => `${title} ${documentNumber}`,
      preview: ({ date, total }: ReceiptIssuedProps) => `Of ${date}, ${total}.`,
      body: ({ documentNumber, date }: ReceiptIssuedProps) => `Attached is the document ${documentNumber} of ${date}.`,
      note: 'Keep this e-mail for your records.',
    },
    changeScheduled: {
      subject: ({ planName, startsOn }: ChangeScheduledProps) => `Your plan changes to ${planName} on ${startsOn}`,
      preview: (p: ChangeScheduledProps) => `${p.amount} ${p.interval}, for the first time on ${p.startsOn}.`,
      heading: 'Your plan will change',
      body: ({ planName, startsOn, amount, interval, undoUntil }: ChangeScheduledProps) =>
        `Your ${planName} plan starts on ${startsOn}. Until then you keep the plan that you have. ` +
        `On that day ${amount} will be charged, then ${amount} ${interval}. ` +
        (undoUntil === null
          ? 'The change cannot be undone any more.'
          : `You can undo the change until ${undoUntil} on the page of your plan.`),
      price: ({ amount, interval }: ChangeScheduledProps) => `${amount} ${interval}`,
      note: 'If you have undone the change since, there is nothing left to do.',
    },
    changeUndone: {
      subject: ({ planName }: GoingOnProps) => `Your ${planName} plan stays`,
      preview: 'The change of your plan is undone.',
      heading: 'The change is undone',
      body: (props: GoingOnProps) => `Your plan does not change after all. ${goesOn(props)}`,
      note: changed,
    },
    subscriptionResumed: {
      subject: ({ planName }: GoingOnProps) => `Your ${planName} subscription is resumed`,
      preview: 'Your cancellation is withdrawn.',
      heading: 'Your subscription is resumed',
      body: (props: GoingOnProps) => `You have withdrawn your cancellation. ${goesOn(props)}`,
      note: changed,
    },
    planChanged: {
      subject: ({ planName }: PlanChangedProps) => `Your plan has changed: ${planName}`,
      preview: ({ oldPlanName, credit, nextCharge }: PlanChangedProps) =>
        credit === null ? charge(nextCharge) : `${credit} of your old ${oldPlanName} plan was credited.`,
      heading: 'Your plan is changed',
      body: ({ oldPlanName: old, nextCharge: next, ...p }: PlanChangedProps) => {
        const when = p.isAuthorised ? '' : ', once you have authorised it';
        const then = next ? charge(next, when) : 'It does not renew by itself.';
        const same = p.credit ? 'has begun a new period' : 'has a new price';
        const how = p.planName === old ? same : `has begun, and your ${old} plan has ended`;
        const last = `Your plan is valid until ${p.validUntil}. ${then}`;
        const paid = `For the unused time of the old one ${p.credit} was credited, and you paid ${p.amount}. `;
        return `Your ${p.planName} plan ${how}. ${p.credit ? paid : ''}${last}`;
      },
      note: changed,
    },
    subscriptionCancelled: {
      subject: ({ planName }: SubscriptionCancelledProps) => `Your ${planName} subscription is cancelled`,
      preview: (props: SubscriptionCancelledProps) => `Nothing more will be charged for it. ${cancelled(props)}`,
      heading: 'Your subscription is cancelled',
      body: (props: SubscriptionCancelledProps) =>
        `You have cancelled your ${props.planName} subscription. Nothing more will be charged for it. ` +
        cancelled(props) +
        (props.resumeUntil === null ? '' : ` You can resume the subscription until ${props.resumeUntil}.`),
      note: 'If you have resumed it or bought a plan since, there is nothing left to do.',
    },
    subscriptionCompleted: {
      subject: ({ planName }: SubscriptionCompletedProps) => `Your ${planName} subscription is complete`,
      preview: ({ endsOn }: SubscriptionCompletedProps) =>
        `The last payment was made. The plan is paid until ${endsOn}.`,
      heading: 'Your subscription is complete',
      body: ({ planName, endsOn, ...props }: SubscriptionCompletedProps) => {
        // Access may last some days longer than the paid period.
        const after = access(
          props,
          'After that, your other access continues.',
          (day) => day === endsOn ? 'After that, your access ends.' : `Your access ends on ${day}.`,
        );
        return `The last payment of your ${planName} subscription was made. Nothing more will be charged for it. ` +
          `The plan is paid until ${endsOn}. ${after} You can choose a plan again on that day or later.`;
      },
      note: bought,
    },
    subscriptionEnding: {
      subject: ({ planName, endsOn }: SubscriptionEndingProps) => `Your ${planName} plan ends on ${endsOn}`,
      preview: {
        replace: 'You can buy it again on that day or later.',
        extend: 'If you renew it before then, you lose no day.',
        none: 'It is not on sale any more. You can choose another plan.',
      },
      heading: 'Your access ends soon',
      body: ({ endsOn, earlyRenewal }: SubscriptionEndingProps) =>
        `Your plan is valid until ${endsOn}. After that your access ends. ` + {
          replace: 'You can buy the plan again on that day or later.',
          extend: 'To keep your access, renew before then: the new period is added to this one, and you lose no day.',
          none: 'The plan is not on sale any more. You can choose another one.',
        }[earlyRenewal],
      note: bought,
    },
    subscriptionEnded: {
      subject: ({ planName }: SubscriptionEndedProps) => `Your ${planName} plan has ended`,
      preview: (day: string) => `Your access ended on ${day}.`,
      heading: 'Your access has ended',
      body: ({ planName, endsOn, refunded, nextCharge }: SubscriptionEndedProps, day: string) =>
        refunded === undefined
          ? `Your access to the ${planName} plan ended on ${day}. You can come back at any time.`
          : `Your access to the ${planName} plan ended on ${endsOn}, because ${refunded} was refunded. ${
            charge(nextCharge)
          }`,
      note: 'If you have bought a plan since, there is nothing left to do.',
    },
  };
};

/** What a translation has. */
export type Texts = ReturnType<typeof en>;
