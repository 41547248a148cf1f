#!/bin/sh
# pdf-lib 1.17.1 cannot draw Hindi with its own @pdf-lib/fontkit 1.1.1: it throws "regeneratorRuntime is not defined", a
# package that neither names, while ₹ and Latin letters are drawn. With that runtime, as it embeds fonts by default, it writes
# neither width nor character of a joined letter, which has no code of its own: वार्षिक ("annual") has gaps, is 83 wide where
# `widthOfTextAtSize` is 48, and cannot be read back. With `subset: true` it is drawn well; what is read back has its vowel signs
# in the order in which they are drawn, so a search in the invoice does not find it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @expo-google-fonts/noto-sans-devanagari@0.4.1 @pdf-lib/fontkit@1.1.1 \
  pdf-lib@1.17.1 pdfjs-dist@6.1.200 regenerator-runtime@0.14.1 >/dev/null
cat > draw.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fontkit from '@pdf-lib/fontkit';
import { PDFDocument } from 'pdf-lib';
// Node 20 lacks it.
Promise.withResolvers ??= () => {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};
const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs');
for (const name of ['pdf-lib', '@pdf-lib/fontkit']) console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
const bytes = readFileSync('node_modules/@expo-google-fonts/noto-sans-devanagari/400Regular/NotoSansDevanagari_400Regular.ttf');

/** The text as pdf.js reads it from a page, its width there, and the width that pdf-lib measures. */
async function draw(text, options) {
  const document = await PDFDocument.create();
  document.registerFontkit(fontkit);
  const font = await document.embedFont(bytes, options);
  document.addPage([600, 200]).drawText(text, { x: 20, y: 100, size: 20, font });
  const page = await (await getDocument({ data: await document.save(), verbosity: 0 }).promise).getPage(1);
  const { items } = await page.getTextContent();
  const width = items.reduce((sum, item) => sum + item.width, 0);
  return [items.map(({ str }) => str).join(''), Math.round(width), Math.round(font.widthOfTextAtSize(text, 20))];
}
const found = {};
const attempt = async (title, text, options) => {
  found[title] = await draw(text, options).catch(({ message }) => message);
  console.log(`${title}:`.padEnd(27), JSON.stringify(found[title]));
};
await attempt('rupees', 'Pro ₹ 499.00');
await attempt('Hindi', 'वार्षिक');
createRequire(import.meta.url)('regenerator-runtime/runtime.js');
await attempt('with the runtime', 'वार्षिक');
await attempt('without joined letters', 'रसीद');
await attempt('with `subset` too', 'वार्षिक', { subset: true });
const expected = {
  rupees: ['Pro ₹ 499.00', 114, 114],
  Hindi: 'regeneratorRuntime is not defined',
  'with the runtime': ['वाɌष˷क', 83, 48],
  'without joined letters': ['रसीद', 38, 38],
  'with `subset` too': ['वािषर्क', 48, 48],
};
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node draw.mjs
