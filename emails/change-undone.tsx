import type { ReactNode } from 'react';
import { goingOnParts, goingOnSentence } from './going-on.ts';
import { Layout } from './layout.tsx';
import type { GoingOnProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a change of the plan that the customer has undone. Contract: E-mails. */
export function changeUndone(props: GoingOnProps): Message {
  return {
    subject: `Your ${props.planName} plan stays`,
    preview: 'The change of your plan is undone.',
    heading: 'The change is undone',
    body: `You have undone the change of your plan. ${goingOnSentence(props)}`,
    ...goingOnParts(props),
  };
}

/** The template for react-email's preview. */
export default function ChangeUndone(props: GoingOnProps): ReactNode {
  return <Layout {...changeUndone(props)} />;
}

ChangeUndone.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  validUntil: '20 November 2027',
  nextPlanName: null,
  nextCharge: { amount: '₹1,499.00', on: '20 November 2027' },
  pricingUrl: 'https://app.example.com/pricing',
} satisfies GoingOnProps;
