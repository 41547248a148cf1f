#!/bin/sh
# recurly 4.81.0 and stripe 23.1.0 keep the place of a list in the list itself, not in the loop that reads it: a second loop over
# the same list finds nothing, without an error. After a loop that ended early, say at the invoice that it looked for, stripe
# goes on behind that one, and recurly even skips the rest of its page, so a total misses invoices. recurly's `count()` then asks
# for the path `null`. Each loop needs a list of its own.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts recurly@4.81.0 stripe@23.1.0 >/dev/null
cat > read.cjs <<'JS'
const { createServer } = require('node:http');
const { Client, HttpAdapter, HttpResponse } = require('recurly');
const Stripe = require('stripe');
for (const name of ['recurly', 'stripe']) console.log(name, require(`./node_modules/${name}/package.json`).version);
const pages = [['a', 'b'], ['c', 'd'], ['e']];
let asked = [];
class Pages extends HttpAdapter {
  async execute(method, url) {
    const { pathname, searchParams } = new URL(url);
    asked.push(`${method} ${url.replace('https://v3.recurly.com', '')}`);
    const page = Number(searchParams.get('page'));
    const body = {
      object: 'list',
      has_more: page < 2,
      next: page < 2 ? `${pathname}?page=${page + 1}` : null,
      data: pages[page].map((id) => ({ id, object: 'invoice' })),
    };
    const headers = { 'content-type': 'application/json', 'recurly-total-records': '5' };
    return new HttpResponse(200, headers, method === 'HEAD' ? '' : JSON.stringify(body));
  }
}
const server = createServer((request, response) => {
  const after = new URL(request.url, 'http://localhost').searchParams.get('starting_after');
  const page = after === null ? 0 : pages.findIndex((ids) => ids.includes(after)) + 1;
  const body = { object: 'list', url: '/v1/invoices', has_more: page < 2, data: pages[page].map((id) => ({ id })) };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}).listen(0, '127.0.0.1');
/** The ids of the list up to the one given, or all. */
async function read(list, last) {
  const ids = [];
  for await (const { id } of list) {
    ids.push(id);
    if (id === last) break;
  }
  return ids.join('');
}
server.once('listening', async () => {
  const recurly = new Client('none', { httpAdapter: new Pages() });
  const stripe = new Stripe('none', { host: '127.0.0.1', port: server.address().port, protocol: 'http' });
  const found = {};
  for (const [title, last] of [['read twice', undefined], ['after a loop that ended early', 'a']]) {
    const invoices = recurly.listInvoices({ params: { limit: 2 } });
    const others = stripe.invoices.list({ limit: 2 });
    found[title] = [
      [await read(invoices.each(), last), await read(invoices.each())],
      [await read(others, last), await read(others)],
    ];
    const [one, other] = found[title].map((loops) => loops.map((ids) => ids || 'nothing').join(', then '));
    console.log(`${title}: recurly ${one}; stripe ${other}`);
    asked = [];
    await invoices.count();
    found[`${title}, counted`] = asked.join();
    console.log('recurly\'s count() asks', asked.join());
  }
  server.close();
  const expected = {
    'read twice': [['abcde', ''], ['abcde', '']],
    'read twice, counted': 'HEAD null?limit=2',
    'after a loop that ended early': [['a', 'cde'], ['a', 'bcde']],
    'after a loop that ended early, counted': 'HEAD null?limit=2',
  };
  process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
});
JS
node read.cjs
