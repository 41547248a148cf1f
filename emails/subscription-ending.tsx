import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionEndProps } from './mails.ts';
import type { Message } from './message.ts';

/** Says that a paid period ends soon, when, and where to renew it. */
export function subscriptionEnding({ displayName, planName, endsOn, pricingUrl }: SubscriptionEndProps): Message {
  return {
    subject: `Your ${planName} plan ends on ${endsOn}`,
    preview: `Renew your ${planName} plan to keep your access.`,
    heading: 'Your access ends soon',
    displayName,
    body: `Your access ends on ${endsOn}. To keep it, renew your plan before then.`,
    details: [
      { label: 'Plan', value: planName },
      { label: 'Valid until', value: endsOn },
    ],
    action: { label: 'Renew your plan', url: pricingUrl },
    note: 'If you have renewed since, or do not want to go on, there is nothing left to do.',
  };
}

/** The template, as react-email's preview looks for it. */
export default function SubscriptionEnding(props: SubscriptionEndProps): ReactNode {
  return <Layout {...subscriptionEnding(props)} />;
}

SubscriptionEnding.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  endsOn: '20 November 2027',
  pricingUrl: 'https://app.example.com/pricing',
} satisfies SubscriptionEndProps;
