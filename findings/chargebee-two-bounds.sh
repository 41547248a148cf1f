#!/bin/sh
# chargebee 3.33.0 writes two operators on one field of a list, which its types allow, as `date[after]` and
# `date[after][before]`: the second bound has a name that is no filter, so a month of invoices is asked for without its end.
# The order of the keys decides which bound is lost. `between` is sent right. A field set to null is not sent at all, so an
# update does not empty it; an empty text is sent.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts chargebee@3.33.0 >/dev/null
cat > ask.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import Chargebee from 'chargebee';
console.log('chargebee', JSON.parse(readFileSync('node_modules/chargebee/package.json')).version);
let sent;
const server = createServer(async (request, response) => {
  const body = (await request.toArray()).join('');
  sent = decodeURIComponent(request.method === 'GET' ? request.url.split('?')[1] : body);
  response.setHeader('content-type', 'application/json').end('{"list":[],"customer":{"id":"c"}}');
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address();
const client = new Chargebee({ site: '127.0.0.1', hostSuffix: '', protocol: 'http', port, apiKey: 'none' });

const [april, may] = [1774981800, 1777573800];
const acts = [
  [() => client.invoice.list({ date: { after: april, before: may } }), 'date[after]=1774981800&date[after][before]=1777573800'],
  [() => client.invoice.list({ date: { before: may, after: april } }), 'date[before]=1777573800&date[before][after]=1774981800'],
  [() => client.invoice.list({ total: { gte: 100, lte: 200 } }), 'total[gte]=100&total[gte][lte]=200'],
  [() => client.invoice.list({ date: { between: [april, may] } }), 'date[between]=[1774981800,1777573800]'],
  [() => client.customer.update('c', { company: null, phone: '' }), 'phone='],
];
let same = true;
for (const [act, expected] of acts) {
  await act();
  console.log(sent);
  same &&= sent === expected;
}
server.close();
process.exit(same ? 0 : 1);
JS
node ask.mjs
