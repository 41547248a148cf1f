import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionEndingProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail before the end of a paid period. Contract: E-mails. */
export function subscriptionEnding(
  { displayName, planName, endsOn, pricingUrl, earlyRenewal }: SubscriptionEndingProps,
): Message {
  const { preview, advice, action } = adviceFor[earlyRenewal];
  return {
    subject: `Your ${planName} plan ends on ${endsOn}`,
    preview,
    heading: 'Your access ends soon',
    displayName,
    body: `Your plan is valid until ${endsOn}. After that your access ends. ${advice}`,
    details: [
      { label: 'Plan', value: planName },
      { label: 'Valid until', value: endsOn },
    ],
    action: { label: action, url: pricingUrl },
    note: 'If you have bought a plan since, or do not want to go on, there is nothing left to do.',
  };
}

// Under `replace` a purchase before the end replaces the remaining days, so the mail does not ask for one.
const adviceFor = {
  replace: {
    preview: 'You can buy it again on that day or later.',
    advice: 'You can buy the plan again on that day or later.',
    action: 'See the plans',
  },
  extend: {
    preview: 'If you renew it before then, you lose no day.',
    advice:
      'To keep your access, renew your plan before then: the new period is added to this one, and you lose no day.',
    action: 'Renew your plan',
  },
};

/** The template for react-email's preview. */
export default function SubscriptionEnding(props: SubscriptionEndingProps): ReactNode {
  return <Layout {...subscriptionEnding(props)} />;
}

SubscriptionEnding.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  endsOn: '20 November 2027',
  pricingUrl: 'https://app.example.com/pricing',
  earlyRenewal: 'replace',
} satisfies SubscriptionEndingProps;
