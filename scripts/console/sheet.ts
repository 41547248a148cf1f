import { writeXlsxStream } from 'hucre/xlsx';
import type { Value } from './csv.ts';

/** A spreadsheet that is being written. */
export type Sheet = {
  write(row: readonly Value[]): Promise<void>;
  end(): Promise<void>;
  /** Ends without the rest. */
  abort(): Promise<void>;
};

/** What an .xlsx file may have in a cell. */
const cellChars = 32_767;
/** The widths of columns in characters, by their names: what is too narrow for a number or a time shows only #. */
const widths: readonly [RegExp, number][] = [
  [/^user_id$/, 38],
  [/email|name/, 34],
  [/_id$|^utr$|place/, 26],
  [/(^|_)(at|until|start|end)$/, 26],
  [/./, 18],
];

/**
 * Writes rows as an .xlsx file, without keeping them. Amounts are numbers with the decimals of their currency, times are dates in
 * UTC, and every text stays text, also when the cell is edited: there are no formulas.
 */
export function openSheet(name: string, columns: readonly string[], file: WritableStream<Uint8Array>): Sheet {
  const { readable, writable } = new TransformStream<readonly Value[]>();
  const writer = writable.getWriter();
  // Read for each row: the currency of a row decides its decimals.
  let formats: readonly (string | undefined)[] = [];
  const definitions = columns.map((header, at) => ({
    header,
    width: Math.max(header.length + 2, widths.find(([names]) => names.test(header))?.[1] ?? 0),
    get numFmt() {
      return formats[at];
    },
  }));
  async function* rows() {
    for await (const row of readable) {
      formats = row.map(formatOf);
      yield row.map(cellOf);
    }
  }
  const written = writeXlsxStream(rows(), { name, columns: definitions, freezePane: { rows: 1 } }).pipeTo(file);
  written.catch(() => {}); // told by the next write, and by the end
  return {
    write: (row) => writer.write(row).catch(() => written),
    async end() {
      await writer.close().catch(() => {});
      await written;
    },
    async abort() {
      await writer.abort().catch(() => {});
      await written.catch(() => {});
    },
  };
}

function cellOf(value: Value): string | number | Date | null {
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'string') return textOf(value);
  return 'date' in value ? new Date(value.date) : Number(value.exact);
}

/** XML has no place for U+FFFE and U+FFFF, and `_x0041_` in a cell is an A: the library writes both as they are. */
function textOf(value: string): string {
  return value.replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD').slice(0, cellChars).replaceAll(
    /_(?=x[\dA-Fa-f]{4}_)/g,
    '_x005F_',
  );
}

function formatOf(value: Value): string | undefined {
  if (value === null || typeof value === 'number') return undefined;
  if (typeof value === 'string') return '@';
  if ('date' in value) return value.date.length === 10 ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm:ss "UTC"';
  return `0${value.exact.replace(/^[^.]*/, '').replaceAll(/\d/g, '0')}`;
}
