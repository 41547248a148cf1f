import { readTable } from '../helpers/records/read-sheet.ts';
import { describe, expect, test } from 'vitest';
import { chooseDatabase } from '../../scripts/console/choose-database.ts';
import { toCsv } from '../../scripts/console/csv.ts';
import { actionTexts, type Current, type Refundable } from '../../scripts/console/page/actions.ts';
import { comingOf } from '../../scripts/console/page/commitments.ts';
import { remedyOf } from '../../scripts/console/page/remedies.ts';
import { stack } from '../../scripts/console/page/scale.ts';
import { words } from '../../scripts/console/page/format.ts';
import { byCycle, withMoney } from '../../scripts/console/page/timeline.ts';
import { day, localMinute, monthsAfter, monthText, setZone, textOf, timeOf } from '../../scripts/console/page/zone.ts';

describe('the database of the console', () => {
  const asked: string[] = [];
  const ask = (question: string) => (asked.push(question), Promise.resolve('from the prompt'));
  const given = { SUPPORT_DB_URL: 'postgresql://asha:pw@db.example/postgres', SUPPORT_DB_PASSWORD: 'env' };

  test.each([
    [undefined, {}, /^postgresql:\/\/subscriptions_support:[^@]+@127\.0\.0\.1:55322\/postgres$/, false],
    [undefined, given, 'postgresql://asha:pw@db.example/postgres', false],
    ['postgresql://ravi@other.example/postgres', given, 'postgresql://ravi:env@other.example/postgres', false],
    ['postgresql://a.example/b', {}, 'postgresql://subscriptions_support:from%20the%20prompt@a.example/b', true],
  ])('with --db-url %s and %j is %s; a password that is given nowhere is asked for', async (url, env, found, asks) => {
    asked.length = 0;
    expect(await chooseDatabase(url, env, ask, 55321)).toMatch(found);
    expect(asked).toEqual(asks ? ['Password of subscriptions_support: '] : []);
  });

  test.each([
    ['postgresql://asha:s3cret@db.example/postgres', /leave it out of --db-url/],
    ['db.example s3cret', /This is no connection string/],
  ])('is refused with --db-url %s, without a word of the secret', async (argument, reason) => {
    const refused = chooseDatabase(argument, {}, ask);
    await expect(refused).rejects.toThrow(reason);
    await expect(refused).rejects.not.toThrow(/s3cret/);
  });
});

test('a CSV quotes separators, keeps numbers, and disarms formulas', () => {
  const rows = [['=HYPERLINK("x")', -5, null], ['+1', 0.5, '@a'], ['a "quoted", text', 1, 'two\nlines']];
  expect(toCsv(['a', 'b', 'c'], rows)).toBe(
    'a,b,c\r\n"\'=HYPERLINK(""x"")",-5,\r\n\'+1,0.5,\'@a\r\n"a ""quoted"", text",1,"two\nlines"\r\n',
  );
});

test.each(['0318912345678', '1234567890123456', '123E4', '1.5e-3', '00'])('a CSV keeps the digits of %s', (text) => {
  expect(toCsv(['a'], [[text]])).toBe(`a\r\n'${text}\r\n`);
});

test.each(["'+", "''=1", "'007", "'5"])(
  'a CSV has another apostrophe before %s, so that it is read back as it was',
  (text) => {
    expect(toCsv(['a'], [[text]])).toBe(`a\r\n'${text}\r\n`);
    expect(readTable(toCsv(['a'], [[text]]))).toEqual([['a'], [text]]);
  },
);

test.each(['998315', '0', '2627/000101', '08-Rajasthan', '2026-11-04', '29AAAAA0000A1ZY', 'E5', '123456789012345'])(
  'a CSV has %s as it is: a spreadsheet keeps it',
  (text) => expect(toCsv(['a'], [[text]])).toBe(`a\r\n${text}\r\n`),
);

test('bars stack upwards, and negative ones downwards', () => {
  expect(stack([[3, 0], [2, 1], [-4, -1]], 2)).toEqual([
    [{ from: 0, to: 3, series: 0 }, { from: 3, to: 5, series: 1 }, { from: 0, to: -4, series: 2 }],
    [{ from: 0, to: 0, series: 0 }, { from: 0, to: 1, series: 1 }, { from: 0, to: -1, series: 2 }],
  ]);
});

test('a finding without a support action has no button', () => {
  const finding = { subject: 's', user_id: 'u', email: null, since: null, remedy: null, detail: { id: 7 } };
  expect(remedyOf({ ...finding, finding: 'tier_mismatch' })).toBeNull();
  expect(remedyOf({ ...finding, finding: 'outbox_stuck' }))
    .toEqual({ action: 'requeue_mail', email: 'u', reference: '7' });
});

