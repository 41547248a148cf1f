import type pg from 'pg';
import type { Value } from '../console/csv.ts';
import { amount, paiseOf, rateText } from './amounts.ts';
import { type Months, readDocuments } from './database.ts';
import type { BookFile, BookFiles } from './files.ts';
import { type Code, type Gstr1Part, type Gstr1Sums, readGstr1 } from './gstr1-parts.ts';
import { type Section, sections, taxed } from './gstr1-sections.ts';
import { placeText } from './states.ts';

type Sums = { b2cs: Gstr1Sums['b2cs'][] } & Partial<Pick<Gstr1Sums, 'hsn' | 'doc_issue'>>;

/** Writes the return as the portal reads it, and a CSV file for each section of the offline tool that has rows. */
export async function writeGstr1(client: pg.Client, months: Months, files: BookFiles): Promise<void> {
  const sums = await writeJson(client, months, await files.open('gstr1.json'));
  for (const [name, section] of Object.entries(sections)) {
    await writeRows(files, `gstr1-${name}.csv`, section.columns, documentRows(client, months, section));
  }
  await writeRows(
    files,
    'gstr1-b2cs.csv',
    smallColumns,
    sums.b2cs.map((row) => [
      ...['OE', placeText(row.pos), null, rateText(row.rt), amount(paiseOf(row.txval)), amount(0), null],
    ]),
  );
  await writeRows(files, 'gstr1-hsn-b2b.csv', codeColumns, (sums.hsn?.hsn_b2b ?? []).map(codeRow));
  await writeRows(files, 'gstr1-hsn-b2c.csv', codeColumns, (sums.hsn?.hsn_b2c ?? []).map(codeRow));
  const natures = { 1: 'Invoices for outward supply', 5: 'Credit Note' };
  const runs = (sums.doc_issue?.doc_det ?? []).flatMap(({ doc_num, docs }) =>
    docs.map(({ from, to, totnum, cancel }): Value[] => [natures[doc_num], from, to, totnum, cancel])
  );
  const runColumns = ['Nature of Document', 'Sr. No. From', 'Sr. No. To', 'Total Number', 'Cancelled'];
  await writeRows(files, 'gstr1-docs.csv', runColumns, runs);
}

/** Writes what `JSON.stringify(value, null, 1)` gives, in parts: a section may be long. @returns what consists of sums */
async function writeJson(client: pg.Client, months: Months, file: BookFile): Promise<Sums> {
  const sums: Sums = { b2cs: [] };
  const indented = (value: unknown, by: string) => JSON.stringify(value, null, 1).replaceAll('\n', `\n${by}`);
  let last: Gstr1Part | undefined;
  const end = () => last === undefined ? '{\n' : last.is_list ? '\n ]' : '';
  for await (const part of readGstr1(client, months)) {
    const { key, is_list, value } = part;
    if (key === last?.key) await file.write(`,\n  ${indented(value, '  ')}`);
    else {
      await file.write(`${end()}${last === undefined ? '' : ',\n'} ${JSON.stringify(key)}: `);
      await file.write(is_list ? `[\n  ${indented(value, '  ')}` : indented(value, ' '));
    }
    if (part.key === 'b2cs') sums.b2cs.push(part.value);
    if (part.key === 'hsn') sums.hsn = part.value;
    if (part.key === 'doc_issue') sums.doc_issue = part.value;
    last = part;
  }
  await file.write(`${end()}\n}\n`);
  return sums;
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
