#!/bin/sh
# stripe 23.1.0 looks for `error` in the body of an answer and not at its status: a 403, 429 or 502 whose body is other JSON,
# as a proxy between writes it, resolves like a success, after the same retries, with an object that has no `id`. HTML is an
# error. Whoever creates a refund or a subscription must look for its `id`, or at `lastResponse.statusCode`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts stripe@23.1.0 >/dev/null
cat > refund.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import Stripe from 'stripe';
console.log('stripe', JSON.parse(readFileSync('node_modules/stripe/package.json')).version);
let answer;
let requests;
const server = createServer((request, response) => {
  requests++;
  request.resume().on('end', () => response.writeHead(answer[0]).end(answer[1]));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const stripe = new Stripe('none', { host: '127.0.0.1', port: server.address().port, protocol: 'http' });

const expected = [
  [403, '{"message":"Forbidden"}', 'resolved with the id undefined and status 403 after 1'],
  [429, '{"message":"Too many requests"}', 'resolved with the id undefined and status 429 after 1'],
  [502, '{"message":"Bad gateway"}', 'resolved with the id undefined and status 502 after 3'],
  [502, '<html>Bad gateway</html>', 'rejected with StripeAPIError after 3'],
  [502, '{"error":{"message":"Bad gateway"}}', 'rejected with StripeAPIError after 3'],
];
let same = true;
for (const [status, body, outcome] of expected) {
  answer = [status, body];
  requests = 0;
  const seen = await stripe.refunds.create({ charge: 'ch_1' }).then(
    ({ id, lastResponse }) => `resolved with the id ${id} and status ${lastResponse.statusCode} after ${requests}`,
    (error) => `rejected with ${error.type} after ${requests}`,
  );
  console.log(status, body, seen);
  same &&= seen === outcome;
}
server.close();
process.exit(same ? 0 : 1);
JS
node refund.mjs
