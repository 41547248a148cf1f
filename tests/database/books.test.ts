import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { isLong } from '../helpers/project/suite.ts';
import { type BookDocument, type Books, exampleWith, expectedFile, replaceBooks } from '../helpers/records/books.ts';
import { gstr1Problems } from '../helpers/records/gstr1-schema.ts';
import { expectSameSums, type Gstr1, type Summary } from '../helpers/records/gstr1.ts';
import { randomBooks } from '../helpers/records/random-books.ts';

const database = useDatabase({
  // The last month is random.
  findings: {
    ...{ captured_not_fulfilled: 'any', state_missing: 'any', settlement_incomplete: 'any' },
    export_paid_in_rupees: 'any',
    seller_differs: 'any',
  },
});
beforeEach(async () => {
  await replaceBooks(database);
  await database.at('2026-12-05');
});

const printed = (value: unknown) => `${JSON.stringify(value, null, 1)}\n`;
const gstr1 = async (month = '2026-11-01', months = 1) =>
  (await database.one('select billing.gstr1($1, $2) as made', [month, months])).made as Gstr1;
const summary = async (month = '2026-11-30') =>
  (await database.one('select billing.book_summary($1) as made', [month])).made as Summary;
const close = (month: string) => database.one('select (billing.close_month($1)).month::text', [month]);
const problems = async () =>
  (await database.query('select problem, document_number from billing.book_problems order by 1, 2'))
    .map(({ problem, document_number }) => `${problem} ${document_number ?? ''}`.trim());

const rewrite = (change: Parameters<typeof exampleWith>[0]) => replaceBooks(database, exampleWith(change));
const isOf = (end: string) => ({ document_number, against }: BookDocument) =>
  (against ?? document_number).endsWith(end);

test('the documents of the worked example give its return and its summary, to the byte', async () => {
  expect(printed(await gstr1())).toBe(await expectedFile('gstr1.json'));
  expect(printed(await summary())).toBe(await expectedFile('summary.json'));
  expect(gstr1Problems(await gstr1())).toEqual([]);
});

describe('the schema of the return refuses', () => {
  /** The worked example with a value at a path replaced; undefined: removed. */
  const spoilt = async (path: readonly (string | number)[], value: unknown) => {
    const made: unknown = JSON.parse(await expectedFile('gstr1.json'));
    const name = path.at(-1) ?? expect.fail('no path');
    let at = made;
    for (const step of path.slice(0, -1)) at = Reflect.get(Object(at), step);
    if (value === undefined) Reflect.deleteProperty(Object(at), name);
    else Reflect.set(Object(at), name, value);
    return gstr1Problems(made);
  };
  const item = ['b2b', 0, 'inv', 0, 'itms', 0, 'itm_det'];
  const exportNote = {
    ...{ typ: 'EXPWOP', ntty: 'C', nt_num: 'CN2627/000013', nt_dt: '21-11-2026', val: 10 },
    itms: [{ num: 1, itm_det: { txval: 10, rt: 0, iamt: 0, csamt: 0 } }],
  };

  test('nothing of the example, with a note of an export', async () => {
    expect(await spoilt(['cdnur'], [exportNote])).toEqual([]);
  });

  test.each<[string, readonly (string | number)[], unknown]>([
    ['an amount of three decimals', [...item, 'txval'], 659.131],
    ['an amount as a text', [...item, 'txval'], '659.13'],
    ['an invoice with IGST and CGST', [...item, 'camt'], 1],
    ['an empty list', ['cdnur'], []],
    ['a date with its year first', ['b2b', 0, 'inv', 0, 'idt'], '2026-11-04'],
    ['a number of 17 characters', ['b2b', 0, 'inv', 0, 'inum'], '2627/000000000102'],
    ['a number with a space', ['b2b', 0, 'inv', 0, 'inum'], '2627 102'],
    ['a large invoice of one lakh', ['b2cl', 0, 'inv', 0, 'val'], 100_000],
    ['an export with itm_det', ['exp', 0, 'inv', 0, 'itms', 0], {
      num: 1,
      itm_det: { txval: 1, rt: 0, iamt: 0, csamt: 0 },
    }],
    ['a note of an export with a place', ['cdnur'], [{ ...exportNote, pos: '96' }]],
    ['a negative note', ['cdnr', 0, 'nt', 0, 'val'], -444.44],
    ['one list of codes', ['hsn'], { data: [] }],
    ['a code counted in pieces', ['hsn', 'hsn_b2c', 0, 'uqc'], 'OTH'],
    ['a supply inside the state with IGST', ['b2cs', 0, 'iamt'], 1],
    ['no period', ['fp'], undefined],
  ])('%s', async (_, path, value) => expect(await spoilt(path, value)).not.toEqual([]));
});

