import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { PaymentFailedProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about a failed payment attempt. Contract: E-mails. */
export function paymentFailed(props: PaymentFailedProps, texts: Texts = textsOf()): Message {
  const { displayName, planName, amount, reason, retryUrl } = props;
  const { labels, actions, paymentFailed: words } = texts;
  return {
    subject: words.subject(props),
    preview: words.preview(props),
    heading: words.heading,
    displayName,
    body: words.body,
    details: [
      { label: labels.plan, value: planName },
      { label: labels.amount, value: amount },
      ...(reason?.trim() ? [{ label: labels.reason, value: reason }] : []),
    ],
    action: { label: actions.retry, url: retryUrl },
    note: words.note,
  };
}

/** The template for react-email's preview. */
export default function PaymentFailed(props: PaymentFailedProps): ReactNode {
  return <Layout {...paymentFailed(props)} />;
}

PaymentFailed.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  amount: '₹999.00',
  reason: 'Your payment was declined by the bank. Try another payment method.',
  retryUrl: 'https://app.example.com/pricing',
} satisfies PaymentFailedProps;
