#!/bin/sh
# @paddle/paddle-node-sdk 3.10.0 reads only the last `h1` of a `Paddle-Signature` header, which has at least one by Paddle's
# documentation. A receiver whose secret signed the first of two refuses a genuine event, at each delivery. Stripe's client
# finds the same pair of signatures in either order.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @paddle/paddle-node-sdk@3.10.0 stripe@23.1.0 >/dev/null
cat > verify.mjs <<'JS'
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Paddle } from '@paddle/paddle-node-sdk';
import Stripe from 'stripe';
for (const name of ['@paddle/paddle-node-sdk', 'stripe']) {
  console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
}
const { webhooks } = new Paddle('no key');
const stripe = new Stripe('no key');
const body = '{"event_id":"evt_1","event_type":"transaction.completed"}';
const seconds = Math.floor(Date.now() / 1000);
const sign = (text, secret) => createHmac('sha256', secret).update(text).digest('hex');

const found = {};
for (const [title, secrets] of Object.entries({
  'one signature': ['new'],
  'ours first': ['new', 'old'],
  'ours last': ['old', 'new'],
})) {
  const paddle = secrets.map((secret) => `;h1=${sign(`${seconds}:${body}`, secret)}`).join('');
  const other = secrets.map((secret) => `,v1=${sign(`${seconds}.${body}`, secret)}`).join('');
  found[title] = {
    paddle: await webhooks.isSignatureValid(body, 'new', `ts=${seconds}${paddle}`),
    stripe: stripe.webhooks.signature.verifyHeader(body, `t=${seconds}${other}`, 'new'),
  };
  console.log(`${title}:`, JSON.stringify(found[title]));
}
const both = { paddle: true, stripe: true };
const expected = { 'one signature': both, 'ours first': { paddle: false, stripe: true }, 'ours last': both };
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node verify.mjs
