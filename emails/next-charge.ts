import type { NextCharge } from './mails.ts';

/** What a mail about a refund says about the next charge. */
export function nextChargeSentence(charge: NextCharge): string {
  return charge === null ? 'Nothing more is charged.' : `The next charge is ${charge.amount} on ${charge.on}.`;
}
