/**
 * Writes an amount as the mails show it: `₹1234.56` for rupees (SPEC 1), `USD 12.34` for any other currency.
 * @param amount in minor units of the currency, a whole number
 * @param currency ISO 4217
 * @throws RangeError when the amount is no safe integer or the currency no code
 */
export function formatAmount(amount: number, currency: string): string {
  if (!Number.isSafeInteger(amount)) throw new RangeError('An amount is a whole number of minor units');
  if (currency === 'INR') return `₹${decimal(amount, 2)}`;
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return `${currency} ${decimal(amount, maximumFractionDigits)}`;
}

/** Puts the point into the digits: a division would round great amounts. */
function decimal(amount: number, fractionDigits: number): string {
  const digits = String(Math.abs(amount)).padStart(fractionDigits + 1, '0');
  const point = digits.length - fractionDigits;
  const fraction = fractionDigits === 0 ? '' : `.${digits.slice(point)}`;
  return `${amount < 0 ? '-' : ''}${digits.slice(0, point)}${fraction}`;
}

/**
 * Writes the day of a moment as `20 November 2027`. SPEC 6, validUntil.
 * @param at ISO 8601
 * @param timeZone IANA name: the day is the one that begins there at midnight
 * @throws RangeError when either makes no sense
 */
export function formatLongDate(at: string, timeZone: string = 'UTC'): string {
  return new Intl.DateTimeFormat('en-IN', { year: 'numeric', month: 'long', day: 'numeric', timeZone })
    .format(new Date(at));
}

const planNames = new Map([['basic', 'Basic'], ['pro', 'Pro'], ['premium', 'Premium']]);

/** Names the plan of a tier; other tiers are called as they are. SPEC 6, payment-failed e-mail, planName. */
export function formatTier(tier: string = 'basic'): string {
  return planNames.get(tier) ?? tier;
}
