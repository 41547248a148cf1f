import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBookFiles } from '../../scripts/books/files.ts';
import { writeBooks as writeFiles } from '../../scripts/books/write-books.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { exampleBooks, exampleWith, writeBooks } from '../helpers/records/books.ts';
import { parseCsv } from '../helpers/records/parse-csv.ts';
import { readTable } from '../helpers/records/read-sheet.ts';

/** LibreOffice, of the package libreoffice-calc. */
const office = '/usr/bin/soffice';
const isThere = await Deno.stat(office).then(() => true, () => false);
/** Commas, quotes, UTF-8, from row 1; English (India); quoted fields are no texts; numbers and dates are found. */
const csvFilter = '44,34,76,1,,16393,false,true,false';
/** The same, and cells are saved as they are shown. */
const shownFilter = '44,34,76,1,,16393,false,true,true';
/** What a spreadsheet would change, were it written as it is. */
const numbers = ['0318912345678', '12345678901234567890', '123E4'];

const database = useDatabase({
  findings: { captured_not_fulfilled: 'any', state_missing: 'any', settlement_incomplete: numbers.length },
});
let folder: string;
beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: 'spreadsheets-' });
  const [first] = exampleBooks.settlements;
  if (first === undefined) throw new Error('the example has no settlement');
  const settlements = numbers.map((utr, index) => ({ ...first, id: `setl_Number${index}`, utr, amount: 0, lines: [] }));
  await writeBooks(database, {
    ...exampleWith(({ number, buyer }) => number === 101 ? { buyer: { ...buyer, name: numbers[0] } } : {}),
    settlements: [...exampleBooks.settlements, ...settlements],
  });
  const client = await database.connect();
  await client.query('begin isolation level repeatable read read only');
  const files = await openBookFiles(`${folder}/books`);
  const options = { only: undefined, progress: { step() {}, end() {} } };
  await writeFiles(client, { from: '2026-11-01', month: '2026-11-01', count: 1 }, files, options);
  await client.query('rollback');
  await files.finish();
});
afterAll(() => Deno.remove(folder, { recursive: true }));

/** Opens files in the spreadsheet, and saves them in another format. @returns the folder */
async function convert(paths: readonly string[], format: string, more: readonly string[] = []): Promise<string> {
  const to = await Deno.makeTempDir({ dir: folder });
  const { success, stderr } = await new Deno.Command(office, {
    args: [
      ...[`-env:UserInstallation=file://${folder}/profile`, '--headless', ...more, '--convert-to', format],
      ...['--outdir', to, ...paths],
    ],
    signal: AbortSignal.timeout(120_000),
    stdout: 'null',
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return to;
}

const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text);

/** The rows that a spreadsheet saved, with a number as it was written where it is the same number. */
async function readSaved(path: string, written: readonly (readonly string[])[]): Promise<string[][]> {
  const saved = parseCsv((await Deno.readTextFile(path)).replaceAll(/\r?\n/g, '\r\n'));
  return saved.map((row, at) =>
    row.map((field, column) => {
      const original = written[at]?.[column] ?? '';
      return isNumber(original) && isNumber(field) && Number(original) === Number(field) ? original : field;
    })
  );
}

const needsOffice = test.skipIf(!isThere && !Deno.env.get('CI'));

needsOffice(
  'a spreadsheet that opens and saves the files for it keeps each digit, leading zero and date (needs libreoffice-calc)',
  async () => {
    const names = ['sales-register', 'settlements', 'settlement-lines', 'zoho-invoices', 'zoho-credit-notes'];
    const opened = await convert(names.map((name) => `${folder}/books/${name}.csv`), 'xlsx', [
      `--infilter=CSV:${csvFilter}`,
    ]);
    const again = await convert(
      names.map((name) => `${opened}/${name}.xlsx`),
      `csv:Text - txt - csv (StarCalc):${csvFilter}`,
    );
    const read = (name: string) => Deno.readTextFile(`${again}/${name}.csv`);
    for (const name of names) {
      const written = parseCsv(await Deno.readTextFile(`${folder}/books/${name}.csv`));
      expect(await readSaved(`${again}/${name}.csv`, written), name).toEqual(written);
    }
    expect(await read('sales-register')).toContain(',08-Rajasthan,');
    for (const number of numbers) expect(await read('settlements')).toContain(`,'${number},`);
  },
);

needsOffice(
  'a spreadsheet opens the .xlsx files with the cells of the CSV files (needs libreoffice-calc)',
  async () => {
    const books = ['sales-register', 'settlements', 'settlement-lines'];
    const files = await openBookFiles(`${folder}/exports`);
    const columns = ['name', 'captured_at', 'currency', 'paid'];
    const write = await files.openTable('payments', columns);
    const texts = [
      ...numbers,
      '=1+1',
      '+91 98765 43210',
      '@SUM(A1)',
      '_x0041_',
      '-5',
      '2026-11-04',
      'true',
      '"a", <b>',
      'हिन्दी',
    ];
    const amounts = [['INR', '999.00'], ['JPY', '1000'], ['KWD', '-0.005']] as const;
    for (const text of texts) {
      for (const [currency, exact] of amounts) {
        await write([text, { date: '2026-11-04T18:29:59.000Z' }, currency, { exact }]);
      }
    }
    await files.finish();
    const saved = await convert(
      [...books.map((name) => `${folder}/books/${name}.xlsx`), `${folder}/exports/payments.xlsx`],
      `csv:Text - txt - csv (StarCalc):${shownFilter}`,
    );
    for (const name of books) {
      const written = readTable(await Deno.readTextFile(`${folder}/books/${name}.csv`));
      expect(await readSaved(`${saved}/${name}.csv`, written), name).toEqual(written);
    }
    // As the cells show it: the text, not its result; the time with its zone; the decimals of the currency.
    const shown = texts.flatMap((text) =>
      amounts.map(([currency, exact]) => [text, '2026-11-04 18:29:59 UTC', currency, exact])
    );
    expect(parseCsv((await Deno.readTextFile(`${saved}/payments.csv`)).replaceAll(/\r?\n/g, '\r\n')))
      .toEqual([columns, ...shown]);
  },
);
