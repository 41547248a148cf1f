import type { ReceiptProps } from './mails.ts';
import type { Detail } from './message.ts';

/** The table of a mail about a received payment. */
export function receiptDetails(
  { planName, amount, validUntil, nextPaymentOn, transactionId }: ReceiptProps,
): readonly Detail[] {
  return [
    { label: 'Plan', value: planName },
    { label: 'Amount paid', value: amount },
    { label: 'Valid until', value: validUntil },
    ...(nextPaymentOn === undefined ? [] : [{ label: 'Next payment', value: nextPaymentOn }]),
    { label: 'Transaction ID', value: transactionId },
  ];
}

/** The last paragraph of a mail about a received payment. */
export const receiptNote =
  'Keep this e-mail for your records. If you have a question about this payment, quote the transaction ID.';
