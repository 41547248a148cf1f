import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { ReceiptProps } from './mails.ts';
import type { Message } from './message.ts';
import { receiptDetails, receiptNote } from './receipt.ts';

/** The mail about a fulfilled payment. Contract: E-mails. */
export function paymentSuccess(props: ReceiptProps): Message {
  const { displayName, planName, amount, validUntil, dashboardUrl } = props;
  return {
    subject: `Payment received: your ${planName} plan is active`,
    preview: `${amount} paid. Your plan is valid until ${validUntil}.`,
    heading: 'Payment received',
    displayName,
    body: 'Thank you. We have received your payment, and your plan is active.',
    details: receiptDetails(props),
    action: { label: 'Open your dashboard', url: dashboardUrl },
    note: receiptNote,
  };
}

/** The template for react-email's preview. */
export default function PaymentSuccess(props: ReceiptProps): ReactNode {
  return <Layout {...paymentSuccess(props)} />;
}

PaymentSuccess.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  amount: '₹999.00',
  transactionId: 'pay_29QQoUBi66xm2f',
  validUntil: '20 November 2027',
  dashboardUrl: 'https://app.example.com/dashboard',
} satisfies ReceiptProps;
