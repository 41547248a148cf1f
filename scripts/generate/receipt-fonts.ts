import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import subsetFont from 'subset-font';
import { root } from '../stack/root.ts';

/** Path of the generated module with the fonts of receipts. */
export const receiptFontsFile = `${root}/supabase/functions/api/generated/receipt-fonts.ts`;
/** Path of the generated module with the fonts of India's other scripts. */
export const indicFontsFile = `${root}/supabase/functions/api/generated/indic-fonts.ts`;
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

/** The blocks of 128 characters. Signs of other blocks that these scripts use are in the first font. */
const indicBlocks = {
  bengali: 0x980,
  gurmukhi: 0xa00,
  gujarati: 0xa80,
  oriya: 0xb00,
  tamil: 0xb80,
  telugu: 0xc00,
  kannada: 0xc80,
  malayalam: 0xd00,
} as const;

/** What these scripts need. Latin is drawn letter by letter. */
const keepFeatures =
  'abvm abvs akhn blwf blwm blws ccmp cjct dist half haln init locl mark mkmk nukt pref pres pstf psts rkrf rphf vatu'
    .split(' ');

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
  const indicFonts: Record<string, Uint8Array> = {};
  for (const [script, first] of Object.entries(indicBlocks)) indicFonts[script] = await subsetOfScript(script, first);
  const indicPackages = Object.keys(indicBlocks).map((script) => `${fontPackage}-${script}`);
  const shaperLicence = await Deno.readTextFile(`${shaperFolder}/LICENSE`);
  return [
    [receiptFontsFile, moduleOf([fontPackage], what, fonts, await fontLicence([fontPackage]))],
    [indicFontsFile, moduleOf(indicPackages, what, indicFonts, await fontLicence(indicPackages))],
    [shaperFile, moduleOf(['harfbuzzjs'], "The shaper of India's scripts: WebAssembly", { harfbuzz }, shaperLicence)],
  ];
}

async function subsetOfScript(script: string, first: number): Promise<Uint8Array> {
  const name = `NotoSans${script.charAt(0).toUpperCase()}${script.slice(1)}`;
  return await subset(`${fontPackage}-${script}/400Regular/${name}_400Regular.ttf`, [
    [first, first + 127],
    [0x200c, 0x200d],
    [0x25cc, 0x25cc],
  ]);
}

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
  return `// GENERATED from packages by \`npm run generate\`. DO NOT EDIT.\n// Contains ${from.join(', ')}.\n` +
    `${constants.join('')}/*\n${licence.trimEnd()}\n*/\n`;
}
