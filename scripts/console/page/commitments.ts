/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { Commitment } from '../rows.ts';
import { now } from './clock.ts';
import { monthsText, time } from './format.ts';
import { monthsAfter, timeOf } from './zone.ts';

/** A cycle that the gateway is to charge, if nothing changes. Times in milliseconds. */
export type Coming = { id: string; tier: string; from: number; to: number; chargeAt: number; price: string };

/** Why the gateway charges a subscription no more. Database: `billing.stop`. */
const reasons: Record<string, string> = {
  cancelled: 'the customer cancelled it',
  expired: 'it was not authorised in time',
  undone: 'the change to it was undone',
  unpaid: 'what it renews does not go on',
  superseded: 'another one was authorised',
  changed: 'a change follows it',
  replaced: 'a newer purchase replaced it',
  deleted: 'its user is gone',
};

/** The cycles that are charged next, as the chart draws them. */
export function comingOf(commitments: Commitment[]): Coming[] {
  return commitments.flatMap(({ id, tier, ends_at, charge_at, amount, currency, months }) => {
    if (charge_at === null || amount === null || currency === null) return [];
    // The gateway may debit before the cycle begins.
    const from = Date.parse(ends_at ?? charge_at);
    const to = timeOf(monthsAfter(new Date(from), months ?? 1)).getTime();
    return [{ id, tier: tier ?? 'no tier', from, to, chargeAt: Date.parse(charge_at), price: money(amount, currency) }];
  });
}

/** What follows, in the order of time, as sentences. */
export function followList(commitments: Commitment[]): HTMLElement {
  const lines = commitments.flatMap((each) => lineOf(each).map((line) => element('li', {}, ...line)));
  const list = lines.length > 0 ? lines : [element('li', {}, 'Nothing is charged, and nothing begins.')];
  return element('ul', { id: 'follows', className: 'follows', ariaLabel: 'What follows' }, ...list);
}

function lineOf({ kind, tier, starts_at, ends_at, charge_at, ...of }: Commitment): (string | Node)[][] {
  const { amount, currency, months, stops_at, stop_reason, next_tier, undo_until } = of;
  const name = tier ?? 'a subscription without a tier';
  if (charge_at !== null) {
    const price = amount === null || currency === null ? 'an unknown amount' : money(amount, currency);
    const what = months === null ? name : `${monthsText(months)} of ${name}`;
    return [[time(charge_at), `: ${price} is charged for ${what}${kind === 'change' ? ', which begins then' : ''}.`]];
  }
  if (kind === 'purchase') {
    const isToCome = starts_at !== null && Date.parse(starts_at) > now();
    return isToCome ? [[time(starts_at), `: ${name} begins, which is paid.`]] : [];
  }
  if (stops_at === null && next_tier === null) return [];
  const why = next_tier === null ? reasons[stop_reason ?? ''] : `${next_tier} follows it`;
  const undo = undo_until === null ? [] : [' The change can be undone until ', time(undo_until), '.'];
  return [[time(ends_at ?? stops_at), `: ${name} is charged no more${why ? `: ${why}` : ''}.`, ...undo]];
}
