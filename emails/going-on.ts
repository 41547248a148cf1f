import type { GoingOnProps } from './mails.ts';
import type { Message } from './message.ts';
import type { Texts } from './texts/texts.ts';

/** The parts that the mails about a plan that goes on as before share. */
export function goingOnParts(
  { displayName, planName, validUntil, nextPlanName, nextCharge, pricingUrl }: GoingOnProps,
  { labels, actions, amountOn }: Texts,
): Pick<Message, 'displayName' | 'details' | 'action'> {
  return {
    displayName,
    details: [
      { label: labels.plan, value: planName },
      ...(nextPlanName === null ? [] : [{ label: labels.nextPlan, value: nextPlanName }]),
      ...(nextCharge
        ? [{ label: labels.nextPayment, value: amountOn(nextCharge.amount, nextCharge.on) }]
        : validUntil === null
        ? []
        : [{ label: labels.validUntil, value: validUntil }]),
    ],
    action: { label: actions.plans, url: pricingUrl },
  };
}
