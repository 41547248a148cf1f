import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { ReceiptIssuedProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail with a receipt, a tax invoice or a credit note as a PDF. Contract: E-mails. */
export function receiptIssued(props: ReceiptIssuedProps, texts: Texts = textsOf()): Message {
  const { displayName, documentNumber, date, total, dashboardUrl } = props;
  const { labels, actions, titles, receiptIssued: words } = texts;
  const title = titles[props.title] ?? props.title;
  return {
    subject: words.subject({ ...props, title }),
    preview: words.preview(props),
    heading: title,
    displayName,
    body: words.body(props),
    details: [
      { label: labels.number, value: documentNumber },
      { label: labels.date, value: date },
      { label: labels.total, value: total },
    ],
    action: { label: actions.dashboard, url: dashboardUrl },
    note: words.note,
  };
}

/** The template for react-email's preview. */
export default function ReceiptIssued(props: ReceiptIssuedProps): ReactNode {
  return <Layout {...receiptIssued(props)} />;
}

ReceiptIssued.PreviewProps = {
  displayName: 'Asha Rao',
  title: 'Tax invoice',
  documentNumber: '2728/000102',
  date: '20 November 2027',
  total: '₹1,499.00',
  dashboardUrl: 'https://app.example.com/dashboard',
} satisfies ReceiptIssuedProps;
