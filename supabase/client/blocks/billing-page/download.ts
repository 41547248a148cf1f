/// <reference lib="dom" />
import type { Receipt } from '../../subscriptions.ts';

/** Saves the file of a document. @returns what it is */
export function download(file: Blob, { title, document_number: number }: Receipt): string {
  const href = URL.createObjectURL(file);
  const link = Object.assign(document.createElement('a'), { href, download: `${number.replace('/', '-')}.pdf` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
  return `${title} ${number}`;
}
