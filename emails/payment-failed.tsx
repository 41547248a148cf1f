import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { PaymentFailedProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a failed payment attempt. Contract: E-mails. */
export function paymentFailed({ displayName, planName, amount, reason, retryUrl }: PaymentFailedProps): Message {
  return {
    subject: `Your payment for the ${planName} plan failed`,
    preview: `${amount} could not be charged. You can try again.`,
    heading: 'Payment failed',
    displayName,
    body: 'Your payment did not go through. This attempt has not changed your subscription, and you can try again.',
    details: [
      { label: 'Plan', value: planName },
      { label: 'Amount', value: amount },
      ...(reason?.trim() ? [{ label: 'Reason', value: reason }] : []),
    ],
    action: { label: 'Try again', url: retryUrl },
    note: 'If you have paid since with another attempt, there is nothing left to do.',
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
