import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionCancelledProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a cancellation by the customer. Contract: E-mails. */
export function subscriptionCancelled(props: SubscriptionCancelledProps): Message {
  const { displayName, planName, accessEndsOn, isEnded, resumeUntil, pricingUrl } = props;
  return {
    subject: `Your ${planName} subscription is cancelled`,
    preview: `Nothing more will be charged for it. ${access(props)}`,
    heading: 'Your subscription is cancelled',
    displayName,
    body: `You have cancelled your ${planName} subscription. Nothing more will be charged for it. ${access(props)}` +
      (resumeUntil === null ? '' : ` You can resume the subscription until ${resumeUntil}.`),
    details: [
      { label: 'Plan', value: planName },
      ...(accessEndsOn === null ? [] : [{ label: isEnded ? 'Access ended on' : 'Access until', value: accessEndsOn }]),
      ...(resumeUntil === null ? [] : [{ label: 'Resume until', value: resumeUntil }]),
    ],
    action: { label: 'See the plans', url: pricingUrl },
    note: 'If you have resumed it or bought a plan since, there is nothing left to do.',
  };
}

function access({ accessEndsOn, isEnded }: Pick<SubscriptionCancelledProps, 'accessEndsOn' | 'isEnded'>): string {
  if (accessEndsOn !== null) return `Your access ${isEnded ? 'ended on' : 'lasts until'} ${accessEndsOn}.`;
  return isEnded ? 'You have no access to a plan now.' : 'Your other access continues.';
}

/** The template for react-email's preview. */
export default function SubscriptionCancelled(props: SubscriptionCancelledProps): ReactNode {
  return <Layout {...subscriptionCancelled(props)} />;
}

SubscriptionCancelled.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  accessEndsOn: '20 November 2027',
  isEnded: false,
  resumeUntil: '18 November 2027',
  pricingUrl: 'https://app.example.com/pricing',
} satisfies SubscriptionCancelledProps;
