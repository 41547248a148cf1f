import { Buffer } from 'node:buffer';
import { deflateSync } from 'node:zlib';
import subsetFont from 'subset-font';
import { root } from '../stack/root.ts';

/** Path of the generated module with the fonts of receipts. */
export const receiptFontsFile = `${root}/supabase/functions/api/generated/receipt-fonts.ts`;
/** Path of the generated module with the shaper of Devanagari. */
export const shaperFile = `${root}/supabase/functions/api/generated/harfbuzz.ts`;

const fontPackage = '@expo-google-fonts/noto-sans';
const fontFolder = `${root}/node_modules/${fontPackage}`;
const shaperFolder = `${root}/node_modules/harfbuzzjs`;

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

/** What Devanagari needs. Latin is drawn letter by letter. */
const keepFeatures =
  'abvm abvs akhn blwf blwm blws ccmp cjct dist half haln locl mark mkmk nukt pres psts rkrf rphf vatu'
    .split(' ');

/** Writes both modules. */
export async function generateReceiptFonts(): Promise<void> {
  for (const [file, text] of await buildReceiptFonts()) await Deno.writeTextFile(file, text);
}

/** @returns the texts of both modules, which depend only on the packages. */
export async function buildReceiptFonts(): Promise<[file: string, text: string][]> {
  const fonts = {
    regular: await subset('400Regular/NotoSans_400Regular.ttf'),
    semiBold: await subset('600SemiBold/NotoSans_600SemiBold.ttf'),
  };
  const harfbuzz = await Deno.readFile(`${shaperFolder}/dist/harfbuzz.wasm`);
  const fontLicence = await Deno.readTextFile(`${fontFolder}/LICENSE_FONT`);
  const shaperLicence = await Deno.readTextFile(`${shaperFolder}/LICENSE`);
  return [
    [receiptFontsFile, moduleOf(fontPackage, 'A font of receipts: parts of Noto Sans, TrueType', fonts, fontLicence)],
    [shaperFile, moduleOf('harfbuzzjs', 'The shaper of Devanagari: WebAssembly', { harfbuzz }, shaperLicence)],
  ];
}

async function subset(file: string): Promise<Uint8Array> {
  const text = ranges.map(([first, last]) =>
    String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, at) => first + at))
  ).join('');
  return await subsetFont(Buffer.from(await Deno.readFile(`${fontFolder}/${file}`)), text, {
    targetFormat: 'truetype',
    keepFeatures,
    noHinting: true,
    dropTables: ['STAT', 'name', 'post', 'OS/2', 'gasp', 'prep'],
  });
}

function moduleOf(from: string, what: string, files: Record<string, Uint8Array>, licence: string): string {
  const constants = Object.entries(files).map(([name, bytes]) =>
    `/** ${what}, deflated (zlib), in base64. */\n` +
    `export const ${name}: string = '${deflateSync(bytes, { level: 9 }).toString('base64')}';\n`
  );
  return `// GENERATED from packages by \`npm run generate\`. DO NOT EDIT.\n// Contains ${from}.\n` +
    `${constants.join('')}/*\n${licence.trimEnd()}\n*/\n`;
}
