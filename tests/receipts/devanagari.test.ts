import { expect, test } from 'vitest';
import { regular } from '../../supabase/functions/api/generated/receipt-fonts.ts';
import { decompress } from '../../supabase/functions/api/receipts/decompress.ts';
import { embedFont } from '../../supabase/functions/api/receipts/embedded-font.ts';
import { readFontFile } from '../../supabase/functions/api/receipts/font-file.ts';
import { writeFontSubset } from '../../supabase/functions/api/receipts/font-subset.ts';
import { createShaper } from '../../supabase/functions/api/receipts/shaper.ts';

const file = readFontFile(new Uint8Array(await decompress(regular)));
const shape = await createShaper(file.bytes);
const glyphOf = (letter: string) => file.glyphOf(letter.codePointAt(0) ?? 0);

test('a vowel sign that is written after its consonant is drawn before it', () => {
  const [syllable, ...others] = shape('कि');
  expect(others).toEqual([]);
  expect(syllable?.text).toBe('कि');
  const [vowel, consonant] = syllable?.glyphs ?? [];
  expect(consonant?.glyph).toBe(glyphOf('क'));
  expect(vowel?.x).toBeLessThan(consonant?.x ?? 0);
});

test('consonants that are joined by a virama become one shape, and none where a joiner forbids it', () => {
  expect(shape('क्ष').map(({ text, glyphs }) => [text, glyphs.length])).toEqual([['क्ष', 1]]);
  const apart = shape('क्\u200cष').flatMap(({ glyphs }) => glyphs.map(({ glyph }) => glyph));
  expect(apart).toEqual(expect.arrayContaining([glyphOf('क'), glyphOf('ष')]));
});

test('an r before a consonant is drawn above its syllable', () => {
  const [syllable] = shape('र्क');
  expect(syllable?.glyphs[0]).toMatchObject({ glyph: glyphOf('क'), x: 0 });
  expect(syllable?.glyphs).toHaveLength(2);
});

test('the clusters of a text have all of its letters in their order', () => {
  for (const text of ['श्री गणेश', 'विद्युत', 'महाराष्ट्र', 'क़िला', 'ऋषिकेश', 'द्वितीय', 'लि॰ १२३']) {
    expect(shape(text).map((cluster) => cluster.text).join('')).toBe(text);
  }
});

test('the glyphs of a subset are those of the font', () => {
  const font = embedFont(file, shape);
  const [latin, accented, syllable] = font.encode('gñकि').map(({ codes }) => parseInt(codes.slice(0, 4), 16));
  const subset = readSubset(writeFontSubset(font));
  expect(subset.outlineOf(latin ?? 0).subarray(0, file.outlineOf(glyphOf('g')).length)).toEqual(
    file.outlineOf(glyphOf('g')),
  );
  for (const composite of [accented, syllable]) {
    const outline = subset.outlineOf(composite ?? 0);
    const view = new DataView(outline.buffer, outline.byteOffset);
    expect(view.getInt16(0)).toBe(-1);
    expect(subset.outlineOf(view.getUint16(12)).length).toBeGreaterThan(0);
  }
});

test('a letter that the font lacks is drawn as a dotted circle and keeps its text', () => {
  const font = embedFont(file, undefined);
  const [sign] = font.encode('த');
  expect(sign?.text).toBe('த');
  expect(font.slots.at(-1)).toMatchObject({ text: 'த', glyphs: [{ glyph: glyphOf('◌') }] });
});

/** A subset for a PDF has no table of characters. */
function readSubset(bytes: Uint8Array): { outlineOf(glyph: number): Uint8Array } {
  const view = new DataView(bytes.buffer);
  const tables = new Map(Array.from({ length: view.getUint16(4) }, (_, index) => {
    const record = 12 + index * 16;
    return [String.fromCharCode(...bytes.subarray(record, record + 4)), view.getUint32(record + 8)];
  }));
  const [loca = 0, glyf = 0] = ['loca', 'glyf'].map((tag) => tables.get(tag) ?? 0);
  return {
    outlineOf: (glyph) =>
      bytes.subarray(glyf + view.getUint32(loca + glyph * 4), glyf + view.getUint32(loca + glyph * 4 + 4)),
  };
}
