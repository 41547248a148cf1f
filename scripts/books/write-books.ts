import type pg from 'pg';
import { settlementColumns, settlementLineColumns, settlementLineRow, settlementRow } from './bank.ts';
import { readBankLines, readSettlementLines } from './bank-lines.ts';
import { type Months, readDocuments, readHeads, readParties, type Settings } from './database.ts';
import type { BookFiles } from './files.ts';
import { writeGstr1 } from './gstr1.ts';
import type { Progress } from './progress.ts';
import { registerColumns, registerRow } from './register.ts';
import { envelope } from './tally.ts';
import { masters } from './tally-masters.ts';
import { documentVoucher, moneyVoucher, settlementVoucher } from './tally-vouchers.ts';
import { zohoInvoiceColumns, zohoInvoiceRow, zohoNoteColumns, zohoNoteRow } from './zoho.ts';

export const groups = ['gstr1', 'tally', 'zoho', 'bank'] as const;
/** Files that are written with `--only`. */
export type Group = (typeof groups)[number];

/**
 * Writes the files of some months, of one state of the database. `only` leaves out the other groups; the summary and the
 * sales register belong to `gstr1`.
 */
export async function writeBooks(
  client: pg.Client,
  months: Months,
  files: BookFiles,
  { only, progress }: { readonly only: Group | undefined; readonly progress: Progress },
): Promise<void> {
  const isWanted = (group: Group) => only === undefined || only === group;
  const { rows: [settings] } = await client.query<Settings>(
    // A closed month keeps the GSTIN of its return.
    `select
       coalesce(
         (select m.gstr1 ->> 'gstin' from billing.book_months m where m.month = $1 and $2 = 1), s.seller_gstin
       ) as seller_gstin,
       s.tax_rate, s.tally
     from billing.settings s`,
    [months.month, months.count],
  );
  if (!settings) throw new Error('billing.settings has no row');
  if (isWanted('gstr1')) {
    const { rows: [made] } = await client.query<{ summary: string }>(
      'select billing.book_summary($1, $2)::text as summary',
      [months.month, months.count],
    );
    const file = await files.open('summary.json');
    await file.write(`${JSON.stringify(JSON.parse(made?.summary ?? 'null'), null, 1)}\n`);
    // Without a GSTIN there is none.
    if (settings.seller_gstin !== null) await writeGstr1(client, months, files);
  }
  if (isWanted('gstr1') || isWanted('tally') || isWanted('zoho')) {
    await writeDocuments(client, months, files, { isWanted, settings, progress });
  }
  if (isWanted('bank')) {
    const write = await files.openTable('settlement-lines', settlementLineColumns);
    for await (const line of readSettlementLines(client, months)) {
      await write(settlementLineRow(line));
      progress.step();
    }
  }
  if (isWanted('bank') || isWanted('tally')) await writeSettlements(client, months, files, { isWanted, settings });
}

type Work = { readonly isWanted: (group: Group) => boolean; readonly settings: Settings };

/** All files that list the documents, in one pass. */
async function writeDocuments(
  client: pg.Client,
  months: Months,
  files: BookFiles,
  { isWanted, settings, progress }: Work & { readonly progress: Progress },
): Promise<void> {
  const names = (name: string) => settings.tally[name] ?? name;
  const register = isWanted('gstr1') ? await files.openTable('sales-register', registerColumns) : undefined;
  const invoices = isWanted('zoho') ? await files.openCsv('zoho-invoices.csv', zohoInvoiceColumns) : undefined;
  const notes = isWanted('zoho') ? await files.openCsv('zoho-credit-notes.csv', zohoNoteColumns) : undefined;
  const vouchers = isWanted('tally') ? await openTally(files, 'tally-vouchers.xml', settings) : undefined;
  const money = isWanted('tally') ? await openTally(files, 'tally-money.xml', settings) : undefined;
  for await (const document of readDocuments(client, months)) {
    await register?.(registerRow(document));
    if (document.kind === 'receipt') await invoices?.(zohoInvoiceRow(document));
    else await notes?.(zohoNoteRow(document));
    // Without its rupees it is a problem, not a voucher.
    if (document.rupee_total !== null) {
      await vouchers?.write(documentVoucher(document, names));
      await money?.write(moneyVoucher(document, names));
    }
    progress.step();
  }
  await vouchers?.end();
  await money?.end();
  if (isWanted('tally')) {
    const file = await openTally(files, 'tally-masters.xml', settings, 'All Masters');
    const heads = await readHeads(client, months);
    for await (const text of masters(readParties(client, months), heads, months, settings, names)) {
      await file.write(text);
    }
    await file.end();
  }
}

async function writeSettlements(client: pg.Client, months: Months, files: BookFiles, work: Work): Promise<void> {
  const { isWanted, settings } = work;
  const names = (name: string) => settings.tally[name] ?? name;
  const bank = isWanted('bank') ? await files.openTable('settlements', settlementColumns) : undefined;
  const vouchers = isWanted('tally') ? await openTally(files, 'tally-settlements.xml', settings) : undefined;
  for await (const line of readBankLines(client, months)) {
    await bank?.(settlementRow(line));
    if (line.status === 'processed') await vouchers?.write(settlementVoucher(line, names));
  }
  await vouchers?.end();
}

async function openTally(
  files: BookFiles,
  name: string,
  { tally }: Settings,
  report: 'All Masters' | 'Vouchers' = 'Vouchers',
): Promise<{ write(text: string): Promise<void>; end(): Promise<void> }> {
  const [head, end] = envelope(report, tally.company);
  const file = await files.open(name);
  await file.write(head);
  return { write: (text) => file.write(text), end: () => file.write(end) };
}
