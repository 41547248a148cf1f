# xlsx 0.18.5 loses the minus sign in the usual format of lakhs and crores, whose last section is for all other numbers: a
# credit note of -1,180 is "1,180.00" in `sheet_to_csv` and as formatted text. numfmt 4.0.1 keeps the sign. With a first section
# for `[<0]`, then one for lakhs and one for the rest, both write it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts numfmt@4.0.1 xlsx@0.18.5 >/dev/null
cat > write.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { format } from 'numfmt';
import xlsx from 'xlsx';
for (const name of ['xlsx', 'numfmt']) console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
const formats = {
  'lakhs and crores': '[>=10000000]##\\,##\\,##\\,##0.00;[>=100000]##\\,##\\,##0.00;##,##0.00',
  'negative first': '[<0]-#,##0.00;[>=100000]##\\,##\\,##0.00;#,##0.00',
};
const found = {};
for (const [name, code] of Object.entries(formats)) {
  found[name] = [118000, 999, -1180, -118000].map((value) => {
    const sheet = { '!ref': 'A1', A1: { t: 'n', v: value, z: code } };
    const texts = [xlsx.utils.sheet_to_csv(sheet, { FS: ';' }), format(code, value)];
    console.log(`${name}, ${value}:`.padEnd(28), `xlsx ${texts[0]}, numfmt ${texts[1]}`);
    return texts;
  });
}
const expected = {
  'lakhs and crores': [
    ['1,18,000.00', '1,18,000.00'], ['999.00', '999.00'], ['1,180.00', '-1,180.00'], ['118,000.00', '-118,000.00'],
  ],
  'negative first': [
    ['1,18,000.00', '1,18,000.00'], ['999.00', '999.00'], ['-1,180.00', '-1,180.00'], ['-118,000.00', '-118,000.00'],
  ],
};
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node write.mjs
