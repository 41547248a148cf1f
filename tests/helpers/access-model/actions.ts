import { expect } from 'vitest';
import type { Start } from './facts.ts';

/** One act or event about a user. Orders, payments, gateway subscriptions and refunds have names. */
export type Action =
  | { do: 'order'; order: string; tier: string; amount: number; start?: Start }
  | { do: 'verify'; order: string; payment: string }
  | { do: 'captured'; order: string; payment: string; event: 'payment.captured' | 'order.paid' }
  | RefundAction
  | { do: 'subscribe'; subscription: string; tier: string; startsAt: Time; isTrial: boolean; replaces: string | null }
  | GatewayEvent
  | { do: 'ask'; answers: Record<string, Answer> }
  | { do: 'cancel'; atPeriodEnd: boolean }
  | { do: 'grant'; grant: string; tier: string; until: Time }
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

/** Price of each tier in minor units, and its months. The gateway bills basic and pro by the month. */
export const plans: Record<string, { price: number; months: number; cycleMonths: number }> = {
  basic: { price: 9900, months: 1, cycleMonths: 1 },
  pro: { price: 99900, months: 12, cycleMonths: 1 },
  premium: { price: 199900, months: 12, cycleMonths: 12 },
};

export const planOf = (tier: string) => plans[tier] ?? expect.fail(`no plan ${tier}`);

/** In a few words: `order A basic amount=9900`. */
export function describeAction({ do: name, ...fields }: Action): string {
  const isTime = (value: unknown) => typeof value === 'number' && value > 1e15;
  const words = Object.entries(fields).map(([field, value]) => {
    if (typeof value === 'string') return value;
    return `${field}=${isTime(value) ? isoTime(Number(value)) : JSON.stringify(value)}`;
  });
  return [name, ...words].join(' ');
}

/** Microseconds since 1970 in UTC, so that two sources of the same millisecond still have an order. */
export type Time = number;

export const second = 1_000_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export function parseTime(iso: string): Time {
  return Date.parse(iso) * 1000;
}

/** A time in ISO 8601, cut to milliseconds. */
export function isoTime(at: Time): string {
  return new Date(Math.floor(at / 1000)).toISOString();
}

/** A time cut to whole seconds, as the gateway writes times. */
export function wholeSeconds(at: Time): Time {
  return Math.floor(at / second) * second;
}

/** Calendar months later in UTC; a day that the month does not have becomes its last one. */
export function addMonths(at: Time, months: number): Time {
  const from = new Date(Math.floor(at / 1000));
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return (Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) + from.getTime() % 86_400_000) * 1000;
}
