/** Formats minor units, exactly: `999.00`, `-0.05`. Does not guard a negative one in a CSV file. */
export function amountText(minorUnits: number, decimals = 2): string {
  const digits = String(Math.abs(minorUnits)).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const text = decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`;
  return minorUnits < 0 ? `-${text}` : text;
}

/** An amount in a CSV file; null is empty. */
export function amount(minorUnits: number | null, decimals = 2): { exact: string } | null {
  return minorUnits === null ? null : { exact: amountText(minorUnits, decimals) };
}

/** A rate in percent with two decimals: `18.00`. */
export function rateText(percent: number): { exact: string } {
  return { exact: percent.toFixed(2) };
}

/** Paise of an amount of the return, which is in rupees. */
export function paiseOf(rupees: number | undefined): number {
  return Math.round((rupees ?? 0) * 100);
}
