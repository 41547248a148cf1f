import { describe, expect, test } from 'vitest';
import { outboxMail } from '../../supabase/functions/api/outbox/email-payloads.ts';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import {
  paymentFailedRow,
  paymentPendingRow,
  paymentSuccessRow,
  rows,
  settings,
  subscriptionCompletedRow,
  subscriptionEndedRow,
  subscriptionEndingRow,
  subscriptionHaltedRow,
  subscriptionRenewedRow,
} from './rows.ts';

type Row = typeof rows[number];

const render = (row: ReturnType<Row>, timeZone?: string) => renderEmail(row, { ...settings, timeZone });

/** What the customer reads of the HTML, without the preview. */
const words = (html: string) =>
  html.replace(/^.*<h1/s, '<h1').replaceAll(/<!--.*?-->|<[^>]*>/gs, '').replaceAll('&#x27;', "'").replaceAll(
    '&amp;',
    '&',
  );
const links = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&'));

const pricing = 'https://app.example.com/pricing';
const dashboard = 'https://app.example.com/dashboard';
const manage = 'https://gateway.example.com/s/29QQoUBi66xm2f';
const receiptNote =
  'Keep this e-mail for your records. If you have a question about this payment, quote the transaction ID.';
const goOnNote = 'If you have bought a plan since, or do not want to go on, there is nothing left to do.';

test.each<[subject: string, Row, heading: string, body: string, details: string[], link: [string, string], string]>([
  [
    'Payment received: your Pro Yearly plan is active',
    paymentSuccessRow,
    'Payment received',
    'Thank you. We have received your payment, and your plan is active.',
    [
      'Plan: Pro Yearly',
      'Amount paid: ₹1234.56',
      'Valid until: 20 November 2027',
      'Transaction ID: pay_29QQoUBi66xm2f',
    ],
    ['Open your dashboard', dashboard],
    receiptNote,
  ],
  [
    'Your payment for the Premium plan failed',
    paymentFailedRow,
    'Payment failed',
    'Your payment did not go through. This attempt has not changed your subscription, and you can try again.',
    ['Plan: Premium', 'Amount: ₹999.00', 'Reason: Card declined by the bank.'],
    ['Try again', pricing],
    'If you have paid since with another attempt, there is nothing left to do.',
  ],
  [
    'Your Pro Yearly plan could not be renewed yet',
    (fields) => paymentPendingRow({ manage_url: manage, ...fields }),
    'Your plan could not be renewed yet',
    'The payment for the next period of your Pro Yearly plan did not go through. It will be tried again automatically over the next few days. Please check that your payment method works. If no payment succeeds, your access ends on 20 November 2027.',
    ['Plan: Pro Yearly', 'Without a payment: Access until 20 November 2027'],
    ['Manage your payment', manage],
    'If you have paid since, there is nothing left to do.',
  ],
  [
    'Your Pro Yearly plan has been renewed',
    subscriptionRenewedRow,
    'Your plan has been renewed',
    'Thank you. We have received your payment, and your plan has been renewed.',
    [
      'Plan: Pro Yearly',
      'Amount paid: ₹1234.56',
      'Valid until: 20 November 2027',
      'Next payment: 19 November 2027',
      'Transaction ID: pay_29QQoUBi66xm2f',
    ],
    ['Open your dashboard', dashboard],
    receiptNote,
  ],
  [
    'Your Pro Yearly plan could not be renewed',
    (fields) => subscriptionHaltedRow({ manage_url: manage, ...fields }),
    'Your plan could not be renewed',
    'The payment for the next period of your Pro Yearly plan did not go through, and all further attempts failed. It will not be tried again automatically. Without a payment, your access lasts until 20 November 2027. To continue, pay or change your payment method.',
    ['Plan: Pro Yearly', 'Without a payment: Access until 20 November 2027'],
    ['Manage your payment', manage],
    'If you have paid since, or do not want to go on, there is nothing left to do.',
  ],
  [
    'Your Pro Yearly subscription is complete',
    subscriptionCompletedRow,
    'Your subscription is complete',
    'The last payment of your Pro Yearly subscription was made. Nothing more will be charged for it. The plan is paid until 20 November 2027. After that, your access ends. You can choose a plan again on that day or later.',
    ['Plan: Pro Yearly', 'Paid until: 20 November 2027'],
    ['See the plans', pricing],
    goOnNote,
  ],
  [
    'Your Pro Yearly plan ends on 20 November 2027',
    subscriptionEndingRow,
    'Your access ends soon',
    'Your plan is valid until 20 November 2027. After that your access ends. You can buy the plan again on that day or later. A purchase before then starts a new period at once, and the days that are left are not added to it.',
    ['Plan: Pro Yearly', 'Valid until: 20 November 2027'],
    ['See the plans', pricing],
    goOnNote,
  ],
  [
    'Your Pro Yearly plan ends on 20 November 2027',
    (fields) => subscriptionEndingRow({ early_renewal: 'extend', ...fields }),
    'Your access ends soon',
    'Your plan is valid until 20 November 2027. After that your access ends. To keep your access, renew your plan before then: the new period is added to this one, and you lose no day.',
    ['Plan: Pro Yearly', 'Valid until: 20 November 2027'],
    ['Renew your plan', pricing],
    goOnNote,
  ],
  [
    'Your Pro Yearly plan has ended',
    subscriptionEndedRow,
    'Your access has ended',
    'Your access to the Pro Yearly plan ended on 20 November 2027. You can come back at any time.',
    ['Plan: Pro Yearly', 'Ended on: 20 November 2027'],
    ['See the plans', pricing],
    'If you have bought a plan since, there is nothing left to do.',
  ],
])('"%s" says the same in text and HTML', async (subject, row, heading, body, details, [action, url], note) => {
  const mail = await render(row());
  expect(mail).toMatchObject({ to: 'asha@example.com', subject });
  const paragraphs = [heading, 'Hello Asha Rao,', body, details.join('\n'), `${action}: ${url}`, note];
  expect(mail.text).toBe(`${paragraphs.join('\n\n')}\n`);
  expect(words(mail.html)).toBe(
    [heading, 'Hello Asha Rao,', body, ...details.map((detail) => detail.replace(': ', '')), action, note].join(''),
  );
  expect(links(mail.html)).toEqual([url]);
});

