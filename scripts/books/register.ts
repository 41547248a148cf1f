import type { Value } from '../console/csv.ts';
import { amount } from './amounts.ts';
import type { BookDocument } from './database.ts';
import { placeText } from './states.ts';

export const registerColumns = [
  ...['document_number', 'document_date', 'kind', 'category', 'buyer_name', 'buyer_gstin', 'place_of_supply', 'sac'],
  ...['currency', 'total', 'rupee_total', 'taxable', 'rate', 'igst', 'cgst', 'sgst', 'gateway_payment_id', 'refund_id'],
  'against',
];

/** A line of the sales register; what a credit note takes is negative. */
export function registerRow(document: BookDocument): Value[] {
  const { sign, rupee_total, taxable } = document;
  const signed = (paise: number | null) => amount(paise && paise * sign);
  return [
    ...[document.document_number, { date: document.document_date }, document.kind, document.category],
    ...[document.buyer.name ?? null, document.buyer.gstin ?? null, placeText(document.place_of_supply), document.sac],
    ...[document.currency, amount(document.total * sign, document.decimals), signed(rupee_total), signed(taxable)],
    ...[
      document.rate,
      ...[document.igst, document.cgst, document.sgst].map((tax) => taxable === null ? null : signed(tax)),
    ],
    ...[document.gateway_payment_id, document.refund_id, document.against],
  ];
}
