import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { ReceiptProps } from './mails.ts';
import type { Message } from './message.ts';
import { receiptDetails } from './receipt.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about the payment of a further period. Contract: E-mails. */
export function subscriptionRenewed(props: ReceiptProps, texts: Texts = textsOf()): Message {
  const words = texts.subscriptionRenewed;
  return {
    subject: words.subject(props),
    preview: words.preview(props),
    heading: words.heading,
    displayName: props.displayName,
    body: words.body,
    details: receiptDetails(props, texts),
    action: { label: texts.actions.dashboard, url: props.dashboardUrl },
    note: words.note,
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
