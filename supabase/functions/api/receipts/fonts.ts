import { decompress } from './decompress.ts';
import { type EmbeddedFont, embedFont } from './embedded-font.ts';
import { type FontFile, readFontFile } from './font-file.ts';
import { objectsOfFont, writeFont } from './pdf-font.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { createShaper, type Shape } from './shaper.ts';

/** A font of a document. */
export type DocumentFont = {
  readonly font: EmbeddedFont;
  /** Returns its objects in the PDF, when all texts are encoded. */
  write(): PdfObjects;
};

/** The characters that most documents have: they are embedded, used or not, so that the font is written once. */
const usual = Array.from({ length: 95 }, (_, at) => String.fromCharCode(0x20 + at)).join('') + '–₹';

const names = ['RECEIP+NotoSans-Regular', 'RECEIP+NotoSans-SemiBold'] as const;

type Base = { readonly file: FontFile; readonly font: EmbeddedFont; readonly objects: PdfObjects };

// Most isolates never make a document, so the fonts are loaded with the first one.
let bases: Promise<[Base, Base]> | undefined;
let shapers: Promise<[Shape, Shape]> | undefined;

/**
 * Returns the regular and the semibold font for a document.
 * @param hasDevanagari whether a text of the document has it
 */
export async function documentFonts(hasDevanagari: boolean): Promise<() => [DocumentFont, DocumentFont]> {
  const [regular, semiBold] = await (bases ??= loadBases());
  const shapes = hasDevanagari ? await (shapers ??= loadShapers(regular, semiBold)) : [];
  return () => [documentFont(regular, shapes[0], 0), documentFont(semiBold, shapes[1], 1)];
}

function documentFont(base: Base, shape: Shape | undefined, index: 0 | 1): DocumentFont {
  // With the many glyphs of Devanagari, what is not used is left out.
  const font = embedFont(base.file, shape, shape === undefined ? base.font : undefined);
  return { font, write: () => font.slots === base.font.slots ? base.objects : write(font, index) };
}

function write(font: EmbeddedFont, index: 0 | 1): PdfObjects {
  return writeFont(font, names[index], index * objectsOfFont + 1);
}

async function loadBases(): Promise<[Base, Base]> {
  const { regular, semiBold } = await import('../generated/receipt-fonts.ts');
  return [await loadBase(regular, 0), await loadBase(semiBold, 1)];
}

async function loadBase(base64: string, index: 0 | 1): Promise<Base> {
  const file = readFontFile(new Uint8Array(await decompress(base64)));
  const font = embedFont(file, undefined);
  font.encode(usual);
  return { file, font, objects: write(font, index) };
}

async function loadShapers(regular: Base, semiBold: Base): Promise<[Shape, Shape]> {
  return [await createShaper(regular.file.bytes), await createShaper(semiBold.file.bytes)];
}
