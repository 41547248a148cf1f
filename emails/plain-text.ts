import type { Look } from './mails.ts';
import type { Message } from './message.ts';
import { textsOf } from './texts/texts.ts';

/** The plain text of a mail. */
export function plainText(
  { heading, displayName, body, details, action, note }: Message,
  { brand, footer, locale }: Look,
): string {
  const name = displayName.trim();
  const { hello } = textsOf(locale);
  const paragraphs = [
    ...brand ? [brand] : [],
    heading,
    name === '' ? `${hello},` : `${hello} ${name},`,
    body,
    details.map(({ label, value }) => `${label}: ${value}`).join('\n'),
    `${action.label}: ${action.url}`,
    note,
    ...footer ? [footer] : [],
  ];
  return `${paragraphs.join('\n\n')}\n`;
}
