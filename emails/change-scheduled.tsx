import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { ChangeScheduledProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about a change of the plan that begins when the running period ends. Contract: E-mails. */
export function changeScheduled(props: ChangeScheduledProps, texts: Texts = textsOf()): Message {
  const { displayName, planName, startsOn, undoUntil, pricingUrl } = props;
  const { labels, actions, changeScheduled: words } = texts;
  return {
    subject: words.subject(props),
    preview: words.preview(props),
    heading: words.heading,
    displayName,
    body: words.body(props),
    details: [
      { label: labels.plan, value: planName },
      { label: labels.price, value: words.price(props) },
      { label: labels.starts, value: startsOn },
      ...(undoUntil === null ? [] : [{ label: labels.undoUntil, value: undoUntil }]),
    ],
    action: { label: actions.plans, url: pricingUrl },
    note: words.note,
  };
}

/** The template for react-email's preview. */
export default function ChangeScheduled(props: ChangeScheduledProps): ReactNode {
  return <Layout {...changeScheduled(props)} />;
}

ChangeScheduled.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Premium',
  amount: '₹1,499.00',
  interval: 'every month',
  startsOn: '20 November 2027',
  undoUntil: '18 November 2027',
  pricingUrl: 'https://app.example.com/pricing',
} satisfies ChangeScheduledProps;
