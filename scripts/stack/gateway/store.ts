import { type Account, booked, standardAccount, type Terms } from './account.ts';
import type { CycleSettings } from './billing/cycles.ts';
import type {
  Addon,
  Customer,
  Dispute,
  Invoice,
  Method,
  Order,
  Payment,
  PaymentError,
  Plan,
  Refund,
  Subscription,
} from './entities.ts';
import type { Notes } from './notes.ts';
import { createEntityStore } from './entity-store.ts';
import { createJournal } from './journal.ts';
import { newId } from './new-id.ts';
import type { KeptLine, Settlement } from './settlement-entities.ts';

const CYCLES = 12;

export type NewOrder = { amount: number; currency: string; receipt: string | null; notes: Notes };

/** A change of a subscription. `remaining_count`: how many cycles follow the current one. */
export type SubscriptionUpdate = Partial<Pick<Subscription, 'plan_id' | 'quantity' | 'remaining_count'>>;

/** How a subscription that bills itself is paid. */
export type Billing = {
  method: Method;
  /** How many of the next charges fail. */
  failures: number | 'all';
  /** What changes at the end of the cycle. */
  next: SubscriptionUpdate | null;
};

/** The gateway's data. `at`: Unix seconds. */
export type GatewayStore = ReturnType<typeof createGatewayStore>;

/** @param journal keeps the data; default: in memory only */
export function createGatewayStore({ map, value } = createJournal()) {
  const orders = createEntityStore<Order>(map('orders'));
  const payments = createEntityStore<Payment>(map('payments'));
  const refunds = createEntityStore<Refund>(map('refunds'));
  const receipts = map<string>('receipts');
  const account = value<Account>('account', standardAccount);

  return {
    orders,
    payments,
    refunds,
    invoices: createEntityStore<Invoice>(map('invoices')),
    disputes: createEntityStore<Dispute>(map('disputes')),
    settlements: createEntityStore<Settlement>(map('settlements')),
    settlementLines: createEntityStore<KeptLine>(map('settlement_lines')),
    plans: createEntityStore<Plan>(map('plans')),
    addons: createEntityStore<Addon>(map('addons')),
    customers: createEntityStore<Customer>(map('customers')),
    subscriptions: createEntityStore<Subscription>(map('subscriptions')),
    /** By their ids: refunds that the API made, until they are due: at the next look. */
    askedRefunds: map<true>('asked_refunds'),
    refundKeys: map<{ id: string; body: string }>('refund_keys'), // by the idempotency key
    /** By the subscription's id: subscriptions of the API, which bill themselves. */
    billing: map<Billing>('billing'),
    /** The id of the last payment, by the subscription's id. */
    charges: map<string>('charges'),
    /** By their ids: subscriptions with a pending cancellation at the end of the cycle, which no field of the entity shows. */
    endingWithCycle: map<true>('ending_with_cycle'),
    /** How many seconds before its start a further cycle is charged. */
    debit: value('debit', 0),
    /** When cycles end. */
    cycles: value<CycleSettings>('cycles', { end_at: 'time_of_authorisation' }),
    /** What makes the amount of a payment differ from its order's. */
    account,

    createOrder({ amount, currency, receipt, notes }: NewOrder, at: number): Order {
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
    findOrderByReceipt: (receipt: string) => orders.find(receipts.get(receipt)),
    /** The attempts to pay an order, newest first. */
    paymentsOf: (orderId: string) => payments.list().filter(({ order_id }) => order_id === orderId),
    /** The refunds of a payment, newest first. */
    refundsOf: (paymentId: string) => refunds.list().filter(({ payment_id }) => payment_id === paymentId),
    /** Creates a payment for an order, by default of the order's amount. A paid order stays paid. */
    attempt(order: Order, notes: Notes, at: number, terms?: Terms): Payment {
      const status = order.status === 'created' ? 'attempted' : order.status;
      orders.save({ ...order, status, attempts: order.attempts + 1 });
      return payments.save({ ...newPayment(order, notes, at), ...terms });
    },
    /** Captures a payment and marks its order as paid, if it has one. */
    capture(authorized: Payment): { payment: Payment; order: Order | undefined } {
      // A fee on top of the order's amount was known before.
      const terms = booked(account.current, authorized.amount, authorized.currency);
      const { fee, tax } = authorized.fee === null ? terms : authorized;
      const payment = payments.save({
        ...authorized,
        status: 'captured',
        captured: true,
        ...terms,
        amount_transferred: 0,
        fee,
        tax,
        acquirer_data: { rrn: String(Date.now()).slice(-12) },
      });
      const order = orders.find(payment.order_id);
      if (order === undefined) return { payment, order };
      return { payment, order: orders.save({ ...order, status: 'paid', amount_paid: order.amount, amount_due: 0 }) };
    },
  };
}

/** The error fields of a payment without an error. */
export const NO_ERROR: PaymentError = {
  error_code: null,
  error_description: null,
  error_source: null,
  error_step: null,
  error_reason: null,
};

/** A payment of the whole order, with status `created`. */
function newPayment(order: Order, notes: Notes, at: number): Payment {
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
    offer_id: null,
    ...NO_ERROR,
    acquirer_data: { rrn: null },
    created_at: at,
  };
}

/** A subscription of twelve cycles before its first event. `at`: Unix seconds. */
export function newSubscription(id: string, at: number): Subscription {
  return {
    id,
    entity: 'subscription',
    plan_id: newId('plan'),
    customer_id: newId('cust'),
    type: 2,
    status: 'created',
    current_start: null,
    current_end: null,
    ended_at: null,
    quantity: 1,
    notes: [],
    charge_at: null,
    start_at: null,
    end_at: null,
    auth_attempts: 0,
    total_count: CYCLES,
    paid_count: 0,
    remaining_count: CYCLES,
    customer_notify: true,
    created_at: at,
    expire_by: null,
    short_url: null,
    has_scheduled_changes: false,
    change_scheduled_at: null,
    source: 'api',
    offer_id: null,
  };
}
