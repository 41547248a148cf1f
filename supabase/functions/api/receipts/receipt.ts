import { z } from 'zod';

const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const tax = z.object({
  name: z.string(),
  /** Basis points: 900 is 9 %. */
  rate: z.number(),
  amount: z.int(),
});
const totals = z.object({ taxable: z.int(), taxes: z.array(tax), total: z.int() });
const party = {
  name: z.string().nullish(),
  address: z.string().nullish(),
  gstin: z.string().nullish(),
  /** Two digits; 96 is abroad. */
  state: z.string().nullish(),
};

/** A row of `public.receipts` as JSON: what its document says. Amounts are in minor units. */
export const receiptSchema = z.object({
  kind: z.enum(['receipt', 'credit_note']),
  document_number: z.string(),
  title: z.string(),
  document_date: day,
  category: z.string(),
  /** Of another currency than INR: the same in paise, where the gateway said it. */
  rupees: totals.extend({ rate: z.string() }).nullish(),
  refund_id: z.string().nullish(),
  place_of_supply: z.string().nullish(),
  currency: z.string(),
  seller: z.object({ ...party, lut: z.string().nullish() }),
  buyer: z.object({
    ...party,
    /** ISO 3166, two letters. */
    country: z.string().nullish(),
  }),
  lines: z.array(z.object({
    description: z.string(),
    sac: z.string().nullish(),
    quantity: z.number(),
    amount: z.int(),
  })),
  totals,
});

export type Receipt = z.infer<typeof receiptSchema>;
