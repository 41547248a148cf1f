import type { ReceiptProps } from './mails.ts';
import type { Detail } from './message.ts';
import type { Texts } from './texts/texts.ts';

/** The table of a mail about a received payment. */
export function receiptDetails(
  { planName, amount, validUntil, nextPaymentOn, startsOn, transactionId }: ReceiptProps,
  { labels }: Texts,
): readonly Detail[] {
  return [
    { label: labels.plan, value: planName },
    { label: labels.amountPaid, value: amount },
    ...(startsOn === undefined ? [] : [{ label: labels.starts, value: startsOn }]),
    { label: labels.validUntil, value: validUntil },
    ...(nextPaymentOn === undefined ? [] : [{ label: labels.nextPayment, value: nextPaymentOn }]),
    { label: labels.transaction, value: transactionId },
  ];
}
