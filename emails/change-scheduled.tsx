import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { ChangeScheduledProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a change of the plan that begins when the running period ends. Contract: E-mails. */
export function changeScheduled(
  { displayName, planName, amount, interval, startsOn, undoUntil, pricingUrl }: ChangeScheduledProps,
): Message {
  return {
    subject: `Your plan changes to ${planName} on ${startsOn}`,
    preview: `${amount} ${interval}, for the first time on ${startsOn}.`,
    heading: 'Your plan will change',
    displayName,
    body: `Your ${planName} plan starts on ${startsOn}. Until then you keep the plan that you have. ` +
      `On that day ${amount} will be charged, then ${amount} ${interval}. ` +
      (undoUntil === null
        ? 'The change cannot be undone any more.'
        : `You can undo the change until ${undoUntil} on the page of your plan.`),
    details: [
      { label: 'Plan', value: planName },
      { label: 'Price', value: `${amount} ${interval}` },
      { label: 'Starts on', value: startsOn },
      ...(undoUntil === null ? [] : [{ label: 'Undo until', value: undoUntil }]),
    ],
    action: { label: 'See the plans', url: pricingUrl },
    note: 'If you have undone the change since, there is nothing left to do.',
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
