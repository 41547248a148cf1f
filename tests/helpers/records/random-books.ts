import fc from 'fast-check';
import type { BookDocument, BookLine, Books, BookSettlement } from './books.ts';

const seller = { name: 'Example Software LLP', address: '12 Sample Road', gstin: '29AAAAA0000A1ZY', state: '29' };
const gstins = ['29BBBBB1111B1ZJ', '27AAPFU0939F1ZV'];
const names = ['Asha Rao', 'Rao & Sons <Pvt> "Ltd"', '=HYPERLINK("x")', 'अशा राव', 'A, B\nC', "O'Neil"];

const buyers = fc.record({
  name: fc.oneof(fc.constantFrom(...names), fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' })),
  gstin: fc.option(fc.constantFrom(...gstins), { freq: 2 }),
  state: fc.constantFrom('29', '27', '08', '04', '96'),
});
const sales = fc.record({
  buyer: buyers,
  amount: fc.oneof(fc.integer({ min: 100, max: 500_000 }), fc.constantFrom(10_000_000, 10_000_001, 50_000_000)),
  rate: fc.constantFrom(1800, 1800, 1800, 500),
  isTaxedExport: fc.boolean(),
  /** What is refunded, in parts of a hundred of what is left. */
  refunds: fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 2 }),
  day: fc.integer({ min: 1, max: 28 }),
  /** Whether the gateway took its fee from credits. */
  isFeeOnCredit: fc.boolean(),
});
const settled = fc.record({ parts: fc.integer({ min: 1, max: 4 }), adjustment: fc.integer({ min: -500, max: 500 }) });

/** Months of up to 12 sales of every category, with their refunds and settlements. */
export const randomBooks: fc.Arbitrary<Books> = fc.tuple(fc.array(sales, { maxLength: 12 }), settled).map(
  ([drawn, { parts, adjustment }]) => {
    const documents: BookDocument[] = [];
    const lines: BookLine[] = [];
    let notes = 0;
    for (const [index, sale] of drawn.entries()) {
      const receipt = receiptOf(sale, index + 1);
      documents.push(receipt);
      const fee = Math.round(sale.amount * 0.0236);
      lines.push(lineOf('payment', receipt.gateway_payment_id, sale.amount, {
        ...{ fee, tax: Math.round(fee * 18 / 118), credit: sale.amount - (sale.isFeeOnCredit ? 0 : fee) },
      }));
      let left = sale.amount;
      for (const percent of sale.refunds) {
        const amount = Math.max(1, Math.floor(left * percent / 100));
        if (left <= 0) break;
        left -= amount;
        const note = noteOf(receipt, amount, ++notes);
        documents.push(note);
        lines.push({
          ...lineOf('refund', note.refund_id ?? '', amount, { debit: amount }),
          payment_id: receipt.gateway_payment_id,
        });
      }
    }
    if (adjustment !== 0) {
      const amount = Math.abs(adjustment);
      lines.push(lineOf('adjustment', 'adj_1', amount, adjustment > 0 ? { credit: amount } : { debit: amount }));
    }
    return { seller, documents, settlements: settlementsOf(lines, parts) };
  },
);

type Sale = typeof sales extends fc.Arbitrary<infer Drawn> ? Drawn : never;

function receiptOf({ buyer, amount, rate, isTaxedExport, day }: Sale, number: number): BookDocument {
  const isExport = buyer.state === '96';
  const gstin = isExport ? null : buyer.gstin;
  const state = gstin?.slice(0, 2) ?? buyer.state;
  const category = isExport
    ? isTaxedExport ? 'expwp' : 'expwop'
    : gstin !== null
    ? 'b2b'
    : state !== seller.state && amount > 10_000_000
    ? 'b2cl'
    : 'b2cs';
  return {
    id: crypto.randomUUID(),
    ...{ kind: 'receipt', series: '2627', number, document_number: `2627/${String(number).padStart(6, '0')}` },
    ...{ title: 'Tax invoice', document_date: `2026-11-${String(day).padStart(2, '0')}`, tax_period: '2026-11-01' },
    ...{ gateway_payment_id: `pay_${number}`, refund_id: null, against: null, place_of_supply: state, currency: 'INR' },
    seller,
    buyer: { name: buyer.name, gstin, address: 'A & B', state, country: isExport ? 'PT' : 'IN' },
    lines: [{ description: 'Pro, 3 Nov 2026 – 3 Nov 2027', item: 'Pro', sac: '998315', quantity: 1, amount }],
    totals: split(amount, category === 'expwop' ? [] : headsOf(state, rate)),
    rupees: null,
    category,
  };
}

function noteOf(receipt: BookDocument, amount: number, number: number): BookDocument {
  const heads = receipt.totals.taxes.map(({ name, rate }) => ({ name, rate }));
  return {
    ...receipt,
    id: crypto.randomUUID(),
    ...{ kind: 'credit_note', series: 'CN2627', number, document_number: `CN2627/${String(number).padStart(6, '0')}` },
    ...{ title: 'Credit note', document_date: '2026-11-29', refund_id: `rfnd_${number}` },
    against: receipt.document_number,
    lines: [{ ...receipt.lines[0], amount }],
    totals: split(amount, heads),
  };
}

function headsOf(state: string, rate: number) {
  if (state !== seller.state) return [{ name: 'IGST', rate }];
  return ['CGST', 'SGST'].map((name) => ({ name, rate: rate / 2 }));
}

function split(total: number, heads: { name: string; rate: number }[]): BookDocument['totals'] {
  const sum = heads.reduce((all, { rate }) => all + rate, 0);
  const taxes = heads.map((head) => ({ ...head, amount: Math.round(total * head.rate / (10_000 + sum)) }));
  return { taxable: total - taxes.reduce((all, { amount }) => all + amount, 0), taxes, total };
}

function lineOf(type: string, id: string, amount: number, fields: Partial<BookLine>): BookLine {
  return { type, entity_id: id, payment_id: null, amount, fee: 0, tax: 0, debit: 0, credit: 0, ...fields };
}

function settlementsOf(lines: BookLine[], parts: number): BookSettlement[] {
  return Array.from({ length: parts }, (_, part) => {
    const own = lines.filter((_, index) => index % parts === part);
    return {
      ...{
        id: `setl_${part}`,
        utr: part === 0 ? null : `UTR${part}`,
        settled_on: `2026-11-1${part}`,
        status: 'processed',
      },
      ...{ amount: own.reduce((sum, { credit, debit }) => sum + credit - debit, 0), lines: own },
    };
  });
}
