import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { element } from '../../scripts/books/xml.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { isLong } from '../helpers/project/suite.ts';
import { runScript } from '../helpers/project/run-script.ts';
import {
  allFiles,
  exampleBooks,
  exampleWith,
  expectedFile,
  expectedFiles,
  expectedSheets,
  replaceBooks,
} from '../helpers/records/books.ts';
import { gstr1Problems } from '../helpers/records/gstr1-schema.ts';
import { parseCsv } from '../helpers/records/parse-csv.ts';
import { readSheet, readTable } from '../helpers/records/read-sheet.ts';
import { randomBooks } from '../helpers/records/random-books.ts';
import { openBookFiles } from '../../scripts/books/files.ts';
import { writeBooks as writeFiles } from '../../scripts/books/write-books.ts';

const database = useDatabase({
  // The last month is random.
  findings: {
    ...{ captured_not_fulfilled: 'any', state_missing: 'any', settlement_incomplete: 'any' },
    export_paid_in_rupees: 'any',
    seller_differs: 'any',
  },
});
let folder: string;
beforeAll(async () => void (folder = await Deno.makeTempDir({ prefix: 'books-' })));
afterAll(() => Deno.remove(folder, { recursive: true }));
beforeEach(async () => {
  await replaceBooks(database);
  await database.at('2026-12-05');
});

const run = (...args: string[]) =>
  runScript('books', [...args, '--out', `${folder}/out`], { env: { SUPPORT_DB_URL: database.url, INIT_CWD: folder } });
const written = () => [...Deno.readDirSync(`${folder}/out`)].map(({ name }) => name).toSorted();
const read = (name: string) => Deno.readTextFile(`${folder}/out/${name}`);

const rewrite = (change: Parameters<typeof exampleWith>[0]) => replaceBooks(database, exampleWith(change));

