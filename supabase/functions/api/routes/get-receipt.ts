import type { Config } from '../config.ts';
import { isStorableText } from '../database/storable-json.ts';
import type { Answer } from '../http/answer.ts';
import { errorAnswer } from '../http/errors.ts';
import type { IssuedDocument } from '../ports.ts';
import { receiptFile } from '../receipts/receipt-file.ts';
import type { Route } from './route.ts';

/** Returns the receipt of one of the caller's payments as a PDF. Contract: GET /api/payments/:id/receipt. */
export const getReceipt: Route = {
  method: 'GET',
  path: '/api/payments/:id/receipt',
  operation: 'getReceipt',
  failure: 'getReceiptFailed',

  async handle({ request, parameters: { id = '' }, config, auth, database }) {
    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');
    if (!isStorableText(id)) return errorAnswer('paymentNotFound');
    const result = await database.getReceipt(userId, id);
    switch (result.outcome) {
      case 'payment_not_found':
        return errorAnswer('paymentNotFound');
      case 'not_issued':
        // The sweep of each minute issues it.
        return { ...errorAnswer('receiptNotIssued'), headers: { 'retry-after': '60' } };
      case 'found':
        return await pdfAnswer(result.receipt, config);
    }
  },
};

/** Returns any of the caller's documents as a PDF. Contract: GET /api/receipts/:id. */
export const getDocument: Route = {
  method: 'GET',
  path: '/api/receipts/:id',
  operation: 'getDocument',
  failure: 'getReceiptFailed',

  async handle({ request, parameters: { id = '' }, config, auth, database }) {
    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');
    if (!isStorableText(id)) return errorAnswer('receiptNotFound');
    const result = await database.getDocument(userId, id);
    return result.outcome === 'found' ? await pdfAnswer(result.receipt, config) : errorAnswer('receiptNotFound');
  },
};

async function pdfAnswer(receipt: IssuedDocument, { look }: Config): Promise<Answer> {
  const { name, bytes } = await receiptFile(receipt, look);
  const headers = { 'content-type': 'application/pdf', 'content-disposition': `inline; filename="${name}"` };
  return { status: 200, bytes, outcome: 'rendered', headers };
}
