import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { PlanChangedProps } from './mails.ts';
import type { Message } from './message.ts';
import { type Texts, textsOf } from './texts/texts.ts';

/** The mail about a change of the plan that began at once, mostly with credit for the old one. Contract: E-mails. */
export function planChanged(props: PlanChangedProps, texts: Texts = textsOf()): Message {
  const { displayName, planName, credit, amount, validUntil, nextCharge, isAuthorised, pricingUrl } = props;
  const { labels, actions, amountOn, planChanged: words } = texts;
  return {
    subject: words.subject(props),
    preview: words.preview(props),
    heading: words.heading,
    displayName,
    body: words.body(props),
    details: [
      { label: labels.plan, value: planName },
      ...(credit === null ? [] : [{ label: labels.credit, value: credit }]),
      ...(amount === null ? [] : [{ label: labels.amountPaid, value: amount }]),
      { label: labels.validUntil, value: validUntil },
      ...(!nextCharge || !isAuthorised
        ? []
        : [{ label: labels.nextPayment, value: amountOn(nextCharge.amount, nextCharge.on) }]),
    ],
    action: { label: actions.plans, url: pricingUrl },
    note: words.note,
  };
}

/** The template for react-email's preview. */
export default function PlanChanged(props: PlanChangedProps): ReactNode {
  return <Layout {...planChanged(props)} />;
}

PlanChanged.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  oldPlanName: 'Basic',
  credit: '₹49.00',
  amount: '₹1,450.00',
  validUntil: '20 November 2027',
  nextCharge: { amount: '₹1,499.00', on: '20 November 2027' },
  isAuthorised: false,
  pricingUrl: 'https://app.example.com/pricing',
} satisfies PlanChangedProps;
