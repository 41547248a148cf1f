import type { Locale } from '../generated/emails.js';

// Written by `npm run generate` from billing.minor_units.
const NO_DECIMALS = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF';
const THREE_DECIMALS = 'BHD IQD JOD KWD LYD OMR TND';

/** Makes each formatter once: to make one costs as much as half of a mail. */
function once<Formatter>(make: (key: string) => Formatter): (key: string) => Formatter {
  const made = new Map<string, Formatter>();
  return (key) => {
    const formatter = made.get(key) ?? make(key);
    made.set(key, formatter);
    return formatter;
  };
}

const currencyFormat = once((key) => {
  const [currency = '', currencyDisplay, locale] = key.split(' ');
  const decimals = minorUnits(currency);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return new Intl.NumberFormat(locale === 'hi' ? 'hi-IN' : currency === 'INR' ? 'en-IN' : 'en', {
    style: 'currency',
    currency,
    currencyDisplay: currencyDisplay === 'code' ? 'code' : 'symbol',
    ...digits,
  });
});
const longDateFormat = once((key) => {
  const [timeZone, locale] = key.split(' ');
  return new Intl.DateTimeFormat(`${locale}-IN`, { year: 'numeric', month: 'long', day: 'numeric', timeZone });
});

/**
 * Formats an amount for people: `₹1,499.00`, `¥1,000`. Contract: E-mails.
 * @param amount in minor units of the currency, an integer
 * @param currency ISO 4217
 * @param display whether the currency is written as its sign or its code
 * @param locale the language
 * @throws RangeError when the amount is not a safe integer or the currency is not a code
 */
export function formatCurrency(
  amount: number,
  currency: string,
  display: 'symbol' | 'code' = 'symbol',
  locale: Locale = 'en',
): string {
  if (!Number.isSafeInteger(amount)) throw new RangeError('An amount is a whole number of minor units');
  return currencyFormat(`${currency} ${display} ${locale}`).format(amount / 10 ** minorUnits(currency));
}

/** Formats the interval of a price: `every year`, `every 3 months`. */
export function formatInterval(interval: 'month' | 'year', count: number, locale: Locale = 'en'): string {
  if (locale === 'hi') return `हर ${count === 1 ? '' : `${count} `}${interval === 'month' ? 'महीने' : 'वर्ष'}`;
  return count === 1 ? `every ${interval}` : `every ${count} ${interval}s`;
}

/**
 * Formats an amount for `payment-success` and `payment-failed`: `₹1234.56` for INR, `USD 12.34` for any other currency.
 * Contract: E-mails.
 * @param amount in minor units of the currency, an integer
 * @param currency ISO 4217
 * @throws RangeError when the amount is not a safe integer or the currency is not a code
 */
export function formatAmount(amount: number, currency: string): string {
  if (!Number.isSafeInteger(amount)) throw new RangeError('An amount is a whole number of minor units');
  if (currency === 'INR') return `₹${decimal(amount, 2)}`;
  if (!/^[A-Z]{3}$/.test(currency)) throw new RangeError('A currency is a code of ISO 4217');
  return `${currency} ${decimal(amount, minorUnits(currency))}`;
}

/** The decimals of a currency by ISO 4217. Those of Intl are a custom of display, which differs between engines. */
function minorUnits(currency: string): number {
  return NO_DECIMALS.includes(currency) ? 0 : THREE_DECIMALS.includes(currency) ? 3 : 2;
}

/** Inserts the decimal point into the digits: a division would round large amounts. */
function decimal(amount: number, fractionDigits: number): string {
  const digits = String(Math.abs(amount)).padStart(fractionDigits + 1, '0');
  const point = digits.length - fractionDigits;
  const fraction = fractionDigits === 0 ? '' : `.${digits.slice(point)}`;
  return `${amount < 0 ? '-' : ''}${digits.slice(0, point)}${fraction}`;
}

/**
 * Formats the date of a time as `20 November 2027`. Contract: E-mails.
 * @param at ISO 8601
 * @param timeZone IANA name; the date is the local one there
 * @throws RangeError when either is invalid
 */
export function formatLongDate(at: string, timeZone: string = 'UTC', locale: Locale = 'en'): string {
  return longDateFormat(`${timeZone} ${locale}`).format(new Date(at));
}

const planNames = new Map([['basic', 'Basic'], ['pro', 'Pro'], ['premium', 'Premium']]);

/** The plan name of a tier: for `basic`, `pro` and `premium` capitalised, for other tiers the tier itself. */
export function formatTier(tier: string = 'basic'): string {
  return planNames.get(tier) ?? tier;
}
