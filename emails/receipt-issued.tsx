import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { ReceiptIssuedProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail with a receipt, a tax invoice or a credit note as a PDF. Contract: E-mails. */
export function receiptIssued(props: ReceiptIssuedProps): Message {
  const { displayName, title, documentNumber, date, total, dashboardUrl } = props;
  return {
    subject: `${title} ${documentNumber}`,
    preview: `Of ${date}, ${total}.`,
    heading: title,
    displayName,
    body: `Attached is the document ${documentNumber} of ${date}.`,
    details: [
      { label: 'Number', value: documentNumber },
      { label: 'Date', value: date },
      { label: 'Total', value: total },
    ],
    action: { label: 'Open your dashboard', url: dashboardUrl },
    note: 'Keep this e-mail for your records.',
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
