import { readXlsx } from 'hucre/xlsx';
import { parseCsv } from './parse-csv.ts';

/** Reads an .xlsx file of one sheet. @returns the sheet, and its rows as a CSV file would have them */
export async function readSheet(bytes: Uint8Array) {
  const { sheets: [sheet, ...others] } = await readXlsx(bytes, { readStyles: true });
  if (sheet === undefined || others.length > 0) throw new Error('not one sheet');
  const rows = sheet.rows.map((row, at) =>
    row.map((value, column) => {
      const cell = sheet.cells?.get(`${at},${column}`);
      if (cell?.formula !== undefined) throw new Error(`a formula in ${at},${column}`);
      const format = cell?.style?.numFmt ?? '';
      if (value instanceof Date) return value.toISOString().slice(0, format.includes('UTC') ? undefined : 10);
      const isAmount = typeof value === 'number' && format.startsWith('0');
      return isAmount ? value.toFixed(format.split('.')[1]?.length ?? 0) : String(value ?? '');
    })
  );
  return { sheet, rows };
}

/** The rows of a CSV file, without the apostrophes that keep their texts in a spreadsheet. */
export function readTable(csv: string): string[][] {
  return parseCsv(csv).map((row) => row.map((field) => field.replace(/^'(?='*[=+\-@\t\r\d])/, '')));
}
