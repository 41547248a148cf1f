import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { settings, subscriptionRenewedRow as row } from './rows.ts';

test('the subscription-renewed e-mail contains every field, in HTML and in text', async () => {
  const { to, subject, html, text } = await renderEmail(row(), settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Your Pro Yearly plan has been renewed');
  for (
    const value of ['Asha Rao', 'Pro Yearly', '₹1234.56', 'pay_29QQoUBi66xm2f', '20 November 2027', '19 November 2027']
  ) expect(html).toContain(`>${value}<`);
  expect(html).toContain('href="https://app.example.com/dashboard"');
  expect(text).toBe(`Your plan has been renewed

Hello Asha Rao,

Thank you. We have received your payment, and your plan has been renewed.

Plan: Pro Yearly
Amount paid: ₹1234.56
Valid until: 20 November 2027
Next payment: 19 November 2027
Transaction ID: pay_29QQoUBi66xm2f

Open your dashboard: https://app.example.com/dashboard

Keep this e-mail for your records. If you have a question about this payment, quote the transaction ID.
`);
});

test('after the last charge the mail announces no further one', async () => {
  const { html, text } = await renderEmail(row({ next_charge_at: null }), settings);
  expect(text).toContain('Valid until: 20 November 2027\nTransaction ID: ');
  expect(html + text).not.toMatch(/next|19 November/i);
});

test('both dates are in the time zone of the settings', async () => {
  const { text } = await renderEmail(
    row({ valid_until: '2027-12-31T18:30:00.000Z', next_charge_at: '2027-12-30T18:30:00.000Z' }),
    { ...settings, timeZone: 'Asia/Kolkata' },
  );
  expect(text).toContain('Valid until: 1 January 2028\nNext payment: 31 December 2027\n');
});

test.each([
  'to',
  'display_name',
  'plan_name',
  'amount',
  'currency',
  'transaction_id',
  'valid_until',
  'next_charge_at',
])('a row without %s is refused', async (field) => {
  await expect(renderEmail(row({ [field]: undefined }), settings)).rejects.toThrow(`"${field}"`);
});
