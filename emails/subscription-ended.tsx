import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { SubscriptionEndedProps } from './mails.ts';
import type { Message } from './message.ts';
import { nextChargeSentence } from './next-charge.ts';

/** The mail after access has ended. Contract: E-mails. */
export function subscriptionEnded(
  { displayName, planName, endsOn, accessEndedOn = endsOn, pricingUrl, refunded, nextCharge = null }:
    SubscriptionEndedProps,
): Message {
  return {
    subject: `Your ${planName} plan has ended`,
    preview: `Your access ended on ${accessEndedOn}.`,
    heading: 'Your access has ended',
    displayName,
    body: refunded === undefined
      ? `Your access to the ${planName} plan ended on ${accessEndedOn}. You can come back at any time.`
      : `Your access to the ${planName} plan ended on ${endsOn}, because ${refunded} was refunded. ` +
        nextChargeSentence(nextCharge),
    details: [
      { label: 'Plan', value: planName },
      ...(accessEndedOn === endsOn ? [] : [{ label: 'Paid until', value: endsOn }]),
      { label: 'Ended on', value: accessEndedOn },
      ...(refunded === undefined ? [] : [{ label: 'Refunded', value: refunded }]),
    ],
    action: { label: 'See the plans', url: pricingUrl },
    note: 'If you have bought a plan since, there is nothing left to do.',
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
