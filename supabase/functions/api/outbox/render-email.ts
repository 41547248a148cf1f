import { type OutboxMail, outboxMail } from './email-payloads.ts';
import { formatAmount, formatCurrency, formatInterval, formatLongDate, formatTier } from './format.ts';
import type { Look, Mail, Mails } from '../generated/emails.js';

/** A mail and its recipient. */
export type Email = Mail & {
  readonly to: string;
  /** `content`: base64. */
  readonly attachments?: { readonly filename: string; readonly content: string }[];
};

type Pages = { readonly dashboard: string; readonly pricing: string };

export type EmailSettings = {
  /** Public address of the app, http or https, with or without a trailing slash. */
  readonly appUrl: string;
  /** Paths of the app's pages, after `appUrl`. */
  readonly pages?: Pages;
  /** IANA name, for the dates in mails; default UTC. */
  readonly timeZone?: string | undefined;
  readonly look?: Look;
};

/**
 * Renders the mail of an outbox row. Contract: E-mails.
 * @throws when the kind is unknown, the payload does not match it, or a setting is invalid.
 */
export async function renderEmail(
  row: { readonly kind: string; readonly payload: unknown },
  settings: EmailSettings,
): Promise<Email> {
  const mail = outboxMail.parse(row);
  // Most isolates never send a mail, so the templates are loaded with the first one.
  const { mails } = await import('../generated/emails.js');
  const email = { to: mail.payload.to, ...renderMail(mails, mail, settings) };
  if (mail.kind !== 'receipt-issued') return email;
  const { receiptFile } = await import('../receipts/receipt-file.ts');
  const { name, bytes } = await receiptFile(mail.payload.receipt, settings.look ?? {});
  return { ...email, attachments: [{ filename: name, content: toBase64(bytes) }] };
}

