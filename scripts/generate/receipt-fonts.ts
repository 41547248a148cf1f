import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import subsetFont from 'subset-font';
import { root } from '../stack/root.ts';

/** Path of the generated module with the fonts of receipts. */
export const receiptFontsFile = `${root}/supabase/functions/api/generated/receipt-fonts.ts`;
/** Path of the generated module with the fonts of further scripts. */
export const scriptFontsFile = `${root}/supabase/functions/api/generated/script-fonts.ts`;
/** Path of the generated module with the Unicode Bidirectional Algorithm. */
export const bidiFile = `${root}/supabase/functions/api/generated/bidi.js`;
/** Path of the generated module with the shaper of these scripts. */
export const shaperFile = `${root}/supabase/functions/api/generated/harfbuzz.ts`;

const fontPackage = '@expo-google-fonts/noto-sans';
const packageFolder = `${root}/node_modules`;
const shaperFolder = `${packageFolder}/harfbuzzjs`;

/** Latin of Europe, Vietnam and transliterations, punctuation, signs of currencies, Devanagari. */
const ranges = [
  [0x20, 0x7e],
  [0xa0, 0x17f],
  [0x1a0, 0x1a1],
  [0x1af, 0x1b0],
  [0x218, 0x21b],
  [0x300, 0x331],
  [0x1e00, 0x1eff],
  [0x2010, 0x2027],
  [0x2030, 0x203a],
  [0x20a0, 0x20c0],
  [0x2116, 0x2122],
  [0x900, 0x97f],
  [0x200c, 0x200d],
  [0x25cc, 0x25cc],
] as const;

/** The blocks of further scripts. Signs of other blocks that they use are in the first font. */
const blocks = {
  arabic: [0x600, 0x6ff],
  bengali: [0x980, 0x9ff],
  gurmukhi: [0xa00, 0xa7f],
  gujarati: [0xa80, 0xaff],
  oriya: [0xb00, 0xb7f],
  tamil: [0xb80, 0xbff],
  telugu: [0xc00, 0xc7f],
  kannada: [0xc80, 0xcff],
  malayalam: [0xd00, 0xd7f],
} as const;

/** What these scripts need. Latin is drawn letter by letter. */
const keepFeatures =
  ('abvm abvs akhn blwf blwm blws calt ccmp cjct dist fina half haln init isol liga locl mark medi mkmk nukt pref pres pstf ' +
    'psts rkrf rlig rphf vatu').split(' ');

const generated = '// GENERATED from packages by `npm run generate`. DO NOT EDIT.\n';

/** Writes the modules. */
export async function generateReceiptFonts(): Promise<void> {
  for (const [file, text] of await buildReceiptFonts()) await Deno.writeTextFile(file, text);
}

/** @returns the texts of the modules, which depend only on the packages. */
export async function buildReceiptFonts(): Promise<[file: string, text: string][]> {
  const fonts = {
    regular: await subset(`${fontPackage}/400Regular/NotoSans_400Regular.ttf`, ranges),
    semiBold: await subset(`${fontPackage}/600SemiBold/NotoSans_600SemiBold.ttf`, ranges),
  };
  const harfbuzz = await Deno.readFile(`${shaperFolder}/dist/harfbuzz.wasm`);
  const what = 'A font of receipts: parts of Noto Sans, TrueType';
  const scriptFonts: Record<string, Uint8Array> = {};
  for (const [script, block] of Object.entries(blocks)) scriptFonts[script] = await subsetOfScript(script, block);
  const scriptPackages = Object.keys(blocks).map((script) => `${fontPackage}-${script}`);
  const shaperLicence = await Deno.readTextFile(`${shaperFolder}/LICENSE`);
  return [
    [receiptFontsFile, moduleOf([fontPackage], what, fonts, await fontLicence([fontPackage]))],
    [scriptFontsFile, moduleOf(scriptPackages, what, scriptFonts, await fontLicence(scriptPackages))],
    [bidiFile, await bidiModule()],
    [bidiFile.replace(/js$/, 'd.ts'), bidiTypes],
    [shaperFile, moduleOf(['harfbuzzjs'], 'The shaper of these scripts: WebAssembly', { harfbuzz }, shaperLicence)],
  ];
}

async function subsetOfScript(script: string, block: readonly [first: number, last: number]): Promise<Uint8Array> {
  const name = `NotoSans${script.charAt(0).toUpperCase()}${script.slice(1)}`;
  return await subset(`${fontPackage}-${script}/400Regular/${name}_400Regular.ttf`, [
    block,
    [0x200c, 0x200d],
    [0x25cc, 0x25cc],
  ]);
}

async function bidiModule(): Promise<string> {
  const [code, licence] = await Promise.all(
    ['dist/bidi.min.mjs', 'LICENSE.txt'].map((file) => Deno.readTextFile(`${packageFolder}/bidi-js/${file}`)),
  );
  return `${generated}// Contains bidi-js.\n// @ts-self-types="./bidi.d.ts"\n${code}\n/*\n${licence?.trimEnd()}\n*/\n`;
}

const bidiTypes =
  `${generated}type Levels = { levels: Uint8Array; paragraphs: { start: number; end: number; level: number }[] };
/** See https://github.com/lojjic/bidi-js. */
export default function createBidi(): {
  getEmbeddingLevels(text: string): Levels;
  getReorderSegments(text: string, levels: Levels): [start: number, end: number][];
  getMirroredCharactersMap(text: string, levels: Uint8Array): Map<number, string>;
};
`;

/** The licence of packages that differ only in the line of the copyright. */
async function fontLicence(packages: readonly string[]): Promise<string> {
  const texts = await Promise.all(packages.map((name) => Deno.readTextFile(`${packageFolder}/${name}/LICENSE_FONT`)));
  const rests = new Set(texts.map((text) => text.slice(text.indexOf('\n'))));
  if (rests.size > 1) throw new Error('The licences of the fonts differ');
  return texts.map((text) => text.split('\n', 1)[0]).join('\n') + [...rests].join('');
}

async function subset(file: string, ranges: readonly (readonly [first: number, last: number])[]): Promise<Uint8Array> {
  const text = ranges.map(([first, last]) =>
    String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, at) => first + at))
  ).join('');
  return await subsetFont(Buffer.from(await Deno.readFile(`${packageFolder}/${file}`)), text, {
    targetFormat: 'truetype',
    keepFeatures,
    noHinting: true,
    dropTables: ['STAT', 'name', 'post', 'OS/2', 'gasp', 'prep'],
  });
}

function moduleOf(from: readonly string[], what: string, files: Record<string, Uint8Array>, licence: string): string {
  const constants = Object.entries(files).map(([name, bytes]) =>
    `/** ${what}, deflated (zlib), in base64. */\n` +
    `export const ${name}: string = '${deflateSync(bytes, { level: 9 }).toString('base64')}';\n`
  );
  return `${generated}// Contains ${from.join(', ')}.\n` +
    `${constants.join('')}/*\n${licence.trimEnd()}\n*/\n`;
}
