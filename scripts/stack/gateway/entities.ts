/** The gateway's entities, with its field names. Times are Unix seconds, amounts minor units. */

import { z } from 'zod';
import type { Terms } from './account.ts';
import type { Cycle } from './billing/cycles.ts';
import type { Notes } from './notes.ts';

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
  base_currency?: 'INR';
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

type Item<Type> = {
  id: string;
  active: true;
  name: string;
  description: string | null;
  amount: number;
  unit_amount: number;
  currency: string;
  type: Type;
};

/** An amount beside the plan's, which the next charge of a subscription includes. */
export type Addon = {
  id: string;
  entity: 'addon';
  item: Item<'addon'>;
  quantity: number;
  created_at: number;
  subscription_id: string;
  invoice_id: string | null;
};

export type Customer = {
  id: string;
  entity: 'customer';
  name: string | null;
  email: string | null;
  contact: string | null;
  gstin: string | null;
  notes: Notes;
  created_at: number;
};

/** What a subscription bills, and how often. */
export type Plan = Cycle & {
  id: string;
  entity: 'plan';
  item: Item<'plan'>;
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
