#!/bin/sh
# dodopayments 2.52.0 sends a charge or a refund again by itself, up to three times in all, if its answer is lost (or is 408,
# 409, 429 or 500), and never with an idempotency key: the typed option `idempotencyKey` is dropped. So the gateway cannot
# know a charge that it has made already. Stripe's client repeats too, but with one key. `maxRetries: 0` ends it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts dodopayments@2.52.0 stripe@23.1.0 >/dev/null
cat > charge.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import DodoPayments from 'dodopayments';
import Stripe from 'stripe';
for (const name of ['dodopayments', 'stripe']) {
  console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
}
let requests;
// Takes each charge and loses the connection before its answer.
const server = createServer((request) => {
  requests.push(`${request.method} ${request.headers['idempotency-key'] ?? 'without a key'}`);
  request.resume().on('end', () => request.socket.destroy());
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address();
const baseURL = `http://127.0.0.1:${port}`;
const dodo = new DodoPayments({ bearerToken: 'none', baseURL });
const once = new DodoPayments({ bearerToken: 'none', baseURL, maxRetries: 0 });
const stripe = new Stripe('none', { host: '127.0.0.1', port, protocol: 'http' });
const idempotencyKey = 'invoice-1';

const acts = {
  'dodopayments, a charge': () => dodo.subscriptions.charge('sub_1', { product_price: 49900 }, { idempotencyKey }),
  'dodopayments, a refund': () => dodo.refunds.create({ payment_id: 'pay_1' }, { idempotencyKey }),
  'dodopayments, maxRetries 0': () => once.refunds.create({ payment_id: 'pay_1' }),
  'stripe, a refund': () => stripe.refunds.create({ charge: 'ch_1' }, { idempotencyKey }),
};
const found = [];
for (const [name, act] of Object.entries(acts)) {
  requests = [];
  await act().then(() => process.exit(1), () => {});
  found.push(requests);
  console.log(`${name}:`.padEnd(28), requests.join(', '));
}
server.close();
const bare = Array(3).fill('POST without a key');
const expected = [bare, bare, bare.slice(0, 1), Array(3).fill('POST invoice-1')];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node charge.mjs