test.each([
  [
    { tier: 'pro', source_kind: 'payment', until: '2027-01-01Z' },
    /; it replaces pro, which continues below it until .*2027.*\.$/,
  ],
  [{ tier: 'pro', source_kind: 'gateway_subscription', until: null }, /; it replaces pro, which continues below it\.$/],
  [{ tier: 'pro', source_kind: null, until: null }, /; nothing else gives a tier now\.$/],
  [{ tier: 'free', source_kind: null, until: null }, /; nothing else gives a tier now\.$/],
])('a grant beside %j says what it replaces', (current, told) => {
  const action = { tier: 'basic', until: '2026-12-31Z' };
  expect(
    actionTexts.grant.sentence(action, 'asha@example.com', undefined, {
      next_charge: null,
      grace_until: null,
      ...current,
    }),
  ).toMatch(
    told,
  );
});

test('the console writes September the same everywhere', () => {
  const at = Date.parse('2027-09-13T12:00:00Z');
  expect([textOf(at, 'day'), day('2027-09-13'), monthText(at)]).toEqual(['13 Sep 2027', '13 Sep 2027', 'Sep 27']);
});

test.each([
  ['Asia/Kolkata', '2027-02-28T19:00:00.000Z', '1 Mar 2027, 00:30', '2027-03-01T00:30', '2027-04-01T00:30'],
  ['America/New_York', '2027-01-31T05:30:00.000Z', '31 Jan 2027, 00:30', '2027-01-31T00:30', '2027-02-28T00:30'],
  // An hour before the clocks go forward, and one after.
  ['America/New_York', '2027-03-14T06:30:00.000Z', '14 Mar 2027, 01:30', '2027-03-14T01:30', '2027-04-14T01:30'],
  ['America/New_York', '2027-03-14T07:30:00.000Z', '14 Mar 2027, 03:30', '2027-03-14T03:30', '2027-04-14T03:30'],
  ['Europe/London', '2027-03-28T01:30:00.000Z', '28 Mar 2027, 02:30', '2027-03-28T02:30', '2027-04-28T02:30'],
])(
  'the console of a seller in %s shows %s as %s, in its field as %s, and a month later %s',
  (zone, at, shown, local, later) => {
    setZone(zone);
    expect(textOf(new Date(at), 'minute')).toBe(shown);
    expect(localMinute(new Date(at))).toBe(local);
    expect(timeOf(local).toISOString()).toBe(at);
    expect(monthsAfter(new Date(at), 1)).toBe(later);
  },
);

test.each(['paid_twice', 'charged_twice', 'charged_after_replacement', 'charged_after_deletion', 'refund_failed'])(
  'the finding %s offers to refund its payment, and nothing where the payment is not named',
  (kind) => {
    const finding = { finding: kind, subject: 'sub_1', user_id: 'u', email: 'a@b.example', since: null, remedy: null };
    expect(remedyOf({ ...finding, detail: { gateway_payment_id: 'pay_2' } }))
      .toEqual({ action: 'refund', email: 'u', reference: 'pay_2' });
    expect(remedyOf({ ...finding, detail: {} })).toBeNull();
  },
);

test('the end of access names the customer and the tier, not an id', () => {
  const action = { reference: crypto.randomUUID(), tier: 'pro' };
  expect(actionTexts.end_access.sentence(action, 'asha@example.com'))
    .toBe('asha@example.com loses the access to pro that this payment gives now, and no money is refunded.');
});

test('webhooks as usual are one line for each cycle; a problem, and what waits, is a line of its own', () => {
  const row = (at: string, detail: string, what = 'webhook') => (
    { at: `2026-${at}:00Z`, what, detail, rank: 2, reference: null, link: null }
  );
  const rows = [
    row('03-01T10:02', 'subscription.charged: applied. Delivered 2 times.'),
    row('03-01T10:01', '49.00 INR captured for basic.', 'captured'),
    row('03-01T10:00', 'payment.captured: already.'),
    row('02-04T00:00', 'subscription.pending: applied.'),
    row('02-01T10:00', 'order.paid: unmatched.'),
    row('02-01T09:59', 'subscription.charged: ignored: user deleted.', 'reconciliation'),
  ];
  const [charged, captured, paid, pending, unmatched, ignored] = rows;
  expect(byCycle(rows)).toEqual([[charged, paid], captured, pending, unmatched, [ignored]]);
});

