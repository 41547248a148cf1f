import { z } from 'zod';

/** A row of `public.receipts`. */
const issued = z.looseObject({ document_number: z.string() });
export type IssuedDocument = z.infer<typeof issued>;

const found = z.object({ outcome: z.literal('found'), receipt: issued });
const details = z.object({
  name: z.string().nullable(),
  gstin: z.string().nullable(),
  address: z.string().nullable(),
  state: z.string().nullable(),
  country: z.string().nullable(),
});

/** Schemas of the results of the SQL functions for documents. */
export const documentResults = {
  get_receipt: z.union([found, z.object({ outcome: z.enum(['payment_not_found', 'not_issued']) })]),
  get_document: z.union([found, z.object({ outcome: z.literal('receipt_not_found') })]),
  get_billing_details: z.object({ billing_details: details.nullable() }),
  put_billing_details: z.union([
    z.object({ outcome: z.literal('stored'), billing_details: details }),
    z.object({ outcome: z.literal('invalid'), field: z.string(), message: z.string() }),
    z.object({ outcome: z.literal('user_not_found') }),
  ]),
};
