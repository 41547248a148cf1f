# payu-websdk 1.3.1 writes forms by `encodeURI`, which leaves `&` and `+` as they are: the invoice of "Pro & team" reaches PayU
# cut off in the middle, and that of a customer with a plus in his address has a space there. And the hash of a payment with
# `additional_charges`, as PayU's documentation names the field, ends in `|undefined`, so PayU refuses it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts payu-websdk@1.3.1 >/dev/null
cat > send.cjs <<'JS'
const { createHash } = require('node:crypto');
const { EventEmitter } = require('node:events');
const https = require('node:https');
console.log('payu-websdk', require('./node_modules/payu-websdk/package.json').version);
/** Nothing is sent: what would be is read as a server reads a form. */
let sent;
https.request = () => Object.assign(new EventEmitter(), { write: (body) => sent = new URLSearchParams(body), end() {} });
const Payu = require('payu-websdk');
const payu = new Payu({ key: 'key', salt: 'salt' });
const order = { txnid: 'order-1', amount: '999.00', productinfo: 'Pro', firstname: 'Asha', email: 'asha@example.com' };
function invoiceOf(changed) {
  void payu.createInvoice({ ...order, phone: '0', ...changed });
  return sent.get('var1');
}
const found = {};
console.log('Pro & team:', found.ampersand = invoiceOf({ productinfo: 'Pro & team' }));
console.log('plus:', found.plus = JSON.parse(invoiceOf({ email: 'asha+shop@example.com' })).email);
const hash = payu.hasher.generatePaymentHash({ ...order, additional_charges: 'CC:12' });
const text = 'key|order-1|999.00|Pro|Asha|asha@example.com|||||||||||salt';
found.end = ['', '|CC:12', '|undefined'].find((end) => createHash('sha512').update(text + end).digest('hex') === hash);
console.log('the hash is of:', text + found.end);
const expected = {
  ampersand: '{"txnid":"order-1","amount":"999.00","productinfo":"Pro ',
  plus: 'asha shop@example.com',
  end: '|undefined',
};
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node send.cjs
