import { formatCurrency, type Price } from '../../subscriptions.ts';

export type Length = Pick<Price, 'interval' | 'interval_count'>;

/**
 * How a language writes days and amounts, in the zone of the browser.
 * @param locale of days, for example `en-GB`
 * @param amounts the locale of amounts; undefined: the one that is usual for the currency
 */
export function formatsOf(locale: string, amounts: string | undefined) {
  const day = (time: string) =>
    new Date(time).toLocaleDateString(locale, { day: 'numeric', month: 'short', year: 'numeric' });
  return {
    /** The day of a time, for example `26 Nov 2026`. */
    day,
    /** The day with the hour, for a limit such as the end of an undo. */
    moment: (time: string) =>
      `${day(time)}, ${
        new Date(time).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', hour12: false })
      }`,
    /** A country by its code of two letters. */
    country: (code: string) => new Intl.DisplayNames([locale], { type: 'region' }).of(code) ?? code,
    /** Sorts names. */
    compare: new Intl.Collator(locale).compare,
    money: (amount: number, currency: string) => formatCurrency(amount, currency, amounts),
  };
}
