import { sections } from '../books/gstr1-sections.ts';

/** A part of the return, or what it lacks, and the documents that it consists of. */
export type BookSection = {
  readonly key: string;
  readonly title: string;
  /** Of its documents `d`: SQL of this program. */
  readonly where: string;
  /** The file of the offline tool. Null: none. */
  readonly file: string | null;
};

const known = 'd.taxable is not null';
const ofTool = (key: string, title: string): BookSection => {
  const section = sections[key];
  if (section === undefined) throw new Error(`The offline tool has no ${key}`);
  return { key, title, where: `${section.where} and ${known}`, file: `gstr1-${key}.csv` };
};

/** In the order of the page. Each document is in one of them, and again in the sums of the return. */
export const bookSections: readonly BookSection[] = [
  ofTool('b2b', 'Invoices to buyers with a GSTIN'),
  ofTool('b2cl', 'Large invoices to consumers of other states'),
  {
    ...{ key: 'b2cs', title: 'Other consumers, net of credit notes', file: 'gstr1-b2cs.csv' },
    where: "d.category = 'b2cs'",
  },
  ofTool('exp', 'Exports'),
  ofTool('cdnr', 'Credit notes to buyers with a GSTIN'),
  ofTool('cdnur', 'Credit notes to large consumers and abroad'),
  {
    ...{ key: 'none', title: 'Not in the return', file: null },
    where: `(d.category = 'none' or d.taxable is null)`,
  },
];

/** The sums of the return over its sections. */
export const bookSums: readonly BookSection[] = [
  {
    ...{ key: 'hsn-b2b', title: 'Table 12, sums by code: buyers with a GSTIN', file: 'gstr1-hsn-b2b.csv' },
    where: `d.category = 'b2b' and ${known}`,
  },
  {
    ...{ key: 'hsn-b2c', title: 'Table 12, sums by code: all others', file: 'gstr1-hsn-b2c.csv' },
    where: `d.category not in ('b2b', 'none') and ${known}`,
  },
  { ...{ key: 'docs', title: 'Table 13, numbers issued', file: 'gstr1-docs.csv' }, where: "d.category <> 'none'" },
];

/** What the cards open. */
export const bookCards: readonly BookSection[] = [
  { ...{ key: 'invoices', title: 'Invoices', file: null }, where: "d.kind = 'receipt'" },
  { ...{ key: 'notes', title: 'Credit notes', file: null }, where: "d.kind = 'credit_note'" },
  { ...{ key: 'taxed', title: 'Documents of the return', file: null }, where: `d.category <> 'none' and ${known}` },
];

/** Finds one of them. */
export function findSection(key: string | undefined): BookSection | undefined {
  return [...bookSections, ...bookSums, ...bookCards].find((section) => section.key === key);
}
