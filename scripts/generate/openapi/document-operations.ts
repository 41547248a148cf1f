import type { z } from 'zod';
import * as answers from './answers.ts';
import type { Operation } from './operation.ts';
import * as requests from './requests.ts';

const pdf = {
  description: 'The document, the same bytes each time.',
  mediaType: 'application/pdf',
  headers: ['content-disposition'],
  schema: answers.pdfAnswer,
  examples: { pdf: '%PDF-1.7' },
} as const;

const company = {
  billing_details: {
    ...{ name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV', address: '7 Marine Drive, Mumbai' },
    ...{ state: '27', country: 'IN' },
  },
} satisfies z.input<typeof answers.billingDetailsAnswer>;

/** The endpoints for receipts, and for what they say about the caller. */
export const documentOperations = {
  getReceipt: {
    tag: 'Documents',
    summary: "Read the receipt of one of the caller's payments",
    description:
      'The newest one after a reissue. 404 for a payment that is unknown, of another user or not captured, and where none ' +
      'will be issued; 409 until its number is given, some minutes after the gateway confirmed the payment.',
    access: 'session',
    parameters: [
      { name: 'id', in: 'path', description: '`id` of the payment.', schema: { type: 'string' } },
    ],
    answers: { 200: pdf },
    errors: ['paymentNotFound', 'receiptNotIssued'],
  },
  getDocument: {
    tag: 'Documents',
    summary: "Read one of the caller's receipts or credit notes",
    access: 'session',
    parameters: [
      { name: 'id', in: 'path', description: '`id` in `public.receipts`.', schema: { type: 'string' } },
    ],
    answers: { 200: pdf },
    errors: ['receiptNotFound'],
  },
  getBillingDetails: {
    tag: 'Documents',
    summary: 'Read what documents say about the caller',
    access: 'session',
    answers: {
      200: {
        description: 'The details, or null.',
        schema: answers.billingDetailsAnswer,
        examples: { company, none: { billing_details: null } },
      },
    },
    errors: [],
  },
  putBillingDetails: {
    tag: 'Documents',
    summary: 'Replace what documents say about the caller',
    description:
      'A field that is missing, null or empty is null. A GSTIN without a state sets it. Documents that were issued stay as ' +
      'they are.',
    access: 'session',
    request: {
      schema: requests.billingDetailsRequest,
      examples: { company: company.billing_details, consumer: { name: 'Asha Rao', state: '29' } },
    },
    answers: {
      200: {
        description: 'The details, as they are stored.',
        schema: answers.billingDetailsAnswer,
        examples: { company },
      },
    },
    errors: ['invalidRequest'],
  },
} satisfies Record<string, Operation>;
