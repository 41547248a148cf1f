import type { IssuedDocument } from '../ports.ts';
import type { Look } from '../generated/emails.js';

/** The PDF of a document and its name. The library is loaded with the first one: most isolates never render a document. */
export async function receiptFile(
  receipt: IssuedDocument,
  { accent }: Look,
): Promise<{ readonly name: string; readonly bytes: Uint8Array }> {
  const { renderReceipt } = await import('./render-receipt.ts');
  return {
    name: `${receipt.document_number.replaceAll('/', '-')}.pdf`,
    bytes: await renderReceipt(receipt, { brandColor: accent }),
  };
}
