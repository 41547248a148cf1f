import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMailbox } from '../../scripts/stack/mailbox/mailbox.ts';
import { createShop } from '../../scripts/stack/shop/shop.ts';

const mailbox = createMailbox({ port: 0, revalidateSecret: 'revalidate-me' });
const shop = createShop({
  port: 0,
  apiUrl: 'http://127.0.0.1:1',
  publishableKey: 'sb_publishable_of_the_test',
  gatewayUrl: 'http://127.0.0.1:2',
  mailboxUrl: 'http://127.0.0.1:3',
  revalidate: mailbox.revalidate,
});

beforeAll(async () => {
  await mailbox.start();
  await shop.start();
});
afterAll(async () => {
  await mailbox.stop();
  await shop.stop();
});

test.each(['/', '/subscription?to=pro'])(
  'the page %s has no inline script',
  async (path) => {
    const page = await fetch(shop.url + path);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self' http://127.0.0.1:2; style-src 'self'; " +
        "connect-src 'self' http://127.0.0.1:1; frame-src http://127.0.0.1:2; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const scripts = [...(await page.text()).matchAll(/<script[^>]*>(?:<\/script>)?/g)].map(([tag]) => tag);
    expect(scripts).toEqual(['<script src="/page.js" type="module"></script>']);
  },
);

test('a revalidation is one of the mailbox: its secret, its list, its faults', async () => {
  const revalidate = async (secret: string) => {
    const [headers, body] = [{ 'x-revalidate-secret': secret }, JSON.stringify({ paths: ['/pricing'] })];
    return (await fetch(`${shop.url}/api/revalidate`, { method: 'POST', headers, body })).status;
  };
  const fault = JSON.stringify({ mode: 'status', status: 503, target: 'revalidate', times: 1 });
  await fetch(`${mailbox.url}/simulate/fault`, { method: 'POST', body: fault });
  expect([await revalidate('revalidate-me'), await revalidate('another')]).toEqual([503, 401]);
  expect(await revalidate('revalidate-me')).toBe(200);
  for (const { url } of [shop, mailbox]) {
    expect((await (await fetch(`${url}/api/revalidate`)).json()).data).toMatchObject([{ paths: ['/pricing'] }]);
  }
});
