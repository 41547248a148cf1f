import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/render-email.ts';
import { settings, subscriptionEndingRow as row } from './rows.ts';

test('the subscription-ending e-mail says every field, in HTML and in text', async () => {
  const { to, subject, html, text } = await renderEmail(row(), settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Your Pro Yearly plan ends on 20 November 2027');
  for (const value of ['Asha Rao', 'Pro Yearly', '20 November 2027']) expect(html).toContain(`>${value}<`);
  expect(html).toContain('href="https://app.example.com/pricing"');
  expect(text).toBe(`Your access ends soon

Hello Asha Rao,

Your access ends on 20 November 2027. To keep it, renew your plan before then.

Plan: Pro Yearly
Valid until: 20 November 2027

Renew your plan: https://app.example.com/pricing

If you have renewed since, or do not want to go on, there is nothing left to do.
`);
});

test('the date goes by the time zone of the settings', async () => {
  const { html, text } = await renderEmail(row({ ends_at: '2027-12-31T18:30:00.000Z' }), {
    ...settings,
    timeZone: 'Asia/Kolkata',
  });
  expect(html).toContain('>1 January 2028<');
  expect(text).toContain('Valid until: 1 January 2028\n');
});

test.each(['to', 'display_name', 'plan_name', 'ends_at'])('a row without %s is refused', async (field) => {
  await expect(renderEmail(row({ [field]: undefined }), settings)).rejects.toThrow(`"${field}"`);
});
