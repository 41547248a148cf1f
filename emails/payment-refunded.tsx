import type { ReactNode } from 'react';
import { Layout } from './layout.tsx';
import type { PaymentRefundedProps } from './mails.ts';
import type { Message } from './message.ts';
import { nextChargeSentence } from './next-charge.ts';

/** The mail about a refund, of a part or of the whole payment. Contract: E-mails. */
export function paymentRefunded(props: PaymentRefundedProps): Message {
  const { displayName, planName, refunded, paid, paidOn, transactionId, accessEndsOn, pricingUrl } = props;
  return {
    subject: `${refunded} was refunded`,
    preview: `Of your payment of ${paid} for the ${planName} plan.`,
    heading: 'Your refund',
    displayName,
    body: `${refunded} of your payment of ${paid} for the ${planName} plan was refunded. ${access(props)} ` +
      `${nextChargeSentence(props.nextCharge)} ` +
      'Your bank may need some days to show the refund.',
    details: [
      { label: 'Plan', value: planName },
      { label: 'Refunded', value: refunded },
      { label: 'Payment', value: `${paid} on ${paidOn}` },
      { label: 'Transaction ID', value: transactionId },
      ...(accessEndsOn === null ? [] : [{ label: 'Access until', value: accessEndsOn }]),
    ],
    action: { label: 'See the plans', url: pricingUrl },
    note: 'Keep this e-mail for your records. If you have a question about this refund, quote the transaction ID.',
  };
}

function access(
  { accessPlanName, accessEndsOn }: Pick<PaymentRefundedProps, 'accessPlanName' | 'accessEndsOn'>,
): string {
  if (accessPlanName === null) return 'You have no access to a plan now.';
  const until = accessEndsOn === null ? '' : ` and is valid until ${accessEndsOn}`;
  return `Your ${accessPlanName} plan remains${until}.`;
}

/** The template for react-email's preview. */
export default function PaymentRefunded(props: PaymentRefundedProps): ReactNode {
  return <Layout {...paymentRefunded(props)} />;
}

PaymentRefunded.PreviewProps = {
  displayName: 'Asha Rao',
  planName: 'Pro',
  refunded: '₹499.00',
  paid: '₹1,499.00',
  paidOn: '1 November 2027',
  transactionId: 'pay_29QQoUBi66xm2f',
  accessPlanName: 'Pro',
  accessEndsOn: '20 November 2027',
  nextCharge: { amount: '₹1,499.00', on: '20 November 2027' },
  pricingUrl: 'https://app.example.com/pricing',
} satisfies PaymentRefundedProps;
