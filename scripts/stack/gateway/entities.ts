/** The gateway's entities, with its field names. Times are Unix seconds, amounts minor units. */

import { z } from 'zod';
import type { Terms } from './account.ts';
import type { Cycle } from './billing/cycles.ts';

/** The gateway writes empty notes as an empty list. */
export type Notes = Record<string, string | number> | [];

/** Notes of a request: text and numbers. */
export const notesRequest = z.record(z.string(), z.union([z.string(), z.number()]))
  .transform((notes): Notes => Object.keys(notes).length === 0 ? [] : notes);

export type Order = {
  id: string;
  entity: 'order';
  amount: number;
  amount_paid: number;
  amount_due: number;
  currency: string;
  receipt: string | null;
  offer_id: null;
  status: 'created' | 'attempted' | 'paid';
  attempts: number;
  notes: Notes;
  created_at: number;
};

/** How a payment is made. A mandate by UPI or e-mandate holds for one plan. */
export const method = z.enum(['upi', 'card', 'emandate']);

export type Method = z.infer<typeof method>;

export type PaymentError = {
  error_code: string | null;
  error_description: string | null;
  error_source: string | null;
  error_step: string | null;
  error_reason: string | null;
};

export type Payment = PaymentError & Terms & {
  id: string;
  entity: 'payment';
  currency: string;
  /** These two fields exist after the capture. */
  base_amount?: number;
  amount_transferred?: number;
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed';
  order_id: string | null;
  invoice_id: string | null;
  international: boolean;
  method: Method;
  amount_refunded: number;
  refund_status: null | 'partial' | 'full';
  captured: boolean;
  description: string | null;
  card_id: null;
  bank: null;
  wallet: null;
  vpa: string | null;
  email: string;
  contact: string;
  notes: Notes;
  acquirer_data: { rrn: string | null };
  created_at: number;
};

export type Invoice = {
  id: string;
  entity: 'invoice';
  subscription_id: string;
  payment_id: string | null;
  order_id: string | null;
  status: 'issued' | 'paid';
  amount: number;
  currency: string;
  billing_start: number | null;
  billing_end: number | null;
  paid_at: number | null;
  created_at: number;
};

export type Refund = {
  id: string;
  entity: 'refund';
  amount: number;
  currency: string;
  payment_id: string;
  notes: Notes;
  receipt: string | null;
  acquirer_data: { arn: string | null };
  created_at: number;
  batch_id: null;
  status: 'pending' | 'processed' | 'failed';
  speed_processed: 'normal';
  speed_requested: 'normal';
};

export type Dispute = {
  id: string;
  entity: 'dispute';
  payment_id: string;
  amount: number;
  currency: string;
  /** The amount that the gateway reclaimed: the whole amount of a lost dispute. */
  amount_deducted: number;
  reason_code: string;
  respond_by: number;
  status: 'open' | 'under_review' | 'won' | 'lost' | 'closed';
  phase: 'retrieval' | 'chargeback' | 'pre_arbitration' | 'arbitration' | 'fraud';
  evidence: { amount: number; summary: null; others: null; submitted_at: null };
  created_at: number;
};

/** What a subscription bills, and how often. */
export type Plan = Cycle & {
  id: string;
  entity: 'plan';
  item: {
    id: string;
    active: true;
    name: string;
    description: string | null;
    amount: number;
    unit_amount: number;
    currency: string;
    type: 'plan';
  };
  notes: Notes;
  created_at: number;
};

export type Subscription = {
  id: string;
  entity: 'subscription';
  plan_id: string;
  customer_id: string;
  type: 2;
  status:
    | 'created'
    | 'authenticated'
    | 'active'
    | 'pending'
    | 'halted'
    | 'cancelled'
    | 'paused'
    | 'completed'
    | 'expired';
  current_start: number | null;
  current_end: number | null;
  ended_at: number | null;
  quantity: number;
  notes: Notes;
  charge_at: number | null;
  start_at: number | null;
  end_at: number | null;
  auth_attempts: number;
  total_count: number;
  paid_count: number;
  remaining_count: number;
  customer_notify: boolean;
  created_at: number;
  expire_by: number | null;
  short_url: string | null;
  has_scheduled_changes: boolean;
  change_scheduled_at: number | null;
  source: 'api';
  offer_id: null;
};

const MAX_NOTES = 15;
const MAX_NOTE_LENGTH = 256;

/** The notes of a call of the API, with the gateway's limits. */
export const apiNotes = z.unknown().transform((value, context): Notes => {
  const notes = readNotes(value);
  if (typeof notes !== 'string') return notes;
  context.addIssue(notes);
  return z.NEVER;
});

/** Validates the notes of a call of the API. @returns the notes, or the reason for a refusal */
export function readNotes(notes: unknown): Notes | string {
  if (Array.isArray(notes) && notes.length === 0) return [];
  if (typeof notes !== 'object' || notes === null || Array.isArray(notes)) return 'The notes must be an object.';
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
