import { expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { paymentFailedRow as row, settings } from './rows.ts';

test('the payment-failed e-mail contains every field of the contract, in HTML and in text', async () => {
  const { to, subject, html, text } = await renderEmail(row(), settings);
  expect(to).toBe('asha@example.com');
  expect(subject).toBe('Your payment for the Premium plan failed');
  for (const value of ['Asha Rao', 'Premium', '₹999.00', 'Card declined by the bank.']) {
    expect(html).toContain(`>${value}<`);
  }
  expect(html).toContain('href="https://app.example.com/pricing"');
  expect(text).toBe(`Payment failed

Hello Asha Rao,

Your payment did not go through. This attempt has not changed your subscription, and you can try again.

Plan: Premium
Amount: ₹999.00
Reason: Card declined by the bank.

Try again: https://app.example.com/pricing

If you have paid since with another attempt, there is nothing left to do.
`);
});

test.each([[undefined], [null], [''], [' ']])('with the reason %j the mail has no reason', async (reason) => {
  const { html, text } = await renderEmail(row({ reason }), settings);
  expect(html).not.toContain('Reason');
  expect(text).toContain('Amount: ₹999.00\n\nTry again');
});

test('a tier without a known name is shown unchanged, an absent one as Basic', async () => {
  expect((await renderEmail(row({ tier: 'team' }), settings)).text).toContain('Plan: team\n');
  expect((await renderEmail(row({ tier: undefined }), settings)).text).toContain('Plan: Basic\n');
});

test.each(['to', 'display_name', 'amount', 'currency'])('a row without %s is refused', async (field) => {
  await expect(renderEmail(row({ [field]: undefined }), settings)).rejects.toThrow(`"${field}"`);
});
