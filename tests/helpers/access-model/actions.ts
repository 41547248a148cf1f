import type { Start } from './facts.ts';

/** One act or event about a user, as JSON. Orders, payments, gateway subscriptions and refunds have names. */
export type Action =
  | { do: 'order'; order: string; tier: string; amount: number; start?: Start }
  | { do: 'verify'; order: string; payment: string }
  | { do: 'captured'; order: string; payment: string; event: 'payment.captured' | 'order.paid' }
  | { do: 'failed'; order: string; payment: string }
  | {
    do: 'refund';
    payment: string;
    of: number;
    order: string | null;
    refund: string;
    amount: number;
    status: 'pending' | 'processed' | 'failed';
  }
  | { do: 'dispute'; order: string; payment: string }
  | { do: 'nothing captured'; order: string; isUnknown: boolean }
  | GatewayEvent
  | { do: 'ask'; answers: Record<string, Answer> }
  | { do: 'cancel'; atPeriodEnd: boolean }
  | { do: 'resume' }
  | { do: 'grant'; grant: string; tier: string; until: string }
  | { do: 'write by hand'; tier: string; until: string }
  | { do: 'change plan'; tier: string; months: number; price: number }
  | { do: 'wait' };

/** An event of a gateway subscription, times in ISO 8601. `payment` is the payment of the charge. */
export type GatewayEvent = {
  do: 'activated' | 'charged' | 'cancelled';
  subscription: string;
  tier: string;
  createdAt: string;
  start: string;
  end: string;
  payment: string | null;
};

/** A gateway subscription as the gateway's API returns it. */
export type Answer = {
  tier: string;
  status: 'active' | 'halted' | 'cancelled';
  start: string;
  end: string;
  endedAt: string | null;
};

/** An action and its time, ISO 8601. */
export type TimedAction = { at: string } & Action;

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

/** In a few words: `order A basic`. */
export function describeAction({ do: name, ...fields }: Action): string {
  const words = Object.entries(fields).map(([field, value]) =>
    typeof value === 'string' ? value : `${field}=${JSON.stringify(value)}`
  );
  return [name, ...words].join(' ');
}
