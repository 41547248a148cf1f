#!/bin/sh
# razorpay 2.9.8 leaves `from` and `to` out of the lists of disputes and customers, though they are in its types: the answer
# is the newest disputes of all times. A date such as `2026-04-01`, as in its README, becomes Unix seconds for payments,
# orders, refunds, invoices and subscriptions, but is sent as it is for settlements, QR codes and refunds of a payment.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts razorpay@2.9.8 >/dev/null
cat > list.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import Razorpay from 'razorpay';
console.log('razorpay', JSON.parse(readFileSync('node_modules/razorpay/package.json')).version);
let asked;
const server = createServer((request, response) => {
  asked = new URL(request.url, 'http://localhost').searchParams.get('from');
  response.setHeader('content-type', 'application/json').end('{"entity":"collection","count":0,"items":[]}');
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const client = new Razorpay({ key_id: 'id', key_secret: 'secret' });
client.api.rq.defaults.baseURL = `http://127.0.0.1:${server.address().port}`;

const lists = {
  payments: (from) => client.payments.all({ from }),
  orders: (from) => client.orders.all({ from }),
  refunds: (from) => client.refunds.all({ from }),
  invoices: (from) => client.invoices.all({ from }),
  subscriptions: (from) => client.subscriptions.all({ from }),
  settlements: (from) => client.settlements.all({ from }),
  'QR codes': (from) => client.qrCode.all({ from }),
  'refunds of a payment': (from) => client.payments.fetchMultipleRefund('pay_1', { from }),
  disputes: (from) => client.disputes.all({ from }),
  customers: (from) => client.customers.all({ from }),
};
const found = {};
for (const [name, list] of Object.entries(lists)) {
  found[name] = [];
  for (const from of ['2026-04-01', 1775001600]) {
    await list(from);
    found[name].push(asked);
  }
  console.log(`${name}:`.padEnd(22), `a text is sent as ${found[name][0]}, seconds as ${found[name][1]}`);
}
server.close();
const seconds = '1775001600';
const expected = Object.fromEntries(Object.keys(lists).map((name, at) => [
  name,
  at < 5 ? [seconds, seconds] : at < 8 ? ['2026-04-01', seconds] : [null, null],
]));
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node list.mjs
