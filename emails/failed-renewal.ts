import type { FailedRenewalProps } from './mails.ts';
import type { Detail, Message } from './message.ts';
import type { Texts } from './texts/texts.ts';

/** The table of a mail about a failed renewal. Only an end of access is a fact to show. */
export function failedRenewalDetails(
  { planName, amount, accessEndsOn, isEnded }: Pick<
    FailedRenewalProps,
    'planName' | 'amount' | 'accessEndsOn' | 'isEnded'
  >,
  { labels, accessUntil }: Texts,
): readonly Detail[] {
  return [
    { label: labels.plan, value: planName },
    ...(amount === undefined ? [] : [{ label: labels.notCharged, value: amount }]),
    ...(accessEndsOn === null
      ? []
      : isEnded
      ? [{ label: labels.accessEnded, value: accessEndsOn }]
      : [{ label: labels.withoutPayment, value: accessUntil(accessEndsOn) }]),
  ];
}

/** The button of a mail about a failed renewal: the gateway's page of the subscription, else the app's plans. */
export function failedRenewalAction(
  { manageUrl, pricingUrl }: Pick<FailedRenewalProps, 'manageUrl' | 'pricingUrl'>,
  { actions }: Texts,
): Message['action'] {
  return manageUrl === null ? { label: actions.plans, url: pricingUrl } : { label: actions.manage, url: manageUrl };
}
