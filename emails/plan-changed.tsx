import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { PlanChangedProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a change of the plan that began at once, with credit for the old one. Contract: E-mails. */
export function planChanged(props: PlanChangedProps): Message {
  const { displayName, planName, oldPlanName, credit, amount, validUntil, nextCharge, isAuthorised, pricingUrl } =
    props;
  return {
    subject: `Your plan is ${planName} now`,
    preview: `Your ${oldPlanName} plan has ended, and ${credit} of it was credited.`,
    heading: 'Your plan is changed',
    displayName,
    body:
      `Your ${planName} plan has begun, and your ${oldPlanName} plan has ended. For the unused time of the old plan ` +
      `${credit} was credited, and you paid ${amount}. Your plan is valid until ${validUntil}. ${charge(props)}`,
    details: [
      { label: 'Plan', value: planName },
      { label: 'Credit', value: credit },
      { label: 'Amount paid', value: amount },
      { label: 'Valid until', value: validUntil },
      ...(nextCharge === null || !isAuthorised
        ? []
        : [{ label: 'Next payment', value: `${nextCharge.amount} on ${nextCharge.on}` }]),
    ],
    action: { label: 'See the plans', url: pricingUrl },
    note: 'If you have changed or cancelled it since, there is nothing left to do.',
  };
}

function charge({ nextCharge, isAuthorised }: PlanChangedProps): string {
  if (nextCharge === null) return 'It does not renew by itself.';
  const next = `The next charge is ${nextCharge.amount} on ${nextCharge.on}`;
  return isAuthorised ? `${next}.` : `${next}, once you have authorised it.`;
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
