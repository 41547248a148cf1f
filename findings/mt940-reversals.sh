# Two libraries read bank statements (MT940). mt940-js 1.0.0 reads `RC`, the reversal of a credit, as money that came in, and
# `RD` as money that went out; mt940js 1.3.5 gives both the right sign. And both date a line that is of 31 December and was
# booked on 2 January to the January of the old year, a year early. Only the first shows against the statement's own balances.
# mt940-js needs `tslib` without naming it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts mt940-js@1.0.0 mt940js@1.3.5 tslib@2.8.1 >/dev/null
cat > read.cjs <<'JS'
const mt940 = require('mt940-js');
const { Parser } = require('mt940js');
for (const name of ['mt940-js', 'mt940js']) console.log(name, require(`./node_modules/${name}/package.json`).version);
const text = `:20:STATEMENT
:25:10020030/1234567
:28C:1/1
:60F:C260101EUR1000,00
:61:2512310102C7,00NTRFONE
:86:a credit, booked over the new year
:61:2601020102RC999,00NTRFTWO
:86:a reversed credit
:61:2601020102RD100,50NTRFTHREE
:86:a reversed debit
:62F:C260102EUR108,50
-`;
(async () => {
  const [statement] = await mt940.read(Buffer.from(text));
  const [other] = new Parser().parse(text);
  const found = {
    'mt940-js': statement.transactions.map(({ amount, isCredit, entryDate }) => [isCredit ? amount : -amount, entryDate]),
    mt940js: other.transactions.map(({ amount, entryDate }) => [amount, entryDate.toISOString().slice(0, 10)]),
  };
  for (const [name, lines] of Object.entries(found)) console.log(name, lines.map((line) => line.join(' on ')).join(', '));
  console.log('from', statement.openingBalance.value, 'to', statement.closingBalance.value);
  const expected = {
    'mt940-js': [[7, '2025-01-02'], [999, '2026-01-02'], [-100.5, '2026-01-02']],
    mt940js: [[7, '2025-01-02'], [-999, '2026-01-02'], [100.5, '2026-01-02']],
  };
  process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
})();
JS
node read.cjs