describe('the return', () => {
  test('subtracts the credit notes of small consumers, also below zero', async () => {
    const consumer = { name: 'Asha', gstin: null, state: '27' };
    await rewrite((document) =>
      isOf('000102')(document)
        ? { category: 'b2cs', buyer: consumer, ...(document.kind === 'receipt' && { tax_period: '2026-10-01' }) }
        : {}
    );
    const { b2cs, cdnr, cdnur } = await gstr1();
    expect({ cdnr, cdnur }).toEqual({});
    expect(b2cs).toEqual([
      { sply_ty: 'INTER', typ: 'OE', pos: '27', rt: 18, txval: -659.13, iamt: -118.64, csamt: 0 },
      { sply_ty: 'INTRA', typ: 'OE', pos: '29', rt: 18, txval: 282.49, camt: 25.42, samt: 25.42, csamt: 0 },
    ]);
    expect((await summary()).gstr3b['3.2'].find(({ pos }) => pos === '27')).toEqual({
      ...{ pos: '27', taxable: -65913, igst: -11864 },
    });
  });

  test.each(['b2cl', 'expwp', 'expwop'])(
    'has a note about %s by itself, with its place unless abroad',
    async (category) => {
      await rewrite((document) => isOf('000102')(document) ? { category, buyer: { name: 'Asha', gstin: null } } : {});
      const { cdnr, cdnur } = await gstr1();
      expect(cdnr).toBeUndefined();
      expect(cdnur?.map(({ nt_num, typ, pos }) => [nt_num, typ, pos])).toEqual([
        ['CN2627/000011', category.toUpperCase(), category === 'b2cl' ? '27' : undefined],
        ['CN2627/000012', category.toUpperCase(), category === 'b2cl' ? '27' : undefined],
      ]);
    },
  );

  test('lists each run of numbers, and leaves out a code whose amounts add up to nothing', async () => {
    await rewrite((document) => document.number === 103 ? { tax_period: '2026-12-01' } : {});
    const { doc_issue, b2cs } = await gstr1();
    expect(b2cs).toBeUndefined();
    expect(doc_issue?.doc_det[0]?.docs.map(({ from, to, totnum }) => [from, to, totnum])).toEqual([
      ...[['2627/000101', '2627/000102', 2], ['2627/000104', '2627/000105', 2]],
    ]);
    await rewrite((document) => document.number < 100 || document.number === 102 ? {} : { tax_period: '2026-12-01' });
    expect((await gstr1()).hsn).toBeUndefined();
  });

  test('has no document without GST, and none whose rupees are not known', async () => {
    await rewrite((document) => ({
      ...(document.number === 104 && { rupees: null }),
      ...(document.number === 12 && { category: 'none', title: 'Credit note without GST' }),
    }));
    const made = await gstr1();
    expect(made.exp).toBeUndefined();
    expect(made.cdnr?.[0]?.nt.map(({ nt_num }) => nt_num)).toEqual(['CN2627/000011']);
    expect(made.doc_issue?.doc_det[1]?.docs[0]).toMatchObject({ from: 'CN2627/000011', to: 'CN2627/000011' });
    expect((await summary()).gstr3b['3.1(b)'].taxable).toBe(0);
  });

  test('of a quarter has three months and the last one as its period; of an empty month its head alone', async () => {
    await rewrite((document) => document.number === 101 ? { tax_period: '2026-10-01' } : {});
    expect(await gstr1('2026-12-01', 3)).toEqual({
      ...JSON.parse(await expectedFile('gstr1.json')),
      fp: '122026',
    });
    expect(await gstr1('2027-01-01')).toEqual({
      ...{ gstin: '29AAAAA0000A1ZY', fp: '012027', version: 'GST3.2.4', hash: 'hash' },
    });
  });
});