test('the next cycle begins where the paid one ends, also when it is debited before', () => {
  setZone('UTC');
  const price = { lookup_key: 'pro', amount: 9900, currency: 'INR', months: 1 };
  const ends_at = '2027-01-31T00:00:00Z';
  const of = { kind: 'subscription' as const, id: 'sub_1', tier: 'pro', starts_at: null, stops_at: null };
  const more = { stop_reason: null, next_tier: null, undo_until: null };
  const charge_at = '2027-01-29T12:00:00Z';
  expect(
    comingOf([{ ...of, ...more, ...price, ends_at, charge_at }, {
      ...of,
      ...more,
      ...price,
      ends_at,
      charge_at: null,
    }]),
  )
    .toEqual([{
      ...{ id: 'sub_1', tier: 'pro', from: Date.parse(ends_at), to: Date.parse('2027-02-28T00:00:00Z') },
      ...{ chargeAt: Date.parse(charge_at), price: '₹99.00' },
    }]);
});

test.each([[null, 'a keeps pro until 1 Jan 2099, 00:00.'], ['2099-01-04T00:00:00Z', 'a loses pro now']])(
  'a cancellation for the end of the period, with days of grace until %s, says: %s',
  (grace_until, told) => {
    setZone('UTC');
    const current = {
      tier: 'pro',
      source_kind: 'payment',
      until: '2099-01-01T00:00:00Z',
      grace_until,
      next_charge: null,
    };
    expect(actionTexts.cancel.sentence({ at_period_end: true }, 'a', undefined, current)).toContain(told);
  },
);

test.each([true, false])('a cancellation without access ends none (for the end of the period: %s)', (at_period_end) => {
  setZone('UTC');
  const next_charge = { at: '2099-01-01T00:00:00Z', amount: 9900, currency: 'INR' };
  const current = { tier: 'free', source_kind: 'gateway_subscription', until: null, grace_until: null, next_charge };
  expect(actionTexts.cancel.sentence({ at_period_end }, 'a', undefined, current))
    .toBe('a has no access that could end. The charge of ₹99.00 on 1 Jan 2099, 00:00 is not made.');
});

describe('a refund', () => {
  const next_charge = { at: '2099-01-01T00:00:00Z', amount: 9900, currency: 'INR' };
  const charge = '₹99.00 on 1 Jan 2099, 00:00';
  const order = { currency: 'INR', kind: 'order', refundable_amount: 500, refund_effect: null } as const;
  const replacing = { ...order, refund_effect: 'resumes_replaced' } as const;
  const credited = { ...order, kind: 'cycle', refund_effect: 'uncovers_credit' } as const;
  const renewed = { ...order, refund_effect: 'ends_renewal' } as const;
  test.each<[string, number, Refundable, Current['next_charge'], string]>([
    [
      'all, where nothing is billed',
      500,
      order,
      null,
      'gives ends when the refund is processed. Nothing is charged next.',
    ],
    [
      'all of a cycle',
      500,
      { ...order, kind: 'cycle' },
      next_charge,
      `ends. The next charge is ${charge}: to end that`,
    ],
    ['all of what replaced a subscription', 500, replacing, null, 'the subscription that it replaced is charged again'],
    ['a part of what replaced it', 400, replacing, null, 'access stays. Nothing is charged next.'],
    [
      'all of what renews',
      500,
      renewed,
      next_charge,
      `its renewal end when the refund is processed. The charge of ${charge}`,
    ],
    [
      'a part of what renews',
      400,
      renewed,
      next_charge,
      `access stays. The next charge is ${charge}: to end that, cancel`,
    ],
    [
      'all of what was credited',
      500,
      credited,
      next_charge,
      'access stays, but the unused time of this payment was credited',
    ],
    ['a part of what was credited', 400, credited, null, 'refund the later one, too. Nothing is charged next.'],
  ])('of %s says what is charged', (_of, amount, paid, next_charge, told) => {
    setZone('UTC');
    const current = { tier: 'pro', source_kind: 'payment', until: null, grace_until: null, next_charge };
    expect(actionTexts.refund.sentence({ amount }, 'a', paid, current)).toContain(told);
  });
});

test('the timeline writes amounts as the tables do, and leaves what is no currency', () => {
  expect(withMoney('1966.34 INR of payment pay_1: processed. Credit: 12.00 USD. 1500 JPY')).toBe(
    '₹1,966.34 of payment pay_1: processed. Credit: $12.00. ¥1,500',
  );
  expect(withMoney('Reason: call after 40 MIN.')).toBe('Reason: call after 40 MIN.');
});

test('a mail has words for a name, and an event to the app the name that the app receives', () => {
  expect(['receipt-issued', 'receipt.issued'].map(words)).toEqual(['Receipt issued', 'receipt.issued']);
});
