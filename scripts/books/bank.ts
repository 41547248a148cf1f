import type { Value } from '../console/csv.ts';
import { amount } from './amounts.ts';
import { type BankLine, bankSums, type SettlementLine } from './bank-lines.ts';

export const settlementColumns = ['settlement_id', 'utr', 'settled_on', 'status', ...bankSums, 'lines'];

export function settlementRow(line: BankLine): Value[] {
  return [
    ...[line.settlement_id, line.utr, { date: line.settled_on }, line.status],
    ...[...bankSums.map((sum) => amount(line[sum])), line.lines],
  ];
}

export const settlementLineColumns = [
  ...['settlement_id', 'utr', 'settled_on', 'type', 'entity_id', 'payment_id', 'document_number'],
  ...['amount', 'fee', 'gst_on_fee', 'debit', 'credit'],
];

/** The fee is without its GST. */
export function settlementLineRow(line: SettlementLine): Value[] {
  return [
    ...[
      line.settlement_id,
      line.utr,
      { date: line.settled_on },
      line.type,
      line.entity_id,
      line.payment_id,
      line.document_number,
    ],
    ...[line.amount, line.fee - line.tax, line.tax, line.debit, line.credit].map((paise) => amount(paise)),
  ];
}
