import { z } from 'zod';
import { formatAmount, formatLongDate, formatTier } from './format.ts';
import type { Mail, SubscriptionEndProps } from '../generated/emails.js';

/** A mail and its recipient. */
export type Email = Mail & { readonly to: string };

export type EmailSettings = {
  /** Public address of the app, http or https, with or without a trailing slash. */
  readonly appUrl: string;
  /** IANA name, for the dates in mails; default UTC. */
  readonly timeZone?: string | undefined;
};

// What the migrations write into `private.outbox.payload`: amounts in minor units, times in UTC.
const payment = z.object({
  to: z.string().min(1),
  display_name: z.string(),
  amount: z.int(),
  currency: z.string(),
});
const periodEnd = z.object({
  to: z.string().min(1),
  display_name: z.string(),
  plan_name: z.string(),
  ends_at: z.iso.datetime(),
});
const outboxMail = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('payment-success'),
    payload: payment.extend({ plan_name: z.string(), transaction_id: z.string(), valid_until: z.iso.datetime() }),
  }),
  z.object({
    kind: z.literal('payment-failed'),
    payload: payment.extend({ tier: z.string().optional(), reason: z.string().nullish() }),
  }),
  z.object({
    kind: z.literal('subscription-ending'),
    // Decides which advice the mail gives. Contract: Early renewals.
    payload: periodEnd.extend({ early_renewal: z.enum(['replace', 'extend']).default('replace') }),
  }),
  z.object({ kind: z.literal('subscription-ended'), payload: periodEnd }),
]);

/**
 * Renders the mail of an outbox row. Contract: E-mails.
 * @throws when the kind is unknown, the payload does not match it, or a setting is invalid.
 */
export async function renderEmail(
  row: { readonly kind: string; readonly payload: unknown },
  { appUrl, timeZone }: EmailSettings,
): Promise<Email> {
  const mail = outboxMail.parse(row);
  // Most isolates never send a mail, so the templates are loaded with the first one.
  const { mails } = await import('../generated/emails.js');
  const displayName = mail.payload.display_name;

  switch (mail.kind) {
    case 'payment-success': {
      const { payload } = mail;
      return {
        to: payload.to,
        ...mails.paymentSuccess({
          displayName,
          planName: payload.plan_name,
          amount: formatAmount(payload.amount, payload.currency),
          transactionId: payload.transaction_id,
          validUntil: formatLongDate(payload.valid_until, timeZone),
          dashboardUrl: pageUrl(appUrl, 'dashboard'),
        }),
      };
    }
    case 'payment-failed': {
      const { payload } = mail;
      return {
        to: payload.to,
        ...mails.paymentFailed({
          displayName,
          planName: formatTier(payload.tier),
          amount: formatAmount(payload.amount, payload.currency),
          reason: payload.reason ?? undefined,
          retryUrl: pageUrl(appUrl, 'pricing'),
        }),
      };
    }
    case 'subscription-ending': {
      const { payload } = mail;
      return {
        to: payload.to,
        ...mails.subscriptionEnding({ ...periodEndProps(payload), earlyRenewal: payload.early_renewal }),
      };
    }
    case 'subscription-ended':
      return { to: mail.payload.to, ...mails.subscriptionEnded(periodEndProps(mail.payload)) };
  }

  function periodEndProps(payload: z.infer<typeof periodEnd>): SubscriptionEndProps {
    return {
      displayName,
      planName: payload.plan_name,
      endsOn: formatLongDate(payload.ends_at, timeZone),
      pricingUrl: pageUrl(appUrl, 'pricing'),
    };
  }
}

function pageUrl(appUrl: string, page: string): string {
  return `${appUrl.replace(/\/+$/, '')}/${page}`;
}
