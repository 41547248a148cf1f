import { z } from 'zod';
import type { Timed } from './clock.ts';
import type { Payment } from './entities.ts';
import { gatewayError } from './errors.ts';
import { createWebhook, eventFields, type Webhook } from './events.ts';
import { newId } from './new-id.ts';
import type { KeptLine, ReconLine, Settlement } from './settlement-entities.ts';
import type { GatewayStore } from './store.ts';

const DAY_SECONDS = 24 * 60 * 60;

/**
 * The body of `POST /simulate/settle`: sends to the bank what was captured, refunded or lost until a time, and was not
 * settled before. Times are Unix seconds, amounts paise.
 * - `until`: by default now
 * - `utr`: the reference of the bank; null: it is not known yet. `settlement_id` gives a settlement its UTR later
 * - `hold_lines`: the lines are shown a day late
 * - `adjustment`: a line of the gateway's own, without a UTR; below zero it is taken
 * - `fees_from_credits`: fee credits pay the fees, so that the settlement has the whole amounts
 * - `partial`: ids of payments and refunds that are left for the next settlement
 * - `fees`, `tax`: of the settlement itself, as of an instant one; the tax is in the fees
 */
export const settleRequest = z.strictObject({
  settlement_id: z.string().optional(),
  until: z.int().min(0).optional(),
  utr: z.string().min(1).nullable().optional(),
  hold_lines: z.boolean().default(false),
  adjustment: z.int().default(0),
  fees_from_credits: z.boolean().default(false),
  partial: z.array(z.string()).default([]),
  fees: z.int().min(0).default(0),
  tax: z.int().min(0).default(0),
  ...eventFields,
});

type SettleRequest = Timed<z.infer<typeof settleRequest>>;
type Settled = { settlement: Settlement; lines: ReconLine[]; webhooks: Webhook[] };

/** Makes a settlement, or gives one its UTR. A refusal changes nothing. */
export function settle(store: GatewayStore, request: SettleRequest): Settled | Response {
  const { settlement_id, utr = newUtr(request), created_at, hold_lines, fees, tax } = request;
  const known = store.settlements.find(settlement_id);
  if (settlement_id !== undefined) {
    if (known === undefined) return gatewayError('There is no such settlement.', { field: 'settlement_id' });
    return announced(store.settlements.save({ ...known, utr }), linesOf(store, known.id), request);
  }
  const id = newId('setl');
  const shared = { settled: true, settled_at: created_at, settlement_id: id, settlement_utr: utr } as const;
  const shown_at = hold_lines ? created_at + DAY_SECONDS : created_at;
  const lines: KeptLine[] = dueLines(store, request).map((line) => ({
    ...line,
    ...shared,
    // As in the gateway's own sample.
    settlement_utr: line.type === 'adjustment' ? null : utr,
    id: line.entity_id,
    shown_at,
  }));
  const amount = lines.reduce((sum, { credit, debit }) => sum + credit - debit, -fees);
  // A negative balance waits for the next payments.
  if (lines.length === 0 || amount <= 0) return gatewayError('There is nothing to settle.', { field: 'until' });
  lines.forEach((line) => store.settlementLines.save(line));
  const settlement = store.settlements.save({
    ...{ id, entity: 'settlement', amount, status: 'processed', fees, tax, utr, created_at },
  });
  return announced(settlement, lines.map(shape), request);
}

function announced(settlement: Settlement, lines: ReconLine[], request: SettleRequest): Settled {
  return { settlement, lines, webhooks: [createWebhook('settlement.processed', { settlement }, request)] };
}

function linesOf(store: GatewayStore, settlementId: string): ReconLine[] {
  return store.settlementLines.list().filter((line) => line.settlement_id === settlementId).map(shape);
}

/** A line as the API has it. */
export function shape({ id: _, shown_at: __, ...line }: KeptLine): ReconLine {
  return line;
}

type DueLine = Omit<ReconLine, 'settled' | 'settled_at' | 'settlement_id' | 'settlement_utr'>;

function dueLines(store: GatewayStore, request: SettleRequest): DueLine[] {
  const { created_at, until = created_at, partial, adjustment, fees_from_credits } = request;
  const isDue = ({ id, created_at: at }: { id: string; created_at: number }) =>
    at <= until && !partial.includes(id) && store.settlementLines.find(id) === undefined;
  const payments = store.payments.list().filter((one) => one.captured && isDue(one)).map((payment) => {
    const line = paymentLine(payment);
    return fees_from_credits ? { ...line, credit: line.amount } : line;
  });
  const refunds = store.refunds.list().filter((one) => one.status === 'processed' && isDue(one)).map((refund) => {
    const payment = store.payments.find(refund.payment_id);
    const amount = inRupees(refund.amount, payment);
    return {
      ...{ ...newLine(refund.id, 'refund', amount, refund.created_at), debit: amount },
      ...{ payment_id: refund.payment_id, order_id: payment?.order_id ?? null, method: payment?.method ?? null },
    };
  });
  // What the gateway reclaimed, less what earlier settlements had of it.
  const disputes = store.disputes.list().filter(({ created_at: at }) => at <= until).flatMap((dispute) => {
    const before = store.settlementLines.list().filter(({ dispute_id }) => dispute_id === dispute.id);
    const taken = before.reduce((sum, { debit, credit }) => sum + debit - credit, 0);
    const owed = inRupees(dispute.amount_deducted, store.payments.find(dispute.payment_id)) - taken;
    const line = adjustmentLine(-owed, created_at);
    return owed === 0 ? [] : [{ ...line, payment_id: dispute.payment_id, dispute_id: dispute.id }];
  });
  const own = adjustment === 0 ? [] : [adjustmentLine(adjustment, created_at)];
  return [...payments, ...refunds, ...disputes, ...own];
}

function paymentLine({ id, order_id, method, created_at, notes, description, ...payment }: Payment): DueLine {
  const { base_amount: amount = payment.amount, fee, tax } = payment;
  return {
    ...newLine(id, 'payment', amount, created_at),
    ...{ fee: fee ?? 0, tax: tax ?? 0, credit: amount - (fee ?? 0), order_id, method, description, notes },
  };
}

function adjustmentLine(amount: number, at: number): DueLine {
  const line = newLine(newId('adj'), 'adjustment', Math.abs(amount), at);
  return amount < 0 ? { ...line, debit: -amount } : { ...line, credit: amount };
}

function newLine(entity_id: string, type: ReconLine['type'], amount: number, created_at: number): DueLine {
  return {
    ...{ entity_id, type, debit: 0, credit: 0, amount, currency: 'INR', fee: 0, tax: 0, on_hold: false },
    ...{ created_at, posted_at: null, credit_type: 'default', description: null, notes: null, payment_id: null },
    ...{ order_id: null, order_receipt: null, method: null, card_network: null, card_issuer: null, card_type: null },
    dispute_id: null,
  };
}

/** Settlements are in rupees. */
function inRupees(amount: number, { base_amount, amount: paid }: Partial<Payment> = {}): number {
  return base_amount === undefined || paid === undefined ? amount : Math.round(amount * base_amount / paid);
}

function newUtr({ created_at }: SettleRequest): string {
  return `${created_at}${newId('u').slice(-6).toLowerCase()}`;
}
