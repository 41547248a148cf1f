import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { ReceiptProps } from './mails.ts';
import type { Message } from './message.ts';
import { receiptDetails } from './receipt.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about a fulfilled payment. Contract: E-mails. */
export function paymentSuccess(props: ReceiptProps, texts: Texts = textsOf()): Message {
  const words = texts.paymentSuccess;
  return {
    subject: words.subject(props),
    preview: words.preview(props),
    heading: words.heading,
    displayName: props.displayName,
    body: words.body(props),
    details: receiptDetails(props, texts),
    action: { label: texts.actions.dashboard, url: props.dashboardUrl },
    note: words.note,
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
