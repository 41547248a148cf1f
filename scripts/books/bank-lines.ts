import type pg from 'pg';
import { type Months, readRows } from './database.ts';

/** A settlement, as `billing.bank_lines` has it, in paise. */
export type BankLine = {
  readonly settlement_id: string;
  readonly utr: string | null;
  readonly settled_on: string;
  readonly status: string;
  readonly lines: number;
  /** What customers paid beyond the price, less what refunds have of it. */
  readonly fees_on_top: number;
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

/** All of them, as a subquery; the customer is that of the payment. */
export const settlementLines = `(
  select b.settlement_id, b.utr, b.settled_on, l.type, l.entity_id, its.payment_id,
    case
      when its.payment_id is not null and p.id is null then 'other_apps'
      when l.type = 'refund' then billing.note_of_refund(l.entity_id, p.id)
      else r.document_number
    end as document_number,
    l.amount, l.fee, l.tax, l.debit, l.credit, p.user_id,
    array_position(array['payment', 'refund', 'transfer', 'adjustment'], l.type) as place
  from (
    select s.settlement_id, s.utr, billing.day_in_india(s.created_at) as settled_on from billing.settlements s
  ) b
  join billing.settlement_lines l using (settlement_id)
  cross join lateral (
    select coalesce(l.payment_id, case when l.type = 'payment' then l.entity_id end) as payment_id
  ) its
  left join public.payments p on p.gateway_payment_id = its.payment_id
  left join billing.standing_receipts r on r.payment_id = p.id
)`;

export function readSettlementLines(client: pg.Client, months: Months): AsyncGenerator<SettlementLine> {
  return readRows<SettlementLine>(
    client,
    `select to_json(x) from (
       select b.* from ${settlementLines} b
       where ${isOfMonths(months)}
       order by b.settled_on, b.settlement_id, b.place, b.entity_id
     ) x`,
  );
}
