import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { paymentSuccessRow as row, settings } from './rows.ts';

test('the payment-success e-mail contains every field of the contract, in HTML and in text', async () => {
  const { to, subject, html, text } = await renderEmail(row(), settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Payment received: your Pro Yearly plan is active');
  for (const value of ['Asha Rao', 'Pro Yearly', '₹1234.56', 'pay_29QQoUBi66xm2f', '20 November 2027']) {
    expect(html).toContain(`>${value}<`);
  }
  expect(html).toContain('href="https://app.example.com/dashboard"');
  expect(text).toBe(`Payment received

Hello Asha Rao,

Thank you. We have received your payment, and your plan is active.

Plan: Pro Yearly
Amount paid: ₹1234.56
Valid until: 20 November 2027
Transaction ID: pay_29QQoUBi66xm2f

Open your dashboard: https://app.example.com/dashboard

Keep this e-mail for your records. If you have a question about this payment, quote the transaction ID.
`);
});

test('the date is in the time zone of the settings', async () => {
  const { html, text } = await renderEmail(row({ valid_until: '2027-12-31T18:30:00.000Z' }), {
    ...settings,
    timeZone: 'Asia/Kolkata',
  });
  expect(html).toContain('>1 January 2028<');
  expect(text).toContain('Valid until: 1 January 2028\n');
});

test('with a next charge the mail has one more row and is otherwise the same', async () => {
  const without = await renderEmail(row(), settings);
  const { html, text, ...rest } = await renderEmail(row({ next_charge_at: '2027-11-18T20:00:00.000Z' }), {
    ...settings,
    timeZone: 'Asia/Kolkata',
  });
  expect(text).toContain('Valid until: 20 November 2027\nNext payment: 19 November 2027\nTransaction ID: ');
  expect(html.match(/<tr><th[^>]*>Next payment<\/th><td[^>]*><bdi>19 November 2027<\/bdi><\/td><\/tr>/)).not.toBeNull();
  expect({
    ...rest,
    html: html.replace(/<tr><th[^>]*>Next payment<.*?<\/tr>/, ''),
    text: text.replace('Next payment: 19 November 2027\n', ''),
  }).toEqual(without);
});

test('without a next charge the mail does not mention one', async () => {
  for (const next_charge_at of [undefined, null]) {
    const mail = await renderEmail(row({ next_charge_at }), settings);
    expect(mail).toEqual(await renderEmail(row(), settings));
    expect(JSON.stringify(mail)).not.toContain('Next payment');
  }
});

test('a next charge that is no time is refused', async () => {
  await expect(renderEmail(row({ next_charge_at: 'soon' }), settings)).rejects.toThrow('"next_charge_at"');
});

test('a plan name with line breaks leaves the subject on one line', async () => {
  const { subject } = await renderEmail(row({ plan_name: 'Pro\r\nBcc: eve@example.com' }), settings);
  expect(subject).toBe('Payment received: your Pro Bcc: eve@example.com plan is active');
});

test.each([
  'to',
  'display_name',
  'plan_name',
  'amount',
  'currency',
  'transaction_id',
  'valid_until',
])('a row without %s is refused', async (field) => {
  await expect(renderEmail(row({ [field]: undefined }), settings)).rejects.toThrow(`"${field}"`);
});
