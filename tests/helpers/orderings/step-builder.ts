import { sha256 } from '../gateway/deliver.ts';
import {
  disputeEvent,
  type Fields,
  orderPaid,
  paymentCaptured,
  paymentFailed,
  refundEvent,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../gateway/events.ts';
import { uniqueId } from '../records/records.ts';

/**
 * A step that `test.run_step` runs: a delivery (a repeat sends the same bytes), a verification, the storage of an
 * order's id, a grant of premium, a row of premium that an admin writes, a cancellation or a resumption by the user, a
 * gateway subscription that the user asks for, or a run of the scheduled expiry.
 */
export type Step =
  | { name: string; grantTo: string; until: string }
  | { name: string; cancelFor: string; atPeriodEnd: boolean }
  | { name: string; resumeFor: string }
  | { name: string; writeFor: string }
  | { name: string; askFor: string; userId: string; startsAt: string; isTrial: boolean; replaces: string | null }
  | { name: string; expires: true }
  | { name: string; stored: string; orderId: string }
  | { name: string; sha256: string; body: string }
  | { name: string; userId: string; orderId: string; paymentId: string };

export type OrderIds = { readonly id: string; readonly orderId: string };

/** Builds the steps of one user. Payments and gateway subscriptions are named by letters: one letter is one id. */
export type StepBuilder = {
  /** The gateway subscriptions that the built steps name. */
  readonly subscriptionIds: string[];
  verify(name: string, order: OrderIds, letter: string): Step;
  grant(name: string): Step;
  cancel(name: string, when: 'at once' | 'at period end'): Step;
  resume(name: string): Step;
  writeRow(name: string): Step;
  captured(name: string, order: OrderIds, letter: string): Step;
  orderPaid(name: string, order: OrderIds, letter: string): Step;
  failed(name: string, order: OrderIds, letter: string): Step;
  refunded(name: string, order: OrderIds, letter: string, amount?: number): Step;
  /** The user asks for a gateway subscription that starts later: after a trial, or when `replaces` ends. */
  ask(name: string, order: { sub?: string; startsOn: number; isTrial?: boolean; replaces?: string }): Step;
  /** The scheduled expiry runs. */
  expire(name: string): Step;
  /**
   * An event of November 2026, days before the first delivery. Its period is given in months from January 2126, or by the
   * days on which it starts and ends.
   */
  subscription(name: SubscriptionEvent['name'], event: {
    day: number;
    months?: [number, number];
    days?: readonly [number, number];
    /** Other fields of the subscription. */
    fields?: Fields;
    sub?: string;
    as?: string;
    plan?: string;
    /** A letter: the payment of the cycle. */
    paidBy?: string;
  }): Step;
  /** The status of a dispute about a cycle's payment. */
  disputed(name: string, status: string, letter: string): Step;
  /** A full refund of a cycle's payment. */
  cycleRefunded(name: string, letter: string): Step;
  /** The refund that the step `of` announced fails. */
  refundFailed(name: string, of: string, order: OrderIds, letter: string, amount?: number): Step;
};

/** The time of an event by its number: each number is six hours, counted from 10 November 2026. */
export function dayOfEvents(day: number): string {
  return new Date(Date.UTC(2026, 10, 10, day * 6)).toISOString();
}

/** A builder of steps for one user. */
export function createStepBuilder(userId: string): StepBuilder {
  const suffix = uniqueId('');
  const subscriptionIds: string[] = [];
  const money = ({ orderId }: OrderIds, letter: string) => ({ id: `pay_${letter}${suffix}`, order_id: orderId });
  const deliver = (name: string, body: string): Step => ({ name, sha256: sha256(body), body });
  const month = (number: number) => new Date(Date.UTC(2126, number)).toISOString();
  const subscriptionId = (letter: string) => {
    const id = `sub_${letter}${suffix}`;
    if (!subscriptionIds.includes(id)) subscriptionIds.push(id);
    return id;
  };
  return {
    subscriptionIds,
    verify: (name, order, letter) => ({
      name,
      userId,
      orderId: order.orderId,
      paymentId: money(order, letter).id,
    }),
    grant: (name) => ({ name, grantTo: userId, until: '2127-01-01T00:00:00Z' }),
    cancel: (name, when) => ({ name, cancelFor: userId, atPeriodEnd: when === 'at period end' }),
    resume: (name) => ({ name, resumeFor: userId }),
    writeRow: (name) => ({ name, writeFor: userId }),
    captured: (name, order, letter) => deliver(name, paymentCaptured(money(order, letter))),
    orderPaid: (name, order, letter) =>
      deliver(name, orderPaid(money(order, letter), { id: order.orderId, receipt: order.id.replaceAll('-', '') })),
    failed: (name, order, letter) => deliver(name, paymentFailed(money(order, letter))),
    refunded: (name, order, letter, amount = 99900) =>
      deliver(name, refundEvent(money(order, letter), amount, { id: `rfnd_${name}${suffix}` })),
    refundFailed: (name, of, order, letter, amount = 99900) =>
      deliver(name, refundEvent(money(order, letter), amount, { id: `rfnd_${of}${suffix}`, status: 'failed' })),
    disputed: (name, status, letter) =>
      deliver(name, disputeEvent(`payment.dispute.${status}`, status, { id: `pay_${letter}${suffix}` })),
    cycleRefunded: (name, letter) => deliver(name, refundEvent({ id: `pay_${letter}${suffix}` }, 49900)),
    ask: (name, { sub = 'A', startsOn, isTrial = false, replaces }) => ({
      name,
      askFor: subscriptionId(sub),
      userId,
      startsAt: dayOfEvents(startsOn),
      isTrial,
      replaces: replaces === undefined ? null : subscriptionId(replaces),
    }),
    expire: (name) => ({ name, expires: true }),
    subscription(name, { day, months, days, fields, sub = 'A', as = name, plan = 'plan_pro', paidBy }) {
      const id = subscriptionId(sub);
      return deliver(
        as,
        subscriptionEvent({
          name,
          userId,
          id,
          planId: plan,
          createdAt: dayOfEvents(day),
          ...(months ? { start: month(months[0]), end: month(months[1]) } : {}),
          ...(days ? { start: dayOfEvents(days[0]), end: dayOfEvents(days[1]) } : {}),
          ...(fields ? { fields } : {}),
          ...(paidBy === undefined ? {} : { payment: { id: `pay_${paidBy}${suffix}`, amount: 49900 } }),
        }),
      );
    },
  };
}
