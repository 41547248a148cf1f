import type { Notes, Order, Payment, PaymentError } from './entities.ts';
import { newId } from './id.ts';

/** The error fields of a payment without an error. */
export const NO_ERROR: PaymentError = {
  error_code: null,
  error_description: null,
  error_source: null,
  error_step: null,
  error_reason: null,
};

/** A new payment of the whole order, with status `created`. `at`: Unix seconds. */
export function newPayment(order: Order, notes: Notes, at: number): Payment {
  return {
    id: newId('pay'),
    entity: 'payment',
    amount: order.amount,
    currency: order.currency,
    status: 'created',
    order_id: order.id,
    invoice_id: null,
    international: false,
    method: 'upi',
    amount_refunded: 0,
    refund_status: null,
    captured: false,
    description: null,
    card_id: null,
    bank: null,
    wallet: null,
    vpa: 'customer@upi',
    email: 'customer@example.com',
    contact: '+910000000000',
    notes,
    fee: null,
    tax: null,
    ...NO_ERROR,
    acquirer_data: { rrn: null },
    created_at: at,
  };
}
