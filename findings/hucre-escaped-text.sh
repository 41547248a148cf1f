#!/bin/sh
# hucre 1.0.0 writes a text such as `_x0041_` into an .xlsx file as it is, though there it stands for the character U+0041:
# its own reader gives back "A". `_` before such a text must be written as `_x005F_`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts hucre@1.0.0 >/dev/null
cat > read.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { readXlsx, writeXlsx, writeXlsxStream } from 'hucre/xlsx';
console.log('hucre', JSON.parse(readFileSync('node_modules/hucre/package.json')).version);
const texts = ['plain', '_x0041_', 'pay_x0042_1', '_x005F_x0041_'];
const rows = texts.map((text) => [text]);
const streamed = new Uint8Array(await new Response(writeXlsxStream(rows, { name: 'a' })).arrayBuffer());
const whole = await writeXlsx({ sheets: [{ name: 'a', rows }] });
let same = true;
for (const [writer, bytes] of Object.entries({ streamed, whole })) {
  const read = (await readXlsx(bytes)).sheets[0].rows.flat();
  console.log(`${writer}: written ${JSON.stringify(texts)}, read ${JSON.stringify(read)}`);
  same &&= JSON.stringify(read) === JSON.stringify(['plain', 'A', 'payB1', '_x0041_']);
}
process.exit(same ? 0 : 1);
JS
node read.mjs
