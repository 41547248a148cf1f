import { expect, test } from 'vitest';
import { regular } from '../../supabase/functions/api/generated/receipt-fonts.ts';
import * as scriptFonts from '../../supabase/functions/api/generated/script-fonts.ts';
import { decompress } from '../../supabase/functions/api/receipts/decompress.ts';
import { embedFont } from '../../supabase/functions/api/receipts/embedded-font.ts';
import { readFontFile } from '../../supabase/functions/api/receipts/font-file.ts';
import { writeFontSubset } from '../../supabase/functions/api/receipts/font-subset.ts';
import { type Script, scriptOf, scriptsOf, splitByScript } from '../../supabase/functions/api/receipts/scripts.ts';
import { createShaper, type Shaper } from '../../supabase/functions/api/receipts/shaper.ts';

const file = readFontFile(new Uint8Array(await decompress(regular)));
const devanagari = await createShaper(file, 'devanagari');
const { shape } = devanagari;
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
  const font = embedFont(file, new Map([['devanagari', devanagari]]));
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
  const font = embedFont(file, new Map());
  const [sign] = font.encode('த');
  expect(sign?.text).toBe('த');
  expect(font.slots.at(-1)).toMatchObject({ text: 'த', glyphs: [{ glyph: glyphOf('◌') }] });
});

/** A word, a syllable whose sign is drawn before its consonant, and the consonant. */
const words = {
  arabic: ['سلام الله', undefined, 'م'],
  bengali: ['শ্রীনিবাস বিদ্যুৎ', 'কি', 'ক'],
  gurmukhi: ['ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ', 'ਕਿ', 'ਕ'],
  gujarati: ['ક્ષિતિજ સૌરાષ્ટ્ર', 'કિ', 'ક'],
  oriya: ['ଶ୍ରୀକ୍ଷେତ୍ର ଓଡ଼ିଆ', 'କେ', 'କ'],
  tamil: ['தமிழ்ச்செல்வன் க்ஷேத்ரம்', 'கெ', 'க'],
  telugu: ['శ్రీనివాస్ రాజ్యలక్ష్మి', undefined, 'క'],
  kannada: ['ಶ್ರೀಕೃಷ್ಣ ಕರ್ನಾಟಕ', undefined, 'ಕ'],
  malayalam: ['ശ്രീകൃഷ്ണൻ കൊച്ചി', 'കെ', 'ക'],
} as const;
const scripts = Object.keys(words) as (keyof typeof words)[];

test.each(scripts)('%s: every letter has a shape, and the clusters have all of them in their order', async (script) => {
  const fontFile = readFontFile(new Uint8Array(await decompress(scriptFonts[script])));
  expect(fontFile.unitsPerEm).toBe(file.unitsPerEm);
  const { shape } = await createShaper(fontFile, script);
  const [word, syllable, consonant] = words[script];
  const runs = splitByScript(word).filter((run) => scriptOf(run) !== undefined);
  const clusters = runs.flatMap(shape);
  expect(clusters.map(({ text }) => text).join(' ').replaceAll(' ', '')).toBe(word.replaceAll(' ', ''));
  expect(clusters.flatMap(({ glyphs }) => glyphs).filter(({ glyph }) => glyph === 0)).toEqual([]);
  expect(clusters.length).toBeLessThan(word.length);
  if (syllable === undefined) return;
  const [cluster] = shape(syllable);
  expect(cluster?.text).toBe(syllable);
  expect(cluster?.glyphs.at(-1)?.glyph).toBe(fontFile.glyphOf(consonant.codePointAt(0) ?? 0));
});

test('glyphs of several fonts with the same number are different glyphs of the document', async () => {
  const shapers = new Map<Script, Shaper>([['devanagari', devanagari]]);
  for (const script of ['tamil', 'bengali'] as const) {
    const fontFile = readFontFile(new Uint8Array(await decompress(scriptFonts[script])));
    shapers.set(script, await createShaper(fontFile, script));
  }
  const font = embedFont(file, shapers);
  font.encode('கெ কি');
  const parts = [...shapers.values()].map(({ file }) => font.partOf(5, file));
  expect(new Set(parts).size).toBe(3);
  const subset = readSubset(writeFontSubset(font));
  [...shapers.values()].forEach(({ file }, index) => {
    const outline = file.outlineOf(5);
    expect(subset.outlineOf(parts[index] ?? 0).subarray(0, outline.length)).toEqual(outline);
  });
});

test('a text names the scripts for which fonts are loaded', () => {
  expect([...scriptsOf('Asha Rao, आशा, தமிழ் 東京')]).toEqual(['devanagari', 'tamil']);
  expect([...scriptsOf('Zażółć 東京')]).toEqual([]);
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
