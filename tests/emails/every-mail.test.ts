import { describe, expect, test } from 'vitest';
import { outboxMail } from '../../supabase/functions/api/outbox/email-payloads.ts';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import {
  changeScheduledRow,
  changeUndoneRow,
  paymentFailedRow,
  paymentPendingRow,
  paymentRefundedRow,
  paymentSuccessRow,
  planChangedRow,
  receiptIssuedRow,
  rows,
  settings,
  subscriptionCancelledRow,
  subscriptionCompletedRow,
  subscriptionEndedRow,
  subscriptionEndingRow,
  subscriptionHaltedRow,
  subscriptionRenewedRow,
  subscriptionResumedRow,
} from './rows.ts';

type Row = typeof rows[number];

const render = (row: ReturnType<Row>, timeZone?: string) => renderEmail(row, { ...settings, timeZone });

/** What the customer reads of the HTML, without the preview. */
const words = (html: string) =>
  html.replace(/^.*<h1/s, '<h1').replaceAll(/<!--.*?-->|<[^>]*>/gs, '').replaceAll('&#x27;', "'");
const links = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&'));

const pricing = 'https://app.example.com/pricing';
const dashboard = 'https://app.example.com/dashboard';
const manage = 'https://gateway.example.com/s/29QQoUBi66xm2f';
const seePlans = ['See the plans', pricing] as const;
const toDashboard = ['Open your dashboard', dashboard] as const;
const toPayment = ['Manage your payment', manage] as const;
const [amount, end] = ['Amount paid: ₹1234.56', 'Valid until: 20 November 2027'];
const last = '20 November 2027';
const [next, id] = ['Next payment: 19 November 2027', 'Transaction ID: pay_29QQoUBi66xm2f'];
const unpaid = 'Without a payment: Access until 20 November 2027';
const reason = 'Reason: Card declined by the bank.';
const renewable = { early_renewal: 'extend' };
const soon = 'Your Pro Yearly plan ends on 20 November 2027';

