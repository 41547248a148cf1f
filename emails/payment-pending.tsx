import type { ReactNode } from 'react';
import { failedRenewalAction, failedRenewalDetails } from './failed-renewal.ts';
import { Layout } from './layout.tsx';
import type { FailedRenewalProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about a renewal that the gateway could not collect and tries again. Contract: E-mails. */
export function paymentPending(props: FailedRenewalProps, texts: Texts = textsOf()): Message {
  const words = texts.paymentPending;
  // It does not invite to buy a plan: the customer would pay twice if a retry succeeds.
  return {
    subject: words.subject(props),
    preview: words.preview,
    heading: words.heading,
    displayName: props.displayName,
    body: words.body(props),
    details: failedRenewalDetails(props, texts),
    action: failedRenewalAction(props, texts),
    note: words.note,
  };
}

/** The template for react-email's preview. */
export default function PaymentPending(props: FailedRenewalProps): ReactNode {
  return <Layout {...paymentPending(props)} />;
}

PaymentPending.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  amount: '₹1,499.00',
  accessEndsOn: '20 November 2027',
  isEnded: false,
  manageUrl: 'https://gateway.example.com/s/29QQoUBi66xm2f',
  pricingUrl: 'https://app.example.com/pricing',
} satisfies FailedRenewalProps;
