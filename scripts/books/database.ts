import type pg from 'pg';

/** How many rows are read at once. */
const batch = 2000;

/** The months of the books: from the first day of the first month, to that of the last. */
export type Months = { readonly from: string; readonly month: string; readonly count: 1 | 3 };

/** The settings that the files need. */
export type Settings = { seller_gstin: string | null; tax_rate: number | null; tally: Record<string, string> };

/** A document, as `billing.book_documents` has it. Amounts are positive, in paise but for `total`. */
export type BookDocument = {
  readonly id: string;
  readonly kind: 'receipt' | 'credit_note';
  readonly document_number: string;
  readonly document_date: string;
  readonly category: 'b2b' | 'b2cl' | 'b2cs' | 'expwp' | 'expwop' | 'none';
  readonly gateway_payment_id: string | null;
  readonly refund_id: string | null;
  readonly dispute_id: string | null;
  /** Whether the dispute has an earlier note. */
  readonly is_further: boolean;
  readonly reissue_of: string | null;
  readonly against: string | null;
  readonly against_date: string | null;
  readonly place_of_supply: string | null;
  readonly is_inter: boolean | null;
  readonly buyer: Readonly<Record<'name' | 'gstin' | 'address' | 'state' | 'country', string | null | undefined>>;
  readonly description: string | null;
  readonly item: string | null;
  readonly sac: string | null;
  readonly sign: 1 | -1;
  readonly currency: string;
  readonly decimals: number;
  /** In minor units of the currency. */
  readonly total: number;
  readonly rupee_rate: string | null;
  readonly rate: number;
  readonly rupee_total: number | null;
  readonly taxable: number | null;
  readonly igst: number;
  readonly cgst: number;
  readonly sgst: number;
  readonly other_tax: number;
};

const documentColumns =
  `d.id, d.kind, d.document_number, d.document_date, d.category, d.gateway_payment_id, d.refund_id,
  d.dispute_id, d.dispute_id is not null and billing.noted_of_dispute(d.dispute_id, d.id) > d.total as is_further, d.reissue_of,
  d.against, d.against_date, d.place_of_supply, d.is_inter, d.buyer, d.description, d.item, d.sac,
  d.sign, d.currency, billing.minor_units(d.currency) as decimals, d.total, d.rupee_rate, d.rate, d.rupee_total, d.taxable,
  d.igst, d.cgst, d.sgst, d.other_tax`;

/** The documents of the months. `where` and `order` are SQL of this program. */
export function readDocuments(
  client: pg.Client,
  { from, month }: Months,
  { where = 'true', order = 'd.kind desc, d.series, d.number' } = {},
): AsyncGenerator<BookDocument> {
  return readRows<BookDocument>(
    client,
    `select to_json(d) from (
       select ${documentColumns} from billing.book_documents d
       where d.tax_period between '${from}' and '${month}' and ${where}
       order by ${order}
     ) d`,
  );
}

/** Which kinds of tax the documents of the months have, and whether a settlement has fees that customers paid on top. */
export type Heads = { readonly [Name in 'gst' | 'other' | 'onTop']: boolean };

export async function readHeads(client: pg.Client, { from, month }: Months): Promise<Heads> {
  const { rows: [heads] } = await client.query<Heads>(
    `select coalesce(bool_or(d.igst + d.cgst + d.sgst > 0), false) as gst, coalesce(bool_or(d.other_tax > 0), false) as other,
       exists (
         select from billing.bank_lines b
         where b.settled_on >= $1::date and b.settled_on < $2::date + interval '1 month' and b.fees_on_top <> 0
       ) as "onTop"
     from billing.book_documents d
     where d.tax_period between $1 and $2`,
    [from, month],
  );
  return heads ?? { gst: false, other: false, onTop: false };
}

/** The part of a document that names its buyer. */
export type Party = Pick<BookDocument, 'buyer' | 'place_of_supply'>;

/** The buyers with a GSTIN or abroad by their names, as the newest invoice of the months has each. */
export function readParties(client: pg.Client, { from, month }: Months): AsyncGenerator<Party> {
  return readRows<Party>(
    client,
    `select to_json(d) from (
       select distinct on (d.buyer ->> 'name' collate "C", d.buyer ->> 'gstin', d.buyer ->> 'country') d.buyer, d.place_of_supply
       from billing.book_documents d
       where d.tax_period between '${from}' and '${month}' and d.rupee_total is not null
         and (d.buyer ->> 'gstin' is not null or d.place_of_supply = '96')
       order by d.buyer ->> 'name' collate "C", d.buyer ->> 'gstin', d.buyer ->> 'country', d.kind desc, d.document_date desc,
         d.number desc
     ) d`,
  );
}

/** Reads one value of JSON in each row of a query, through a cursor. */
export async function* readRows<Row>(client: pg.Client, query: string): AsyncGenerator<Row> {
  await client.query(`declare rows no scroll cursor for ${query}`);
  try {
    while (true) {
      const { rows } = await client.query({ text: `fetch ${batch} from rows`, rowMode: 'array' });
      for (const [row] of rows) yield row;
      if (rows.length < batch) return;
    }
  } finally {
    await client.query('close rows').catch(() => {}); // the transaction failed before
  }
}
