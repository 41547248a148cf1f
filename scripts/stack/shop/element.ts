/// <reference lib="dom" />

/** Makes an element. Texts are never parsed as HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Shows an amount of minor units, for example `₹999.00`. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(currency === 'INR' ? 'en-IN' : 'en', { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** Shows the day of a time, in the zone of the browser. */
export function day(time: string | null): string {
  return time === null ? 'no end' : new Date(time).toLocaleDateString('en', { dateStyle: 'medium' });
}
