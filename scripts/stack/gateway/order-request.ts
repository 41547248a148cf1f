import type { Notes } from './entities.ts';
import type { NewOrder } from './store.ts';

const MIN_AMOUNT = 100;
const MAX_RECEIPT_LENGTH = 40;
const MAX_NOTES = 15;
const MAX_NOTE_LENGTH = 256;
// Accepted and ignored: here capture is automatic, and partial payments do not exist.
const WITHOUT_EFFECT = ['payment_capture', 'payment', 'partial_payment'];
const FIELDS = ['amount', 'currency', 'receipt', 'notes', ...WITHOUT_EFFECT];

export type OrderRefusal = { field: string; description: string; reason?: string };

/** Validates the body of `POST /v1/orders` as strictly as the gateway. Reports the first error. */
export function readOrderRequest(body: unknown): { order: NewOrder } | { refusal: OrderRefusal } {
  if (!isRecord(body)) return refuse('amount', 'The amount field is required.');
  const { amount, currency, receipt = null, notes = {} } = body;
  const extraField = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (extraField !== undefined) {
    return refuse(extraField, `${extraField} is/are not required and should not be sent`, 'extra_field_sent');
  }
  if (amount === undefined || amount === null) return refuse('amount', 'The amount field is required.');
  if (!Number.isSafeInteger(amount) || typeof amount !== 'number') {
    return refuse('amount', 'The amount must be an integer.');
  }
  if (amount < MIN_AMOUNT) return refuse('amount', 'The amount must be at least INR 1.00');
  if (currency === undefined || currency === null) return refuse('currency', 'The currency field is required.');
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return refuse('currency', 'The currency should be a three-letter code.');
  }
  if (receipt !== null && typeof receipt !== 'string') return refuse('receipt', 'The receipt must be a string.');
  if (receipt !== null && receipt.length > MAX_RECEIPT_LENGTH) {
    return refuse('receipt', `The receipt may not be greater than ${MAX_RECEIPT_LENGTH} characters.`);
  }
  const read = readNotes(notes);
  return typeof read === 'string' ? refuse('notes', read) : { order: { amount, currency, receipt, notes: read } };
}

function readNotes(notes: unknown): Notes | string {
  if (Array.isArray(notes) && notes.length === 0) return [];
  if (!isRecord(notes)) return 'The notes must be an object.';
  const pairs = Object.entries(notes);
  if (pairs.length > MAX_NOTES) return `The notes may not have more than ${MAX_NOTES} items.`;
  const kept: Record<string, string | number> = {};
  for (const [name, value] of pairs) {
    if (typeof value !== 'string' && typeof value !== 'number') return 'The notes may hold text and numbers only.';
    if (Math.max(name.length, String(value).length) > MAX_NOTE_LENGTH) {
      return `The notes may not be greater than ${MAX_NOTE_LENGTH} characters each.`;
    }
    kept[name] = value;
  }
  return pairs.length === 0 ? [] : kept;
}

function refuse(field: string, description: string, reason?: string): { refusal: OrderRefusal } {
  return { refusal: reason === undefined ? { field, description } : { field, description, reason } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
