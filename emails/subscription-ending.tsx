import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionEndingProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail before the end of a paid period. Contract: E-mails. */
export function subscriptionEnding(props: SubscriptionEndingProps, texts: Texts = textsOf()): Message {
  const { displayName, planName, endsOn, pricingUrl, earlyRenewal } = props;
  const { labels, actions, subscriptionEnding: words } = texts;
  // Under `replace` a purchase before the end replaces the remaining days, so the mail does not ask for one.
  return {
    subject: words.subject(props),
    preview: words.preview[earlyRenewal],
    heading: words.heading,
    displayName,
    body: words.body(props),
    details: [
      { label: labels.plan, value: planName },
      { label: labels.validUntil, value: endsOn },
    ],
    action: { label: earlyRenewal === 'extend' ? actions.renew : actions.plans, url: pricingUrl },
    note: words.note,
  };
}

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
