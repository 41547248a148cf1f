import type { FailedRenewalProps } from './mails.ts';
import type { Detail, Message } from './message.ts';

/** What a mail about a failed renewal says about access where the customer has other access. */
export const otherAccess = 'You also have other access, which is not affected.';

/** The table of a mail about a failed renewal. Only an end of access is a fact to show. */
export function failedRenewalDetails(
  { planName, amount, accessEndsOn }: Pick<FailedRenewalProps, 'planName' | 'amount' | 'accessEndsOn'>,
): readonly Detail[] {
  return [
    { label: 'Plan', value: planName },
    ...(amount === undefined ? [] : [{ label: 'Not charged', value: amount }]),
    ...(accessEndsOn === null ? [] : [{ label: 'Without a payment', value: `Access until ${accessEndsOn}` }]),
  ];
}

/** The button of a mail about a failed renewal: the gateway's page of the subscription, else the app's plans. */
export function failedRenewalAction(
  { manageUrl, pricingUrl }: Pick<FailedRenewalProps, 'manageUrl' | 'pricingUrl'>,
): Message['action'] {
  return manageUrl === null
    ? { label: 'See the plans', url: pricingUrl }
    : { label: 'Manage your payment', url: manageUrl };
}
