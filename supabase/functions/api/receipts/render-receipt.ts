import { createCanvas } from './canvas.ts';
import { decompress } from './decompress.ts';
import { embedFont, hasDevanagari } from './embedded-font.ts';
import { type FontFile, readFontFile } from './font-file.ts';
import { layOutReceipt } from './lay-out-receipt.ts';
import { coloursOf } from './colours.ts';
import { writePdf } from './pdf-file.ts';
import { receiptSchema } from './receipt.ts';
import { createShaper, type Shape } from './shaper.ts';

const a4 = { width: 595.28, height: 841.89 };

/**
 * Renders a receipt, tax invoice or credit note as a PDF of one page. The same document gives the same bytes.
 * Contract: GET /api/receipts/:id.
 * @param receipt a row of `public.receipts` as JSON
 * @param look `brandColor` is `#rrggbb`
 * @throws when the row is none
 */
export async function renderReceipt(
  receipt: unknown,
  look: { readonly brandColor?: string | undefined },
): Promise<Uint8Array> {
  const document = receiptSchema.parse(receipt);
  const files = await (fonts ??= loadFonts());
  const shapes = hasDevanagari(JSON.stringify(document)) ? await (shapers ??= loadShapers(files)) : [];
  const colours = coloursOf(look.brandColor);
  // A document with very long texts is drawn on a larger page, which is then scaled down.
  for (let scale = 1;; scale *= 0.94) {
    const embedded = [embedFont(files[0], shapes[0]), embedFont(files[1], shapes[1])] as const;
    const page = { width: a4.width / scale, height: a4.height / scale };
    const canvas = createCanvas(embedded, page.height);
    if (layOutReceipt(canvas, document, colours, page) > page.height) continue;
    const zoom = Number(scale.toFixed(4));
    return writePdf(`${document.title} ${document.document_number}`, {
      ...a4,
      content: `${zoom} 0 0 ${zoom} 0 0 cm\n${canvas.content()}`,
      fonts: embedded,
    });
  }
}

// Most isolates never make a document, so the fonts are loaded with the first one.
let fonts: Promise<[FontFile, FontFile]> | undefined;
let shapers: Promise<Shape[]> | undefined;

async function loadFonts(): Promise<[FontFile, FontFile]> {
  const { regular, semiBold } = await import('../generated/receipt-fonts.ts');
  return [
    readFontFile(new Uint8Array(await decompress(regular))),
    readFontFile(new Uint8Array(await decompress(semiBold))),
  ];
}

function loadShapers(files: readonly FontFile[]): Promise<Shape[]> {
  return Promise.all(files.map(({ bytes }) => createShaper(bytes)));
}
