import type { ReactNode } from 'react';
import { goingOnParts } from './going-on.ts';
import { Layout } from './layout.tsx';
import type { GoingOnProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about a change of the plan that the customer has undone. Contract: E-mails. */
export function changeUndone(props: GoingOnProps, texts: Texts = textsOf()): Message {
  const words = texts.changeUndone;
  return {
    subject: words.subject(props),
    preview: words.preview,
    heading: words.heading,
    body: words.body(props),
    note: words.note,
    ...goingOnParts(props, texts),
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
