import type { FontFile } from './font-file.ts';
import type { Cluster, PlacedGlyph, Shape } from './shaper.ts';

/** A glyph of the embedded font: number, width in thousandths of the font size, and what a reader gets for it. */
export type Sign = { readonly id: number; readonly width: number; readonly text: string };

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
 * Each syllable of Devanagari becomes one glyph: a PDF maps a glyph to its text, and the parts of a syllable are drawn in
 * another order than they are written.
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

  function signOf(cluster: Cluster): Sign {
    return { id: idOf(cluster), width: cluster.advance * 1000 / file.unitsPerEm, text: cluster.text };
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
