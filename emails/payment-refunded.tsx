import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { PaymentRefundedProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about a refund, of a part or of the whole payment. Contract: E-mails. */
export function paymentRefunded(props: PaymentRefundedProps, texts: Texts = textsOf()): Message {
  const { displayName, planName, refunded, paid, paidOn, transactionId, accessEndsOn, pricingUrl } = props;
  const { labels, actions, amountOn, paymentRefunded: words } = texts;
  return {
    subject: words.subject(props),
    preview: words.preview(props),
    heading: words.heading,
    displayName,
    body: words.body(props),
    details: [
      { label: labels.plan, value: planName },
      { label: labels.refunded, value: refunded },
      { label: labels.payment, value: amountOn(paid, paidOn) },
      { label: labels.transaction, value: transactionId },
      ...(accessEndsOn === null ? [] : [{ label: labels.accessUntil, value: accessEndsOn }]),
    ],
    action: { label: actions.plans, url: pricingUrl },
    note: words.note,
  };
}

/** The template for react-email's preview. */
export default function PaymentRefunded(props: PaymentRefundedProps): ReactNode {
  return <Layout {...paymentRefunded(props)} />;
}

PaymentRefunded.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  refunded: '₹499.00',
  paid: '₹1,499.00',
  paidOn: '1 November 2027',
  transactionId: 'pay_29QQoUBi66xm2f',
  accessPlanName: 'Pro',
  accessEndsOn: '20 November 2027',
  nextCharge: { amount: '₹1,499.00', on: '20 November 2027' },
  pricingUrl: 'https://app.example.com/pricing',
} satisfies PaymentRefundedProps;
