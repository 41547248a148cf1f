import { expect } from 'vitest';
import type { Start } from './facts.ts';

/** One act or event about a user. Orders, payments, gateway subscriptions and refunds have names. */
export type Action =
  | { do: 'order'; order: string; price: string; amount: number; start?: Start }
  | { do: 'verify'; order: string; payment: string }
  | { do: 'captured'; order: string; payment: string; event: 'payment.captured' | 'order.paid' }
  | RefundAction
  | { do: 'failed'; order: string; payment: string }
  | { do: 'sell'; price: string; isOnSale: boolean }
  | SubscribeAction
  | GatewayEvent
  | { do: 'ask'; answers: Record<string, Answer> }
  | { do: 'cancel'; atPeriodEnd: boolean }
  | { do: 'grant'; grant: string; tier: string; until: Time }
  | WriteAction
  | Look
  | { do: 'resume' | 'wait' | 'delete' | 'restore' };

/** The user asks for a gateway subscription that starts later. `renews`: after the period of that order. */
export type SubscribeAction = {
  do: 'subscribe';
  subscription: string;
  price: string;
  startsAt: Time;
  isTrial: boolean;
  replaces: string | null;
  renews: string | null;
};

/**
 * An admin, or an import, writes the user's row of `public.subscriptions` and the profile's tier. `until`: null for a row without
 * an end. `isCancelled`: with the status `cancelled`.
 */
export type WriteAction = {
  do: 'write';
  tier: string;
  start: Time;
  until: Time | null;
  subscription: string | null;
  isEnding: boolean;
  isCancelled: boolean;
};

export type RefundStatus = 'pending' | 'processed' | 'failed';

/** The user looks at a price, and at a change to it. `outcome` is null where the model does not decide it. */
export type Look = {
  do: 'look';
  price: string;
  when: 'now' | 'period_end';
  /** Null: the price is off sale. */
  scenario: string | null;
  outcome: 'change' | 'not_now' | 'already_subscribed' | 'plan_not_found' | 'subscription_not_found' | null;
  credit: number;
};

/** A refund of a payment of the amount `of` for a price. */
export type RefundAction = {
  do: 'refund';
  payment: string;
  price: string;
  of: number;
  order: string | null;
  refund: string;
  amount: number;
  status: RefundStatus;
};

/** An event of a gateway subscription to a price. `payment` is the payment of the charge. `notes`: whom they name. */
export type GatewayEvent = {
  do: Exclude<GatewayStatus, 'active'> | 'activated' | 'charged' | 'resumed' | 'updated';
  subscription: string;
  price: string;
  createdAt: Time;
  start: Time | null;
  end: Time | null;
  payment: string | null;
  paidCount: number;
  chargeAt: Time | null;
  notes: 'user' | 'another';
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
export type Answer = Pick<GatewayEvent, 'price' | 'start' | 'end' | 'paidCount' | 'chargeAt' | 'notes'> & {
  status: GatewayStatus;
  endedAt: Time | null;
};

/** A price in minor units. */
export type Price = {
  readonly tier: string;
  readonly amount: number;
  readonly currency: string;
  readonly months: number;
};

/** The prices by their lookup keys: the default price of each tier has its name. */
export const prices: Readonly<Record<string, Price>> = {
  basic: { tier: 'basic', amount: 4900, currency: 'INR', months: 1 },
  pro_month: { tier: 'pro', amount: 9900, currency: 'INR', months: 1 },
  premium: { tier: 'premium', amount: 199900, currency: 'INR', months: 12 },
  pro_usd: { tier: 'pro', amount: 1900, currency: 'USD', months: 1 },
  pro: { tier: 'pro', amount: 99900, currency: 'INR', months: 12 },
  basic_year: { tier: 'basic', amount: 49000, currency: 'INR', months: 12 },
};

/** The tiers, the lowest rank first. */
export const tiers = ['basic', 'pro', 'premium'];

/** A plan at the gateway that is no price of ours. */
export const foreign = 'foreign';
const foreignPrice: Price = { tier: 'none', amount: 12300, currency: 'INR', months: 1 };

export const priceOf = (key: string): Price =>
  key === foreign ? foreignPrice : prices[key] ?? expect.fail(`no price ${key}`);

/** A price as it is stored with what was sold: `pro_month INR 1`. */
export const describePrice = (key: string): string => [key, priceOf(key).currency, priceOf(key).months].join(' ');

/** In a few words: `order A basic amount=4900`. */
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

/** A time in ISO 8601, cut to milliseconds; infinity: never. */
export function isoTime(at: Time): string {
  if (at === Infinity) return 'never';
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
