import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionCancelledProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about a cancellation by the customer. Contract: E-mails. */
export function subscriptionCancelled(props: SubscriptionCancelledProps, texts: Texts = textsOf()): Message {
  const { displayName, planName, accessEndsOn, isEnded, resumeUntil, pricingUrl } = props;
  const { labels, actions, subscriptionCancelled: words } = texts;
  return {
    subject: words.subject(props),
    preview: words.preview(props),
    heading: words.heading,
    displayName,
    body: words.body(props),
    details: [
      { label: labels.plan, value: planName },
      ...(accessEndsOn === null
        ? []
        : [{ label: isEnded ? labels.accessEnded : labels.accessUntil, value: accessEndsOn }]),
      ...(resumeUntil === null ? [] : [{ label: labels.resumeUntil, value: resumeUntil }]),
    ],
    action: { label: actions.plans, url: pricingUrl },
    note: words.note,
  };
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
