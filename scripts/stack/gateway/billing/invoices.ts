import type { Subscription } from '../entities.ts';
import { type GatewayStore, newId } from '../store.ts';

/** The bill of one cycle of a subscription. */
export type Invoice = {
  id: string;
  entity: 'invoice';
  type: 'invoice';
  subscription_id: string;
  /** Null until it is paid, as `order_id` and `paid_at`. */
  payment_id: string | null;
  order_id: string | null;
  status: 'issued' | 'paid';
  amount: number;
  amount_paid: number;
  amount_due: number;
  currency: string;
  billing_start: number | null;
  billing_end: number | null;
  issued_at: number;
  paid_at: number | null;
  created_at: number;
};

/** The open invoice of the cycle that runs, or a new one. */
export function issueInvoice(
  store: GatewayStore,
  { id, plan_id, current_start, current_end }: Subscription,
  amount: number,
  at: number,
): Invoice {
  const open = store.invoices.list().find(({ subscription_id, billing_end, status }) =>
    subscription_id === id && billing_end === current_end && status === 'issued'
  );
  return open ?? store.invoices.save({
    id: newId('inv'),
    entity: 'invoice',
    type: 'invoice',
    subscription_id: id,
    payment_id: null,
    order_id: null,
    status: 'issued',
    amount,
    amount_paid: 0,
    amount_due: amount,
    currency: store.plans.find(plan_id)?.item.currency ?? 'INR',
    billing_start: current_start,
    billing_end: current_end,
    issued_at: at,
    paid_at: null,
    created_at: at,
  });
}
