import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { settings, subscriptionEndedRow as row } from './rows.ts';

test('the subscription-ended e-mail contains every field, in HTML and in text', async () => {
  const { to, subject, html, text } = await renderEmail(row(), settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Your Pro Yearly plan has ended');
  for (const value of ['Asha Rao', 'Pro Yearly', '20 November 2027']) expect(html).toContain(`>${value}<`);
  expect(html).toContain('href="https://app.example.com/pricing"');
  expect(text).toBe(`Your access has ended

Hello Asha Rao,

Your access to the Pro Yearly plan ended on 20 November 2027. You can come back at any time.

Plan: Pro Yearly
Ended on: 20 November 2027

See the plans: https://app.example.com/pricing

If you have bought a plan since, there is nothing left to do.
`);
});

test('the mail does not depend on the setting of early renewals and does not mention a paid period', async () => {
  for (const early_renewal of ['replace', 'extend']) {
    const mail = await renderEmail(row({ early_renewal }), settings);
    expect(mail).toEqual(await renderEmail(row(), settings));
    expect(JSON.stringify(mail)).not.toMatch(/valid|paid|period|renew/i);
  }
});

test('the date is in the time zone of the settings', async () => {
  const { html, text } = await renderEmail(row({ ends_at: '2027-12-31T18:30:00.000Z' }), {
    ...settings,
    timeZone: 'Asia/Kolkata',
  });
  expect(html).toContain('>1 January 2028<');
  expect(text).toContain('Ended on: 1 January 2028\n');
});

test.each(['to', 'display_name', 'plan_name', 'ends_at'])('a row without %s is refused', async (field) => {
  await expect(renderEmail(row({ [field]: undefined }), settings)).rejects.toThrow(`"${field}"`);
});
