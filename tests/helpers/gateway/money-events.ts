import { uniqueId } from '../records/records.ts';

type Fields = Record<string, unknown>;

/** The body of an event. Each call returns a different body, even for the same data. */
function body(event: string, entities: Record<string, Fields>): string {
  return JSON.stringify({
    entity: 'event',
    account_id: uniqueId('acc'),
    event,
    contains: Object.keys(entities),
    payload: Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }])),
    created_at: 1_767_225_600,
  });
}

/** The payment of an event. Other fields are added to the payment's entity unchanged. */
export type Money = { readonly id: string; readonly order_id?: string | null; readonly amount?: unknown } & Fields;

const capturedFields = { amount: 99900, currency: 'INR', status: 'captured', captured: true, notes: [] };

/** payment.captured; by default of the full amount of a pro payment. An undefined field is left out. */
export function captured(money: Money): string {
  return body('payment.captured', { payment: { ...capturedFields, ...money } });
}

/** order.paid with both entities. The receipt of an order is the id of our payment without dashes. */
export function orderPaid(money: Money, order: { id: string; receipt?: string | null }): string {
  return body('order.paid', {
    payment: { ...capturedFields, order_id: order.id, ...money },
    order: { receipt: null, amount: 99900, amount_paid: 99900, status: 'paid', ...order },
  });
}

/** payment.failed: a failed attempt on an order. */
export function failed(money: Money): string {
  return body('payment.failed', {
    payment: { amount: 99900, status: 'failed', captured: false, error_description: 'Declined', ...money },
  });
}

/** The fields of a refund. */
export type Refund = { readonly id?: string; readonly status?: 'pending' | 'processed' | 'failed' };

/**
 * refund.created, refund.processed or refund.failed, by the status; processed by default. `amount` is the amount of this
 * refund. The payment's `amount_refunded` includes it in every status, as the gateway's does for a pending refund.
 */
export function refunded(
  money: Money,
  amount: unknown,
  { id = uniqueId('rfnd'), status = 'processed' }: Refund = {},
): string {
  return body(`refund.${status === 'pending' ? 'created' : status}`, {
    payment: { ...capturedFields, amount_refunded: amount, ...money },
    refund: { id, payment_id: money.id, amount, status },
  });
}

/** An event of a dispute, with the disputed payment. */
export function dispute(name: string, status: unknown, money: Money): string {
  return body(`payment.dispute.${name}`, {
    payment: { ...capturedFields, ...money },
    dispute: { id: uniqueId('disp'), payment_id: money.id, status },
  });
}
