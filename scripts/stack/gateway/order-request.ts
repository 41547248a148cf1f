import type { Notes } from './entities.ts';
import type { NewOrder } from './store.ts';

const SMALLEST_AMOUNT = 100;
const LONGEST_RECEIPT = 40;
const MOST_NOTES = 15;
const LONGEST_NOTE = 256;
// Taken and without effect here: capture is automatic, and an order is paid in one piece.
const WITHOUT_EFFECT = ['payment_capture', 'payment', 'partial_payment'];
const FIELDS = ['amount', 'currency', 'receipt', 'notes', ...WITHOUT_EFFECT];

export type OrderRefusal = { field: string; description: string; reason?: string };

/** Reads the body of `POST /v1/orders` as strictly as the gateway does; the first thing wrong is what it reports. */
export function readOrderRequest(body: unknown): { order: NewOrder } | { refusal: OrderRefusal } {
  if (!isRecord(body)) return refuse('amount', 'The amount field is required.');
  const { amount, currency, receipt = null, notes = {} } = body;
  const extra = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (extra !== undefined) {
    return refuse(extra, `${extra} is/are not required and should not be sent`, 'extra_field_sent');
  }
  if (amount === undefined || amount === null) return refuse('amount', 'The amount field is required.');
  if (!Number.isSafeInteger(amount) || typeof amount !== 'number') {
    return refuse('amount', 'The amount must be an integer.');
  }
  if (amount < SMALLEST_AMOUNT) return refuse('amount', 'The amount must be at least INR 1.00');
  if (currency === undefined || currency === null) return refuse('currency', 'The currency field is required.');
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return refuse('currency', 'The currency should be a three-letter code.');
  }
  if (receipt !== null && typeof receipt !== 'string') return refuse('receipt', 'The receipt must be a string.');
  if (receipt !== null && receipt.length > LONGEST_RECEIPT) {
    return refuse('receipt', `The receipt may not be greater than ${LONGEST_RECEIPT} characters.`);
  }
  const read = readNotes(notes);
  return typeof read === 'string' ? refuse('notes', read) : { order: { amount, currency, receipt, notes: read } };
}

function readNotes(notes: unknown): Notes | string {
  if (Array.isArray(notes) && notes.length === 0) return [];
  if (!isRecord(notes)) return 'The notes must be an object.';
  const pairs = Object.entries(notes);
  if (pairs.length > MOST_NOTES) return `The notes may not have more than ${MOST_NOTES} items.`;
  const kept: Record<string, string | number> = {};
  for (const [name, value] of pairs) {
    if (typeof value !== 'string' && typeof value !== 'number') return 'The notes may hold text and numbers only.';
    if (Math.max(name.length, String(value).length) > LONGEST_NOTE) {
      return `The notes may not be greater than ${LONGEST_NOTE} characters each.`;
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
