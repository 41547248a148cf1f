import { describe, expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { paymentPendingRow, settings, subscriptionHaltedRow } from './rows.ts';

describe.each([
  { name: 'payment-pending', row: paymentPendingRow, retried: 'It will be tried again automatically' },
  { name: 'subscription-halted', row: subscriptionHaltedRow, retried: 'It will not be tried again automatically' },
])('$name', ({ row, retried }) => {
  test('preview and body say whether the payment is tried again', async () => {
    const { html, text } = await renderEmail(row(), settings);
    expect(html.split(retried)).toHaveLength(3);
    expect(text).toContain(retried);
  });

  test('where the customer has other access the mail contains no date and no end of access', async () => {
    for (const manage_url of [null, 'https://gateway.example.com/s/1']) {
      const { subject, html, text } = await renderEmail(row({ access_ends_at: null, manage_url }), settings);
      // The style sheet and the addresses are not read by the customer.
      const words = subject + html.replace(/<style>.*?<\/style>|<[^>]*>/gs, ' ') + text;
      expect(words).not.toMatch(/\b20\d\d\b|January|November|access (ends|lasts|until)|your access|without a payment/i);
      expect(text).toContain('You also have other access, which is not affected.');
    }
  });

  test('with an end of access the mail does not mention other access', async () => {
    const { html, text } = await renderEmail(row(), settings);
    expect(html + text).not.toContain('other access');
  });

  test('the date is in the time zone of the settings', async () => {
    const { html, text } = await renderEmail(row({ access_ends_at: '2027-12-31T18:30:00.000Z' }), {
      ...settings,
      timeZone: 'Asia/Kolkata',
    });
    expect(html).toContain('>Access until 1 January 2028<');
    expect(text).toContain('Without a payment: Access until 1 January 2028\n');
    expect(html + text).not.toContain('December');
  });

  test.each([
    'https://gateway.example.com/s/1?a=1&b=2',
    'https://127.0.0.1/s/1',
    'http://127.0.0.1:54325/s/1',
    'http://localhost:54325/s/1',
    'http://[::1]:54325/s/1',
  ])('its only link leads to the page %s', async (manage_url) => {
    const { html, text } = await renderEmail(row({ manage_url }), settings);
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&'));
    expect(links).toEqual([manage_url]);
    expect(text).toContain(`Manage your payment: ${manage_url}\n`);
    expect(html + text).not.toContain('/pricing');
  });

  test.each([
    '',
    '/s/1',
    'gateway.example.com/s/1',
    'http://gateway.example.com/s/1',
    'http://127.0.0.1.example.com/s/1',
    'http://localhost.example.com/s/1',
    'http://notlocalhost/s/1',
    'http://127.0.0.1@example.com/s/1',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://127.0.0.1/s/1',
    5,
  ])('the page %j is refused', async (manage_url) => {
    await expect(renderEmail(row({ manage_url }), settings)).rejects.toThrow('"manage_url"');
  });

  test('line breaks in the address of the page do not reach the text', async () => {
    const { text } = await renderEmail(row({ manage_url: 'https://gateway.example.com/s/1\n\nPaid' }), settings);
    expect(text).toContain('Manage your payment: https://gateway.example.com/s/1Paid\n');
  });

  test.each(['to', 'display_name', 'plan_name', 'access_ends_at', 'manage_url'])(
    'a row without %s is refused',
    async (field) => {
      await expect(renderEmail(row({ [field]: undefined }), settings)).rejects.toThrow(`"${field}"`);
    },
  );
});
