import type { ReactNode } from 'react';
import { failedRenewalAction, failedRenewalDetails, otherAccess } from './failed-renewal.ts';
import { Layout } from './layout.tsx';
import type { FailedRenewalProps } from './mails.ts';
import type { Message } from './message.ts';

/** The mail about a renewal that the gateway could not collect and tries again. Contract: E-mails. */
export function paymentPending(props: FailedRenewalProps): Message {
  const { displayName, planName, accessEndsOn } = props;
  const access = accessEndsOn === null ? otherAccess : `If no payment succeeds, your access ends on ${accessEndsOn}.`;
  // It does not invite to buy a plan: the customer would pay twice if a retry succeeds.
  return {
    subject: `Your ${planName} plan could not be renewed yet`,
    preview: 'The payment did not go through. It will be tried again automatically.',
    heading: 'Your plan could not be renewed yet',
    displayName,
    body: `The payment for the next period of your ${planName} plan did not go through. ` +
      'It will be tried again automatically over the next few days. ' +
      `Please check that your payment method works. ${access}`,
    details: failedRenewalDetails(props),
    action: failedRenewalAction(props),
    note: 'If you have paid since, there is nothing left to do.',
  };
}

/** The template for react-email's preview. */
export default function PaymentPending(props: FailedRenewalProps): ReactNode {
  return <Layout {...paymentPending(props)} />;
}

PaymentPending.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  amount: '₹1,499.00',
  accessEndsOn: '20 November 2027',
  manageUrl: 'https://gateway.example.com/s/29QQoUBi66xm2f',
  pricingUrl: 'https://app.example.com/pricing',
} satisfies FailedRenewalProps;
