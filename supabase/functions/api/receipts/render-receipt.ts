import { createCanvas } from './canvas.ts';
import { coloursOf } from './colours.ts';
import { documentFonts } from './fonts.ts';
import { layOutReceipt } from './lay-out-receipt.ts';
import { writePdf } from './pdf-file.ts';
import { receiptSchema } from './receipt.ts';
import { scriptsOf } from './scripts.ts';

const a4 = { width: 595.28, height: 841.89 };

/**
 * Renders a receipt, tax invoice or credit note as a PDF of one page. The same document gives the same bytes.
 * @param receipt a row of `public.receipts` as JSON
 * @param look `brandColor` is `#rrggbb`
 * @throws when the row is none
 */
export async function renderReceipt(
  receipt: unknown,
  look: { readonly brandColor?: string | undefined },
): Promise<Uint8Array> {
  const document = receiptSchema.parse(receipt);
  const createFonts = await documentFonts(scriptsOf(JSON.stringify(document)));
  const colours = coloursOf(look.brandColor);
  // A document with very long texts is drawn on a larger page, which is then scaled down.
  for (let scale = 1;; scale *= 0.94) {
    const fonts = createFonts();
    const page = { width: a4.width / scale, height: a4.height / scale };
    const canvas = createCanvas([fonts[0].font, fonts[1].font], page.height);
    if (layOutReceipt(canvas, document, colours, page) > page.height) continue;
    const zoom = Number(scale.toFixed(4));
    return writePdf(`${document.title} ${document.document_number}`, {
      ...a4,
      content: `${zoom} 0 0 ${zoom} 0 0 cm\n${canvas.content()}`,
      fonts: fonts.map((font) => font.write()),
    });
  }
}
