import { expect, onTestFinished, test } from 'vitest';
import { createMailbox } from '../../scripts/stack/mailbox/mailbox.ts';
import { createShop } from '../../scripts/stack/shop/shop.ts';

test('the pages of the shop have no inline script, and reach only the stack', async () => {
  const { revalidate } = createMailbox({ port: 0, revalidateSecret: 'revalidate-me' });
  const [apiUrl, gatewayUrl, mailboxUrl] = ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3'];
  const shop = createShop({
    port: 0,
    apiUrl,
    publishableKey: 'sb_publishable_1',
    gatewayUrl,
    mailboxUrl,
    functionName: 'api',
    revalidate,
  });
  await shop.start();
  onTestFinished(() => shop.stop());
  for (const path of ['/', '/subscription?to=pro']) {
    const page = await fetch(shop.url + path);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self' http://127.0.0.1:2; style-src 'self'; " +
        "connect-src 'self' http://127.0.0.1:1; frame-src http://127.0.0.1:2; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const scripts = [...(await page.text()).matchAll(/<script[^>]*>(?:<\/script>)?/g)].map(([tag]) => tag);
    expect(scripts).toEqual(['<script src="/page.js" type="module"></script>']);
  }
});
