import type { FontFile } from './font-file.ts';
import type { Cluster, PlacedGlyph, Shape } from './shaper.ts';

/** A cluster in glyphs of the embedded font. The width is in thousandths of the font size. */
export type Sign = { readonly ids: readonly number[]; readonly width: number; readonly text: string };

/** A glyph of the font file, or several that are drawn as one. */
export type Slot = {
  readonly glyphs: readonly PlacedGlyph[];
  /** Units of the font. */
  readonly advance: number;
  /** Empty: only a part of other glyphs. */
  readonly text: string;
};

/** The part of a font that one document uses. Its glyphs are numbered in the order of their first use. */
export type EmbeddedFont = {
  readonly file: FontFile;
  readonly slots: readonly Slot[];
  /** Returns the glyphs of a text without line breaks. */
  encode(text: string): Sign[];
  /** Returns the number of a glyph of the file as a part of others. */
  partOf(glyph: number): number;
};

/**
 * A PDF maps each glyph to its text, but the parts of a syllable of Devanagari are drawn in another order than they are
 * written. So a syllable becomes one glyph, which is read as its first letter; glyphs without a shape and a width follow
 * for the other letters.
 * @param shape undefined where no text has Devanagari
 */
export function embedFont(file: FontFile, shape: Shape | undefined): EmbeddedFont {
  const slots: Slot[] = [{ glyphs: [{ glyph: 0, x: 0, y: 0 }], advance: file.advanceOf(0), text: '' }];
  const ids = new Map<string, number>();

  function idOf(slot: Slot): number {
    const key = `${slot.text}\n${slot.glyphs.map(({ glyph, x, y }) => `${glyph} ${x} ${y}`)}`;
    const known = ids.get(key);
    if (known !== undefined) return known;
    const id = slots.push(slot) - 1;
    ids.set(key, id);
    return id;
  }

  function signOf({ text, glyphs, advance }: Cluster): Sign {
    const [first = '', ...others] = text;
    const ids = [{ text: first, glyphs, advance }, ...others.map((other) => ({ text: other, glyphs: [], advance: 0 }))];
    return { ids: ids.map(idOf), width: advance * 1000 / file.unitsPerEm, text };
  }

  return {
    file,
    slots,
    encode: (text) =>
      splitByScript(text).flatMap((run) =>
        shape !== undefined && hasDevanagari(run)
          ? shape(run).map(signOf)
          : Array.from(run.normalize('NFC'), (character) => signOf(letterOf(file, character)))
      ),
    partOf: (glyph) => idOf({ glyphs: [{ glyph, x: 0, y: 0 }], advance: file.advanceOf(glyph), text: '' }),
  };
}

function letterOf(file: FontFile, character: string): Cluster {
  const glyph = file.glyphOf(character.codePointAt(0) ?? 0);
  return { text: character, glyphs: [{ glyph, x: 0, y: 0 }], advance: file.advanceOf(glyph) };
}

// The joiners belong to the syllable that they are in.
const devanagari = /[\u0900-\u097f][\u0900-\u097f\u200c\u200d]*/;
const runs = new RegExp(`(${devanagari.source})`);

/** Whether a text needs a shaper. */
export function hasDevanagari(text: string): boolean {
  return devanagari.test(text);
}

function splitByScript(text: string): string[] {
  return text.split(runs).filter((run) => run !== '');
}
