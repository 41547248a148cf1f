import type { Message } from './message.ts';

/** The plain text of a mail. */
export function plainText({ heading, displayName, body, details, action, note }: Message): string {
  const name = displayName.trim();
  const paragraphs = [
    heading,
    name === '' ? 'Hello,' : `Hello ${name},`,
    body,
    details.map(({ label, value }) => `${label}: ${value}`).join('\n'),
    `${action.label}: ${action.url}`,
    note,
  ];
  return `${paragraphs.join('\n\n')}\n`;
}
