import { afterAll, beforeEach, expect, test } from 'vitest';
import { createRestTransport } from '../../supabase/functions/api/database/rest-transport.ts';
import { createMailer } from '../../supabase/functions/api/outbox/mailer.ts';
import { createAuthServer } from '../../supabase/functions/api/sessions/auth-server.ts';
import { paymentSuccessRow } from '../emails/rows.ts';
import { startReceiver } from '../helpers/outbox/receiver.ts';

const receiver = startReceiver();
const elsewhere = startReceiver();
receiver.answer = () => Response.redirect(`${elsewhere.url}/elsewhere`, 307);
afterAll(() => Promise.all([receiver.stop(), elsewhere.stop()]));
beforeEach(() => {
  receiver.arrivals.length = 0;
  elsewhere.arrivals.length = 0;
});

const mailer = createMailer({
  ...{ apiKey: 're_test', from: 'a@acme.example', baseUrl: receiver.url, appUrl: 'https://app.example' },
  pages: { dashboard: '/dashboard', pricing: '/pricing' },
  ...{ timeZone: 'UTC', expiryEmails: true, renewalEmails: true, receiptEmails: true, look: {} },
});
const auth = createAuthServer({ supabaseUrl: receiver.url, publishableKey: 'sb_publishable_1' });

// The gateway: unit/gateway. Cached pages: unit/revalidate.
test.each<[string, () => Promise<unknown> | undefined]>([
  ['a mail', () => mailer([{ id: 1, key: 'payment-success/1', ...paymentSuccessRow() }])[0]?.deliver()],
  [
    'a call of the database',
    () => createRestTransport(receiver.url, 'sb_secret_1')('get_subscription', { p_user_id: 'user' }),
  ],
  ['a session', () => auth.knows('token')],
  ['a read of the keys', () => auth.fetchKeys()],
])('%s does not follow a redirect with its secrets', async (_, call) => {
  await Promise.resolve(call()).catch(() => {});
  expect([receiver, elsewhere].map(({ arrivals }) => arrivals.length)).toEqual([1, 0]);
});
