import type { Value } from '../console/csv.ts';
import { amount } from './amounts.ts';
import type { BookDocument } from './database.ts';
import { zohoCode } from './states.ts';

const buyerColumns = ['Customer Name', 'GST Treatment', 'GST Identification Number (GSTIN)', 'Place of Supply'];
const itemColumns = [
  ...['Currency Code', 'Exchange Rate', 'Item Name', 'Item Desc', 'Item Type', 'HSN/SAC', 'Quantity', 'Item Price'],
  ...['Is Inclusive Tax', 'Item Tax', 'Item Tax %', 'Item Tax Type'],
];

export const zohoInvoiceColumns = ['Invoice Number', 'Invoice Date', 'Invoice Status', ...buyerColumns, ...itemColumns];
export const zohoNoteColumns = [
  ...['Credit Note Number', 'Credit Note Date', 'Credit Note Status', 'Invoice#', 'Reference Invoice Type', 'Reason'],
  ...[...buyerColumns, ...itemColumns],
];

export function zohoInvoiceRow(document: BookDocument): Value[] {
  return [document.document_number, document.document_date, 'Sent', ...buyerOf(document), ...itemOf(document)];
}

const invoiceTypes = {
  ...{ b2b: 'Registered', b2cl: 'B2C Large', b2cs: 'B2C Others' },
  ...{ expwp: 'Export With Payment', expwop: 'Export Without Payment' },
};

export function zohoNoteRow(document: BookDocument): Value[] {
  const { category, buyer } = document;
  // A note without GST has the category none.
  const type = category === 'none' ? buyer.gstin ? invoiceTypes.b2b : invoiceTypes.b2cs : invoiceTypes[category];
  return [
    ...[document.document_number, document.document_date, 'Open', document.against, type, 'Sales Return'],
    ...[...buyerOf(document), ...itemOf(document)],
  ];
}

function buyerOf({ buyer, place_of_supply }: BookDocument): Value[] {
  if (place_of_supply === '96') return [buyer.name ?? 'Online customers', 'overseas', null, null];
  if (buyer.gstin) return [buyer.name ?? buyer.gstin, 'business_gst', buyer.gstin, zohoCode(place_of_supply)];
  return ['Online customers', 'consumer', null, zohoCode(place_of_supply)];
}

function itemOf(document: BookDocument): Value[] {
  const { category, rate, is_inter } = document;
  const tax = category === 'none'
    ? [null, null, null]
    : is_inter
    ? [`IGST${rate}`, rate, 'Item Amount']
    : [`GST${rate}`, rate, 'Tax Group'];
  return [
    ...[document.currency, { exact: document.rupee_rate ?? (document.currency === 'INR' ? '1' : '') }],
    ...[document.item, document.description, 'service', document.sac, 1, amount(document.total, document.decimals)],
    ...['TRUE', ...tax],
  ];
}
