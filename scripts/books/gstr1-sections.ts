import type { Value } from '../console/csv.ts';
import { amount, rateText } from './amounts.ts';
import type { BookDocument } from './database.ts';
import { placeText } from './states.ts';

/** The documents of a section of the return, as the offline tool reads them. */
export type Section = {
  readonly columns: readonly string[];
  readonly where: string;
  readonly order: string;
  readonly row: (document: BookDocument) => Value[];
};

/** The columns of the tax. */
export const taxed = ['Rate', 'Taxable Value', 'Cess Amount'];
const taxedRow = ({ rate, taxable }: BookDocument) => [rateText(rate), amount(taxable), amount(0)];
/** 04-Nov-2026, which a spreadsheet that saves the file writes otherwise. */
const day = (date: string) => {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
  const [year, month, day] = date.split('-');
  return `${day}-${months[Number(month) - 1]}-${year}`;
};
const headOf = (document: BookDocument) => [document.document_number, day(document.document_date)];
const noteTypes: Record<string, string> = { b2cl: 'B2CL', expwp: 'EXPWP', expwop: 'EXPWOP' };

/** By the end of the name of their file. */
export const sections: Readonly<Record<string, Section>> = {
  b2b: {
    columns: [
      ...[
        'GSTIN/UIN of Recipient',
        'Receiver Name',
        'Invoice Number',
        'Invoice date',
        'Invoice Value',
        'Place Of Supply',
      ],
      ...['Reverse Charge', 'Applicable % of Tax Rate', 'Invoice Type', 'E-Commerce GSTIN', ...taxed],
    ],
    where: "d.kind = 'receipt' and d.category = 'b2b'",
    order: `d.buyer ->> 'gstin', d.series, d.number`,
    row: (document) => [
      ...[document.buyer.gstin ?? null, document.buyer.name ?? null, ...headOf(document), amount(document.rupee_total)],
      ...[placeText(document.place_of_supply), 'N', null, 'Regular B2B', null, ...taxedRow(document)],
    ],
  },
  b2cl: {
    columns: [
      ...['Invoice Number', 'Invoice date', 'Invoice Value', 'Place Of Supply', 'Applicable % of Tax Rate'],
      ...[...taxed, 'E-Commerce GSTIN'],
    ],
    where: "d.kind = 'receipt' and d.category = 'b2cl'",
    order: 'd.place_of_supply, d.series, d.number',
    row: (document) => [
      ...[...headOf(document), amount(document.rupee_total), placeText(document.place_of_supply), null],
      ...[...taxedRow(document), null],
    ],
  },
  exp: {
    columns: [
      ...['Export Type', 'Invoice Number', 'Invoice date', 'Invoice Value', 'Port Code', 'Shipping Bill Number'],
      ...['Shipping Bill Date', ...taxed],
    ],
    where: "d.kind = 'receipt' and d.category in ('expwp', 'expwop')",
    order: 'd.category, d.series, d.number',
    row: (document) => [
      ...[document.category === 'expwp' ? 'WPAY' : 'WOPAY', ...headOf(document), amount(document.rupee_total)],
      ...[null, null, null, ...taxedRow(document)],
    ],
  },
  cdnr: {
    columns: [
      ...['GSTIN/UIN of Recipient', 'Receiver Name', 'Note Number', 'Note Date', 'Note Type', 'Place Of Supply'],
      ...['Reverse Charge', 'Note Supply Type', 'Note Value', 'Applicable % of Tax Rate', ...taxed],
    ],
    where: "d.kind = 'credit_note' and d.category = 'b2b'",
    order: `d.buyer ->> 'gstin', d.series, d.number`,
    row: (document) => [
      ...[document.buyer.gstin ?? null, document.buyer.name ?? null, ...headOf(document), 'C'],
      ...[placeText(document.place_of_supply), 'N', 'Regular B2B', amount(document.rupee_total), null],
      ...taxedRow(document),
    ],
  },
  cdnur: {
    columns: [
      ...['UR Type', 'Note Number', 'Note Date', 'Note Type', 'Place Of Supply', 'Note Value'],
      ...['Applicable % of Tax Rate', ...taxed],
    ],
    where: "d.kind = 'credit_note' and d.category in ('b2cl', 'expwp', 'expwop')",
    order: 'd.series, d.number',
    row: (document) => [
      ...[noteTypes[document.category] ?? null, ...headOf(document), 'C'],
      ...[
        document.category === 'b2cl' ? placeText(document.place_of_supply) : null,
        amount(document.rupee_total),
        null,
      ],
      ...taxedRow(document),
    ],
  },
};