test.each<[subject: string, row: ReturnType<Row>, details: string[], link: readonly [text: string, url: string]]>([
  ['Payment received: your Pro Yearly plan is active', paymentSuccessRow(), [amount, end, id], toDashboard],
  [
    'Payment received: your Pro Yearly plan starts on 19 November 2027',
    paymentSuccessRow({ starts_at: '2027-11-19T11:45:40.559Z' }),
    [amount, 'Starts on: 19 November 2027', end, id],
    toDashboard,
  ],
  ['Your payment for the Premium plan failed', paymentFailedRow(), ['Amount: ₹999.00', reason], ['Try again', pricing]],
  ['Your Pro Yearly plan could not be renewed yet', paymentPendingRow({ manage_url: manage }), [unpaid], toPayment],
  [
    'Your Pro Yearly plan has been renewed',
    subscriptionRenewedRow(),
    ['Amount paid: ₹1,234.56', end, next, id],
    toDashboard,
  ],
  [
    '₹499.00 was refunded',
    paymentRefundedRow(),
    ['Refunded: ₹499.00', 'Payment: ₹1,234.56 on 1 November 2027', id, 'Access until: 20 November 2027'],
    seePlans,
  ],
  [
    'Tax invoice 2728/000102',
    receiptIssuedRow(),
    ['Number: 2728/000102', 'Date: 20 November 2027', 'Total: ₹777.77'],
    toDashboard,
  ],
  [
    'Your plan changes to Pro Yearly on 20 November 2027',
    changeScheduledRow(),
    ['Price: ₹1,234.56 every 3 months', 'Starts on: 20 November 2027', 'Undo until: 18 November 2027'],
    seePlans,
  ],
  [
    'Your Pro Yearly subscription is cancelled',
    subscriptionCancelledRow(),
    ['Access until: 20 November 2027', 'Resume until: 18 November 2027'],
    seePlans,
  ],
  ['Your Pro Yearly plan stays', changeUndoneRow(), [`Next payment: ₹1,234.56 on ${last}`], seePlans],
  [
    'Your Pro Yearly subscription is resumed',
    subscriptionResumedRow({ next_charge: null }),
    [end],
    seePlans,
  ],
  [
    'Your plan has changed: Pro Yearly',
    planChangedRow({ is_authorised: true }),
    ['Credit: ₹49.00', 'Amount paid: ₹1,185.56', end, `Next payment: ₹1,234.56 on ${last}`],
    seePlans,
  ],
  ['Your Pro Yearly plan could not be renewed', subscriptionHaltedRow({ manage_url: manage }), [unpaid], toPayment],
  ['Your Pro Yearly subscription is complete', subscriptionCompletedRow(), ['Paid until: 20 November 2027'], seePlans],
  [soon, subscriptionEndingRow(), [end], seePlans],
  [soon, subscriptionEndingRow(renewable), [end], ['Renew your plan', pricing]],
  ['Your Pro Yearly plan has ended', subscriptionEndedRow(), ['Ended on: 20 November 2027'], seePlans],
  [
    'Your Pro Yearly plan has ended',
    subscriptionEndedRow({ access_ended_at: '2027-11-23T11:45:40.559Z' }),
    ['Paid until: 20 November 2027', 'Ended on: 23 November 2027'],
    seePlans,
  ],
  [
    'Your Pro Yearly plan has ended',
    subscriptionEndedRow({ amount: 123456, currency: 'INR' }),
    ['Ended on: 20 November 2027', 'Refunded: ₹1,234.56'],
    seePlans,
  ],
])(
  '"%s" has its details and its link, and says the same in text and HTML',
  async (subject, row, details, [to, url]) => {
    const mail = await render(row);
    expect(mail).toMatchObject({ to: 'asha@example.com', subject });
    const [, greeting, , listed, action] = mail.text.split('\n\n');
    const plan = `Plan: ${subject.includes('Premium') ? 'Premium' : 'Pro Yearly'}`;
    const expected = row.kind === 'receipt-issued' ? details : [plan, ...details];
    expect([greeting, listed, action]).toEqual(['Hello Asha Rao,', expected.join('\n'), `${to}: ${url}`]);
    // HTML has a label and its value in two cells, and the address in the link.
    const joined = (text: string) => text.replaceAll(/: |\n/g, '');
    expect(joined(words(mail.html))).toBe(joined(mail.text.replace(`: ${url}`, '')));
    expect(links(mail.html)).toEqual([url]);
  },
);

