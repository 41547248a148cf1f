import { createEntityStore, type EntityStore } from './entity-store.ts';
import type { Dispute, Notes, Order, Payment, Refund, Subscription } from './entities.ts';
import { newId } from './id.ts';
import { newPayment } from './new-payment.ts';

export type NewOrder = { amount: number; currency: string; receipt: string | null; notes: Notes };

/** The gateway's data. `at`: Unix seconds. */
export type GatewayStore = {
  orders: EntityStore<Order>;
  payments: EntityStore<Payment>;
  refunds: EntityStore<Refund>;
  disputes: EntityStore<Dispute>;
  subscriptions: EntityStore<Subscription>;
  createOrder(order: NewOrder, at: number): Order;
  findOrderByReceipt(receipt: string): Order | undefined;
  /** The attempts to pay an order, newest first. */
  paymentsOf(orderId: string): Payment[];
  /** The refunds of a payment, newest first. */
  refundsOf(paymentId: string): Refund[];
  /** Creates a payment for an order. A paid order stays paid. */
  attempt(order: Order, notes: Notes, at: number): Payment;
  /** Captures a payment and marks its order as paid, if it has one. */
  capture(payment: Payment): { payment: Payment; order: Order | undefined };
  /** The id of the last payment, by the subscription's id. */
  charges: Map<string, string>;
  /** Ids of subscriptions with a pending cancellation at the end of the cycle, which no field of the entity shows. */
  endingWithCycle: Set<string>;
};

export function createGatewayStore(): GatewayStore {
  const orders = createEntityStore<Order>();
  const payments = createEntityStore<Payment>();
  const refunds = createEntityStore<Refund>();
  const receipts = new Map<string, string>();

  return {
    orders,
    payments,
    refunds,
    disputes: createEntityStore(),
    subscriptions: createEntityStore(),
    createOrder({ amount, currency, receipt, notes }, at) {
      const order = orders.save({
        id: newId('order'),
        entity: 'order',
        amount,
        amount_paid: 0,
        amount_due: amount,
        currency,
        receipt,
        offer_id: null,
        status: 'created',
        attempts: 0,
        notes,
        created_at: at,
      });
      if (receipt !== null) receipts.set(receipt, order.id);
      return order;
    },
    findOrderByReceipt: (receipt) => orders.find(receipts.get(receipt)),
    paymentsOf: (orderId) => payments.list().filter(({ order_id }) => order_id === orderId),
    refundsOf: (paymentId) => refunds.list().filter(({ payment_id }) => payment_id === paymentId),
    attempt(order, notes, at) {
      const status = order.status === 'created' ? 'attempted' : order.status;
      orders.save({ ...order, status, attempts: order.attempts + 1 });
      return payments.save(newPayment(order, notes, at));
    },
    capture(authorized) {
      const fee = Math.round(authorized.amount * 0.0236);
      const payment = payments.save({
        ...authorized,
        status: 'captured',
        captured: true,
        base_amount: authorized.amount,
        amount_transferred: 0,
        fee,
        tax: Math.round(fee * 18 / 118),
        acquirer_data: { rrn: String(Date.now()).slice(-12) },
      });
      const order = orders.find(payment.order_id);
      if (order === undefined) return { payment, order };
      return { payment, order: orders.save({ ...order, status: 'paid', amount_paid: payment.amount, amount_due: 0 }) };
    },
    charges: new Map(),
    endingWithCycle: new Set(),
  };
}
