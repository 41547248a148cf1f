import type { Notes, Order, Payment, PaymentError, Subscription } from './gateway-simulator-entities.ts';
import { newId } from './gateway-simulator-id.ts';

const NO_ERROR: PaymentError = {
  error_code: null,
  error_description: null,
  error_source: null,
  error_step: null,
  error_reason: null,
};

export type NewOrder = { amount: number; currency: string; receipt: string | null; notes: Notes };

/** The gateway's books. Every method returns copies: what was once read or sent does not change afterwards. */
export type GatewayStore = {
  createOrder(order: NewOrder): Order;
  findOrder(id: string): Order | undefined;
  findOrderByReceipt(receipt: string): Order | undefined;
  /** Newest first, as the two lists below. */
  orders(): Order[];
  /** A payment attempt on a known order that the customer's bank let through and that is not yet captured. */
  authorize(orderId: string, notes: Notes): Payment;
  /** A payment attempt on a known order that did not go through. A paid order stays paid. */
  fail(orderId: string, notes: Notes, error: PaymentError): Payment;
  /** Captures an authorised payment and with it pays its order. */
  capture(payment: Payment): { payment: Payment; order: Order };
  findPayment(id: string): Payment | undefined;
  payments(orderId?: string): Payment[];
  saveSubscription(subscription: Subscription): void;
  findSubscription(id: string): Subscription | undefined;
  subscriptions(): Subscription[];
};

/** Keeps orders, payments and subscriptions in memory. Throws on an unknown order: the caller looks it up first. */
export function createGatewayStore(): GatewayStore {
  const orders = new Map<string, Order>();
  const receipts = new Map<string, string>();
  const payments = new Map<string, Payment>();
  const subscriptions = new Map<string, Subscription>();

  const copyOf = <Entity>(entity: Entity | undefined) => structuredClone(entity);
  const newestFirst = <Entity>(entities: Map<string, Entity>) => structuredClone([...entities.values()].reverse());
  const known = (orderId: string | null) => {
    const order = orderId === null ? undefined : orders.get(orderId);
    if (order === undefined) throw new Error(`no order ${orderId}`);
    return order;
  };
  const attempt = (orderId: string, notes: Notes, changes: Partial<Payment>) => {
    const order = known(orderId);
    const payment: Payment = { ...newPayment(order, notes), ...changes };
    payments.set(payment.id, payment);
    order.attempts += 1;
    if (order.status === 'created') order.status = 'attempted';
    return structuredClone(payment);
  };

  return {
    createOrder(order) {
      const created: Order = {
        id: newId('order'),
        entity: 'order',
        amount: order.amount,
        amount_paid: 0,
        amount_due: order.amount,
        currency: order.currency,
        receipt: order.receipt,
        offer_id: null,
        status: 'created',
        attempts: 0,
        notes: order.notes,
        created_at: now(),
      };
      orders.set(created.id, created);
      if (created.receipt !== null) receipts.set(created.receipt, created.id);
      return structuredClone(created);
    },
    findOrder: (id) => copyOf(orders.get(id)),
    findOrderByReceipt: (receipt) => copyOf(orders.get(receipts.get(receipt) ?? '')),
    orders: () => newestFirst(orders),
    authorize: (orderId, notes) => attempt(orderId, notes, { status: 'authorized' }),
    fail: (orderId, notes, error) => attempt(orderId, notes, { ...error, status: 'failed' }),
    capture(authorized) {
      const fee = Math.round(authorized.amount * 0.0236);
      const payment: Payment = {
        ...authorized,
        status: 'captured',
        captured: true,
        fee,
        tax: Math.round(fee * 18 / 118),
        acquirer_data: { rrn: String(Date.now()).slice(-12) },
      };
      const order = known(payment.order_id);
      order.amount_paid = payment.amount;
      order.amount_due = 0;
      order.status = 'paid';
      payments.set(payment.id, payment);
      return { payment: structuredClone(payment), order: structuredClone(order) };
    },
    findPayment: (id) => copyOf(payments.get(id)),
    payments: (orderId) =>
      newestFirst(payments).filter((payment) => orderId === undefined || payment.order_id === orderId),
    saveSubscription: (subscription) => void subscriptions.set(subscription.id, structuredClone(subscription)),
    findSubscription: (id) => copyOf(subscriptions.get(id)),
    subscriptions: () => newestFirst(subscriptions),
  };
}

function newPayment(order: Order, notes: Notes): Payment {
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
    created_at: now(),
  };
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
