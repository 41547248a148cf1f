#!/bin/sh
# mailparser 3.14.2 makes the text of a mail that has HTML alone. In HTML without spaces between its tags, as templates are
# rendered, it sets no space between the cells of a table: quantity 2 and price 499.00 are read as 2499.00. Items of a list
# stand apart. Amounts must be read from `html`, or by html-to-text, which it uses, with the format `dataTable`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts html-to-text@10.0.1 mailparser@3.14.2 >/dev/null
cat > read.cjs <<'JS'
const { convert } = require('html-to-text');
const { simpleParser } = require('mailparser');
for (const name of ['mailparser', 'html-to-text']) console.log(name, require(`./node_modules/${name}/package.json`).version);
const html = '<ul><li>Receipt</li><li>July</li></ul><table><tr><th>Plan</th><th>Quantity</th><th>Price</th></tr>' +
  '<tr><td>Pro</td><td>2</td><td>499.00</td></tr></table>';
const mail = `From: shop@example.com\r\nSubject: Receipt\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html}\r\n`;
simpleParser(mail).then(({ text }) => {
  const table = convert(html, { selectors: [{ selector: 'table', format: 'dataTable' }] });
  console.log('mailparser:', JSON.stringify(text));
  console.log('html-to-text with dataTable:', JSON.stringify(table));
  process.exit(text.trim() === '* Receipt\n * July\n\nPlanQuantityPricePro2499.00' && /2 +499\.00$/.test(table) ? 0 : 1);
});
JS
node read.cjs
