import { type CurrentSubscription, formatCurrency, type OfferedPrice } from '../../../supabase/client/subscriptions.ts';

type Length = Pick<OfferedPrice, 'interval' | 'interval_count'>;

/** Shows the day of a time, in the zone of the browser. */
export function day(time: string | null): string {
  return time === null ? 'no end' : new Date(time).toLocaleDateString('en', { dateStyle: 'medium' });
}

/** `a month`, `for 3 months`. */
export const per = ({ interval, interval_count: count }: Length) =>
  count === 1 ? `a ${interval}` : `for ${count} ${interval}s`;
/** `monthly`, `every 3 months`. */
export const every = ({ interval, interval_count: count }: Length) =>
  count === 1 ? `${interval}ly` : `every ${count} ${interval}s`;

/** What the dashboard says about a charge that failed. */
export function failureText({ subscription, billing }: CurrentSubscription): string | null {
  if (!billing?.payment_attention) return null;
  const end = subscription?.status === 'active' ? subscription.access_ends_at : null;
  return `A charge failed. ${end ? `Without a payment, your access ends on ${day(end)}. ` : ''}`;
}

/** What the dashboard says about the period. Null: none runs. */
export function periodText({ subscription }: CurrentSubscription): string | null {
  if (subscription?.status !== 'active') return null;
  const { current_period_start: start, current_period_end: end, cancel_at_period_end: ends } = subscription;
  return `${day(start)} to ${day(end)}${ends ? ', then it ends' : ''}`;
}

/** How the subscription goes on. */
export function chargeText({ subscription, billing }: CurrentSubscription): string {
  const price = billing?.price
    ? `: ${formatCurrency(billing.price.amount, billing.price.currency)} ${per(billing.price)}`
    : '';
  if (billing?.next_charge_at) return `The next charge is on ${day(billing.next_charge_at)}${price}.`;
  return subscription?.status === 'active' ? 'It does not renew by itself.' : 'You can choose a plan at any time.';
}

/** What follows the period that runs. Null: nothing is known. */
export function nextText({ billing }: CurrentSubscription): string | null {
  if (!billing?.next) return null;
  const { tier, price, starts_at, undo_until } = billing.next;
  const undo = undo_until ? ` You can undo it until ${day(undo_until)}.` : '';
  return `${tier}, ${every(price)}, begins on ${day(starts_at)}.${undo}`;
}
