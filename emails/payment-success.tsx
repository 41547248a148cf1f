import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { PaymentSuccessProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a fulfilled payment. Contract: E-mails. */
export function paymentSuccess(
  { displayName, planName, amount, transactionId, validUntil, dashboardUrl }: PaymentSuccessProps,
): Message {
  return {
    subject: `Payment received: your ${planName} plan is active`,
    preview: `${amount} paid. Your plan is valid until ${validUntil}.`,
    heading: 'Payment received',
    displayName,
    body: 'Thank you. We have received your payment, and your plan is active.',
    details: [
      { label: 'Plan', value: planName },
      { label: 'Amount paid', value: amount },
      { label: 'Valid until', value: validUntil },
      { label: 'Transaction ID', value: transactionId },
    ],
    action: { label: 'Open your dashboard', url: dashboardUrl },
    note: 'Keep this e-mail for your records. If you have a question about this payment, quote the transaction ID.',
  };
}

/** The template for react-email's preview. */
export default function PaymentSuccess(props: PaymentSuccessProps): ReactNode {
  return <Layout {...paymentSuccess(props)} />;
}

PaymentSuccess.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  amount: '₹999.00',
  transactionId: 'pay_29QQoUBi66xm2f',
  validUntil: '20 November 2027',
  dashboardUrl: 'https://app.example.com/dashboard',
} satisfies PaymentSuccessProps;
