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

/** The documents of the months. `where` and `order` are SQL of this program. */
export function readDocuments(
  client: pg.Client,
  { from, month }: Months,
  { where = 'true', order = 'd.kind desc, d.series, d.number' } = {},
): AsyncGenerator<BookDocument> {
  return readRows<BookDocument>(
    client,
    `select to_json(d) from (
       select d.*, billing.minor_units(d.currency) as decimals from billing.book_documents d
       where d.tax_period between '${from}' and '${month}' and ${where}
       order by ${order}
     ) d`,
  );
}

/** A settlement, as `billing.bank_lines` has it, in paise. */
export type BankLine = {
  readonly settlement_id: string;
  readonly utr: string | null;
  readonly settled_on: string;
  readonly status: string;
  readonly lines: number;
} & Readonly<Record<BankSum, number>>;
export const bankSums = [
  ...['amount', 'payments', 'fees', 'gst_on_fees', 'refunds', 'adjustments', 'transfers', 'other'] as const,
  ...['settlement_fees', 'difference', 'fees_from_credits'] as const,
];
type BankSum = (typeof bankSums)[number];

/** In these months, by the day in India. `b` is the settlement. */
const isOfMonths = ({ from, month }: Months) =>
  `b.settled_on >= date '${from}' and b.settled_on < date '${month}' + interval '1 month'`;

export function readBankLines(client: pg.Client, months: Months): AsyncGenerator<BankLine> {
  return readRows<BankLine>(
    client,
    `select to_json(b) from (
       select b.* from billing.bank_lines b where ${isOfMonths(months)} order by b.settled_on, b.settlement_id
     ) b`,
  );
}

/** A line of a settlement, in paise. `document_number` is `other_apps` where the payment is not known here. */
export type SettlementLine =
  & {
    readonly [Name in 'settlement_id' | 'settled_on' | 'type' | 'entity_id']: string;
  }
  & {
    readonly [Name in 'utr' | 'payment_id' | 'document_number']: string | null;
  }
  & {
    readonly [Name in 'amount' | 'fee' | 'tax' | 'debit' | 'credit']: number;
  };

export function readSettlementLines(client: pg.Client, months: Months): AsyncGenerator<SettlementLine> {
  return readRows<SettlementLine>(
    client,
    `select to_json(x) from (
       select b.settlement_id, b.utr, b.settled_on, l.type, l.entity_id, its.payment_id,
         case
           when its.payment_id is not null and p.id is null then 'other_apps'
           when l.type = 'refund' then n.document_number
           else r.document_number
         end as document_number,
         l.amount, l.fee, l.tax, l.debit, l.credit
       from (
         select s.settlement_id, s.utr, billing.day_in_india(s.created_at) as settled_on from billing.settlements s
       ) b
       join billing.settlement_lines l using (settlement_id)
       cross join lateral (
         select coalesce(l.payment_id, case when l.type = 'payment' then l.entity_id end) as payment_id
       ) its
       left join public.payments p on p.gateway_payment_id = its.payment_id
       left join billing.standing_receipts r on r.payment_id = p.id
       left join public.receipts n on n.refund_id = l.entity_id
       where ${isOfMonths(months)}
       order by b.settled_on, b.settlement_id, array_position(array['payment', 'refund', 'transfer', 'adjustment'], l.type),
         l.entity_id
     ) x`,
  );
}

/** Reads one value of JSON in each row of a query, through a cursor. */
async function* readRows<Row>(client: pg.Client, query: string): AsyncGenerator<Row> {
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
