import { expect } from 'vitest';
import type { Rules } from '../database/use-database.ts';
import { disputeEvent, paymentCaptured, refundEvent, subscriptionEvent } from '../gateway/events.ts';
import type { Fields, RefundFields, SubscriptionEvent } from '../gateway/events.ts';
import { orderTier } from './orders.ts';
import { mailsTo, paymentOf, type Purchase, verifyPurchase } from './purchases.ts';
import { readCancellation, readPayment, readSubscription, readTier } from './read-records.ts';
import { createUser, uniqueId } from './records.ts';
import { day, type Period, shortTime } from './time.ts';
import type { Row } from '../database/test-database.ts';

/** An order of a customer. */
export type CustomerOrder = ReturnType<typeof orderOf>;
/** A user of the tests, as `customerOf` makes one. */
export type Customer = ReturnType<typeof customerOf>;

/** The default prices of the sample plans, in minor units. */
export const prices: Record<string, number> = { basic: 4900, pro: 99900, premium: 199900 };

/** A request for an order: its time (else the clock's), and the fields `start` and `price`. */
export type Request = { readonly at?: string; readonly start?: 'now' | 'after_current'; readonly price?: string };

/** Inserts a user. */
export async function createCustomer(rules: Rules, options?: { email?: string | null }): Promise<Customer> {
  const user = await createUser(rules, options);
  return customerOf(rules, user);
}

/** A user who buys and subscribes, and what is stored about them. Times as `day` reads them. */
export function customerOf(rules: Rules, user: Purchase['user'], gatewayId = uniqueId('sub')) {
  /** Orders a tier at its default price, unless the request names another one. */
  async function order(tier: string, { at, ...request }: Request = {}) {
    if (at !== undefined) await rules.at(at);
    const order = await orderTier(rules.service, { user, tier, ...request });
    return orderOf(rules, order, order.answer);
  }
  /** Sets the clock and delivers an event of that time about the gateway subscription. @returns the outcome */
  async function event(name: SubscriptionEvent['name'], time: string, fields: Partial<SubscriptionEvent> = {}) {
    await rules.at(time);
    const of = { userId: user.id, id: gatewayId, createdAt: day(time) };
    return await rules.send(subscriptionEvent({ name, ...of, ...fields }));
  }
  /** Charges a cycle at its start, for the price of the tier. @returns the outcome */
  const charge = (cycle: Period, tier: string, fields: Partial<SubscriptionEvent> = {}) =>
    event('charged', cycle.start, {
      planId: `plan_${tier}`,
      ...cycle,
      payment: { id: `pay_${cycle.start.slice(0, 7)}_${gatewayId}`, amount: prices[tier] ?? 4900 },
      ...fields,
    });
  const subscription = () => readSubscription(rules, user.id);
  const tier = () => readTier(rules, user.id);
  /** The tier of the profile and the subscription: `pro: pro active to 2027-01-01`; `free: none` without one. */
  async function state() {
    const row = await subscription();
    return `${await tier()}: ${row ? `${row.tier} ${row.status} to ${shortTime(row.end)}` : 'none'}`;
  }
  return {
    ...user,
    /** The id of the gateway subscription that `event` and `charge` are about. */
    gatewayId,
    order,
    async buy(tier: string, request?: Request) {
      const bought = await order(tier, request);
      expect(await bought.verify()).toMatchObject({ outcome: 'applied', tier });
      return bought;
    },
    /** Another payment on an order. */
    again: (of: CustomerOrder) => orderOf(rules, { ...of, paymentId: uniqueId('pay') }, of.answer),
    event,
    charge,
    /** Activates the gateway subscription at the start of a cycle, and charges the cycle. */
    async bill(cycle: Period, tier: string, fields: Partial<SubscriptionEvent> = {}) {
      expect(await event('activated', cycle.start, { planId: `plan_${tier}`, ...cycle, ...fields })).toBe('applied');
      await charge(cycle, tier, fields);
    },
    cancel: (when: 'at once' | 'at the end') => rules.rpc('cancel_subscription', user.id, when === 'at the end'),
    state,
    /** The state after the expiry at a time. */
    async stateAt(time: string) {
      await rules.expire(time);
      return await state();
    },
    /** Applies the gateway's answer about the gateway subscription, as reconciliation does. */
    async reconcile(answer: Fields | null) {
      const { id } = await rules.one(
        'select id from billing.gateway_subscriptions where user_id = $1 and gateway_subscription_id = $2',
        [user.id, gatewayId],
      );
      return await rules.rpc('apply_gateway_subscription', id, answer && JSON.stringify(answer));
    },
    subscription,
    /** All columns of the subscription. */
    row: () => rules.one('select * from public.subscriptions where user_id = $1', [user.id]),
    /** Writes another end into the row, as an admin does by hand. */
    moveEnd: (end: string) =>
      rules.query('update public.subscriptions set current_period_end = $2 where user_id = $1', [user.id, day(end)]),
    tier,
    /** Oldest first: `payment basic to 2026-02-01 replaced`, with the reason where the source has ended. */
    async sources() {
      const rows = await rules.query('select * from billing.sources where user_id = $1 order by since', [user.id]);
      return rows.map((row) =>
        `${row.kind} ${row.tier} to ${shortTime(row.ends_at)}${row.ended_reason === null ? '' : ` ${row.ended_reason}`}`
      );
    },
    /** `paid_twice <subject>`, sorted; without the rows of the outbox, which no dispatcher delivers here. */
    async findings() {
      const rows = await rules.query(
        `select finding || ' ' || subject as text from billing.findings
         where user_id = $1 and finding not in ('outbox_stuck', 'untold_stop') order by 1`,
        [user.id],
        'findings of a customer',
      );
      return rows.map(({ text }) => String(text));
    },
    /** Keys of the mails, as `mailsTo` orders them. */
    mails: async () => (await mailsTo(rules, user)).map(String),
    cancellation: () => readCancellation(rules, gatewayId),
  };
}