describe('closing a month', () => {
  test('keeps its answers to the byte, and later documents belong to the next open month', async () => {
    const before = await database.one(
      "select billing.gstr1('2026-11-01')::text as made, billing.book_summary('2026-11-01')::text as sum",
    );
    await close('2026-11-15');
    expect((await database.one("select billing.open_month('2026-11-30')::text as month")).month).toBe('2026-12-01');
    expect((await database.one("select billing.open_month('2026-10-31')::text as month")).month).toBe('2026-10-01');
    await database.set("gstr1_version = 'GST9.9'");
    await database.query('update billing.settlements set amount = amount + 1');
    expect(
      await database.one(
        "select billing.gstr1('2026-11-30')::text as made, billing.book_summary('2026-11-30')::text as sum",
      ),
    ).toEqual(before);
    const closed = await database.one('select closed_at, closed_by from billing.book_months');
    expect(closed).toEqual({ closed_at: new Date('2026-12-05'), closed_by: 'postgres' });
    await database.at('2026-12-06');
    await close('2026-11-01');
    expect(await database.one('select closed_at, closed_by from billing.book_months')).toEqual(closed);
  });

  test('is refused before it is over in India, and while an earlier one is open', async () => {
    await database.at('2026-11-30T18:29:59Z');
    await expect(close('2026-11-01')).rejects.toMatchObject({ code: 'PS409', message: '2026-11 is not over' });
    await database.at('2026-11-30T18:30:00Z');
    await rewrite((document) => document.number === 101 ? { tax_period: '2026-10-01' } : {});
    await expect(close('2026-11-01')).rejects.toMatchObject({ code: 'PS409', message: 'close 2026-10 first' });
    await close('2026-10-01');
    expect(await close('2026-11-01')).toEqual({ month: '2026-11-01' });
  });

  test('is refused while a payment of it waits for its receipt, not while a later one or a note does', async () => {
    const wait = (payment: string, at: string) =>
      database.query('insert into billing.documents_due values ($1, $2)', [payment, at]);
    const { payment_id: noted } = await database.one('select payment_id from public.receipts where number = 101');
    await wait(String(noted), '2026-11-03');
    await wait(crypto.randomUUID(), '2026-11-30T18:30:00Z');
    const { n: one } = await database.one('select gen_random_uuid()::text as n');
    await wait(String(one), '2026-11-30T18:29:59Z');
    await expect(close('2026-11-01')).rejects.toMatchObject({
      ...{ code: 'PS409', message: 'a payment of 2026-11 waits for its document' },
    });
    expect(await problems()).toEqual(['document_waiting', 'document_waiting']);
    await database.query('delete from billing.documents_due where payment_id = $1', [one]);
    expect(await close('2026-11-01')).toEqual({ month: '2026-11-01' });
  });

  test('is for the owner and who was granted it: support reads the books, and the service neither', async () => {
    const close = "select billing.close_month('2026-11-01')";
    await expect(database.service.query(close)).rejects.toMatchObject({ code: '42501' });
    const support = await database.connect();
    await support.query('set role subscriptions_support');
    await expect(support.query(close)).rejects.toMatchObject({ code: '42501' });
    const { rows: [read] } = await support.query(
      `select billing.gstr1('2026-11-01') as made, billing.book_summary('2026-11-01') as sum,
         (select count(*)::integer from billing.bank_lines) as lines, (select count(*)::integer from billing.book_problems) as problems,
         (select count(*)::integer from billing.settled_payments) as payments`,
    );
    expect(read).toEqual({ made: await gstr1(), sum: await summary(), lines: 3, problems: 0, payments: 5 });
    await database.query('grant execute on function billing.close_month(date) to subscriptions_support');
    await support.query(close);
    await database.query('revoke execute on function billing.close_month(date) from subscriptions_support');
    expect(await database.query('select month::text from billing.book_months')).toEqual([{ month: '2026-11-01' }]);
    await expect(support.query('delete from billing.book_months')).rejects.toMatchObject({ code: '42501' });
  });
});