function renderMail(mails: Mails, { kind, payload }: OutboxMail, settings: EmailSettings): Mail {
  const { appUrl, pages = { dashboard: '/dashboard', pricing: '/pricing' }, timeZone, look } = settings;
  const locale = look?.locale;
  const money = (amount: number, currency: string) => formatCurrency(amount, currency, 'symbol', locale);
  // The contract has a form of its own for English.
  const shortMoney = locale === 'hi' ? money : formatAmount;
  const displayName = payload.display_name;
  switch (kind) {
    case 'payment-success':
      return mails.paymentSuccess(receiptProps(payload, shortMoney), look);
    case 'payment-failed':
      return mails.paymentFailed({
        displayName,
        planName: formatTier(payload.tier),
        amount: shortMoney(payload.amount, payload.currency),
        reason: payload.reason ?? undefined,
        retryUrl: page('pricing'),
      }, look);
    case 'payment-pending':
      return mails.paymentPending(failedRenewalProps(payload), look);
    case 'payment-refunded':
      return mails.paymentRefunded({
        displayName,
        planName: payload.plan_name,
        refunded: money(payload.amount, payload.currency),
        paid: money(payload.paid_amount, payload.currency),
        paidOn: day(payload.paid_at),
        transactionId: payload.transaction_id,
        accessPlanName: payload.access_plan_name,
        accessEndsOn: payload.access_ends_at && day(payload.access_ends_at),
        nextCharge: nextCharge(payload),
        pricingUrl: page('pricing'),
      }, look);
    case 'receipt-issued': {
      const { title, document_number, document_date, currency, totals } = payload.receipt;
      return mails.receiptIssued({
        displayName,
        title,
        documentNumber: document_number,
        date: formatLongDate(`${document_date}T00:00:00Z`, 'UTC', locale),
        total: money(totals.total, currency),
        dashboardUrl: page('dashboard'),
      }, look);
    }
    case 'change-scheduled':
      return mails.changeScheduled({
        displayName,
        planName: payload.plan_name,
        amount: money(payload.amount, payload.currency),
        interval: formatInterval(payload.interval, payload.interval_count, locale),
        startsOn: day(payload.starts_at),
        undoUntil: payload.undo_until && day(payload.undo_until),
        pricingUrl: page('pricing'),
      }, look);
    case 'change-undone':
      return mails.changeUndone(goingOnProps(payload), look);
    case 'subscription-resumed':
      return mails.subscriptionResumed(goingOnProps(payload), look);
    case 'plan-changed':
      return mails.planChanged({
        displayName,
        planName: payload.plan_name,
        oldPlanName: payload.old_plan_name,
        credit: payload.credit === null ? null : money(payload.credit, payload.currency),
        amount: payload.amount === null ? null : money(payload.amount, payload.currency),
        validUntil: day(payload.valid_until),
        nextCharge: nextCharge(payload),
        isAuthorised: payload.is_authorised,
        pricingUrl: page('pricing'),
      }, look);
    case 'subscription-cancelled':
      return mails.subscriptionCancelled({
        displayName,
        planName: payload.plan_name,
        ...accessEnd(payload),
        resumeUntil: payload.resume_until && day(payload.resume_until),
        pricingUrl: page('pricing'),
      }, look);
    case 'subscription-renewed':
      return mails.subscriptionRenewed(receiptProps(payload, money), look);
    case 'subscription-halted':
      return mails.subscriptionHalted(failedRenewalProps(payload), look);
    case 'subscription-completed':
      return mails.subscriptionCompleted({ ...periodEndProps(payload), ...accessEnd(payload) }, look);
    case 'subscription-ending':
      return mails.subscriptionEnding({ ...periodEndProps(payload), earlyRenewal: payload.early_renewal }, look);
    case 'subscription-ended':
      return mails.subscriptionEnded({
        ...periodEndProps(payload),
        accessEndedOn: payload.access_ended_at && day(payload.access_ended_at),
        ...(payload.amount && payload.currency && {
          refunded: money(payload.amount, payload.currency),
          nextCharge: nextCharge(payload),
        }),
      }, look);
  }

  function receiptProps(receipt: Payload<'payment-success' | 'subscription-renewed'>, format: typeof formatAmount) {
    return {
      displayName,
      planName: receipt.plan_name,
      amount: format(receipt.amount, receipt.currency),
      transactionId: receipt.transaction_id,
      validUntil: day(receipt.valid_until),
      ...('starts_at' in receipt && receipt.starts_at && { startsOn: day(receipt.starts_at) }),
      ...(receipt.next_charge_at && { nextPaymentOn: day(receipt.next_charge_at) }),
      dashboardUrl: page('dashboard'),
    };
  }

  function goingOnProps(plan: Payload<'change-undone' | 'subscription-resumed'>) {
    return {
      displayName,
      planName: plan.plan_name,
      validUntil: plan.valid_until && day(plan.valid_until),
      nextPlanName: plan.next_plan_name === plan.plan_name ? null : plan.next_plan_name ?? null,
      nextCharge: nextCharge(plan),
      pricingUrl: page('pricing'),
    };
  }

  function failedRenewalProps(renewal: Payload<'payment-pending' | 'subscription-halted'>) {
    return {
      displayName,
      planName: renewal.plan_name,
      ...accessEnd(renewal),
      ...(renewal.amount && renewal.currency && { amount: money(renewal.amount, renewal.currency) }),
      manageUrl: renewal.manage_url,
      pricingUrl: page('pricing'),
    };
  }

  function periodEndProps(period: { readonly plan_name: string; readonly ends_at: string }) {
    return { displayName, planName: period.plan_name, endsOn: day(period.ends_at), pricingUrl: page('pricing') };
  }

  function accessEnd(end: { readonly access_ends_at: string | null; readonly is_ended: boolean }) {
    return { accessEndsOn: end.access_ends_at && day(end.access_ends_at), isEnded: end.is_ended };
  }

  function nextCharge({ next_charge: charge, is_open, next_charge_at: at }: Outlook): NextCharge {
    if (charge) return { amount: money(charge.amount, charge.currency), on: day(charge.at) };
    return at ? { amount: null, on: day(at) } : is_open ? undefined : null;
  }

  function day(at: string): string {
    return formatLongDate(at, timeZone, locale);
  }

  function page(name: keyof Pages): string {
    return `${appUrl.replace(/\/+$/, '')}${pages[name]}`;
  }
}

const toBase64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

type NextCharge = { readonly amount: string | null; readonly on: string } | null | undefined;
type Outlook = Partial<Pick<Payload<'change-undone'>, 'next_charge' | 'is_open' | 'next_charge_at'>>;
type Payload<Kind extends OutboxMail['kind']> = Extract<OutboxMail, { kind: Kind }>['payload'];
