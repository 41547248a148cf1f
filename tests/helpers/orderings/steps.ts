import { sha256 } from '../gateway/deliver.ts';
import {
  disputeEvent,
  orderPaid,
  paymentCaptured,
  paymentFailed,
  refundEvent,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../gateway/events.ts';

/** The user of a scenario, the orders, and the ids of payments and gateway subscriptions by their letters. */
export type Parts = {
  readonly userId: string;
  readonly orders: readonly { readonly id: string; readonly orderId: string }[];
  readonly paymentId: (letter: string) => string;
  readonly subscriptionId: (letter: string) => string;
};

/** A step of `test.run_step`: a delivery (a repeat sends the same bytes), or a statement. */
export type Step =
  & { readonly name: string }
  & (
    | { readonly sha256: string; readonly body: string }
    | { readonly sql: string }
  );

/** A step before its scenario has a user. */
export type StepTemplate = { readonly name: string; readonly of: (parts: Parts) => string; readonly isEvent: boolean };

/** The time of an event by its number: each number is six hours, counted from 10 November 2026. The sequences run on day 42. */
export function dayOfEvents(day: number): string {
  return new Date(Date.UTC(2026, 10, 10, day * 6)).toISOString();
}

/** Start and end of a cycle, as days. */
export type Period = readonly [start: number, end: number];

type Of = { readonly sub?: string; readonly plan?: string; readonly paidBy?: string };

/** An event of a gateway subscription: A of the plan pro, unless stated otherwise. `paidBy`: the payment of the cycle. */
function subscription(name: SubscriptionEvent['name']) {
  return (day: number, period?: Period | null, { sub = 'A', plan = 'pro', paidBy }: Of = {}): StepTemplate => ({
    name: sub === 'A' ? name : `${name}-${sub}`,
    isEvent: true,
    of: ({ userId, subscriptionId, paymentId }) =>
      subscriptionEvent({
        ...{ name, userId, id: subscriptionId(sub), planId: `plan_${plan}`, createdAt: dayOfEvents(day) },
        ...(period && { start: dayOfEvents(period[0]), end: dayOfEvents(period[1]) }),
        ...(paidBy !== undefined && { payment: { id: paymentId(paidBy), amount: 99900 } }),
      }),
  });
}
export const authenticated = subscription('authenticated');
export const activated = subscription('activated');
export const charged = subscription('charged');
export const pending = subscription('pending');
export const halted = subscription('halted');
export const paused = subscription('paused');
export const resumed = subscription('resumed');
export const updated = subscription('updated');
export const cancelled = subscription('cancelled');
export const completed = subscription('completed');

type Money = { readonly id: string; readonly order_id?: string };

/** An event of a payment on an order. Payment and order are named by letters; the first order is A. */
function payment(name: string, of: (money: Money & { order_id: string }, order: Parts['orders'][number]) => string) {
  return (letter = 'P', order = 'A'): StepTemplate => ({
    name: `${name}-${letter}`,
    isEvent: true,
    of: ({ orders, paymentId }) => {
      const ordered = orders[order.charCodeAt(0) - 'A'.charCodeAt(0)];
      if (ordered === undefined) throw new Error(`no order ${order}`);
      return of({ id: paymentId(letter), order_id: ordered.orderId }, ordered);
    },
  });
}
export const captured = payment('captured', (money) => paymentCaptured(money));
export const failed = payment('failed', (money) => paymentFailed(money));
export const paid = payment(
  'order.paid',
  (money, { id }) => orderPaid(money, { id: money.order_id, receipt: id.replaceAll('-', '') }),
);

/** A refund of a payment of an order or a cycle. One that fails has the name of the refund before. */
export function refunded(letter = 'P', amount = 99900, status: 'processed' | 'failed' = 'processed'): StepTemplate {
  return {
    name: `refund-${letter}${amount < 99900 ? `-${amount}` : ''}${status === 'failed' ? '-fails' : ''}`,
    isEvent: true,
    of: ({ paymentId }) => {
      const id = paymentId(letter);
      return refundEvent({ id }, amount, { id: `rfnd_${amount}_${id}`, status });
    },
  };
}

export function disputed(letter: string, status: string): StepTemplate {
  return {
    name: `dispute-${status}`,
    isEvent: true,
    of: ({ paymentId }) => disputeEvent(`payment.dispute.${status}`, status, { id: paymentId(letter) }),
  };
}

function statement(name: string, of: (parts: Parts) => string): StepTemplate {
  return { name, isEvent: false, of };
}

export function verify(letter = 'P', order = 'A'): StepTemplate {
  return statement(`verify-${letter}`, ({ userId, orders, paymentId }) => {
    const orderId = orders[order.charCodeAt(0) - 'A'.charCodeAt(0)]?.orderId;
    return `select public.verify_payment('${userId}', '${orderId}', '${paymentId(letter)}', 'signature')`;
  });
}
/** The id of the order at the gateway is stored. */
export const stored = statement(
  'stored',
  ({ orders: [order] }) => `select public.store_order('${order?.id}', '${order?.orderId}')`,
);
export const grant = statement(
  'grant',
  ({ userId }) =>
    `insert into billing.support_actions (action, email, tier, until, reason)
   values ('grant', '${userId}', 'premium', '2126-01-01Z', 'test') returning null::jsonb`,
);
/** An admin writes the subscription row and the tier, in Studio. */
export const writeRow = statement(
  'write',
  ({ userId }) =>
    `with profile as (update public.profiles set subscription_tier = 'premium' where user_id = '${userId}')
   update public.subscriptions s set tier = p.tier, plan_id = p.id, status = 'active', current_period_end = '2126-01-01Z'
   from public.plans p where p.tier = 'premium' and s.user_id = '${userId}' returning null::jsonb`,
);
export const cancelAtOnce = statement(
  'cancel',
  ({ userId }) => `select public.cancel_subscription('${userId}', false)`,
);
export const cancelAtEnd = statement('cancel', ({ userId }) => `select public.cancel_subscription('${userId}', true)`);
export const resume = statement('resume', ({ userId }) => `select public.resume_subscription('${userId}')`);
/** The scheduled expiry runs. */
export const expire = statement('expire', () => 'select test.expire()');

/** The user asks for a gateway subscription that starts later: A after a trial, or another one when A ends. */
export function ask(sub: string, startsOn: number): StepTemplate {
  return statement('ask', ({ userId, subscriptionId }) =>
    `insert into billing.gateway_subscriptions
       (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at, starts_at, is_trial, replaces)
     values ('${userId}', 'pro', (select p.id from public.plans p where p.tier = 'pro'), 'plan_pro',
       row(null, 99900, 'INR', 12)::billing.price, '${subscriptionId(sub)}',
       billing.clock() + interval '30 days', '${dayOfEvents(startsOn)}', ${sub === 'A'}, ${
      sub === 'A' ? 'null' : `'${subscriptionId('A')}'`
    })
     returning null::jsonb`);
}

export function bind({ name, of, isEvent }: StepTemplate, parts: Parts): Step {
  const text = of(parts);
  return isEvent ? { name, sha256: sha256(text), body: text } : { name, sql: text };
}
