import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionEndedProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail after access has ended. Contract: E-mails. */
export function subscriptionEnded(props: SubscriptionEndedProps, texts: Texts = textsOf()): Message {
  const { displayName, planName, endsOn, accessEndedOn = endsOn, pricingUrl, refunded } = props;
  const { labels, actions, subscriptionEnded: words } = texts;
  return {
    subject: words.subject(props),
    preview: words.preview(accessEndedOn),
    heading: words.heading,
    displayName,
    body: words.body(props, accessEndedOn),
    details: [
      { label: labels.plan, value: planName },
      ...(accessEndedOn === endsOn ? [] : [{ label: labels.paidUntil, value: endsOn }]),
      { label: labels.ended, value: accessEndedOn },
      ...(refunded === undefined ? [] : [{ label: labels.refunded, value: refunded }]),
    ],
    action: { label: actions.plans, url: pricingUrl },
    note: words.note,
  };
}

/** The template for react-email's preview. */
export default function SubscriptionEnded(props: SubscriptionEndedProps): ReactNode {
  return <Layout {...subscriptionEnded(props)} />;
}

SubscriptionEnded.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  endsOn: '20 November 2027',
  pricingUrl: 'https://app.example.com/pricing',
} satisfies SubscriptionEndedProps;
