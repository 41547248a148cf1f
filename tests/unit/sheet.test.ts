import { describe, expect, test } from 'vitest';
import { csvLine, type Value } from '../../scripts/console/csv.ts';
import { openSheet } from '../../scripts/console/sheet.ts';
import { readSheet, readTable } from '../helpers/records/read-sheet.ts';

const columns = ['user_id', 'email', 'name', 'at', 'on', 'currency', 'amount', 'months'];
const user = '11111111-2222-4333-8444-555555555555';
const time = { date: '2026-11-04T18:29:59.123Z' };

/** Writes rows, and reads them back. */
async function write(rows: readonly (readonly Value[])[], names = columns) {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const sheet = openSheet('payments', names, new WritableStream({ write: (bytes) => void chunks.push(bytes.slice()) }));
  for (const row of rows) await sheet.write(row);
  await sheet.end();
  return await readSheet(await new Blob(chunks).bytes());
}

describe('a spreadsheet', () => {
  const row = (name: string | null, currency: string, amount: string): Value[] => [
    ...[user, 'asha@example.com', name, time, { date: '2026-02-28' }, currency],
    ...[{ exact: amount }, 12],
  ];
  const rows = [
    row('Asha', 'INR', '999.00'),
    row(null, 'JPY', '-1000'),
    row('', 'KWD', '0.005'),
    row('=1', 'INR', '0.10'),
  ];

  test('has the cells of the CSV file: numbers with the decimals of the currency of the row, dates, texts', async () => {
    const { rows: read, sheet } = await write(rows);
    expect(read).toEqual(readTable([columns, ...rows].map(csvLine).join('')));
    expect(sheet.rows.slice(1).map((cells) => cells[6])).toEqual([999, -1000, 0.005, 0.1]);
    const formats = [1, 2, 3].map((at) => sheet.cells?.get(`${at},6`)?.style?.numFmt);
    expect(formats).toEqual(['0.00', '0', '0.000']);
    expect(sheet.rows[1]?.slice(3, 5)).toEqual([new Date(time.date), new Date('2026-02-28')]);
    expect(sheet.cells?.get('1,3')?.style?.numFmt).toBe('yyyy-mm-dd hh:mm:ss "UTC"');
  });

  test('keeps its header in sight, and its columns are as wide as ids, times and amounts', async () => {
    const { rows: read, sheet } = await write([...rows, row('Asha', 'INR', '12345678901.00')]);
    expect(sheet.freezePane).toMatchObject({ rows: 1 });
    for (const [column, name] of columns.entries()) {
      const longest = Math.max(...read.map((cells) => cells[column]?.length ?? 0));
      expect([name, (sheet.columns?.[column]?.width ?? 0) > longest]).toEqual([name, true]);
    }
  });

  test.each([
    ...['=1+1', '+91 98765 43210', '-5', '@SUM(A1)', '\t=1', '=HYPERLINK("http://a.example")', '0318912345678', '1E5'],
    ...[
      '_x003D_1',
      '12345678901234567890',
      '123E4',
      '007',
      ' two\nlines ',
      '<b>&"</b>',
      'हिन्दी',
      'true',
      '2026-11-04',
      "'quoted",
    ],
  ])('keeps %j as text, also when its cell is edited', async (text) => {
    const { sheet } = await write([[text]], ['name']);
    expect(sheet.rows[1]).toEqual([text]);
    expect(sheet.cells?.get('1,0')).toMatchObject({ type: 'string', style: { numFmt: '@' } });
  });

  test('opens whatever a customer calls themselves', async () => {
    const { sheet } = await write([['a\uFFFF\uFFFE\u0001b'], ['x'.repeat(40_000)]], ['name']);
    expect(sheet.rows.slice(1)).toEqual([['a\uFFFD\uFFFD\u0001b'], ['x'.repeat(32_767)]]);
  });

  test('without rows has its header', async () => {
    expect((await write([])).rows).toEqual([columns]);
  });

  test('that cannot be written fails with the reason of the disk, at a row or at the end', async () => {
    const full = () => Promise.reject(new Error('No space left (os error 28)'));
    const sheet = openSheet('payments', ['name'], new WritableStream({ write: full }));
    const writeAll = async () => {
      for (let row = 0; row < 20_000; row += 1) await sheet.write([crypto.randomUUID()]);
    };
    await expect(writeAll()).rejects.toThrow('os error 28');
    await expect(sheet.end()).rejects.toThrow('os error 28');
    const small = openSheet('payments', ['name'], new WritableStream({ write: full }));
    await small.write(['a']);
    await expect(small.end()).rejects.toThrow('os error 28');
  });
});
