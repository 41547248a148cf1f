#!/bin/sh
# Of validator 13.15.35, `isVAT` for India takes fifteen digits, so no GSTIN: each has letters. stdnum 1.12.0 computes the
# check digit, but refuses Ladakh (38) and other territory (97), those who deduct or collect tax (D, C), bodies of the
# United Nations and foreign online sellers, to whom GSTINs are issued too. The numbers here are made up.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts stdnum@1.12.0 validator@13.15.35 >/dev/null
cat > check.cjs <<'JS'
const { stdnum } = require('stdnum');
const { isVAT } = require('validator');
for (const name of ['stdnum', 'validator']) console.log(name, require(`./node_modules/${name}/package.json`).version);
const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The number with its check digit. */
function complete(start) {
  const sum = [...start].map((letter, at) => letters.indexOf(letter) * (1 + at % 2))
    .reduce((total, product) => total + Math.floor(product / 36) + product % 36, 0);
  return start + letters[(36 - sum % 36) % 36];
}
const kinds = {
  'a company in Karnataka': complete('29AABCA1234A1Z'),
  'a company in Ladakh': complete('38AABCA1234A1Z'),
  'a company in other territory': complete('97AABCA1234A1Z'),
  'who deducts tax': complete('29AABCA1234A1D'),
  'who collects tax': complete('29AABCA1234A1C'),
  'a body of the United Nations': complete('2917UNO00012UN'),
  'a foreign online seller': complete('9917USA29012OS'),
  'fifteen digits': '123456789012345',
};
const found = {};
for (const [kind, number] of Object.entries(kinds)) {
  found[kind] = [stdnum.IN.gstin.validate(number).isValid, isVAT(number, 'IN')];
  console.log(`${kind}:`.padEnd(30), number, `stdnum ${found[kind][0]}, validator ${found[kind][1]}`);
}
const expected = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, [false, false]]));
expected['a company in Karnataka'][0] = true;
expected['fifteen digits'][1] = true;
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node check.cjs
