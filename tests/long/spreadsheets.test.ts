import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBookFiles } from '../../scripts/books/files.ts';
import { writeBooks as writeFiles } from '../../scripts/books/write-books.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { exampleBooks, writeBooks } from '../helpers/records/books.ts';
import { parseCsv } from '../helpers/records/parse-csv.ts';

/** LibreOffice, of the package libreoffice-calc. */
const office = '/usr/bin/soffice';
const isThere = await Deno.stat(office).then(() => true, () => false);
/** Commas, quotes, UTF-8, from row 1; English (India); quoted fields are no texts; numbers and dates are found. */
const csvFilter = '44,34,76,1,,16393,false,true,false';
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
    ...exampleBooks,
    documents: exampleBooks.documents.map((one) =>
      one.number === 101 ? { ...one, buyer: { ...one.buyer, name: numbers[0] } } : one
    ),
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

test.skipIf(!isThere && !Deno.env.get('CI'))(
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
      const saved = parseCsv((await read(name)).replaceAll(/\r?\n/g, '\r\n'));
      const seen = saved.map((row, at) =>
        row.map((field, column) => {
          const original = written[at]?.[column] ?? '';
          return isNumber(original) && isNumber(field) && Number(original) === Number(field) ? original : field;
        })
      );
      expect(seen, name).toEqual(written);
    }
    expect(await read('sales-register')).toContain(',08-Rajasthan,');
    for (const number of numbers) expect(await read('settlements')).toContain(`,'${number},`);
  },
);