describe('problems', () => {
  /** The findings about the books as a pass makes them, and how many have no remedy. */
  const findings = async () => {
    await database.query("select billing.run_pass('books', '1 minute')");
    const rows = await database.query(
      `select f.finding, f.subject, f.remedy, f.first_seen_at from billing.findings f
       where f.finding in (select p.problem from billing.book_problems p) order by f.finding, f.subject`,
    );
    expect(rows.filter(({ remedy }) => remedy === null)).toEqual([]);
    return rows.map(({ finding, subject }) => `${finding} ${subject}`);
  };
  test('of the worked example are none, and no finding', async () => {
    expect(await problems()).toEqual([]);
    expect(await findings()).toEqual([]);
  });

  const change = (end: number, fields: Partial<BookDocument>) => (document: BookDocument) =>
    document.number === end ? fields : {};
  const nobody = { name: 'Asha', gstin: null, address: null, state: null };
  test.each<[string, (document: BookDocument) => Partial<BookDocument>]>([
    ['state_missing 2627/000103', change(103, { buyer: nobody })],
    ['buyer_incomplete 2627/000105', change(105, { buyer: { ...nobody, state: '08' } })],
    ['buyer_incomplete 2627/000101', change(101, { buyer: { name: 'A', gstin: '29BBBBB1111B1ZJ', state: '29' } })],
    ['rupees_missing 2627/000104', change(104, { rupees: null })],
    ['export_paid_in_rupees 2627/000104', change(104, { currency: 'INR', rupees: null })],
    ['sac_missing 2627/000103', change(103, { lines: [{ item: 'Pro' }] })],
    [
      'note_too_late CN2627/000012',
      change(12, { title: 'Credit note without GST', document_date: '2027-11-01', category: 'none' }),
    ],
  ])('%s', async (problem, change) => {
    await rewrite(change);
    expect(await problems()).toEqual([problem]);
    // Each is a finding, for two months, until its cause is gone.
    expect(await findings()).toEqual([problem]);
    await database.at('2027-01-05');
    expect(await findings()).toEqual([]);
    await database.at('2026-12-05');
    expect(await findings()).toEqual([problem]);
    await rewrite(() => ({}));
    expect(await findings()).toEqual([]);
  });

  test('that need a reissue are none of a receipt that a note took in full, and of notes', async () => {
    const [whole] = exampleWith(() => ({})).documents.filter(({ number }) => number === 103);
    const lines = [{ item: 'Pro' }];
    await rewrite(({ number }) => {
      if (number === 103) return { buyer: nobody, lines };
      if (number === 11) return { lines };
      return number === 12 ? { against: '2627/000103', totals: whole?.totals, lines } : {};
    });
    expect(await problems()).toEqual([]);
  });

  test('stay findings with the time when a pass saw them first', async () => {
    await rewrite(change(103, { buyer: nobody }));
    await findings();
    const seen = () => database.one("select first_seen_at from billing.findings where finding = 'state_missing'");
    const first = await seen();
    await database.at('2026-12-06');
    expect(await findings()).toEqual(['state_missing 2627/000103']);
    expect(await seen()).toEqual(first);
  });

  test('are the e-invoices of a large seller', async () => {
    await database.set('over_5_crore = true');
    expect(await problems()).toEqual([
      ...['2627/000101', '2627/000102', '2627/000104', 'CN2627/000011', 'CN2627/000012'].map((n) =>
        `einvoice_needed ${n}`
      ),
    ]);
    expect(await findings()).toEqual(await problems());
  });

  test('are the documents of another GSTIN than that of the return, until their month is closed or its return filed', async () => {
    const ofReturn = (gstin: string) => database.set(`seller_gstin = '${gstin}', seller_state = left('${gstin}', 2)`);
    const { gstin: own } = await gstr1();
    await ofReturn('27AAPFU0939F1ZV');
    expect((await gstr1()).gstin).toBe('27AAPFU0939F1ZV');
    const numbers = exampleWith(() => ({})).documents.map(({ document_number }) => document_number);
    expect(await problems()).toEqual(numbers.map((number) => `seller_differs ${number}`).toSorted());
    expect(await findings()).toEqual(await problems());
    // By then the return is filed, also that of a quarter.
    await database.at('2027-03-02');
    expect((await problems()).filter((problem) => problem.startsWith('seller_differs'))).toEqual([]);
    await database.at('2026-12-05');
    await ofReturn(own);
    expect(await problems()).toEqual([]);
    await close('2026-11-01');
    await ofReturn('27AAPFU0939F1ZV');
    expect([await problems(), (await gstr1()).gstin]).toEqual([[], own]);
  });

  test('are a note of a refund that failed, and a payment that nothing settled for ten days', async () => {
    await database.query(
      `insert into billing.refunds (refund_id, gateway_payment_id, amount, status, failed_at)
       values ('rfnd_Example0000011', 'pay_Example0000102', 33333, 'failed', '2026-11-13')`,
    );
    await database.query("delete from billing.settlement_lines where entity_id = 'pay_Example0000105'");
    await database.query("update billing.settlements set lines_complete_at = null where settlement_id like '%3'");
    await database.at('2026-11-17T06:30:00Z');
    expect(await problems()).toEqual(['note_of_failed_refund CN2627/000011']);
    await database.at('2026-11-17T06:30:01Z');
    expect(await problems()).toEqual(['note_of_failed_refund CN2627/000011', 'payment_unsettled']);
    expect(await findings()).toEqual([
      'note_of_failed_refund CN2627/000011',
      'payment_unsettled pay_Example0000105',
    ]);
    await database.at('2026-12-05');
    expect(await problems()).toEqual([
      'note_of_failed_refund CN2627/000011',
      'payment_unsettled',
      'settlement_difference',
    ]);
    const found = () =>
      database.query("select finding, subject from billing.findings where finding like 'settlement%'");
    expect(await found()).toEqual([{ finding: 'settlement_difference', subject: 'setl_Example0000003' }]);
    await database.query("delete from billing.settlement_lines where settlement_id like '%3'");
    expect(await problems()).toContain('settlement_incomplete');
    expect(await found()).toEqual([{ finding: 'settlement_incomplete', subject: 'setl_Example0000003' }]);
    await database.query('delete from billing.refunds');
  });
});

test('in any month the sections, the codes and GSTR-3B have the same sums, and each bank line adds up', async () => {
  const property = fc.asyncProperty(randomBooks, async (books: Books) => {
    await replaceBooks(database, books);
    const made = await gstr1();
    expect(gstr1Problems(made)).toEqual([]);
    expectSameSums(made, await summary());
    const bank = await database.one(
      `select coalesce(sum(b.payments), 0)::integer as payments, count(*) filter (
         where b.difference <> 0 or b.amount <> b.payments - b.fees - b.gst_on_fees - b.refunds + b.adjustments - b.transfers
           + b.other - b.settlement_fees + b.difference
       )::integer as off from billing.bank_lines b`,
    );
    const paid = books.documents.filter(({ kind }) => kind === 'receipt').reduce(
      (sum, one) => sum + one.totals.total,
      0,
    );
    expect(bank).toEqual({ payments: paid, off: 0 });
  });
  await fc.assert(property, { numRuns: isLong ? 2000 : 60 });
});
