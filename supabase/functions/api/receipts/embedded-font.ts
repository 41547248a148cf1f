import type { FontFile } from './font-file.ts';
import { hex } from './pdf-text.ts';
import { isRightToLeft, type Script, scriptOf, splitByScript } from './scripts.ts';
import type { Cluster, PlacedGlyph, Shaper } from './shaper.ts';

/** A cluster in glyphs of the embedded font. */
export type Sign = {
  readonly text: string;
  /** The numbers of the glyphs, each in four hexadecimal digits. */
  readonly codes: string;
  /** Whether several letters are drawn as one; false for what is written from right to left. */
  readonly isSyllable: boolean;
  /** Thousandths of the font size. */
  readonly width: number;
};

/** A glyph of a font file, or several that are drawn as one. */
export type Slot = {
  readonly file: FontFile;
  readonly glyphs: readonly PlacedGlyph[];
  /** Units of the font. */
  readonly advance: number;
  /** Empty: only a part of other glyphs. */
  readonly text: string;
};

/** The part of a font and of those of further scripts that one document uses. Its glyphs are numbered in the order of their first use. */
export type EmbeddedFont = {
  readonly file: FontFile;
  readonly slots: readonly Slot[];
  /** The numbers of the slots. */
  readonly ids: ReadonlyMap<string, number>;
  /** The letters, by their code points. */
  readonly signs: ReadonlyMap<number, Sign>;
  /** Returns the glyphs of a text without line breaks, in its order. */
  encode(text: string): Sign[];
  /** Returns a bracket that is drawn as another one: from right to left they are turned. */
  drawnAs(text: string, shown: string): Sign;
  /** Returns the number of a glyph of a file as a part of others. */
  partOf(glyph: number, file: FontFile): number;
};

/**
 * A PDF maps each glyph to its text, but the parts of a syllable, as in Devanagari, are drawn in another order than they are
 * written. So a syllable becomes one glyph, which is read as its first letter; glyphs without a shape and a width follow
 * for the other letters.
 * @param file of Latin. All fonts have the same units
 * @param shapers of the scripts that the texts have
 * @param base whose glyphs the font starts with
 */
export function embedFont(
  file: FontFile,
  shapers: ReadonlyMap<Script, Shaper>,
  base?: EmbeddedFont,
): EmbeddedFont {
  const missing: Slot = { file, glyphs: [{ glyph: 0, x: 0, y: 0 }], advance: file.advanceOf(0), text: '' };
  const files = [file, ...Array.from(shapers.values(), (shaper) => shaper.file)];
  let slots: readonly Slot[] = base?.slots ?? [missing];
  let added: { slots: Slot[]; ids: Map<string, number>; signs: Map<number, Sign> } | undefined;

  /** Most documents add nothing to the base. */
  function additions() {
    if (added !== undefined) return added;
    added = { slots: [...slots], ids: new Map(base?.ids), signs: new Map() };
    slots = added.slots;
    return added;
  }

  function keyOf({ file, text, glyphs }: Slot): string {
    return `${files.indexOf(file)} ${text}\n${glyphs.map(({ glyph, x, y }) => `${glyph} ${x} ${y}`)}`;
  }

  function idOf(slot: Slot): number {
    const { ids, slots } = additions();
    const key = keyOf(slot);
    const id = ids.get(key) ?? slots.push(slot) - 1;
    ids.set(key, id);
    return id;
  }

  function signOf({ text, glyphs, advance }: Cluster, from: FontFile, isReversed = false): Sign {
    const [first = '', ...others] = text;
    const parts = [
      { file: from, text: first, glyphs, advance },
      ...others.map((other) => ({ file: from, text: other, glyphs: [], advance: 0 })),
    ];
    // A page is read from the left: of what is written from right to left the last letter comes first.
    if (isReversed) parts.reverse();
    return {
      text,
      codes: parts.map((part) => hex(idOf(part))).join(''),
      isSyllable: parts.length > 1 && !isReversed,
      width: advance * 1000 / file.unitsPerEm,
    };
  }

  function letterOf(character: string): Sign {
    const codePoint = character.codePointAt(0) ?? 0;
    const known = base?.signs.get(codePoint) ?? added?.signs.get(codePoint);
    if (known !== undefined) return known;
    const glyph = file.glyphOf(codePoint) || file.glyphOf(missingLetter);
    const sign = signOf({ text: character, glyphs: [{ glyph, x: 0, y: 0 }], advance: file.advanceOf(glyph) }, file);
    additions().signs.set(codePoint, sign);
    return sign;
  }

  function encodeRun(run: string): Sign[] {
    const script = scriptOf(run);
    const shaper = script && shapers.get(script);
    if (script === undefined || shaper === undefined) return Array.from(run.normalize('NFC'), letterOf);
    const isReversed = isRightToLeft(script, run);
    return shaper.shape(run).map((cluster) => signOf(cluster, shaper.file, isReversed));
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
    drawnAs(text, shown) {
      const glyph = file.glyphOf(shown.codePointAt(0) ?? 0);
      return signOf({ text, glyphs: [{ glyph, x: 0, y: 0 }], advance: file.advanceOf(glyph) }, file);
    },
    partOf: (glyph, from) =>
      idOf({ file: from, glyphs: [{ glyph, x: 0, y: 0 }], advance: from.advanceOf(glyph), text: '' }),
  };
}

/** A dotted circle stands for a letter that the font lacks; its text is read back all the same. */
const missingLetter = 0x25cc;
