/** A value of a table. */
export type Value = string | number | null | Exact | Moment;
/** What is written as it stands, such as an amount with its decimals. */
type Exact = { readonly exact: string };
/** A day such as `2026-11-04`, or a time in UTC such as `2026-11-04T00:00:00.000Z`. */
type Moment = { readonly date: string };

/** A text that a spreadsheet reads as a formula. */
const formula = /^[=+\-@\t\r]/;
/** One that it reads as a number with other digits: they end at the 15th, and zeros in front are lost. */
const otherNumber = /^(0\d+|\d{16,}|\d+(\.\d+)?e[+-]?\d+)$/i;

/** One that looks as if it had such an apostrophe already: with another one it is read back as it was. */
const guarded = /^'+[=+\-@\t\r\d]/;

/**
 * Writes rows as CSV (RFC 4180). A text that a spreadsheet would read as a formula, or as a number with other digits, gets an
 * apostrophe in front. Numbers stay numbers, also negative ones.
 */
export function toCsv(columns: readonly string[], rows: readonly (readonly Value[])[]): string {
  return [columns, ...rows].map(csvLine).join('');
}

/** A line of a CSV file, with its end. */
export function csvLine(row: readonly Value[]): string {
  return `${row.map(field).join(',')}\r\n`;
}

function field(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object') return 'date' in value ? value.date : value.exact;
  const text = formula.test(value) || otherNumber.test(value) || guarded.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
