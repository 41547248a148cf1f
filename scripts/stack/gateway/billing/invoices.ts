import type { Invoice, Subscription } from '../entities.ts';
import { newId } from '../new-id.ts';
import type { GatewayStore } from '../store.ts';

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
    subscription_id: id,
    payment_id: null,
    order_id: null,
    status: 'issued',
    amount,
    currency: store.plans.find(plan_id)?.item.currency ?? 'INR',
    billing_start: current_start,
    billing_end: current_end,
    paid_at: null,
    created_at: at,
  });
}
