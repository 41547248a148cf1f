import type { ReactNode } from 'react';
import { goingOnParts, goingOnSentence } from './going-on.ts';
import { Layout } from './layout.tsx';
import type { GoingOnProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a cancellation that the customer has withdrawn. Contract: E-mails. */
export function subscriptionResumed(props: GoingOnProps): Message {
  return {
    subject: `Your ${props.planName} subscription is resumed`,
    preview: 'Your cancellation is withdrawn.',
    heading: 'Your subscription is resumed',
    body: `You have withdrawn your cancellation. ${goingOnSentence(props)}`,
    ...goingOnParts(props),
  };
}

/** The template for react-email's preview. */
export default function SubscriptionResumed(props: GoingOnProps): ReactNode {
  return <Layout {...subscriptionResumed(props)} />;
}

SubscriptionResumed.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  validUntil: '20 November 2027',
  nextPlanName: null,
  nextCharge: { amount: '₹1,499.00', on: '20 November 2027' },
  pricingUrl: 'https://app.example.com/pricing',
} satisfies GoingOnProps;
