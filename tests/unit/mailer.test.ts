import { afterAll, beforeEach, expect, test } from 'vitest';
import { createMailer } from '../../supabase/functions/api/outbox/mailer.ts';
import {
  everyRow,
  paymentFailedRow,
  paymentPendingRow,
  paymentSuccessRow,
  receiptIssuedRow,
  subscriptionEndedRow,
} from '../emails/rows.ts';
import { accept, providerError, startReceiver } from '../helpers/outbox/receiver.ts';

const provider = startReceiver();
afterAll(() => provider.stop());
beforeEach(() => {
  provider.answer = accept;
  provider.arrivals.length = 0;
});

const config = {
  apiKey: 're_test',
  from: 'Acme <billing@acme.example>',
  baseUrl: provider.url,
  appUrl: 'https://app.example.com',
  pages: { dashboard: '/dashboard', pricing: '/pricing' },
  timeZone: 'UTC',
  expiryEmails: true,
  renewalEmails: true,
  receiptEmails: true,
  look: {},
} as const;
const rows = [
  { id: 1, key: 'payment-success/1', ...paymentSuccessRow() },
  { id: 2, key: 'payment-failed/2', ...paymentFailedRow() },
];

test('each row is one attempt, sent with its idempotency key and both parts, each time the same body', async () => {
  const attempts = createMailer(config)(rows);
  expect(attempts.map((attempt) => attempt.rows.map(({ id }) => id))).toEqual([[1], [2]]);
  for (const attempt of [...attempts, ...attempts]) expect(await attempt.deliver()).toEqual({ status: 'delivered' });
  expect(provider.arrivals.map(({ method, path, headers }) => `${method} ${path} ${headers.get('idempotency-key')}`))
    .toEqual([...rows, ...rows].map(({ key }) => `POST /emails ${key}`));
  for (const { headers, body } of provider.arrivals) {
    expect(headers.get('authorization')).toBe('Bearer re_test');
    expect(body).toEqual({
      from: 'Acme <billing@acme.example>',
      to: 'asha@example.com',
      subject: expect.any(String),
      html: expect.stringContaining('<html'),
      text: expect.stringContaining('Asha Rao'),
    });
  }
  const bodies = provider.arrivals.map(({ body }) => body);
  expect(bodies.slice(2)).toEqual(bodies.slice(0, 2));
});

test.each([
  ['another kind', { kind: 'newsletter' }],
  ['an amount that is not a number', paymentSuccessRow({ amount: 'much' })],
  ['a page of the gateway that is not encrypted', paymentPendingRow({ manage_url: 'http://gateway.example.com/s/1' })],
])('a row of %s → refused, nothing sent', async (_name, fields) => {
  const [attempt] = createMailer(config)([{ id: 1, key: 'payment-success/1', ...paymentSuccessRow(), ...fields }]);
  expect(await attempt?.deliver()).toEqual({ status: 'refused', error: 'not rendered: ZodError' });
  expect(provider.arrivals).toEqual([]);
});

test('an error contains status and name, without the message of the provider and without the key', async () => {
  provider.answer = () => providerError(422, 'validation_error');
  expect(await createMailer(config)(rows)[0]?.deliver()).toEqual({ status: 'refused', error: '422 validation_error' });
  provider.answer = () => providerError(429, 'rate_limit_exceeded', { 'retry-after': '7' });
  expect(await createMailer(config)(rows)[0]?.deliver())
    .toEqual({ status: 'paused', error: '429 rate_limit_exceeded', seconds: 7 });
  // This key is not a valid header.
  const [attempt] = createMailer({ ...config, apiKey: 're_\nx' })(rows);
  expect(await attempt?.deliver()).toEqual({ status: 'failed', error: 'TypeError' });
});

test.each([
  ['EXPIRY_EMAILS', { expiryEmails: false }, ['subscription-ending', 'subscription-ended']],
  ['RENEWAL_EMAILS', { renewalEmails: false }, ['subscription-renewed']],
  ['RECEIPT_EMAILS', { receiptEmails: false }, ['receipt-issued']],
])('with %s=off its mails are not sent and are delivered with a note; others are sent', async (setting, off, kinds) => {
  const all = everyRow().map((row, id) => ({ id, key: `${row.kind}/${id}`, ...row }));
  const attempts = createMailer({ ...config, ...off })(all);
  const note = `not sent: ${setting} is off`;
  expect(await Promise.all(attempts.map((attempt) => attempt.deliver()))).toEqual(
    all.map(({ kind }) => kinds.includes(kind) ? { status: 'delivered', note } : { status: 'delivered' }),
  );
  expect(provider.arrivals.map(({ headers }) => headers.get('idempotency-key')).toSorted())
    .toEqual(all.filter(({ kind }) => !kinds.includes(kind)).map(({ key }) => key).toSorted());
});

test('receipt-issued has the PDF attached under the number of the document, each time the same bytes', async () => {
  const [attempt] = createMailer(config)([{ id: 1, key: 'receipt-issued/1', ...receiptIssuedRow() }]);
  for (const _ of [1, 2]) expect(await attempt?.deliver()).toEqual({ status: 'delivered' });
  const [first, second] = provider.arrivals.map(({ body }) => body);
  expect(first).toMatchObject({ attachments: [{ filename: '2728-000102.pdf', content: expect.any(String) }] });
  expect(atob(Object(first).attachments[0].content)).toMatch(/^%PDF-1\.\d/);
  expect(second).toEqual(first);
});

test('with EXPIRY_EMAILS=off an end with a refund is sent: no other mail names the refund', async () => {
  const row = { id: 1, key: 'subscription-ended/1', ...subscriptionEndedRow({ amount: 99900, currency: 'INR' }) };
  const [attempt] = createMailer({ ...config, expiryEmails: false })([row]);
  expect(await attempt?.deliver()).toEqual({ status: 'delivered' });
  expect(provider.arrivals).toHaveLength(1);
});
