import { billed, cancel, deliver, reconcileSubscriptions, signUp, type Step } from './acts.ts';
import { type Cycle, prices, refundEvent } from './gateway-events.ts';
import type { UserName } from './users.ts';

/** The cycle of a user's subscription: a month from a day. */
function cycle(user: UserName, start: string, end: string): Cycle {
  return { user, id: `sub_${user}`, start: `${start}T00:00:00Z`, end: `${end}T00:00:00Z` };
}

/** Users whose subscription the gateway bills. */
export const gatewaySubscriptions: readonly Step[] = [
  // Farid's subscription is active, in its third cycle.
  ['2026-08-15T00:00:00Z', signUp('farid')],
  ['2026-08-15T00:01:00Z', billed('activated', cycle('farid', '2026-08-15', '2026-09-15'))],
  ['2026-08-15T00:02:00Z', billed('charged', cycle('farid', '2026-08-15', '2026-09-15'), 'pay_farid_1')],
  ['2026-09-15T00:02:00Z', billed('charged', cycle('farid', '2026-09-15', '2026-10-15'), 'pay_farid_2')],
  ['2026-10-15T00:02:00Z', billed('charged', cycle('farid', '2026-10-15', '2026-11-15'), 'pay_farid_3')],

  // Hari cancelled his subscription at the end of its cycle. The gateway received the cancellation, and the subscription
  // was reconciled within the last day.
  ['2026-10-01T00:00:00Z', signUp('hari')],
  ['2026-10-01T00:01:00Z', billed('activated', cycle('hari', '2026-10-01', '2026-11-01'))],
  ['2026-10-01T00:02:00Z', billed('charged', cycle('hari', '2026-10-01', '2026-11-01'), 'pay_hari')],
  ['2026-10-10T00:00:00Z', cancel('hari', true)],
  ['2026-10-31T01:00:00Z', reconcileSubscriptions([cycle('hari', '2026-10-01', '2026-11-01')])],

  // Isha ended her subscription at once. The gateway charged it again and refunded the charge. A closed finding.
  ['2026-09-10T00:00:00Z', signUp('isha')],
  ['2026-09-10T00:01:00Z', billed('activated', cycle('isha', '2026-09-10', '2026-10-10'))],
  ['2026-09-10T00:02:00Z', billed('charged', cycle('isha', '2026-09-10', '2026-10-10'), 'pay_isha_1')],
  ['2026-09-20T00:00:00Z', cancel('isha', false)],
  ['2026-10-10T00:02:00Z', billed('charged', cycle('isha', '2026-10-10', '2026-11-10'), 'pay_isha_2')],
  ['2026-10-12T00:00:00Z', deliver(refundEvent({ id: 'pay_isha_2', amount: prices.basic }, prices.basic, 'processed'))],

  // Mohan's subscription was cancelled at the gateway.
  ['2026-07-20T00:00:00Z', signUp('mohan')],
  ['2026-07-20T00:01:00Z', billed('activated', cycle('mohan', '2026-07-20', '2026-08-20'))],
  ['2026-07-20T00:02:00Z', billed('charged', cycle('mohan', '2026-07-20', '2026-08-20'), 'pay_mohan_1')],
  ['2026-08-20T00:02:00Z', billed('charged', cycle('mohan', '2026-08-20', '2026-09-20'), 'pay_mohan_2')],
  ['2026-09-05T00:00:00Z', billed('cancelled', cycle('mohan', '2026-08-20', '2026-09-20'))],
];