describe('npm run books', () => {
  test('writes the files of the worked example to the byte, again over those of an earlier run', async () => {
    await Deno.mkdir(`${folder}/out`, { recursive: true });
    await Deno.writeTextFile(`${folder}/out/gstr1-cdnur.csv`, 'of an earlier run');
    await Deno.writeTextFile(`${folder}/out/notes.txt`, 'not ours');
    for (let time = 0; time < 2; time += 1) {
      const { code, stdout, stderr } = await run('2026-11', '--close');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.trimEnd().split('\n')).toEqual(allFiles().map((name) => `${folder}/out/${name}`));
    }
    expect(written()).toEqual([...allFiles(), 'notes.txt'].toSorted());
    for (const name of expectedFiles()) expect(await read(name), name).toBe(await expectedFile(name));
    for (const name of expectedSheets) {
      const { rows } = await readSheet(await Deno.readFile(`${folder}/out/${name}.xlsx`));
      expect(rows, name).toEqual(readTable(await expectedFile(`${name}.csv`)));
    }
    expect(await database.query('select month::text from billing.book_months')).toEqual([{ month: '2026-11-01' }]);
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('at once with others, each writes its files, and none removes those of another', async () => {
    const target = `${folder}/shared`;
    const write = async (names: string[]) => {
      const files = await openBookFiles(target);
      for (const name of names) await (await files.open(name)).write(name);
      await files.finish();
    };
    const names = ['gstr1.json', 'summary.json', 'tally-money.xml', 'zoho-invoices.csv'];
    for (let time = 0; time < 20; time += 1) {
      await write([...names, 'gstr1-exp.csv']);
      await Promise.all([write(names), write(names), write(names)]);
      expect(Array.from(Deno.readDirSync(target), ({ name }) => name).toSorted()).toEqual(names);
    }
  });

  test('says what to look at, with its own exit code; a group alone leaves the other files', async () => {
    await rewrite(({ number }) => number === 104 ? { rupees: null } : {});
    await Deno.mkdir(`${folder}/out`, { recursive: true });
    await Deno.writeTextFile(`${folder}/out/gstr1.json`, 'filed');
    const { code, stderr } = await run('2026-11', '--only', 'tally');
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: 'rupees_missing  2627/000104  Its value in rupees is not known: the return lacks it.\n' +
        'Problems: 1. Look at them before the return is filed.\n',
    });
    expect(written()).toEqual([
      ...['gstr1.json', 'tally-masters.xml', 'tally-money.xml', 'tally-settlements.xml', 'tally-vouchers.xml'],
    ]);
    expect(await read('tally-vouchers.xml')).not.toContain('2627/000104');
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('of a quarter is one return', async () => {
    await rewrite(({ number }) => number === 101 ? { tax_period: '2026-10-01' } : {});
    const { code } = await run('--from', '2026-10', '--quarter', '--only', 'gstr1');
    expect(code).toBe(0);
    expect(await read('gstr1.json')).toBe((await expectedFile('gstr1.json')).replace('112026', '122026'));
    expect(await read('sales-register.csv')).toBe(await expectedFile('sales-register.csv'));
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('of a seller without a GSTIN has no return, and its own tax balances', async () => {
    const taxes = [{ name: 'VAT', rate: 700, amount: 6536 }];
    await rewrite(() => ({
      category: 'none',
      title: 'Receipt',
      totals: { taxable: 93364, taxes, total: 99900 },
      currency: 'INR',
    }));
    await database.set('seller_gstin = null, tax_rate = 700');
    expect((await run('2026-11')).code).toBe(0);
    expect(written().filter((name) => name.startsWith('gstr1'))).toEqual([]);
    const [voucher = ''] = (await read('tally-vouchers.xml')).match(/<VOUCHER .*?2627\/000103.*?<\/VOUCHER>/) ?? [];
    const entries = voucher.matchAll(/<LEDGERNAME>([^<]*)<.*?<AMOUNT>([^<]*)</g);
    expect([...entries].map(([, ledger, amount]) => [ledger, amount])).toEqual([
      ...[['Online Customers', '-999.00'], ['Subscription Income', '933.64'], ['Output Tax', '65.36']],
    ]);
    expect(voucher).toContain('<VCHGSTSTATUSISINCLUDED>No<');
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('of a closed month has its return, also of a seller who has no GSTIN any more', async () => {
    await run('2026-11', '--close');
    await Deno.remove(`${folder}/out`, { recursive: true });
    await database.set('seller_gstin = null');
    expect((await run('2026-11')).code).toBe(0);
    for (const name of ['gstr1.json', 'tally-masters.xml']) expect(await read(name)).toBe(await expectedFile(name));
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('has the names of the seller in Tally', async () => {
    await database.set(`tally = '{"company": "A & B", "Bank": "HDFC <1>", "Subscription Sales": "Web"}'`);
    expect((await run('2026-11', '--only', 'tally')).code).toBe(0);
    const company = '<STATICVARIABLES><SVCURRENTCOMPANY>A &amp; B</SVCURRENTCOMPANY></STATICVARIABLES></REQUESTDESC>';
    for (const name of written()) expect(await read(name), name).toContain(company);
    expect(await read('tally-settlements.xml')).toContain('<LEDGERNAME>HDFC &lt;1&gt;</LEDGERNAME>');
    expect(await read('tally-masters.xml')).toContain('<VOUCHERTYPE NAME="Web" ACTION="Create">');
    expect(await read('tally-vouchers.xml')).toContain('<VOUCHERTYPENAME>Web</VOUCHERTYPENAME>');
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('books a reissue as refunded and paid again, each once', async () => {
    // The notes take all of invoice 102, and 105 replaces it.
    await rewrite((document) =>
      document.number === 105
        ? { reissue_of: exampleBooks.documents[1]?.id ?? '', gateway_payment_id: 'pay_Example0000102' }
        : document.kind === 'credit_note'
        ? { refund_id: null }
        : {}
    );
    await run('2026-11', '--only', 'tally');
    const money = await read('tally-money.xml');
    const ids = [...money.matchAll(/REMOTEID="([^"]*)"/g)].map(([, id]) => id);
    const byDocument = exampleBooks.documents.filter(({ number }) => [105, 11, 12].includes(number)).map(({ id }) =>
      id
    );
    expect(ids.toSorted()).toEqual([
      ...byDocument,
      ...['pay_Example0000101', 'pay_Example0000102', 'pay_Example0000103', 'pay_Example0000104'],
    ].toSorted());
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('has a ledger for each tax of the month, also of before or after the registration', async () => {
    const ledgers = async () => {
      await run('2026-11', '--only', 'tally');
      const masters = await read('tally-masters.xml');
      const names = [...masters.matchAll(/<LEDGER NAME="(Output [^"]*)"/g)].map(([, name]) => name);
      await Deno.remove(`${folder}/out`, { recursive: true });
      return names;
    };
    const all = ['Output IGST', 'Output CGST', 'Output SGST', 'Output Tax'];
    await database.set('seller_gstin = null');
    expect(await ledgers()).toEqual(all);
    const taxes = [{ name: 'VAT', rate: 700, amount: 2181 }];
    await rewrite(({ number }) =>
      number === 103 ? { category: 'none', title: 'Receipt', totals: { taxable: 31152, taxes, total: 33333 } } : {}
    );
    expect(await ledgers()).toEqual(all);
  });

  test('books each note of a dispute once', async () => {
    await rewrite(({ kind }) => kind === 'credit_note' ? { refund_id: null, dispute_id: 'disp_1' } : {});
    await run('2026-11', '--only', 'tally');
    const money = await read('tally-money.xml');
    const ids = [...money.matchAll(/REMOTEID="([^"]*)"[^]*?<REFERENCE>([^<]*)</g)].map(([, ...found]) => found);
    expect(ids.slice(-2)).toEqual([
      ['disp_1', 'disp_1'],
      [exampleBooks.documents.find(({ number }) => number === 12)?.id, 'disp_1'],
    ]);
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('books a fee that the customer paid on top, and its refund, apart from what is unsettled', async () => {
    const price = { taxable: 82662, taxes: [{ name: 'IGST', rate: 1800, amount: 14880 }], total: 97542 };
    await rewrite(({ number }) => number === 101 ? { totals: price } : {});
    await database.query(
      `update public.payments set amount = 97542, paid_amount = 99900 where gateway_payment_id = 'pay_Example0000101'`,
    );
    const entries = async () => {
      await run('2026-11', '--only', 'tally');
      const [voucher = ''] = (await read('tally-settlements.xml')).match(/<VOUCHER .*?<\/VOUCHER>/) ?? [];
      const found = voucher.matchAll(/<LEDGERNAME>([^<]*)<.*?<AMOUNT>([^<]*)</g);
      return [...found].map(([, ledger, amount]) => [ledger, amount]);
    };
    expect(await entries()).toEqual([
      ...[['Payment Gateway', '1753.19'], ['Gateway Charges Collected', '23.58'], ['Bank', '-1734.83']],
      ...[['Gateway Charges', '-35.54'], ['GST on Gateway Charges', '-6.40']],
    ]);
    expect(await read('tally-masters.xml')).toContain('<LEDGER NAME="Gateway Charges Collected" ACTION="Create">');
    // Refunded in two parts, of which the second one reaches the fee.
    await database.query(
      `insert into billing.refunds (refund_id, gateway_payment_id, amount, status, created_at) values
       ('rfnd_a', 'pay_Example0000101', 90000, 'processed', '2026-11-12'),
       ('rfnd_b', 'pay_Example0000101', 9900, 'processed', '2026-11-12')`,
    );
    await database.query(
      `insert into billing.settlement_lines (settlement_id, entity_id, type, payment_id, amount, debit)
       select s.settlement_id, r.refund_id, 'refund', r.gateway_payment_id, r.amount, r.amount
       from billing.refunds r, (select min(s.settlement_id) as settlement_id from billing.settlements s) s`,
    );
    expect((await entries()).map(([ledger]) => ledger)).toEqual([
      ...['Payment Gateway', 'Bank', 'Gateway Charges', 'GST on Gateway Charges'],
    ]);
    // The rest is lost in a dispute instead, with the fee.
    await database.query("delete from billing.refunds where refund_id = 'rfnd_b'");
    await database.query(
      `with lost as (
         insert into billing.disputes (dispute_id, gateway_payment_id, amount, amount_deducted, status, event_at)
         values ('disp_b', 'pay_Example0000101', 9900, 9900, 'lost', '2026-11-13')
         returning dispute_id
       )
       update billing.settlement_lines l
       set entity_id = 'adj_b', type = 'adjustment', dispute_id = lost.dispute_id
       from lost
       where l.entity_id = 'rfnd_b'`,
    );
    expect((await entries()).map(([ledger]) => ledger)).toEqual([
      ...['Payment Gateway', 'Bank', 'Gateway Charges', 'GST on Gateway Charges'],
    ]);
    // Lost a second time, beyond what was paid: that is no fee.
    await database.query(
      `insert into billing.refunds (refund_id, gateway_payment_id, amount, status, created_at)
       values ('rfnd_b', 'pay_Example0000101', 9900, 'processed', '2026-11-12')`,
    );
    expect((await entries()).map(([ledger]) => ledger)).toEqual([
      ...['Payment Gateway', 'Gateway Charges Collected', 'Bank', 'Gateway Charges', 'GST on Gateway Charges'],
    ]);
    expect((await entries())[1]).toEqual(['Gateway Charges Collected', '23.58']);
    await database.query('delete from billing.disputes');
    await database.query('delete from billing.refunds');
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test('names the note of a failed refund beside the refund that repeats it', async () => {
    await rewrite(({ number }) => number === 11 ? { refund_id: 'rfnd_failed' } : {});
    await database.query(
      `insert into billing.refunds (refund_id, gateway_payment_id, amount, status, created_at) values
       ('rfnd_failed', 'pay_Example0000102', 33333, 'failed', '2026-11-12'),
       ('rfnd_Example0000011', 'pay_Example0000102', 33333, 'processed', '2026-11-12')`,
    );
    await run('2026-11', '--only', 'bank');
    expect(await read('settlement-lines.csv')).toBe(await expectedFile('settlement-lines.csv'));
    expect(
      await database.query("select entity_id, document_number from billing.settled_payments where kind = 'refund'"),
    ).toEqual([{ entity_id: 'rfnd_Example0000011', document_number: 'CN2627/000011' }]);
    await database.query('delete from billing.refunds');
    await Deno.remove(`${folder}/out`, { recursive: true });
  });

  test.each([
    ['of an empty month', ['2027-03'], 1, 'Nothing was written: there are no documents and no settlements.\n'],
    ['of a month that cannot be closed', ['2026-12', '--close'], 1, '2026-12 is not over\n'],
  ])('%s writes nothing', async (_, args, code, stderr) => {
    expect(await run(...args)).toEqual({ code, stdout: '', stderr });
    expect(await Deno.stat(`${folder}/out`).catch((error) => error)).toBeInstanceOf(Deno.errors.NotFound);
  });

  test.each([
    ['2026-11 and no more', ['2026-11', 'x'], "Unexpected argument 'x'"],
    ['a month', [], 'Give a month, such as 2026-11'],
    ['a real month', ['2026-13'], '2026-13: no month, such as 2026-11'],
    ['both words of a quarter', ['--from', '2026-10'], '--from and --quarter belong together'],
    ['a known group', ['2026-11', '--only', 'all'], '--only all: none of gstr1, tally, zoho, bank'],
  ])('wants %s', async (_, args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout, first: stderr.split('\n')[0] }).toEqual({ code: 2, stdout: '', first: message });
  });
});

test('an element holds any text, as a parser reads it back', async () => {
  const texts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('&<>"\']]>', 'अशा', '₹', '😀')), {
    maxLength: 5,
  });
  const property = fc.asyncProperty(texts, async (parts) => {
    const text = parts.join('').replaceAll('\0', '');
    const xml = element('A', [element('B', text, { C: text })]);
    const { inner, attribute } = await database.one(
      "select (xpath('string(/A/B)', x))[1]::text as inner, (xpath('string(/A/B/@C)', x))[1]::text as attribute from xmlparse(document $1) x",
      [xml],
    );
    // A second parser: Postgres escapes its texts again.
    const kept = text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, ' ');
    expect([inner, attribute].map((one) => unescaped(String(one)))).toEqual([kept, kept]);
  });
  await fc.assert(property, { numRuns: 200 });
});

const unescaped = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#x0d;', '\r').replaceAll(
    '&amp;',
    '&',
  );

test('in any month each voucher balances, and each CSV file has the fields of its columns', async () => {
  const client = await database.connect();
  const property = fc.asyncProperty(randomBooks, async (books) => {
    await replaceBooks(database, books);
    const files = await openBookFiles(`${folder}/random`);
    await client.query('begin isolation level repeatable read read only');
    const progress = { step() {}, end() {} };
    await writeFiles(client, { from: '2026-11-01', month: '2026-11-01', count: 1 }, files, {
      only: undefined,
      progress,
    });
    await client.query('rollback');
    const names = await files.finish();
    for (const name of names.filter((one) => one.endsWith('.xml') && one !== 'tally-masters.xml')) {
      const text = await Deno.readTextFile(`${folder}/random/${name}`);
      const sums = await database.query(
        `select (select sum(a::text::numeric) from unnest(xpath('/VOUCHER/ALLLEDGERENTRIES.LIST/AMOUNT/text()', v)) a) as sum,
           cardinality(xpath('/VOUCHER/ALLLEDGERENTRIES.LIST', v)) as entries
         from unnest(xpath('//VOUCHER', xmlparse(document $1))) v`,
        [text],
      );
      const count = name === 'tally-settlements.xml' ? books.settlements.length : books.documents.length;
      expect(sums.length, name).toBe(count);
      for (const { sum, entries } of sums) if (Number(entries) > 0) expect(Number(sum), name).toBe(0);
    }
    expect(await missingLedgers(names), 'ledgers of vouchers').toEqual([]);
    expect(gstr1Problems(JSON.parse(await Deno.readTextFile(`${folder}/random/gstr1.json`)))).toEqual([]);
    for (const name of expectedSheets) {
      const { rows } = await readSheet(await Deno.readFile(`${folder}/random/${name}.xlsx`));
      expect(rows, name).toEqual(readTable(await Deno.readTextFile(`${folder}/random/${name}.csv`)));
    }
    for (const name of names.filter((one) => one.endsWith('.csv'))) {
      const [columns, ...rows] = parseCsv(await Deno.readTextFile(`${folder}/random/${name}`));
      for (const row of rows) {
        expect(row.length, name).toBe(columns?.length);
        expect(row.filter((field) => /^[=+@\t\r]|^-(?!\d+\.\d+$)/.test(field)), name).toEqual([]);
      }
      if (name === 'sales-register.csv') {
        expect(rows.map((row) => row[0]).toSorted()).toEqual(
          books.documents.map((one) => one.document_number).toSorted(),
        );
      }
    }
  });
  await fc.assert(property, { numRuns: isLong ? 2000 : 20 });
}, 1_800_000);

/** The ledgers of the vouchers that the masters lack. */
async function missingLedgers(names: readonly string[]): Promise<unknown[]> {
  const texts = (paths: string, end: string) =>
    Promise.all(
      names.filter((name) => name.endsWith('.xml') && name.startsWith(paths)).map(async (name) =>
        (await database.query('select unnest(xpath($2, xmlparse(document $1)))::text as text', [
          await Deno.readTextFile(`${folder}/random/${name}`),
          end,
        ])).map(({ text }) => text)
      ),
    );
  const made = new Set((await texts('tally-masters', '//LEDGER/@NAME')).flat());
  return (await texts('tally-', '//ALLLEDGERENTRIES.LIST/LEDGERNAME/text()')).flat().filter((name) => !made.has(name));
}
