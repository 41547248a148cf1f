import type { ReactNode } from 'react';
import { failedRenewalAction, failedRenewalDetails, otherAccess } from './failed-renewal.ts';
import { Layout } from './layout.tsx';
import type { FailedRenewalProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a renewal that the gateway could not collect and does not try again. Contract: E-mails. */
export function subscriptionHalted(props: FailedRenewalProps): Message {
  const { displayName, planName, accessEndsOn, manageUrl } = props;
  // The end may be before or after the day on which the mail is read.
  const access = accessEndsOn === null ? otherAccess : `Without a payment, your access lasts until ${accessEndsOn}.`;
  const advice = manageUrl === null
    ? 'To continue, choose a plan again.'
    : 'To continue, pay or change your payment method.';
  return {
    subject: `Your ${planName} plan could not be renewed`,
    preview: 'The payment did not go through. It will not be tried again automatically.',
    heading: 'Your plan could not be renewed',
    displayName,
    body: `The payment for the next period of your ${planName} plan did not go through, and all further attempts ` +
      `failed. It will not be tried again automatically. ${access} ${advice}`,
    details: failedRenewalDetails(props),
    action: failedRenewalAction(props),
    note: 'If you have paid since, or do not want to go on, there is nothing left to do.',
  };
}

/** The template for react-email's preview. */
export default function SubscriptionHalted(props: FailedRenewalProps): ReactNode {
  return <Layout {...subscriptionHalted(props)} />;
}

SubscriptionHalted.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  amount: '₹1,499.00',
  accessEndsOn: '20 November 2027',
  manageUrl: 'https://gateway.example.com/s/29QQoUBi66xm2f',
  pricingUrl: 'https://app.example.com/pricing',
} satisfies FailedRenewalProps;
