# use-shopping-cart 3.2.0 divides an amount by 100 as soon as Intl shows decimals, else by nothing. So Kuwaiti, Bahraini and
# Tunisian prices, with three decimals, are shown ten times too high, and Albanian and Lebanese ones, whose two decimals Intl
# does not show, a hundred times. Amounts in INR and JPY are right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps react@19.3.0 use-shopping-cart@3.2.0 >/dev/null
cat > show.cjs <<'JS'
const { formatCurrencyString } = require('use-shopping-cart/core');
console.log('use-shopping-cart', require('./node_modules/use-shopping-cart/package.json').version);
/** Minor units, and how many of them are one, by ISO 4217. */
const amounts = { INR: [99900, 100], JPY: [500, 1], KWD: [4500, 1000], BHD: [4500, 1000], TND: [4500, 1000], ALL: [99900, 100], LBP: [99900, 100] };
const found = {};
for (const [currency, [value, ones]] of Object.entries(amounts)) {
  const shown = formatCurrencyString({ value, currency, language: 'en' });
  found[currency] = Number(shown.replace(/[^\d.]/g, '')) / (value / ones);
  console.log(`${value / ones} ${currency} is shown as ${shown}: ${found[currency]} times`);
}
const expected = { INR: 1, JPY: 1, KWD: 10, BHD: 10, TND: 10, ALL: 100, LBP: 100 };
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node show.cjs
