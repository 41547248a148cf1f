import type { FontFile } from './font-file.ts';
import { hex } from './pdf-text.ts';
import type { Cluster, PlacedGlyph, Shape } from './shaper.ts';

/** A cluster in glyphs of the embedded font. */
export type Sign = {
  readonly text: string;
  /** The numbers of the glyphs, each in four hexadecimal digits. */
  readonly codes: string;
  /** Whether it has more than one glyph. */
  readonly isSyllable: boolean;
  /** Thousandths of the font size. */
  readonly width: number;
};

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
  /** The numbers of the slots. */
  readonly ids: ReadonlyMap<string, number>;
  /** The letters, by their code points. */
  readonly signs: ReadonlyMap<number, Sign>;
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
 * @param base whose glyphs the font starts with
 */
export function embedFont(file: FontFile, shape: Shape | undefined, base?: EmbeddedFont): EmbeddedFont {
  const missing: Slot = { glyphs: [{ glyph: 0, x: 0, y: 0 }], advance: file.advanceOf(0), text: '' };
  let slots: readonly Slot[] = base?.slots ?? [missing];
  let added: { slots: Slot[]; ids: Map<string, number>; signs: Map<number, Sign> } | undefined;

  /** Most documents add nothing to the base. */
  function additions() {
    if (added !== undefined) return added;
    added = { slots: [...slots], ids: new Map(base?.ids), signs: new Map() };
    slots = added.slots;
    return added;
  }

  function idOf(slot: Slot): number {
    const { ids, slots } = additions();
    const key = keyOf(slot);
    const id = ids.get(key) ?? slots.push(slot) - 1;
    ids.set(key, id);
    return id;
  }

  function signOf({ text, glyphs, advance }: Cluster): Sign {
    const [first = '', ...others] = text;
    const parts = [
      { text: first, glyphs, advance },
      ...others.map((other) => ({ text: other, glyphs: [], advance: 0 })),
    ];
    return {
      text,
      codes: parts.map((part) => hex(idOf(part))).join(''),
      isSyllable: parts.length > 1,
      width: advance * 1000 / file.unitsPerEm,
    };
  }

  function letterOf(character: string): Sign {
    const codePoint = character.codePointAt(0) ?? 0;
    const known = base?.signs.get(codePoint) ?? added?.signs.get(codePoint);
    if (known !== undefined) return known;
    const glyph = file.glyphOf(codePoint) || file.glyphOf(missingLetter);
    const sign = signOf({ text: character, glyphs: [{ glyph, x: 0, y: 0 }], advance: file.advanceOf(glyph) });
    additions().signs.set(codePoint, sign);
    return sign;
  }

  function encodeRun(run: string): Sign[] {
    return shape !== undefined && hasDevanagari(run)
      ? shape(run).map(signOf)
      : Array.from(run.normalize('NFC'), letterOf);
  }

  return {
    file,
    get slots() {
      return slots;
    },
    get ids() {
      return added?.ids ?? new Map();
    },
    get signs() {
      return added?.signs ?? new Map();
    },
    encode(text) {
      const signs: Sign[] = [];
      for (let index = 0; index < text.length; index++) {
        const sign = base?.signs.get(text.charCodeAt(index));
        if (sign === undefined) return splitByScript(text).flatMap(encodeRun);
        signs.push(sign);
      }
      return signs;
    },
    partOf: (glyph) => idOf({ glyphs: [{ glyph, x: 0, y: 0 }], advance: file.advanceOf(glyph), text: '' }),
  };
}

function keyOf({ text, glyphs }: Slot): string {
  return `${text}\n${glyphs.map(({ glyph, x, y }) => `${glyph} ${x} ${y}`)}`;
}

/** A dotted circle stands for a letter that the font lacks; its text is read back all the same. */
const missingLetter = 0x25cc;

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
