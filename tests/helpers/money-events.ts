import { uniqueId } from './records.ts';

type Fields = Record<string, unknown>;

/** A body of the gateway; each is another body, even with the same data. */
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

/** What a test says of the money behind an event; other fields are added to the payment's entity as they are. */
export type Money = { readonly id: string; readonly order_id?: string | null; readonly amount?: unknown } & Fields;

const capturedFields = { amount: 99900, currency: 'INR', status: 'captured', captured: true, notes: [] };

/** payment.captured of the whole amount of a pro payment, unless told otherwise; undefined leaves a field out. */
export function captured(money: Money): string {
  return body('payment.captured', { payment: { ...capturedFields, ...money } });
}

/** order.paid with both its entities; the order's receipt is our payment's id without dashes. */
export function orderPaid(money: Money, order: { id: string; receipt?: string | null }): string {
  return body('order.paid', {
    payment: { ...capturedFields, order_id: order.id, ...money },
    order: { receipt: null, amount: 99900, amount_paid: 99900, status: 'paid', ...order },
  });
}

/** payment.failed: one attempt on an order. */
export function failed(money: Money): string {
  return body('payment.failed', {
    payment: { amount: 99900, status: 'failed', captured: false, error_description: 'Declined', ...money },
  });
}

/** A refund as a test describes it. */
export type Refund = { readonly id?: string; readonly status?: 'pending' | 'processed' | 'failed' };

/**
 * refund.created, refund.processed or refund.failed, by its status; processed unless told otherwise. `amount` is that of
 * this refund. The payment's own `amount_refunded` counts it in any case, as the gateway's does while it is pending.
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

/** A dispute's event, with the payment that it is about. */
export function dispute(name: string, status: unknown, money: Money): string {
  return body(`payment.dispute.${name}`, {
    payment: { ...capturedFields, ...money },
    dispute: { id: uniqueId('disp'), payment_id: money.id, status },
  });
}