test('every kind of mail is tested here', () => {
  expect(rows.map((row) => row().kind).toSorted()).toEqual(
    outboxMail.options.map(({ shape }) => shape.kind.value).toSorted(),
  );
});

describe.each(rows.map((row) => ({ kind: row().kind, row })))('$kind', ({ row, kind }) => {
  test('user text is escaped in HTML and unchanged in text', async () => {
    const name = `<script>alert('1')</script>"&<b>`;
    const { html, text } = await render(row({ display_name: name }));
    expect(html).toContain('&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&quot;&amp;&lt;b&gt;');
    expect(html).not.toMatch(/<script|<b>/);
    expect(text).toContain(`Hello ${name},`);
  });

  test('an empty name is left out of the greeting, and a right-to-left one is isolated', async () => {
    for (const name of ['', ' ']) {
      const { html, text } = await render(row({ display_name: name }));
      expect(html).toContain('>Hello,<');
      expect(text).toContain('\n\nHello,\n\n');
    }
    expect((await render(row({ display_name: 'مريم' }))).html).toContain('Hello <bdi>مريم</bdi>,');
  });

  test('its only link leads to a page of the app, whose address is http or https', async () => {
    const page = ['payment-success', 'subscription-renewed'].includes(kind) ? 'dashboard' : 'pricing';
    for (
      const appUrl of ['https://a.example', 'https://a.example/', 'http://127.0.0.1:3000', 'https://a.example/b//']
    ) {
      const url = `${appUrl.replace(/\/+$/, '')}/${page}`;
      const { html, text } = await renderEmail(row(), { appUrl });
      expect(links(html)).toEqual([url]);
      expect(text).toContain(`: ${url}\n`);
    }
    for (const appUrl of ['javascript:alert(1)', 'data:text/html,x', 'app.example.com', '']) {
      await expect(renderEmail(row(), { appUrl })).rejects.toThrow();
    }
  });

  test('it has colours for light and dark mode, and loads nothing from another server', async () => {
    const { html } = await render(row());
    expect(html).toContain('<meta name="color-scheme" content="light dark"/>');
    expect(html).toContain('@media (prefers-color-scheme: dark)');
    expect(html).not.toMatch(/<(img|link|script|iframe)\b|src=|url\(|@import/i);
  });

  test('its dates are those of the time zone', async () => {
    const times = Object.keys(row().payload).filter((field) => /_at$|_until$/.test(field));
    const moved = row(Object.fromEntries(times.map((field) => [field, '2027-12-31T18:30:00.000Z'])));
    const [usual, mail] = [await render(row()), await render(moved, 'Asia/Kolkata')];
    const read = ({ subject, html, text }: typeof mail) => [subject, words(html), text].join('\n\n');
    expect(read(mail)).toBe(read(usual).replaceAll(/\d+ November 2027/g, '1 January 2028'));
  });

  test('a row that lacks a field is refused', async () => {
    for (const field of Object.keys(row().payload)) {
      if (['tier', 'reason'].includes(field)) continue;
      await expect(render(row({ [field]: undefined }))).rejects.toThrow(`"${field}"`);
    }
  });
});

type Variant = [string, ReturnType<Row>, says: string[], never: RegExp];

test.each<Variant>([
  ...[undefined, null, '', ' '].map((reason): Variant => [
    `a payment that failed with the reason ${JSON.stringify(reason)} names none`,
    paymentFailedRow({ reason }),
    ['Amount: ₹999.00\n\nTry again'],
    /Reason/,
  ]),
  ['a tier without a known name is shown unchanged', paymentFailedRow({ tier: 'team' }), ['Plan: team\n'], /Premium/],
  ['a missing tier is Basic', paymentFailedRow({ tier: undefined }), ['Plan: Basic\n'], /Premium/],
  ['a purchase without a next charge mentions none', paymentSuccessRow({ next_charge_at: null }), [], /next/i],
  [
    'a purchase with a next charge has its date',
    paymentSuccessRow({ next_charge_at: '2027-11-18T20:00:00.000Z' }),
    ['Valid until: 20 November 2027\nNext payment: 18 November 2027\nTransaction ID: '],
    /renewed/,
  ],
  [
    'after the last charge a renewal announces no further one',
    subscriptionRenewedRow({ next_charge_at: null }),
    ['Valid until: 20 November 2027\nTransaction ID: '],
    /next|19 November/i,
  ],
  ...[paymentSuccessRow, paymentFailedRow, subscriptionRenewedRow].map((
    row,
  ): [string, ReturnType<Row>, string[], RegExp] => [
    `an amount in another currency is written with its code: ${row().kind}`,
    row({ currency: 'USD', amount: 1234 }),
    [': USD 12.34\n'],
    /₹/,
  ]),
  [
    'access that lasts longer than the paid period has its own date',
    subscriptionCompletedRow({ access_ends_at: '2027-11-23T11:45:40.559Z' }),
    [
      'The plan is paid until 20 November 2027. Your access ends on 23 November 2027. ',
      'Paid until: 20 November 2027\n',
    ],
    /other access/,
  ],
  [
    'where other access continues a completed subscription does not end access',
    subscriptionCompletedRow({ access_ends_at: null }),
    ['The plan is paid until 20 November 2027. After that, your other access continues. '],
    /access ends|your access/i,
  ],
  [
    'a halted subscription without a page of the gateway leads to the plans',
    subscriptionHaltedRow(),
    [
      'your access lasts until 20 November 2027. To continue, choose a plan again.\n',
      `\nSee the plans: ${pricing}\n`,
    ],
    /payment method|other access/,
  ],
  [
    'an end that is over gives no advice about renewals',
    subscriptionEndedRow({ early_renewal: 'extend' }),
    [],
    /valid|paid|period|renew/i,
  ],
  ...[null, manage].flatMap((manage_url) =>
    [paymentPendingRow, subscriptionHaltedRow].map((row): Variant => [
      `where the customer has other access no date and no end is named: ${row().kind} ${manage_url}`,
      row({ access_ends_at: null, manage_url }),
      ['You also have other access, which is not affected.'],
      /\b20\d\d\b|January|November|access (ends|lasts|until)|your access|without a payment/i,
    ])
  ),
])('%s', async (_, row, says, never) => {
  const { subject, html, text } = await render(row);
  for (const sentence of says) expect(text).toContain(sentence);
  expect(`${subject} ${words(html)} ${text}`).not.toMatch(never);
});

test('only the retried payment invites nobody to buy, and only the halted one speaks of no end to come', async () => {
  for (const fields of [{}, { manage_url: manage }, { access_ends_at: null }]) {
    const [pending, halted] = [await render(paymentPendingRow(fields)), await render(subscriptionHaltedRow(fields))];
    expect(pending.html + pending.text).not.toMatch(/buy|choose|purchase|again at any time/i);
    expect(halted.html + halted.text).not.toMatch(/\bended|will end|ends (on|soon)|still/i);
  }
});

test.each([
  [paymentPendingRow(), 'It will be tried again automatically'],
  [subscriptionHaltedRow(), 'It will not be tried again automatically'],
  [subscriptionEndingRow(), 'again on that day or later'],
  [subscriptionEndingRow({ early_renewal: 'extend' }), 'you lose no day'],
])('the preview of $kind says the same as the body: %s', async (row, sentence) => {
  expect((await render(row)).html.split(sentence)).toHaveLength(3);
});

test('a plan name with line breaks leaves the subject on one line', async () => {
  const { subject } = await render(paymentSuccessRow({ plan_name: 'Pro\r\nBcc: eve@example.com' }));
  expect(subject).toBe('Payment received: your Pro Bcc: eve@example.com plan is active');
});

test.each([
  ['https://gateway.example.com/s/1?a=1&b=2'],
  ['https://127.0.0.1/s/1'],
  ['http://127.0.0.1:54325/s/1'],
  ['http://localhost:54325/s/1'],
  ['http://[::1]:54325/s/1'],
  ['https://gateway.example.com/s/1\n\nPaid', 'https://gateway.example.com/s/1Paid'],
])('the page of the gateway %j is the only link', async (manage_url, shown = manage_url) => {
  for (const row of [paymentPendingRow, subscriptionHaltedRow]) {
    const { html, text } = await render(row({ manage_url }));
    expect(links(html)).toEqual([shown]);
    expect(text).toContain(`Manage your payment: ${shown}\n`);
  }
});

const noPages = [
  ...['', '/s/1', 'gateway.example.com/s/1', 'http://gateway.example.com/s/1', 'http://127.0.0.1.example.com/s/1'],
  ...['http://localhost.example.com/s/1', 'http://notlocalhost/s/1', 'http://127.0.0.1@example.com/s/1'],
  ...['javascript:alert(1)', 'data:text/html,x', 'ftp://127.0.0.1/s/1', 5],
];
test.each<{ field: string; value: unknown; rows: Row[] }>([
  ...noPages.map((value) => ({ field: 'manage_url', value, rows: [paymentPendingRow, subscriptionHaltedRow] })),
  ...[1.5, '100', 2 ** 53].map((value) => ({
    field: 'amount',
    value,
    rows: [paymentSuccessRow, paymentFailedRow, subscriptionRenewedRow],
  })),
  { field: 'next_charge_at', value: 'soon', rows: [paymentSuccessRow, subscriptionRenewedRow] },
  { field: 'early_renewal', value: 'sometimes', rows: [subscriptionEndingRow] },
])('a row with the $field $value is refused', async ({ field, value, rows }) => {
  for (const row of rows) await expect(render(row({ [field]: value }))).rejects.toThrow(`"${field}"`);
});

test('a row of another kind is refused', async () => {
  await expect(render({ kind: 'revalidation', payload: { paths: [] } })).rejects.toThrow('"kind"');
});
