import type { GoingOnProps } from './mails.ts';
import type { Message } from './message.ts';
import { nextChargeSentence } from './next-charge.ts';

type Parts = 'displayName' | 'details' | 'action' | 'note';

/** What a mail says about a plan that goes on as before. */
export function goingOnSentence({ planName, validUntil, nextPlanName, nextCharge }: GoingOnProps): string {
  const ends = nextCharge === null || nextPlanName !== null;
  const end = ends && validUntil !== null ? ` and is valid until ${validUntil}` : '';
  const next = nextPlanName === null ? '' : ` Then your ${nextPlanName} plan starts.`;
  return `Your ${planName} plan goes on${end}.${next} ${nextChargeSentence(nextCharge)}`;
}

/** The parts that the mails about such a plan share. */
export function goingOnParts(
  { displayName, planName, validUntil, nextPlanName, nextCharge, pricingUrl }: GoingOnProps,
): Pick<Message, Parts> {
  return {
    displayName,
    details: [
      { label: 'Plan', value: planName },
      ...(nextPlanName === null ? [] : [{ label: 'Next plan', value: nextPlanName }]),
      ...(nextCharge === null ? [] : [{ label: 'Next payment', value: `${nextCharge.amount} on ${nextCharge.on}` }]),
      ...(nextCharge !== null || validUntil === null ? [] : [{ label: 'Valid until', value: validUntil }]),
    ],
    action: { label: 'See the plans', url: pricingUrl },
    note: 'If you have changed or cancelled it since, there is nothing left to do.',
  };
}
