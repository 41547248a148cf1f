#!/bin/sh
# @paddle/paddle-node-sdk 3.10.0 sends the keys of `customData` as they are only at the top of a request. In a price or a
# product within a transaction it renames them: `planId` is sent as `plan_id` and `Pro-2026` as `pro_2026`, a key in another
# script becomes empty, and of two keys that become the same one value is lost. Keys like `plan_id` are safe in all places.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @paddle/paddle-node-sdk@3.10.0 >/dev/null
cat > create.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Paddle } from '@paddle/paddle-node-sdk';
console.log('paddle-node-sdk', JSON.parse(readFileSync('node_modules/@paddle/paddle-node-sdk/package.json')).version);
let sent;
const server = createServer(async (request, response) => {
  sent = JSON.parse((await request.toArray()).join(''));
  response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"type":"t","code":"c","detail":"d"}}');
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const paddle = new Paddle('no key', { environment: `http://127.0.0.1:${server.address().port}` });
const customData = { planId: 'a', 'plan-id': 'b', 'Pro-2026': 'c', 'योजना': 'd' };
await paddle.transactions.create({
  customData,
  items: [{
    quantity: 1,
    price: {
      description: 'Pro',
      unitPrice: { amount: '49900', currencyCode: 'INR' },
      customData,
      product: { name: 'Pro', taxCategory: 'standard', customData },
    },
  }],
}).catch(() => {});
server.close();
const { custom_data: top, items: [{ price }] } = sent;
const found = { top, price: price.custom_data, product: price.product.custom_data };
for (const [place, data] of Object.entries(found)) console.log(`${place}:`.padEnd(8), JSON.stringify(data));
const renamed = { plan_id: 'b', pro_2026: 'c', '': 'd' };
const expected = { top: customData, price: renamed, product: renamed };
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node create.mjs
