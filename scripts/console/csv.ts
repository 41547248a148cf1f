/** A value of a CSV file. */
type Value = string | number | null;

/**
 * Writes rows as CSV (RFC 4180). A text that a spreadsheet would read as a formula gets an apostrophe in front.
 * Numbers stay numbers, also negative ones.
 */
export function toCsv(columns: readonly string[], rows: readonly (readonly Value[])[]): string {
  return [columns, ...rows].map((row) => row.map(field).join(',') + '\r\n').join('');
}

function field(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
