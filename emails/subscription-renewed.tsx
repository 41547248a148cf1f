import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { ReceiptProps } from './mails.ts';
import type { Message } from './message.ts';
import { receiptDetails, receiptNote } from './receipt.ts';

/** The mail about the payment of a further period. Contract: E-mails. */
export function subscriptionRenewed(props: ReceiptProps): Message {
  const { displayName, planName, amount, validUntil, dashboardUrl } = props;
  return {
    subject: `Your ${planName} plan has been renewed`,
    preview: `${amount} paid. Your plan is valid until ${validUntil}.`,
    heading: 'Your plan has been renewed',
    displayName,
    body: 'Thank you. We have received your payment, and your plan has been renewed.',
    details: receiptDetails(props),
    action: { label: 'Open your dashboard', url: dashboardUrl },
    note: receiptNote,
  };
}

/** The template for react-email's preview. */
export default function SubscriptionRenewed(props: ReceiptProps): ReactNode {
  return <Layout {...subscriptionRenewed(props)} />;
}

SubscriptionRenewed.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  amount: '₹1,499.00',
  transactionId: 'pay_29QQoUBi66xm2f',
  validUntil: '20 November 2027',
  nextPaymentOn: '20 November 2027',
  dashboardUrl: 'https://app.example.com/dashboard',
} satisfies ReceiptProps;
