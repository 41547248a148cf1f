import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionCompletedProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail after the last payment of a subscription that the gateway bills. Contract: E-mails. */
export function subscriptionCompleted(props: SubscriptionCompletedProps, texts: Texts = textsOf()): Message {
  const { displayName, planName, endsOn, pricingUrl } = props;
  const { labels, actions, subscriptionCompleted: words } = texts;
  return {
    subject: words.subject(props),
    preview: words.preview(props),
    heading: words.heading,
    displayName,
    body: words.body(props),
    details: [
      { label: labels.plan, value: planName },
      { label: labels.paidUntil, value: endsOn },
    ],
    action: { label: actions.plans, url: pricingUrl },
    note: words.note,
  };
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
  isEnded: false,
  pricingUrl: 'https://app.example.com/pricing',
} satisfies SubscriptionCompletedProps;
