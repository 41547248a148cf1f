import type { Start } from './facts.ts';
import { isoTime, type Time } from './time.ts';

/** One act or event about a user. Orders, payments, gateway subscriptions and refunds have names. */
export type Action =
  | { do: 'order'; order: string; tier: string; amount: number; start?: Start }
  | { do: 'verify' | 'failed' | 'dispute'; order: string; payment: string }
  | { do: 'captured'; order: string; payment: string; event: 'payment.captured' | 'order.paid' }
  | RefundAction
  | { do: 'nothing captured'; order: string; isUnknown: boolean }
  | { do: 'subscribe'; subscription: string; tier: string; startsAt: Time; isTrial: boolean; replaces: string | null }
  | GatewayEvent
  | { do: 'ask'; answers: Record<string, Answer> }
  | { do: 'cancel'; atPeriodEnd: boolean }
  | { do: 'grant'; grant: string; tier: string; until: Time }
  | { do: 'write by hand'; tier: string; until: Time }
  | { do: 'change plan'; tier: string; months: number; price: number }
  | { do: 'resume' | 'wait' };

export type RefundStatus = 'pending' | 'processed' | 'failed';

/** A refund of a payment of the amount `of`. */
export type RefundAction = {
  do: 'refund';
  payment: string;
  of: number;
  order: string | null;
  refund: string;
  amount: number;
  status: RefundStatus;
};

/** An event of a gateway subscription. `payment` is the payment of the charge. */
export type GatewayEvent = {
  do: Exclude<GatewayStatus, 'active'> | 'activated' | 'charged' | 'resumed' | 'updated';
  subscription: string;
  tier: string;
  createdAt: Time;
  start: Time | null;
  end: Time | null;
  payment: string | null;
  paidCount: number;
  chargeAt: Time | null;
};

/** The statuses of a gateway subscription. Of two events in one second the later one in this list is the newer one. */
export const gatewayStatuses = [
  'authenticated',
  'pending',
  'halted',
  'paused',
  'active',
  'completed',
  'cancelled',
] as const;
export type GatewayStatus = (typeof gatewayStatuses)[number];

/** A gateway subscription as the gateway's API returns it. */
export type Answer = Pick<GatewayEvent, 'tier' | 'start' | 'end' | 'paidCount' | 'chargeAt'> & {
  status: GatewayStatus;
  endedAt: Time | null;
};

export type TimedAction = { at: Time } & Action;

/** Price of each tier in minor units, and its months. The gateway bills basic and pro by the month. */
export const plans: Record<string, { price: number; months: number; cycleMonths: number }> = {
  basic: { price: 9900, months: 1, cycleMonths: 1 },
  pro: { price: 99900, months: 12, cycleMonths: 1 },
  premium: { price: 199900, months: 12, cycleMonths: 12 },
};

/** @throws where there is no such plan */
export function planOf(tier: string): { price: number; months: number; cycleMonths: number } {
  const plan = plans[tier];
  if (plan === undefined) throw new Error(`no plan ${tier}`);
  return plan;
}

/** In a few words: `order A basic amount=9900`. */
export function describeAction({ do: name, ...fields }: Action): string {
  const isTime = (value: unknown) => typeof value === 'number' && value > 1e15;
  const words = Object.entries(fields).map(([field, value]) => {
    if (typeof value === 'string') return value;
    return `${field}=${isTime(value) ? isoTime(Number(value)) : JSON.stringify(value)}`;
  });
  return [name, ...words].join(' ');
}
