import { describe, expect, test } from 'vitest';
import { outboxMail } from '../../supabase/functions/api/outbox/email-payloads.ts';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import {
  everyRow,
  paymentFailedRow,
  paymentPendingRow,
  paymentSuccessRow,
  settings,
  subscriptionCompletedRow,
  subscriptionEndedRow,
  subscriptionEndingRow,
  subscriptionHaltedRow,
  subscriptionRenewedRow,
} from './rows.ts';

const mailsWithAmount = [
  { name: 'payment-success', row: paymentSuccessRow, page: 'dashboard' },
  { name: 'payment-failed', row: paymentFailedRow, page: 'pricing' },
  { name: 'subscription-renewed', row: subscriptionRenewedRow, page: 'dashboard' },
];
const mails = [
  ...mailsWithAmount,
  { name: 'payment-pending', row: paymentPendingRow, page: 'pricing' },
  { name: 'subscription-halted', row: subscriptionHaltedRow, page: 'pricing' },
  { name: 'subscription-completed', row: subscriptionCompletedRow, page: 'pricing' },
  { name: 'subscription-ending', row: subscriptionEndingRow, page: 'pricing' },
  { name: 'subscription-ended', row: subscriptionEndedRow, page: 'pricing' },
];

test('every kind of mail is tested here', () => {
  const kinds = outboxMail.options.map(({ shape }) => shape.kind.value).toSorted();
  expect(mails.map(({ name }) => name).toSorted()).toEqual(kinds);
  expect(everyRow().map(({ kind }) => kind).toSorted()).toEqual(kinds);
});

describe.each(mails)('$name', ({ row, page }) => {
  test('user text is escaped in HTML and unchanged in text', async () => {
    const name = `<script>alert('1')</script>"&<b>`;
    const { html, text } = await renderEmail(row({ display_name: name }), settings);
    expect(html).toContain('&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&quot;&amp;&lt;b&gt;');
    expect(html).not.toMatch(/<script|<b>/);
    expect(text).toContain(`Hello ${name},`);
  });

  test.each(['', ' '])('the display name %j is left out of the greeting', async (name) => {
    const { html, text } = await renderEmail(row({ display_name: name }), settings);
    expect(html).toContain('>Hello,<');
    expect(text).toContain('\n\nHello,\n\n');
  });

  test('a right-to-left name is isolated from the surrounding text', async () => {
    const { html } = await renderEmail(row({ display_name: 'مريم' }), settings);
    expect(html).toContain('Hello <bdi>مريم</bdi>,');
  });

  test.each([
    'https://app.example.com',
    'https://app.example.com/',
    'http://127.0.0.1:3000',
    'https://example.com/shop//',
  ])('its link leads to a page of the app at %s', async (appUrl) => {
    const url = `${appUrl.replace(/\/+$/, '')}/${page}`;
    const { html, text } = await renderEmail(row(), { appUrl });
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([url]);
    expect(text).toContain(`: ${url}\n`);
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'app.example.com', ''])(
    'the app address %j is refused',
    async (appUrl) => {
      await expect(renderEmail(row(), { appUrl })).rejects.toThrow();
    },
  );

  test('it loads nothing from another server', async () => {
    const { html } = await renderEmail(row(), settings);
    expect(html).not.toMatch(/<(img|link|script|iframe)\b|src=|url\(|@import/i);
  });

  test('it has colours for light and dark mode', async () => {
    const { html } = await renderEmail(row(), settings);
    expect(html).toContain('<meta name="color-scheme" content="light dark"/>');
    expect(html).toContain('@media (prefers-color-scheme: dark)');
  });
});

describe.each(mailsWithAmount)('$name', ({ row }) => {
  test('an amount in another currency is written with its code', async () => {
    const { html, text } = await renderEmail(row({ currency: 'USD', amount: 1234 }), settings);
    expect(html).toContain('>USD 12.34<');
    expect(text).toContain(': USD 12.34\n');
  });

  test.each([1.5, '100', 2 ** 53])('the amount %j is refused', async (amount) => {
    await expect(renderEmail(row({ amount }), settings)).rejects.toThrow('"amount"');
  });
});

test('a row of another kind is refused', async () => {
  await expect(renderEmail({ kind: 'revalidation', payload: { paths: [] } }, settings)).rejects.toThrow('"kind"');
});
