# convert-rupees-into-words 1.0.6 writes the amount in words of an Indian invoice. Where nothing stands between crores and the
# rest it still says "Lakh Thousand" (1,00,00,005 is "One Crore Lakh Thousand Five Rupees"), a credit note of -500 is "One
# Thousand Hundred Rupees", and from 100 crores on the text is empty. to-words 5.7.0 writes all of them.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts convert-rupees-into-words@1.0.6 to-words@5.7.0 >/dev/null
cat > words.cjs <<'JS'
const convert = require('convert-rupees-into-words');
const { ToWords } = require('to-words');
for (const name of ['convert-rupees-into-words', 'to-words']) console.log(name, require(`./node_modules/${name}/package.json`).version);
const words = new ToWords({ localeCode: 'en-IN', converterOptions: { currency: true, doNotAddOnly: true } });
const found = [118000, 1000005, 10000005, -500, 1000000000].map((amount) => [amount, convert(amount), words.convert(amount)]);
for (const [amount, one, other] of found) console.log(`${amount}:`.padEnd(12), `"${one}", to-words "${other}"`);
const expected = [
  [118000, 'One Lakh Eighteen Thousand Rupees', 'One Lakh Eighteen Thousand Rupees'],
  [1000005, 'Ten Lakh Thousand Five Rupees', 'Ten Lakh Five Rupees'],
  [10000005, 'One Crore Lakh Thousand Five Rupees', 'One Crore Five Rupees'],
  [-500, 'One Thousand Hundred Rupees', 'Minus Five Hundred Rupees'],
  [1000000000, '', 'One Arab Rupees'],
];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node words.cjs
