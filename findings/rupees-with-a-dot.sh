#!/bin/sh
# Three libraries that read amounts from texts take the dot of `Rs.` for the decimal point, without an error: `Rs. 499` is
# half a rupee, and `Rs. 1,18,000` is 12 paise. With paise behind, two give NaN. `Rs 499`, `INR 499` and `₹ 499` are read
# right. Only what follows the first digit may be given to them.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts accounting@0.4.1 currency.js@2.0.4 numeral@2.0.6 >/dev/null
cat > read.cjs <<'JS'
const accounting = require('accounting');
const currency = require('currency.js');
const numeral = require('numeral');
const versions = ['accounting', 'currency.js', 'numeral'].map((name) =>
  `${name} ${require(`./node_modules/${name}/package.json`).version}`
);
console.log(versions.join(', '));
const expected = {
  'Rs 1,18,000.00': [118000, 118000, 118000],
  'INR 499.00': [499, 499, 499],
  '₹ 499.00': [499, 499, 499],
  'Rs. 499': [0.499, 0.5, 0.499],
  'Rs. 1,18,000': [0.118, 0.12, 0.118],
  'Rs. 499.00': [0.499, NaN, NaN],
};
let same = true;
for (const [text, amounts] of Object.entries(expected)) {
  const read = [accounting.unformat(text), currency(text).value, numeral(text).value()];
  console.log(`${text}:`.padEnd(16), read.join(', '));
  same &&= read.every((amount, at) => Object.is(amount, amounts[at]));
}
process.exit(same ? 0 : 1);
JS
node read.cjs
