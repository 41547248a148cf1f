import { sha256, subscriptionEvent } from '../gateway-events.ts';
import { captured, failed, orderPaid, refunded } from '../money-events.ts';
import { uniqueId } from '../records.ts';

/** A step of the database function `test.take_step`: a delivery, always of the same bytes, a verify, or an order stored. */
export type Step =
  | { name: string; stored: string; orderId: string }
  | { name: string; earlyRenewal: string; sha256: string; body: string }
  | { name: string; earlyRenewal: string; userId: string; orderId: string; paymentId: string };

export type Order = { readonly id: string; readonly orderId: string };

/** Makes the steps that can happen to a user. Payments and gateway subscriptions have letters: one letter is one id. */
export type Cast = {
  /** The gateway subscriptions that some step is about. */
  readonly subscriptionIds: string[];
  verify(name: string, order: Order, letter: string): Step;
  captured(name: string, order: Order, letter: string): Step;
  orderPaid(name: string, order: Order, letter: string): Step;
  failed(name: string, order: Order, letter: string): Step;
  refunded(name: string, order: Order, letter: string, amount?: number): Step;
  /** An event of November 2026, days before any arrival; its period counts in months from January 2126. */
  subscription(name: 'activated' | 'charged' | 'cancelled', event: {
    day: number;
    months?: [number, number];
    sub?: string;
    as?: string;
    plan?: string;
  }): Step;
};

/** The cast of a user. */
export function createCast(userId: string, earlyRenewal: 'replace' | 'extend'): Cast {
  const suffix = uniqueId('');
  const subscriptionIds: string[] = [];
  const money = ({ orderId }: Order, letter: string) => ({ id: `pay_${letter}${suffix}`, order_id: orderId });
  const deliver = (name: string, body: string): Step => ({ name, earlyRenewal, sha256: sha256(body), body });
  const month = (number: number) => new Date(Date.UTC(2126, number)).toISOString();
  return {
    subscriptionIds,
    verify: (name, order, letter) => ({
      name,
      earlyRenewal,
      userId,
      orderId: order.orderId,
      paymentId: money(order, letter).id,
    }),
    captured: (name, order, letter) => deliver(name, captured(money(order, letter))),
    orderPaid: (name, order, letter) =>
      deliver(name, orderPaid(money(order, letter), { id: order.orderId, receipt: order.id.replaceAll('-', '') })),
    failed: (name, order, letter) => deliver(name, failed(money(order, letter))),
    refunded: (name, order, letter, amount = 99900) => deliver(name, refunded(money(order, letter), amount)),
    subscription(name, { day, months, sub = 'A', as = name, plan = 'plan_pro' }) {
      const id = `sub_${sub}${suffix}`;
      if (!subscriptionIds.includes(id)) subscriptionIds.push(id);
      return deliver(
        as,
        subscriptionEvent({
          name,
          userId,
          id,
          planId: plan,
          createdAt: new Date(Date.UTC(2026, 10, 10, day * 6)).toISOString(),
          ...(months ? { start: month(months[0]), end: month(months[1]) } : {}),
        }),
      );
    },
  };
}
