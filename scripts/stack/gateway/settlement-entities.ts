import type { Method } from './entities.ts';
import type { Notes } from './notes.ts';

/** What the gateway sent to the bank. `fees` and the `tax` in them: of the settlement itself, if it was an instant one. */
export type Settlement = {
  id: string;
  entity: 'settlement';
  amount: number;
  status: 'processed';
  fees: number;
  tax: number;
  utr: string | null;
  created_at: number;
};

/** A line of a settlement, in INR. */
export type ReconLine = {
  entity_id: string;
  type: 'payment' | 'refund' | 'adjustment';
  debit: number;
  credit: number;
  amount: number;
  currency: 'INR';
  fee: number;
  tax: number;
  on_hold: false;
  settled: true;
  created_at: number;
  settled_at: number;
  settlement_id: string;
  posted_at: null;
  credit_type: 'default';
  description: string | null;
  notes: Notes | null;
  /** Of a refund or a dispute. */
  payment_id: string | null;
  settlement_utr: string | null;
  order_id: string | null;
  order_receipt: null;
  method: Method | null;
  card_network: null;
  card_issuer: null;
  card_type: null;
  dispute_id: string | null;
};

/** A line of a settlement. `id`: of its entity, which is settled once. `shown_at`: when the API has it. */
export type KeptLine = ReconLine & { id: string; shown_at: number };
