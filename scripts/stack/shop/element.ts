/// <reference lib="dom" />
export { formatCurrency as money } from '../../../supabase/client/subscriptions.ts';

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

/** Shows the day of a time, in the zone of the browser. */
export function day(time: string | null): string {
  return time === null ? 'no end' : new Date(time).toLocaleDateString('en', { dateStyle: 'medium' });
}
