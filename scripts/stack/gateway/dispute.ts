import { z } from 'zod';
import type { Timed } from './clock.ts';
import { deliverOptions } from './deliver-options.ts';
import type { Dispute, Payment } from './entities.ts';
import { DISPUTE_EVENTS } from './event-names.ts';
import { newId } from './id.ts';
import { irregular } from './irregular.ts';
import type { GatewayStore } from './store.ts';

const STATUS_AFTER = {
  created: 'open',
  under_review: 'under_review',
  action_required: 'open',
  won: 'won',
  lost: 'lost',
  closed: 'closed',
} as const;
const TIME_TO_RESPOND_SECONDS = 7 * 24 * 60 * 60;

/**
 * The body of `POST /simulate/dispute`. `created` opens a dispute of a payment, for its whole amount or for `amount`
 * minor units. The other events change the newest dispute of the payment.
 */
export const disputeRequest = z.strictObject({
  payment_id: z.string(),
  event: z.enum(DISPUTE_EVENTS),
  amount: z.int().min(1).optional(),
  reason_code: z.string().default('goods_or_services_not_received_or_partially_received'),
  created_at: z.int().min(0).optional(),
  irregular: irregular.default({}),
  deliver: deliverOptions.default({}),
});

/** Applies an event to a dispute. @returns undefined when the payment has no dispute */
export function moveDispute(
  store: GatewayStore,
  payment: Payment,
  { event, amount = payment.amount, reason_code, created_at }: Timed<z.infer<typeof disputeRequest>>,
): Dispute | undefined {
  const before = event === 'created'
    ? newDispute(payment, amount, reason_code, created_at)
    : store.disputes.list().find(({ payment_id }) => payment_id === payment.id);
  if (before === undefined) return undefined;
  const amount_deducted = event === 'lost' ? before.amount : before.amount_deducted;
  return store.disputes.save({ ...before, status: STATUS_AFTER[event], amount_deducted });
}

function newDispute(payment: Payment, amount: number, reason_code: string, at: number): Dispute {
  return {
    id: newId('disp'),
    entity: 'dispute',
    payment_id: payment.id,
    amount,
    currency: payment.currency,
    amount_deducted: 0,
    reason_code,
    respond_by: at + TIME_TO_RESPOND_SECONDS,
    status: 'open',
    phase: 'chargeback',
    evidence: { amount, summary: null, others: null, submitted_at: null },
    created_at: at,
  };
}
