import { root } from '../../../scripts/stack/root.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { createUser } from './records.ts';

type Json = Record<string, unknown>;
type Taxes = readonly { readonly name: string; readonly rate: number; readonly amount: number }[];

/** A document of a month, as the example has it. */
export type BookDocument = {
  readonly id: string;
  readonly kind: 'receipt' | 'credit_note';
  readonly series: string;
  readonly number: number;
  readonly document_number: string;
  readonly title: string;
  readonly document_date: string;
  readonly tax_period: string;
  readonly gateway_payment_id: string;
  readonly refund_id: string | null;
  readonly against: string | null;
  readonly dispute_id?: string;
  readonly reissue_of?: string;
  readonly place_of_supply: string;
  readonly currency: string;
  readonly seller: Json;
  readonly buyer: Json;
  readonly lines: readonly Json[];
  readonly totals: { readonly taxable: number; readonly taxes: Taxes; readonly total: number };
  readonly rupees: Json | null;
  readonly category: string;
};
export type BookLine = {
  readonly type: string;
  readonly entity_id: string;
  readonly payment_id: string | null;
  readonly amount: number;
  readonly fee: number;
  readonly tax: number;
  readonly debit: number;
  readonly credit: number;
};
export type BookSettlement = {
  readonly id: string;
  readonly utr: string | null;
  readonly settled_on: string;
  readonly status: string;
  readonly amount: number;
  readonly fees?: number;
  readonly lines: readonly BookLine[];
};
export type Books = {
  readonly seller: Record<'name' | 'address' | 'gstin' | 'state', string>;
  readonly documents: readonly BookDocument[];
  readonly settlements: readonly BookSettlement[];
};

/** Where the worked example and the files of its month are. */
const folder = await Deno.stat(`${root}/../shared/books/example.json`).then(
  () => `${root}/../shared/books`,
  () => `${root}/tests/fixtures/books`,
);

/** The worked example: five invoices, two credit notes and three settlements of November 2026. */
export const exampleBooks: Books = JSON.parse(await Deno.readTextFile(`${folder}/example.json`));

/** A file that the month of the worked example gives. */
export const expectedFile = (name: string): Promise<string> => Deno.readTextFile(`${folder}/expected/${name}`);

/** The names of these files. */
export const expectedFiles = (): string[] =>
  [...Deno.readDirSync(`${folder}/expected`)].map(({ name }) => name).toSorted();

/** The tables among them that are also written as spreadsheets. */
export const expectedSheets = ['sales-register', 'settlement-lines', 'settlements'];

/** The names of all files of the month. */
export const allFiles = (): string[] =>
  [...expectedFiles(), ...expectedSheets.map((name) => `${name}.xlsx`)].toSorted();

/** Writes the rows of a month as the owner: documents, payments and settlements. */
export async function writeBooks(database: TestDatabase, { seller, documents, settlements }: Books): Promise<void> {
  await database.query(
    `update billing.settings set seller_name = $1, seller_address = $2, seller_gstin = $3, seller_state = $4,
     sac = '998315', tax_rate = 1800`,
    [seller.name, seller.address, seller.gstin, seller.state],
  );
  const rows = documents.map((document) => ({
    ...document,
    // What a document has of a country is its code.
    buyer: Object.fromEntries(Object.entries(document.buyer).filter(([key]) => key !== 'country_name')),
  }));
  await database.query(
    `insert into public.payments (gateway_payment_id, amount, currency, status, captured_at)
     select distinct on (d.gateway_payment_id) d.gateway_payment_id, (d.totals ->> 'total')::bigint, d.currency, 'captured',
       (d.document_date || 'T06:30:00Z')::timestamptz
     from jsonb_to_recordset($1) d (gateway_payment_id text, totals jsonb, currency text, kind text, document_date text)
     order by d.gateway_payment_id, d.kind desc`,
    [JSON.stringify(rows)],
  );
  for (const kind of ['receipt', 'credit_note']) {
    await database.query(
      `insert into public.receipts (id, kind, series, number, document_number, title, issued_at, document_date, tax_period,
         category, receipt_id, rupees, payment_id, refund_id, dispute_id, reissue_of, place_of_supply, currency, seller, buyer, lines, totals)
       select d.id, d.kind, d.series, d.number, d.document_number, d.title, (d.document_date || 'T06:30:00Z')::timestamptz,
         d.document_date, d.tax_period, d.category, c.id, nullif(d.rupees, 'null'), p.id, d.refund_id, d.dispute_id, d.reissue_of, d.place_of_supply,
         d.currency, d.seller, d.buyer, d.lines, d.totals
       from jsonb_populate_recordset(null::public.receipts, $1) d
       join jsonb_to_recordset($1) more (id uuid, against text, gateway_payment_id text) using (id)
       join public.payments p on p.gateway_payment_id = more.gateway_payment_id
       left join public.receipts c on c.document_number = more.against`,
      [JSON.stringify(rows.filter((document) => document.kind === kind))],
    );
  }
  for (const { settled_on, lines, ...settlement } of settlements) {
    const createdAt = Date.parse(`${settled_on}T06:30:00Z`) / 1000;
    await database.one('select public.apply_settlement($1, $2)', [
      JSON.stringify({ ...settlement, created_at: createdAt }),
      JSON.stringify(lines.map((line) => ({ ...line, settlement_id: settlement.id }))),
    ]);
  }
}

/** Deletes all documents, payments and settlements. */
export async function clearBooks(database: TestDatabase): Promise<void> {
  await database.query('alter table public.receipts disable trigger user');
  await database.query(
    `truncate public.receipts, billing.documents_due, billing.settlements, billing.settlement_lines, billing.book_months`,
  );
  await database.query('alter table public.receipts enable trigger user');
  await database.query('delete from public.payments where user_id is null');
}

/** Replaces all books by these. */
export async function replaceBooks(database: TestDatabase, books = exampleBooks): Promise<void> {
  await clearBooks(database);
  await writeBooks(database, books);
}

/** The example with other documents. */
export const exampleWith = (change: (document: BookDocument) => Partial<BookDocument>): Books => ({
  ...exampleBooks,
  documents: exampleBooks.documents.map((document) => ({ ...document, ...change(document) })),
});

/** Replaces the books by the example in which the buyer of receipt 103 has no state, and is a new user. @returns the user */
export async function writeStateless(database: TestDatabase): ReturnType<typeof createUser> {
  const user = await createUser(database);
  const buyer = { name: 'Asha', gstin: null, address: null, state: null };
  await replaceBooks(database, exampleWith(({ number }) => number === 103 ? { buyer } : {}));
  const sold = "update public.payments set user_id = $1 where gateway_payment_id = 'pay_Example0000103'";
  await database.query(sold, [user.id]);
  return user;
}
