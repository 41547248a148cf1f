import { z } from 'zod';
import { formatAmount, formatLongDate, formatTier } from './format.ts';
import type { Mail } from './generated/emails.js';

/** A mail and whom it is for. */
export type Email = Mail & { readonly to: string };

export type EmailSettings = {
  /** Public address of the app, http or https, with or without a slash at its end. */
  readonly appUrl: string;
  /** IANA name, of the dates in mails; default UTC. */
  readonly timeZone?: string | undefined;
};

// What the migrations write into `private.outbox.payload`: amounts in minor units, times in UTC.
const payment = z.object({
  to: z.string().min(1),
  display_name: z.string(),
  amount: z.int(),
  currency: z.string(),
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
]);

/**
 * Makes the mail of an outbox row. SPEC 6, outgoing e-mails.
 * @throws when the row is of another kind, its payload is not what that kind needs, or a setting makes no sense.
 */
export async function renderEmail(
  row: { readonly kind: string; readonly payload: unknown },
  { appUrl, timeZone }: EmailSettings,
): Promise<Email> {
  const { kind, payload } = outboxMail.parse(row);
  // Most isolates never send a mail: the templates are loaded with the first.
  const { mails } = await import('./generated/emails.js');
  const displayName = payload.display_name;
  const amount = formatAmount(payload.amount, payload.currency);

  switch (kind) {
    case 'payment-success':
      return {
        to: payload.to,
        ...mails.paymentSuccess({
          displayName,
          planName: payload.plan_name,
          amount,
          transactionId: payload.transaction_id,
          validUntil: formatLongDate(payload.valid_until, timeZone),
          dashboardUrl: pageUrl(appUrl, 'dashboard'),
        }),
      };
    case 'payment-failed':
      return {
        to: payload.to,
        ...mails.paymentFailed({
          displayName,
          planName: formatTier(payload.tier),
          amount,
          reason: payload.reason ?? undefined,
          retryUrl: pageUrl(appUrl, 'pricing'),
        }),
      };
  }
}

function pageUrl(appUrl: string, page: string): string {
  return `${appUrl.replace(/\/+$/, '')}/${page}`;
}
