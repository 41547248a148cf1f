import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { settings, subscriptionEndingRow as row } from './rows.ts';

const replace = row({ early_renewal: 'replace' });
const extend = row({ early_renewal: 'extend' });

test.each([replace, extend])('the subscription-ending e-mail of %j contains every field', async (given) => {
  const { to, subject, html } = await renderEmail(given, settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Your Pro Yearly plan ends on 20 November 2027');
  for (const value of ['Asha Rao', 'Pro Yearly', '20 November 2027']) expect(html).toContain(`>${value}<`);
  expect(html).toContain('href="https://app.example.com/pricing"');
});

test('with early_renewal replace the mail invites to buy again at the end', async () => {
  const { html, text } = await renderEmail(replace, settings);
  expect(text).toBe(`Your access ends soon

Hello Asha Rao,

Your plan is valid until 20 November 2027. After that your access ends. You can buy the plan again on that day or later. A purchase before then starts a new period at once, and the days that are left are not added to it.

Plan: Pro Yearly
Valid until: 20 November 2027

See the plans: https://app.example.com/pricing

If you have bought a plan since, or do not want to go on, there is nothing left to do.
`);
  expect(html).toContain('You can buy it again on that day or later.');
  expect(html + text).not.toMatch(/renew|to keep|lose/i);
});

test('with early_renewal extend the mail invites to renew before the end', async () => {
  const { html, text } = await renderEmail(extend, settings);
  expect(text).toBe(`Your access ends soon

Hello Asha Rao,

Your plan is valid until 20 November 2027. After that your access ends. To keep your access, renew your plan before then: the new period is added to this one, and you lose no day.

Plan: Pro Yearly
Valid until: 20 November 2027

Renew your plan: https://app.example.com/pricing

If you have bought a plan since, or do not want to go on, there is nothing left to do.
`);
  expect(html).toContain('If you renew it before then, you lose no day.');
  expect(html + text).not.toMatch(/at once|or later/);
});

test('a row without early_renewal is the mail of replace', async () => {
  expect(await renderEmail(row(), settings)).toEqual(await renderEmail(replace, settings));
});

test('the date is in the time zone of the settings', async () => {
  const { html, text } = await renderEmail(row({ ends_at: '2027-12-31T18:30:00.000Z' }), {
    ...settings,
    timeZone: 'Asia/Kolkata',
  });
  expect(html).toContain('>1 January 2028<');
  expect(text).toContain('Valid until: 1 January 2028\n');
});

test('a row with an unknown early_renewal is refused', async () => {
  await expect(renderEmail(row({ early_renewal: 'sometimes' }), settings)).rejects.toThrow('early_renewal');
});

test.each(['to', 'display_name', 'plan_name', 'ends_at'])('a row without %s is refused', async (field) => {
  await expect(renderEmail(row({ [field]: undefined }), settings)).rejects.toThrow(`"${field}"`);
});
