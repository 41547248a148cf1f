import { formatsOf, type Length } from './formats.ts';

const formats = formatsOf('en-GB', undefined);
const { day, moment } = formats;
const per = ({ interval, interval_count: count }: Length) =>
  count === 1 ? `a ${interval}` : `for ${count} ${interval}s`;
const every = ({ interval, interval_count: count }: Length) =>
  count === 1 ? `${interval}ly` : `every ${count} ${interval}s`;

/** Every text of the page in English. An app that speaks another language translates this file: `hi.ts` is Hindi. */
export const en = {
  ...formats,
  /** `a month`, `for 3 months`; `monthly`, `every 3 months`. */
  ...{ per, every },
  page: { title: 'Billing', intro: 'Your plan, what it costs, and your payments.', loading: 'Loading' },
  actions: {
    tryAgain: 'Try again',
    close: 'Close',
    back: 'Back',
    cancel: 'Cancel',
    resume: 'Resume',
    undo: 'Undo change',
    update: 'Update payment method',
    method: 'Payment method',
    renewing: 'Renew automatically',
  },
  said: {
    confirming: 'Confirming the payment …',
    attemptFailed: 'This attempt failed.',
    outdated: 'Your plan has changed since this page was read. Please choose again.',
    thanks: 'Thank you.',
    renewed: (plan: string) => `${plan} is renewed.`,
    onPlan: (plan: string) => `You are on ${plan} now.`,
    undone: 'The change is undone. Your plan stays as it is.',
    cancelled: 'Cancelled. Nothing more is charged.',
    cancelledUntil: (end: string) => `Cancelled. You keep your plan until ${day(end)}.`,
    resumed: 'Resumed. Your plan goes on.',
    downloaded: (name: string) => `${name} is downloaded.`,
    saved: 'Saved. Your next invoices show it.',
    notRenewing: (plan: string) => `Paid. You are on ${plan}, but it does not renew by itself yet.`,
    changed: 'Your plan is changed.',
    startsOn: (at: string) => `It starts on ${day(at)}.`,
    nothingPaid: 'Nothing was paid.',
    dismissed: 'You closed the payment window. Nothing was paid.',
    pending: 'Your payment is being confirmed and will appear here. Please do not pay again.',
  },
  cancelling: {
    title: 'Cancel your subscription?',
    keep: 'Keep it',
    confirm: 'Cancel subscription',
    text: (plan: string | null, end: string | null) =>
      `${
        plan === null ? '' : `You keep ${plan}${end ? ` until ${day(end)}` : ''}. `
      }Nothing more is charged after that.`,
    yourPlan: 'your plan',
  },
  state: {
    label: 'Current plan',
    noPlan: 'No active plan',
    anyTime: 'You can choose a plan at any time.',
    ended: (plan: string, at: string, why: string) => `${plan} ended on ${day(at)}. ${why}`.trim(),
    /** Why access ended. Other reasons are those that an admin gave. */
    endings: {
      lapsed: 'It was not renewed.',
      cancelled: 'You cancelled it.',
      refunded: 'Your payment was refunded.',
      never_captured: 'Your payment was never completed.',
    } as Readonly<Record<string, string>>,
    chargedOn: (at: string) => `The next charge is on ${day(at)}. Cancel to stop it.`,
    mayBeCharged: 'Your subscription may be charged again. Cancel to stop it.',
    endsOn: (end: string | null) => end ? `Ends on ${day(end)}` : 'Ends soon',
    paymentFailed: 'Payment failed',
    trial: 'Free trial',
    active: 'Active',
    keepsUntil: (end: string | null) => `You keep it until ${end ? day(end) : 'its end'}. Nothing more is charged.`,
    trialEnds: (at: string, cost: string) => `Your trial ends on ${day(at)}. ${cost} is charged from then on.`,
    paidUntil: (end: string) => `Paid until ${day(end)}.`,
    notRenewing: 'It does not renew by itself.',
    nextAttempt: (at: string, amount: string | null) =>
      `The next attempt is on ${day(at)}${amount ? ` for ${amount}` : ''}.`,
    renews: (at: string, amount: string | null) => `Renews on ${day(at)}${amount ? ` for ${amount}` : ''}.`,
    noEnd: 'It has no end, and nothing is charged.',
    grace: (end: string, last: string, isBilled: boolean) =>
      `The paid period ended on ${day(end)}. You keep your plan until ${day(last)}${
        isBilled ? ' without a payment' : ''
      }.`,
    onHold: 'Your subscription is on hold',
    onHoldText: (plan: string | null) =>
      `Renewal has stopped after several attempts. Update your payment method to ${
        plan ? `keep ${plan}` : 'get your plan again'
      }.`,
    lastFailed: 'Your last payment failed',
    lastFailedText: (plan: string | null) =>
      `We try again soon. Update your payment method${plan ? `, so that you keep ${plan}` : ''}.`,
  },
  next: {
    title: 'What comes next',
    change: (plan: string, at: string, amount: string) => `${plan} starts on ${day(at)} for ${amount}.`,
    undoUntil: (at: string) => `You can undo it until ${moment(at)}.`,
    final: 'It can no longer be undone.',
    starts: (plan: string, at: string) => `${plan} starts on ${day(at)}.`,
    paid: (end: string | null) => `Already paid.${end ? ` It lasts until ${day(end)}.` : ''}`,
  },
  plans: {
    title: 'Plans',
    prices: 'Prices',
    month: 'Monthly',
    year: 'Yearly',
    current: 'Your plan',
    scheduled: 'Starts next',
    choose: (plan: string) => `Choose ${plan}`,
    renew: (plan: string) => `Renew ${plan}`,
    changeLength: (length: Length) => `Change to ${every(length)}`,
    upgrade: (plan: string) => `Upgrade to ${plan}`,
    change: (plan: string) => `Change to ${plan}`,
    or: (price: string) => `or ${price}`,
    less: (percent: number) => `${percent}% less than monthly`,
  },
  change: {
    title: (plan: string) => `Change to ${plan}`,
    when: 'When the change starts',
    now: 'Now',
    on: (at: string) => `On ${day(at)}`,
    calculating: 'Calculating the price …',
    confirm: 'Change',
    pay: (amount: string) => `Pay ${amount}`,
    confirmNow: 'Change now',
    confirmOn: (at: string) => `Change on ${day(at)}`,
    price: 'Price',
    credit: 'Credit for unused time',
    period: 'Period',
    after: 'After that',
    notRenewing: 'Does not renew by itself',
    dueToday: 'Due today',
    dueOn: (at: string) => `Due on ${day(at)}`,
    replaces: (plan: string) => `This replaces ${plan}, which ends now.`,
    keeps: (plan: string) => `You keep ${plan}, until then.`,
    authorise: 'After the payment you authorise the later ones.',
  },
  payments: {
    title: 'Payments',
    none: 'There are no payments yet.',
    columns: { plan: 'Plan', date: 'Date', amount: 'Amount', status: 'Status' },
    payment: 'Payment',
    renewal: 'Renewal',
    download: (title: string) => `Download ${title}`,
    paid: 'Paid',
    failed: 'Failed',
    refunded: 'Refunded',
    partly: (amount: string) => `${amount} refunded`,
    disputed: 'Disputed',
    lost: 'Charged back',
  },
  details: {
    title: 'Billing details',
    edit: 'Edit details',
    none: 'Your invoices have no address yet.',
    where: 'Where are you?',
    skip: 'Skip',
    continue: 'Continue',
    save: 'Save',
    tax: 'Your state decides which tax your invoice shows.',
    intro: 'Your next invoices show what you enter here.',
    state: 'State',
    choose: 'Choose',
    country: 'Country (two letters, such as PT)',
    name: 'Name',
    gstin: 'GSTIN, if you have one',
    address: 'Address',
    check: 'Please check this.',
    correct: 'Please correct what is marked.',
    /** What the service refuses. */
    refusals: {
      name: 'At most 200 letters.',
      address: 'At most 500 letters.',
      gstin: 'This is no GSTIN, or one of another state.',
      state: 'Please choose your state.',
      country: 'Two letters, such as PT.',
    } as Readonly<Record<string, string>>,
  },
  /** Texts of the service and the client, as sentences for customers. */
  errors: {
    'Unauthorized': 'Please sign in again to see your billing.',
    'The service did not answer': 'The service cannot be reached. Check your connection and try again.',
    'Only at the end of the period': 'This change is possible only at the end of your period.',
    'Too late to change this period': 'It is too late to change this period. Try again after your plan renews.',
    'Already subscribed': 'You already have this plan.',
    'Subscription not found': 'There is nothing to change any more.',
    'Cannot be resumed': 'This subscription cannot be resumed any more. You can choose a plan again.',
    'Plan not found': 'This plan is not on offer any more.',
    'Payment gateway unavailable': 'Our payment provider does not answer. Please try again in a minute.',
    'Payment service not configured': 'Payments are not available at the moment.',
    'Too many orders': 'You tried this often. Please wait some minutes and try again.',
    'Another checkout is open': 'A payment window is open already. Please finish or close it first.',
  } as Readonly<Record<string, string>>,
};

/** What a translation has. */
export type Texts = typeof en;
