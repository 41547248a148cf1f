import { decompress } from './decompress.ts';
import { type EmbeddedFont, embedFont } from './embedded-font.ts';
import { type FontFile, readFontFile } from './font-file.ts';
import { objectsOfFont, writeFont } from './pdf-font.ts';
import type { PdfObjects } from './pdf-objects.ts';
import type { Script } from './scripts.ts';
import { createShaper, type Shaper } from './shaper.ts';

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
const shapers = new Map<Script, Promise<[Shaper, Shaper]>>();

/**
 * Returns the regular and the semibold font for a document.
 * @param scripts which the texts of the document have
 */
export async function documentFonts(scripts: ReadonlySet<Script>): Promise<() => [DocumentFont, DocumentFont]> {
  const loaded = await (bases ??= loadBases());
  const ofScripts: [Map<Script, Shaper>, Map<Script, Shaper>] = [new Map(), new Map()];
  for (const script of scripts) {
    const pair = shapers.get(script) ?? loadShapers(script, loaded);
    shapers.set(script, pair);
    (await pair).forEach((shaper, index) => ofScripts[index]?.set(script, shaper));
  }
  return () => [documentFont(loaded[0], ofScripts[0], 0), documentFont(loaded[1], ofScripts[1], 1)];
}

function documentFont(base: Base, shapers: ReadonlyMap<Script, Shaper>, index: 0 | 1): DocumentFont {
  // With the many glyphs of such a script, what is not used is left out.
  const font = embedFont(base.file, shapers, shapers.size === 0 ? base.font : undefined);
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
  const font = embedFont(file, new Map());
  font.encode(usual);
  return { file, font, objects: write(font, index) };
}

/** Devanagari is in both fonts. The other scripts have one weight. */
async function loadShapers(script: Script, [regular, semiBold]: [Base, Base]): Promise<[Shaper, Shaper]> {
  if (script === 'devanagari') {
    return [await createShaper(regular.file, script), await createShaper(semiBold.file, script)];
  }
  const fonts = await import('../generated/script-fonts.ts');
  const shaper = await createShaper(readFontFile(new Uint8Array(await decompress(fonts[script]))), script);
  return [shaper, shaper];
}
