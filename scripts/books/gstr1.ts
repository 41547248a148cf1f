import type pg from 'pg';
import type { Value } from '../console/csv.ts';
import { amount, paiseOf, rateText } from './amounts.ts';
import { type Months, readDocuments } from './database.ts';
import type { BookFiles } from './files.ts';
import { type Section, sections, taxed } from './gstr1-sections.ts';
import { placeText } from './states.ts';

type Amounts = { txval: number; rt: number; iamt?: number; camt?: number; samt?: number };
type Code = Amounts & { hsn_sc: string };
type Run = { from: string; to: string; totnum: number; cancel: number };
/** The parts of the return that are sums, not documents. */
type Gstr1 = {
  b2cs?: (Amounts & { pos: string })[];
  hsn?: { hsn_b2b?: Code[]; hsn_b2c?: Code[] };
  doc_issue?: { doc_det: { doc_num: 1 | 5; docs: Run[] }[] };
};

/**
 * Writes the return as the portal reads it, and a CSV file for each section of the offline tool that has rows.
 * @param made the return, as JSON
 */
export async function writeGstr1(client: pg.Client, months: Months, files: BookFiles, made: string): Promise<void> {
  const gstr1: Gstr1 = JSON.parse(made);
  const file = await files.open('gstr1.json');
  for (const text of printed(gstr1)) await file.write(text);
  for (const [name, section] of Object.entries(sections)) {
    await writeRows(files, `gstr1-${name}.csv`, section.columns, documentRows(client, months, section));
  }
  await writeRows(
    files,
    'gstr1-b2cs.csv',
    smallColumns,
    (gstr1.b2cs ?? []).map((row) => [
      ...['OE', placeText(row.pos), null, rateText(row.rt), amount(paiseOf(row.txval)), amount(0), null],
    ]),
  );
  await writeRows(files, 'gstr1-hsn-b2b.csv', codeColumns, (gstr1.hsn?.hsn_b2b ?? []).map(codeRow));
  await writeRows(files, 'gstr1-hsn-b2c.csv', codeColumns, (gstr1.hsn?.hsn_b2c ?? []).map(codeRow));
  const natures = { 1: 'Invoices for outward supply', 5: 'Credit Note' };
  const runs = (gstr1.doc_issue?.doc_det ?? []).flatMap(({ doc_num, docs }) =>
    docs.map(({ from, to, totnum, cancel }): Value[] => [natures[doc_num], from, to, totnum, cancel])
  );
  await writeRows(files, 'gstr1-docs.csv', [
    'Nature of Document',
    'Sr. No. From',
    'Sr. No. To',
    'Total Number',
    'Cancelled',
  ], runs);
}

/** As `JSON.stringify(value, null, 1)` does it, but in parts: a section may be long. */
function* printed(value: object): Generator<string> {
  const entries = Object.entries(value);
  yield '{\n';
  for (const [index, [key, inner]] of entries.entries()) {
    const comma = index < entries.length - 1 ? ',\n' : '\n';
    const indented = (one: unknown, by: string) => JSON.stringify(one, null, 1).replaceAll('\n', `\n${by}`);
    if (!Array.isArray(inner)) {
      yield ` ${JSON.stringify(key)}: ${indented(inner, ' ')}${comma}`;
      continue;
    }
    yield ` ${JSON.stringify(key)}: [\n`;
    for (const [place, one] of inner.entries()) {
      yield `  ${indented(one, '  ')}${place < inner.length - 1 ? ',' : ''}\n`;
    }
    yield ` ]${comma}`;
  }
  yield '}\n';
}

async function writeRows(
  files: BookFiles,
  name: string,
  columns: readonly string[],
  rows: AsyncIterable<Value[]> | Iterable<Value[]>,
): Promise<void> {
  let write: ((row: readonly Value[]) => Promise<void>) | undefined;
  for await (const row of rows) {
    write ??= await files.openCsv(name, columns);
    await write(row);
  }
}

async function* documentRows(
  client: pg.Client,
  months: Months,
  { where, order, row }: Section,
): AsyncGenerator<Value[]> {
  for await (const document of readDocuments(client, months, { where: `${where} and d.taxable is not null`, order })) {
    yield row(document);
  }
}

const smallColumns = [
  ...['Type', 'Place Of Supply', 'Applicable % of Tax Rate', ...taxed, 'E-Commerce GSTIN'],
];
const codeColumns = [
  ...['HSN', 'Description', 'UQC', 'Total Quantity', 'Total Value', 'Rate', 'Taxable Value', 'Integrated Tax Amount'],
  ...['Central Tax Amount', 'State/UT Tax Amount', 'Cess Amount'],
];

function codeRow({ hsn_sc, rt, txval, iamt, camt, samt }: Code): Value[] {
  const amounts = [txval, iamt, camt, samt].map(paiseOf);
  const total = amounts.reduce((sum, one) => sum + one, 0);
  return [
    ...[hsn_sc, null, 'NA', amount(0), amount(total), rateText(rt)],
    ...amounts.map((paise) => amount(paise)),
    amount(0),
  ];
}
