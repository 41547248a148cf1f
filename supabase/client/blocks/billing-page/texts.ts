import type { CheckoutResult, Price } from '../../subscriptions.ts';
export { formatCurrency as money } from '../../subscriptions.ts';

/** What the page tells after an action. */
export type Said = { text: string; isProblem?: boolean };
type Length = Pick<Price, 'interval' | 'interval_count'>;

/** The day of a time in the zone of the browser, for example `26 Nov 2026`. */
export function day(time: string): string {
  return new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}

/** The day with the hour, for a limit such as the end of an undo. */
export function moment(time: string): string {
  return `${day(time)}, ${new Date(time).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`;
}

/** `a month`, `for 3 months`. */
export function per({ interval, interval_count: count }: Length): string {
  return count === 1 ? `a ${interval}` : `for ${count} ${interval}s`;
}

/** `monthly`, `every 3 months`. */
export function every({ interval, interval_count: count }: Length): string {
  return count === 1 ? `${interval}ly` : `every ${count} ${interval}s`;
}

/** Texts of the service and the client, as sentences for customers. */
const sentences: Readonly<Record<string, string>> = {
  'Unauthorized': 'Please sign in again to see your billing.',
  'The service did not answer': 'The service cannot be reached. Check your connection and try again.',
  'Only at the end of the period': 'This change is possible only at the end of your period.',
  'Too late to change this period': 'It is too late to change this period. Try again after your plan renews.',
  'Already subscribed': 'You already have this plan.',
  'Subscription not found': 'There is nothing to change any more.',
  'Cannot be resumed': 'This subscription cannot be resumed any more. You can choose a plan again.',
  'Plan not found': 'This plan is not on offer any more.',
  'Payment gateway unavailable': 'Our payment provider does not answer. Please try again in a minute.',
  'Payment service not configured': 'Payments are not available at the moment.',
  'Too many orders': 'You tried this often. Please wait some minutes and try again.',
  'Another checkout is open': 'A payment window is open already. Please finish or close it first.',
};

/** An error as a sentence. */
export function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return sentences[text] ?? `${text.replace(/[.\s]+$/, '')}.`;
}

/** How a checkout ended. `paid` is the text of a success. */
export function saidOf(result: CheckoutResult, paid: string): Said {
  if (result.outcome === 'failed') return { text: `Nothing was paid. ${sentenceOf(result.error)}`, isProblem: true };
  if (result.outcome === 'dismissed') return { text: 'You closed the payment window. Nothing was paid.' };
  if (result.outcome === 'pending') {
    return { text: 'Your payment is being confirmed and will appear here. Please do not pay again.' };
  }
  return { text: paid };
}