test('with a look a mail has logo or name, footer and colour; without one it has none of it', async () => {
  const plain = await render(paymentSuccessRow());
  const look = { brand: 'Acme & Co', footer: 'Acme Ltd\n1 MG Road, Pune', accent: '#facc15' };
  const named = await renderEmail(paymentSuccessRow(), { ...settings, look });
  expect(named.text).toBe(`Acme & Co\n\n${plain.text}\nAcme Ltd\n1 MG Road, Pune\n`);
  expect(named.html).toContain('Acme &amp; Co</p>');
  expect(named.html).toContain('Acme Ltd\n1 MG Road, Pune</p>');
  expect(named.html).toMatch(/<a [^>]*[^-]color:#000000;[^>]*background-color:#facc15/);
  const logoUrl = 'https://app.example.com/logo.png';
  const { html } = await renderEmail(paymentSuccessRow(), {
    ...settings,
    look: { ...look, logoUrl, accent: '#7f1d1d' },
  });
  expect(html).toMatch(/<img [^>]*alt="Acme &amp; Co"[^>]*src="https:\/\/app\.example\.com\/logo\.png"/);
  expect(html).toMatch(/<a [^>]*[^-]color:#ffffff;[^>]*background-color:#7f1d1d/);
  expect([plain.html.includes('<img'), plain.html.includes('pre-line')]).toEqual([false, false]);
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
    const page = ['payment-success', 'subscription-renewed', 'receipt-issued'].includes(kind) ? 'dashboard' : 'pricing';
    for (const appUrl of ['https://a.example', 'http://127.0.0.1:3000', 'https://a.example/b//']) {
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
    const at = '2027-12-31T18:30:00.000Z';
    const { next_charge: charge } = row().payload;
    const moved = row({
      ...Object.fromEntries(times.map((field) => [field, at])),
      ...typeof charge === 'object' && charge !== null && { next_charge: { ...charge, at } },
    });
    const [usual, mail] = [await render(row()), await render(moved, 'Asia/Kolkata')];
    const read = ({ subject, html, text }: typeof mail) => [subject, words(html), text].join('\n\n');
    // The date of a document is frozen with it.
    const day = times.length === 0 ? '20 November 2027' : '1 January 2028';
    expect(read(mail)).toBe(read(usual).replaceAll(/\d+ November 2027/g, day));
  });

  test('a row that lacks a field is refused', async () => {
    for (const field of Object.keys(row().payload)) {
      if (['tier', 'reason'].includes(field)) continue;
      await expect(render(row({ [field]: undefined }))).rejects.toThrow(`"${field}"`);
    }
  });
});

/** Expects that the text of a mail contains this, and that no part of the mail matches the pattern. */
async function expectSaid(row: ReturnType<Row>, said: string, never: RegExp): Promise<void> {
  const { subject, html, text } = await render(row);
  expect(text).toContain(said);
  expect(`${subject} ${words(html)} ${text}`).not.toMatch(never);
}

test('a failed payment names no reason that is not known, an unknown tier unchanged, and another currency by its code', async () => {
  for (const reason of [null, ' ']) await expectSaid(paymentFailedRow({ reason }), '₹999.00\n\nTry again', /Reason/);
  await expectSaid(paymentFailedRow({ tier: 'constructor' }), 'Plan: constructor\n', /Premium/);
  await expectSaid(paymentFailedRow({ tier: undefined }), 'Plan: Basic\n', /Premium/);
  await expectSaid(paymentFailedRow({ currency: 'USD', amount: 1234 }), ': USD 12.34\n', /₹/);
});

test('a purchase and a renewal name the next charge, if there is one', async () => {
  const [from, to] = [`${end}\n`, 'Transaction ID: '];
  const charged = paymentSuccessRow({ next_charge_at: '2027-11-19T20:00:00.000Z' });
  await expectSaid(charged, `${from}${next}\n${to}`, /renewed/);
  await expectSaid(paymentSuccessRow({ next_charge_at: null }), from + to, /next/i);
  await expectSaid(subscriptionRenewedRow({ next_charge_at: null }), from + to, /next|19 November/i);
});

test('a refund says what the customer has after it', async () => {
  const of = '₹499.00 of your payment of ₹1,234.56 for the Pro Yearly plan was refunded. ';
  await expectSaid(
    paymentRefundedRow(),
    `${of}Your Pro Yearly plan remains and is valid until 20 November 2027. `,
    /no access/,
  );
  const other = paymentRefundedRow({ access_plan_name: 'Basic', access_ends_at: null });
  await expectSaid(other, `${of}Your Basic plan remains. `, /no access|20 November/);
  const whole = paymentRefundedRow({ amount: 123456 });
  await expectSaid(whole, 'Your payment of ₹1,234.56 for the Pro Yearly plan was refunded. Your', /1,234\.56 of your/);
  const none = paymentRefundedRow({ access_plan_name: null, access_ends_at: null });
  await expectSaid(none, `${of}You have no access to a plan now. `, /remains|20 November/);
});

test('a change names its undoing, if it is possible', async () => {
  await expectSaid(
    changeScheduledRow(),
    'You can undo the change until 18 November 2027 on the page of your plan.',
    /cannot/,
  );
  await expectSaid(
    changeScheduledRow({ undo_until: null }),
    'The change cannot be undone any more.',
    /18 November|until: /,
  );
  const yearly = changeScheduledRow({ interval: 'year', interval_count: 1, currency: 'JPY', amount: 1500 });
  await expectSaid(yearly, 'On that day ¥1,500 will be charged, then ¥1,500 every year. ', /month|₹/);
});

test('a plan that goes on names its next charge, else its end, else neither, and a plan that follows it', async () => {
  const goesOn = 'Your Pro Yearly plan goes on';
  const charge = 'The next charge is ₹1,234.56 on 20 November 2027.';
  for (const row of [changeUndoneRow, subscriptionResumedRow]) {
    await expectSaid(row(), `${goesOn}. ${charge}`, /valid until|Nothing more/);
    await expectSaid(
      row({ next_charge: null }),
      `${goesOn} and is valid until ${last}. Nothing more is charged.`,
      /next/i,
    );
    await expectSaid(
      row({ next_charge: null, valid_until: null }),
      `${goesOn}. Nothing more is charged.`,
      /next|2027/i,
    );
    await expectSaid(
      row({ next_charge: null, is_open: true, valid_until: null }),
      `${goesOn}. Nothing more is charged for now.`,
      /next|2027/i,
    );
    await expectSaid(
      row({ next_charge: null, next_charge_at: '2027-11-20T11:45:40.559Z' }),
      `${goesOn}. The next charge is on ${last}.\n\nPlan: Pro Yearly\nNext payment: ${last}\n`,
      /Nothing more|null/,
    );
    await expectSaid(
      row({ next_plan_name: 'Basic' }),
      `${goesOn} and is valid until ${last}. Then your Basic plan starts. ${charge}`,
      /Nothing more/,
    );
    // Another price of the same plan.
    await expectSaid(
      row({ next_plan_name: 'Pro Yearly' }),
      `${goesOn}. ${charge}`,
      /starts|Next plan/,
    );
  }
});

test('a change now names the credit, the end of the old plan, and what is charged next', async () => {
  const old =
    'your Basic plan has ended. For the unused time of the old one ₹49.00 was credited, and you paid ₹1,185.56.';
  const charge = `Your plan is valid until ${last}. The next charge is ₹1,234.56 on ${last}`;
  await expectSaid(planChangedRow(), `${old} ${charge}, once you have authorised it.`, /by itself/);
  await expectSaid(planChangedRow({ is_authorised: true }), `${charge}.`, /once you have/);
  const begun = 'Your Pro Yearly plan has begun a new period. For the unused time of the old one';
  await expectSaid(planChangedRow({ old_plan_name: 'Pro Yearly' }), begun, /plan has ended/);
  await expectSaid(planChangedRow({ next_charge: null }), 'It does not renew by itself.', /next/i);
});

test('a change that was made at the gateway names the plan or the price, and what is charged next, and no credit', async () => {
  const edited = { credit: null, amount: null, is_authorised: true };
  const charge = `Your plan is valid until ${last}. The next charge is ₹1,234.56 on ${last}.`;
  await expectSaid(planChangedRow(edited), `your Basic plan has ended. ${charge}`, /credit|paid/i);
  const price = `Your Pro Yearly plan has a new price. ${charge}`;
  await expectSaid(
    planChangedRow({ ...edited, old_plan_name: 'Pro Yearly' }),
    price,
    /credit|paid|has ended|Pro Yearly now/i,
  );
});

test('a cancellation says that nothing will be charged, when access ends, and until when it can be resumed', async () => {
  const nothing = 'Nothing more will be charged for it. ';
  const until =
    `${nothing}Your access lasts until 20 November 2027. You can resume the subscription until 18 November 2027.`;
  await expectSaid(subscriptionCancelledRow(), until, /ended/);
  const final = { resume_until: null };
  const ended = subscriptionCancelledRow({ ...final, is_ended: true });
  await expectSaid(ended, `${nothing}Your access ended on 20 November 2027.\n`, /You can resume|until/);
  const other = subscriptionCancelledRow({ ...final, access_ends_at: null });
  await expectSaid(other, `${nothing}Your other access continues.\n`, /ended|20 November/);
  const none = subscriptionCancelledRow({ ...final, access_ends_at: null, is_ended: true });
  await expectSaid(none, `${nothing}You have no access to a plan now.\n`, /ended|20 November|continues/);
});

test('a failed renewal names the amount, if it is known', async () => {
  for (const row of [paymentPendingRow, subscriptionHaltedRow]) {
    await expectSaid(row({ amount: 149900, currency: 'INR' }), '\nNot charged: ₹1,499.00\n', /NaN/);
    await expectSaid(row({ amount: null, currency: 'INR' }), 'Plan: Pro Yearly\n', /Not charged|₹/);
  }
});

test('a completed subscription names the end of all access, and none where other access continues', async () => {
  const paid = 'The plan is paid until 20 November 2027. ';
  const later = subscriptionCompletedRow({ access_ends_at: '2027-11-23T11:45:40.559Z' });
  await expectSaid(later, `${paid}Your access ends on 23 November 2027. `, /other access/);
  const continued = subscriptionCompletedRow({ access_ends_at: null });
  await expectSaid(continued, `${paid}After that, your other access continues. `, /access ends|your access/i);
});

test('a failed renewal names no date and no end of other access, and leads to the plans without a page of the gateway', async () => {
  const anEnd = /\b20\d\d\b|January|November|access (ends|lasts|until)|your access|without a payment/i;
  for (const row of [paymentPendingRow, subscriptionHaltedRow]) {
    for (const manage_url of [null, manage]) {
      const other = row({ access_ends_at: null, manage_url });
      await expectSaid(other, 'You also have other access, which is not affected.', anEnd);
    }
  }
  await expectSaid(subscriptionHaltedRow(), `\nSee the plans: ${pricing}\n`, /payment method|other access/);
});

test('a failed renewal and a completed subscription say of access that has ended that it ended', async () => {
  for (const row of [paymentPendingRow, subscriptionHaltedRow, subscriptionCompletedRow]) {
    await expectSaid(row({ is_ended: true }), 'Your access ended on 20 November 2027.', /access (ends|lasts|until)/i);
  }
  await expectSaid(
    subscriptionHaltedRow({ is_ended: true }),
    '\nAccess ended on: 20 November 2027\n',
    /Without a payment/,
  );
});

test('an end that is over gives no advice about renewals', async () => {
  await expectSaid(subscriptionEndedRow(renewable), 'ended on', /valid|paid|period|renew/i);
});

test.each([
  [paymentPendingRow(), 'It will be tried again automatically'],
  [subscriptionHaltedRow(), 'It will not be tried again automatically'],
  [subscriptionEndingRow(), 'again on that day or later'],
  [subscriptionEndingRow({ early_renewal: 'extend' }), 'you lose no day'],
  [subscriptionEndingRow({ early_renewal: 'extend', is_on_sale: false }), 'not on sale any more'],
])('the preview of $kind says the same as the body: %s', async (row, sentence) => {
  expect((await render(row)).html.split(sentence)).toHaveLength(3);
});

test('a plan name with line breaks leaves the subject on one line', async () => {
  const { subject } = await render(paymentSuccessRow({ plan_name: 'Pro\r\nBcc: eve@example.com' }));
  expect(subject).toBe('Payment received: your Pro Bcc: eve@example.com plan is active');
});

test.each([
  ['https://gateway.example.com/s/1?a=1&b=2'],
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

test('a page of the gateway that is neither encrypted nor local is refused', async () => {
  const pages = [
    '',
    '/s/1',
    'http://gateway.example.com/s/1',
    'http://127.0.0.1.example.com/s/1',
    'javascript:alert(1)',
  ];
  for (const manage_url of [...pages, 'http://127.0.0.1@example.com/s/1', 'ftp://127.0.0.1/s/1', 5]) {
    for (const row of [paymentPendingRow, subscriptionHaltedRow]) {
      await expect(render(row({ manage_url })), `${manage_url}`).rejects.toThrow('"manage_url"');
    }
  }
});

test.each<[field: string, value: unknown, Row]>([
  ['amount', 1.5, paymentSuccessRow],
  ['amount', '100', paymentFailedRow],
  ['amount', 2 ** 53, subscriptionRenewedRow],
  ['next_charge_at', 'soon', subscriptionRenewedRow],
  ['early_renewal', 'sometimes', subscriptionEndingRow],
])('a row whose %s is %j is refused', async (field, value, row) => {
  await expect(render(row({ [field]: value }))).rejects.toThrow(`"${field}"`);
});

test('a row of another kind is refused', async () => {
  await expect(render({ kind: 'revalidation', payload: { paths: [] } })).rejects.toThrow('"kind"');
});

test('a mail links to the pages that the app names', async () => {
  const pages = { dashboard: '/account', pricing: '/#/plans' };
  const linked = async (row: Row) => links((await renderEmail(row(), { ...settings, pages })).html);
  expect(await linked(paymentSuccessRow)).toEqual(['https://app.example.com/account']);
  expect(await linked(subscriptionEndedRow)).toEqual(['https://app.example.com/#/plans']);
});
