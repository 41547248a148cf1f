import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { settings, subscriptionCompletedRow as row } from './rows.ts';

test('the subscription-completed e-mail contains every field, in HTML and in text', async () => {
  const { to, subject, html, text } = await renderEmail(row(), settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Your Pro Yearly subscription is complete');
  for (const value of ['Asha Rao', 'Pro Yearly', '20 November 2027']) expect(html).toContain(`>${value}<`);
  expect(html).toContain('href="https://app.example.com/pricing"');
  expect(text).toBe(`Your subscription is complete

Hello Asha Rao,

The last payment of your Pro Yearly subscription was made. Nothing more will be charged for it. The plan is paid until 20 November 2027. After that, your access ends. You can choose a plan again on that day or later.

Plan: Pro Yearly
Paid until: 20 November 2027

See the plans: https://app.example.com/pricing

If you have bought a plan since, or do not want to go on, there is nothing left to do.
`);
});

test('access that lasts longer than the paid period is named with its own date', async () => {
  const { text } = await renderEmail(row({ access_ends_at: '2027-11-23T11:45:40.559Z' }), settings);
  expect(text).toContain('The plan is paid until 20 November 2027. Your access ends on 23 November 2027. ');
  expect(text).toContain('Paid until: 20 November 2027\n');
});

test('where other access continues the mail does not say that access ends', async () => {
  const { html, text } = await renderEmail(row({ access_ends_at: null }), settings);
  expect(text).toContain('The plan is paid until 20 November 2027. After that, your other access continues. ');
  expect(html + text).not.toMatch(/access ends|your access/i);
});

test('both dates are in the time zone of the settings', async () => {
  const { html, text } = await renderEmail(
    row({ ends_at: '2027-12-31T18:30:00.000Z', access_ends_at: '2028-01-03T18:30:00.000Z' }),
    { ...settings, timeZone: 'Asia/Kolkata' },
  );
  expect(html).toContain('>1 January 2028<');
  expect(text).toContain('Paid until: 1 January 2028\n');
  expect(text).toContain('Your access ends on 4 January 2028.');
});

test.each(['to', 'display_name', 'plan_name', 'ends_at', 'access_ends_at'])(
  'a row without %s is refused',
  async (field) => {
    await expect(renderEmail(row({ [field]: undefined }), settings)).rejects.toThrow(`"${field}"`);
  },
);
