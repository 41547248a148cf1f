import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { paymentPendingRow as row, settings } from './rows.ts';

const manage_url = 'https://gateway.example.com/s/29QQoUBi66xm2f';

test('the payment-pending e-mail contains every field, in HTML and in text', async () => {
  const { to, subject, html, text } = await renderEmail(row({ manage_url }), settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Your Pro Yearly plan could not be renewed yet');
  for (const value of ['Asha Rao', 'Pro Yearly', 'Access until 20 November 2027']) {
    expect(html).toContain(`>${value}<`);
  }
  expect(html).toContain(`href="${manage_url}"`);
  expect(text).toBe(`Your plan could not be renewed yet

Hello Asha Rao,

The payment for the next period of your Pro Yearly plan did not go through. It will be tried again automatically over the next few days. Please check that your payment method works. If no payment succeeds, your access ends on 20 November 2027.

Plan: Pro Yearly
Without a payment: Access until 20 November 2027

Manage your payment: ${manage_url}

If you have paid since, there is nothing left to do.
`);
});

test('no variant of the mail invites to buy a plan while the gateway may still charge', async () => {
  for (const fields of [{}, { manage_url }, { access_ends_at: null }]) {
    const { html, text } = await renderEmail(row(fields), settings);
    expect(html + text).not.toMatch(/buy|choose|purchase|again at any time/i);
  }
});
