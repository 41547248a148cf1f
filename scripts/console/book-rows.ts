// What the pages of the books read. Amounts are paise.

import type { BankLine } from '../books/bank-lines.ts';

/** Months such as 2026-11: of today in India, the newest that is over, and the first with a document or settlement. */
export type BookMonths = { today: string; over: string; first: string };

/** Of a tax: paise. */
type BookTaxes = Record<'taxable' | 'igst' | 'cgst' | 'sgst', number>;

/** What is known of a month of the books. Times are null while it is open. */
export type BookState = {
  closed_at: string | null;
  closed_by: string | null;
  seller_gstin: string | null;
  /** As `billing.book_summary` has it. */
  summary: {
    invoices: number;
    credit_notes: number;
    gstr3b: Record<'3.1(a)' | '3.1(b)', BookTaxes>;
    bank: { settlements: number; amount: number; difference: number };
  };
  /** Whether the login may close it. */
  may_close: boolean;
};

/** The sums of a section in paise, of credit notes negative. */
export type BookSums = { key: string; documents: number; taxable: number; tax: number };

/** A document of a section. Amounts are positive, in paise but for `total`; null: not known. */
export type BookPaper = {
  id: string;
  kind: 'receipt' | 'credit_note';
  document_number: string;
  document_date: string;
  buyer: string | null;
  gstin: string | null;
  place_of_supply: string | null;
  sign: 1 | -1;
  currency: string;
  total: number;
  taxable: number | null;
  tax: number;
  against: string | null;
  gateway_payment_id: string | null;
  issued_at: string;
  user_id: string | null;
};

/** A line of a settlement in paise; the fee is without its GST. */
export type BookLine = {
  type: string;
  entity_id: string;
  payment_id: string | null;
  document_number: string | null;
  amount: number;
  fee: number;
  tax: number;
  debit: number;
  credit: number;
  user_id: string | null;
  place: number;
};

/** A row of `billing.book_problems`, with its customer. `total`: of its kind. */
export type BookProblem = {
  problem: string;
  document_number: string | null;
  payment_id: string | null;
  detail: string;
  total: number;
  user_id: string | null;
  email: string | null;
};

/** A month, such as 2026-11. */
export type Books = {
  month: string;
  known: BookMonths;
  state: BookState;
  sections: BookSums[];
  sums: BookSums[];
  bank: BankLine[];
  problems: BookProblem[];
};
