import { expect } from 'vitest';

type Amounts = { txval: number; iamt?: number; camt?: number; samt?: number };
type Invoice = { inum: string; val: number; itms: (Amounts & { itm_det?: Amounts })[] };
type Note = { nt_num: string; typ?: string; pos?: string; itms: { itm_det: Amounts }[] };
/** The return, as `billing.gstr1` has it. */
export type Gstr1 = {
  gstin: string;
  b2b?: { inv: Invoice[] }[];
  b2cl?: { inv: Invoice[] }[];
  b2cs?: (Amounts & { pos: string; sply_ty: string })[];
  exp?: { inv: Invoice[] }[];
  cdnr?: { nt: Note[] }[];
  cdnur?: Note[];
  hsn?: { hsn_b2b?: Amounts[]; hsn_b2c?: Amounts[] };
  doc_issue?: { doc_det: { doc_num: number; docs: { from: string; to: string; totnum: number }[] }[] };
};
type Sums = Record<'taxable' | 'igst' | 'cgst' | 'sgst', number>;
/** As `billing.book_summary` has it, in paise. */
export type Summary = {
  invoices: number;
  gstr3b: { '3.1(a)': Sums; '3.1(b)': Sums; '3.2': { pos: string; taxable: number }[] };
  bank: Record<string, number>;
};

/** Asserts that the sections, the codes of table 12 and GSTR-3B have the same taxable value and taxes. */
export function expectSameSums(made: Gstr1, { gstr3b }: Summary): void {
  const [taxed = [], zeroRated = []] = [gstr3b['3.1(a)'], gstr3b['3.1(b)']].map(({ taxable, igst, cgst, sgst }) => [
    ...[taxable, igst, cgst, sgst],
  ]);
  const whole = taxed.map((one, head) => one + (zeroRated[head] ?? 0));
  expect(sectionSums(made)).toEqual(whole);
  expect(sumUp([made.hsn?.hsn_b2b, made.hsn?.hsn_b2c].flatMap((codes) => codes ?? []))).toEqual(whole);
}

/** [taxable, igst, cgst, sgst] of all sections, in paise. */
function sectionSums({ b2b, b2cl, b2cs, exp, cdnr, cdnur }: Gstr1): number[] {
  const invoices = [b2b, b2cl, exp].flatMap((groups) => (groups ?? []).flatMap(({ inv }) => inv));
  const notes = [...(cdnr ?? []).flatMap(({ nt }) => nt), ...cdnur ?? []];
  const added = sumUp([...invoices.flatMap(({ itms }) => itms.map((item) => item.itm_det ?? item)), ...b2cs ?? []]);
  const taken = sumUp(notes.flatMap(({ itms }) => itms.map(({ itm_det }) => itm_det)));
  return added.map((sum, head) => sum - (taken[head] ?? 0));
}

function sumUp(amounts: readonly Amounts[]): number[] {
  const heads = ['txval', 'iamt', 'camt', 'samt'] as const;
  return heads.map((head) => amounts.reduce((sum, one) => sum + Math.round((one[head] ?? 0) * 100), 0));
}