/** Asks for a gateway subscription, and stores what the gateway makes. @returns who its events are about, with the answer */
export async function subscribe(rules: Rules, user: Customer, tier: string, price: string | null = null) {
  return await stored(rules, user, await rules.rpc('create_subscription', user.id, tier, null, null, price));
}

/** Asks for a change that makes a gateway subscription, with the payment that its order has. @returns as `subscribe` */
export async function askChange(
  rules: Rules,
  user: Customer,
  tier: string,
  when: string,
  { payment = null, price = null }: { payment?: string | null; price?: string | null } = {},
) {
  return await stored(rules, user, await rules.rpc('create_change', user.id, tier, when, payment, null, price));
}

async function stored(rules: Rules, user: Customer, asked: Row) {
  expect(asked).toMatchObject({ outcome: 'created' });
  const next = customerOf(rules, user);
  await rules.rpc('store_subscription', asked.id, next.gatewayId, 'https://gateway.example/s/1');
  return { ...next, asked };
}

/** An order of a customer. The events of its payment return their outcome, and are about the whole amount by default. */
function orderOf(rules: Rules, order: Purchase, answer: Row) {
  const [payment, amount] = [paymentOf(order), Number(answer.amount)];
  const row = () => readPayment(rules, order.id);
  return {
    ...order,
    /** What `create_order` answered. */
    answer,
    amount,
    /** Verifies the payment, as the client does after the checkout. */
    verify: () => verifyPurchase(rules.service, order),
    capture: (fields?: Fields) => rules.send(paymentCaptured({ ...payment, amount, ...fields })),
    /** Delivers refund.processed, or of another status. */
    refund: (part = amount, which?: RefundFields) => rules.send(refundEvent({ ...payment, amount }, part, which)),
    dispute: (end: 'won' | 'lost') => rules.send(disputeEvent(end, end, payment)),
    row,
    /** The period that the payment bought: `2026-01-01 to 2026-02-01`. */
    async period() {
      const { period_start, period_end } = await row();
      return `${shortTime(period_start)} to ${shortTime(period_end)}`;
    },
  };
}
