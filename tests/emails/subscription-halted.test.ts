import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { settings, subscriptionHaltedRow as row } from './rows.ts';

const manage_url = 'https://gateway.example.com/s/29QQoUBi66xm2f';

test('the subscription-halted e-mail contains every field, in HTML and in text', async () => {
  const { to, subject, html, text } = await renderEmail(row({ manage_url }), settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Your Pro Yearly plan could not be renewed');
  for (const value of ['Asha Rao', 'Pro Yearly', 'Access until 20 November 2027']) {
    expect(html).toContain(`>${value}<`);
  }
  expect(html).toContain(`href="${manage_url}"`);
  expect(text).toBe(`Your plan could not be renewed

Hello Asha Rao,

The payment for the next period of your Pro Yearly plan did not go through, and all further attempts failed. It will not be tried again automatically. Without a payment, your access lasts until 20 November 2027. To continue, pay or change your payment method.

Plan: Pro Yearly
Without a payment: Access until 20 November 2027

Manage your payment: ${manage_url}

If you have paid since, or do not want to go on, there is nothing left to do.
`);
});

test('without a page of the gateway the mail leads to the plans and mentions no payment method', async () => {
  const { html, text } = await renderEmail(row(), settings);
  expect(text).toContain('your access lasts until 20 November 2027. To continue, choose a plan again.\n');
  expect(text).toContain('\nSee the plans: https://app.example.com/pricing\n');
  expect(html + text).not.toContain('payment method');
});

test('the mail says neither that access has ended nor that the end is to come', async () => {
  for (const fields of [{}, { manage_url }, { access_ends_at: null }]) {
    const { html, text } = await renderEmail(row(fields), settings);
    expect(html + text).not.toMatch(/\bended|will end|ends (on|soon)|still/i);
  }
});
