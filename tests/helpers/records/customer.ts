import { expect } from 'vitest';
import type { Rules } from '../database/use-database.ts';
import {
  disputeEvent,
  type Fields,
  paymentCaptured,
  refundEvent,
  type RefundFields,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../gateway/events.ts';
import { orderTier } from './orders.ts';
import { mailsTo, paymentOf, type Purchase, verifyPurchase } from './purchases.ts';
import { readCancellation, readPayment, readSubscription, readTier } from './read-records.ts';
import { createUser, uniqueId } from './records.ts';
import { day, type Period, shortTime } from './time.ts';
import type { Row } from '../database/test-database.ts';

/** An order of a customer. */
export type CustomerOrder = Purchase & {
  /** What `create_order` answered. */
  readonly answer: Row;
  readonly amount: number;
  /** Verifies the payment, as the client does after the checkout. */
  verify(): Promise<Row>;
  /** Delivers payment.captured of the whole amount. @returns the outcome */
  capture(fields?: Fields): Promise<unknown>;
  /** Delivers refund.processed, or of another status: of the whole amount unless stated otherwise. @returns the outcome */
  refund(amount?: number, which?: RefundFields): Promise<unknown>;
  /** Delivers the end of a dispute. @returns the outcome */
  dispute(end: 'won' | 'lost'): Promise<unknown>;
  /** The row of the payment. */
  row(): Promise<Row>;
  /** The period that the payment bought: `2026-01-01 to 2026-02-01`. */
  period(): Promise<string>;
  /** Another payment on the order. */
  again(): CustomerOrder;
};

/** A request for an order: its time (else the clock's) and the field `start`. */
export type Request = { readonly at?: string; readonly start?: 'now' | 'after_current' };

/** A user who buys and subscribes, and what is stored about them. Times as `day` reads them. */
export type Customer = {
  readonly id: string;
  readonly email: string | null;
  /** The id of the gateway subscription that `event` and `charge` are about. */
  readonly gatewayId: string;
  /** Orders a tier at its price. */
  order(tier: string, request?: Request): Promise<CustomerOrder>;
  /** Orders a tier and verifies the payment. */
  buy(tier: string, request?: Request): Promise<CustomerOrder>;
  /** Sets the clock and delivers an event of that time about the gateway subscription. @returns the outcome */
  event(name: SubscriptionEvent['name'], time: string, fields?: Partial<SubscriptionEvent>): Promise<unknown>;
  /** Charges a cycle at its start. @returns the outcome */
  charge(cycle: Period, tier: string, fields?: Partial<SubscriptionEvent>): Promise<unknown>;
  /** Cancels: at once or at the end of the period. */
  cancel(when: 'at once' | 'at the end'): Promise<Row>;
  /** The tier of the profile and the subscription: `pro: pro active to 2027-01-01`; `free: none` without one. */
  state(): Promise<string>;
  subscription(): Promise<Row | null>;
  tier(): Promise<unknown>;
  /** Oldest first: `payment basic to 2026-02-01 replaced`, with the reason where the source has ended. */
  sources(): Promise<string[]>;
  /** `paid_twice <subject>`, sorted; without the rows of the outbox, which no dispatcher delivers here. */
  findings(): Promise<string[]>;
  /** Keys of the mails, as `mailsTo` orders them. */
  mails(): Promise<string[]>;
  /** How the gateway subscription is cancelled: see `readCancellation`. */
  cancellation(): Promise<Row | null>;
};

/** Inserts a user. */
export async function createCustomer(rules: Rules, options?: { email?: string | null }): Promise<Customer> {
  const user = await createUser(rules, options);
  return customerOf(rules, user);
}

/** A customer of a user who exists. */
export function customerOf(rules: Rules, user: Purchase['user'], gatewayId = uniqueId('sub')): Customer {
  const customer: Customer = {
    ...user,
    gatewayId,
    async order(tier, { at, start } = {}) {
      if (at !== undefined) await rules.at(at);
      const order = await orderTier(rules.service, { user, tier, ...(start && { start }) });
      return orderOf(rules, order, order.answer);
    },
    async buy(tier, request) {
      const order = await customer.order(tier, request);
      expect(await order.verify()).toMatchObject({ outcome: 'applied', tier });
      return order;
    },
    async event(name, time, fields) {
      await rules.at(time);
      const of = { userId: user.id, id: gatewayId, createdAt: day(time) };
      return await rules.send(subscriptionEvent({ name, ...of, ...fields }));
    },
    charge: (cycle, tier, fields) =>
      customer.event('charged', cycle.start, {
        planId: `plan_${tier}`,
        ...cycle,
        payment: { id: `pay_${cycle.start.slice(0, 7)}_${gatewayId}`, amount: 9900 },
        ...fields,
      }),
    cancel: (when) => rules.rpc('cancel_subscription', user.id, when === 'at the end'),
    async state() {
      const row = await customer.subscription();
      return `${await customer.tier()}: ${row ? `${row.tier} ${row.status} to ${shortTime(row.end)}` : 'none'}`;
    },
    subscription: () => readSubscription(rules, user.id),
    tier: () => readTier(rules, user.id),
    async sources() {
      const rows = await rules.query('select * from billing.sources where user_id = $1 order by since', [user.id]);
      return rows.map((row) =>
        `${row.kind} ${row.tier} to ${shortTime(row.ends_at)}${row.ended_reason === null ? '' : ` ${row.ended_reason}`}`
      );
    },
    async findings() {
      const rows = await rules.query(
        `select finding || ' ' || subject as text from billing.findings
         where user_id = $1 and finding <> 'outbox_stuck' order by 1`,
        [user.id],
        'findings of a customer',
      );
      return rows.map(({ text }) => String(text));
    },
    mails: async () => (await mailsTo(rules, user)).map(String),
    cancellation: () => readCancellation(rules, gatewayId),
  };
  return customer;
}

function orderOf(rules: Rules, order: Purchase, answer: Row): CustomerOrder {
  const [payment, amount] = [paymentOf(order), Number(answer.amount)];
  const row = () => readPayment(rules, order.id);
  return {
    ...order,
    answer,
    amount,
    verify: () => verifyPurchase(rules.service, order),
    capture: (fields) => rules.send(paymentCaptured({ ...payment, amount, ...fields })),
    refund: (part = amount, which) => rules.send(refundEvent({ ...payment, amount }, part, which)),
    dispute: (end) => rules.send(disputeEvent(end, end, payment)),
    row,
    async period() {
      const { period_start, period_end } = await row();
      return `${shortTime(period_start)} to ${shortTime(period_end)}`;
    },
    again: () => orderOf(rules, { ...order, paymentId: uniqueId('pay') }, answer),
  };
}
