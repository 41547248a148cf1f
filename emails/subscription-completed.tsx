import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionCompletedProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail after the last payment of a subscription that the gateway bills. Contract: E-mails. */
export function subscriptionCompleted(
  { displayName, planName, endsOn, accessEndsOn, pricingUrl }: SubscriptionCompletedProps,
): Message {
  return {
    subject: `Your ${planName} subscription is complete`,
    preview: `The last payment was made. The plan is paid until ${endsOn}.`,
    heading: 'Your subscription is complete',
    displayName,
    body: `The last payment of your ${planName} subscription was made. Nothing more will be charged for it. ` +
      `The plan is paid until ${endsOn}. ${accessAfter(endsOn, accessEndsOn)} ` +
      'You can choose a plan again on that day or later.',
    details: [
      { label: 'Plan', value: planName },
      { label: 'Paid until', value: endsOn },
    ],
    action: { label: 'See the plans', url: pricingUrl },
    note: 'If you have bought a plan since, or do not want to go on, there is nothing left to do.',
  };
}

function accessAfter(endsOn: string, accessEndsOn: string | null): string {
  if (accessEndsOn === null) return 'After that, your other access continues.';
  // Access may last some days longer than the paid period.
  return accessEndsOn === endsOn ? 'After that, your access ends.' : `Your access ends on ${accessEndsOn}.`;
}

/** The template for react-email's preview. */
export default function SubscriptionCompleted(props: SubscriptionCompletedProps): ReactNode {
  return <Layout {...subscriptionCompleted(props)} />;
}

SubscriptionCompleted.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  endsOn: '20 November 2027',
  accessEndsOn: '20 November 2027',
  pricingUrl: 'https://app.example.com/pricing',
} satisfies SubscriptionCompletedProps;
