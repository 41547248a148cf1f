import type { GatewayEvent, GatewayStatus, RefundStatus, Time } from './actions.ts';

/** A payment at the gateway, with its refunds by id. */
export type Money = {
  readonly name: string;
  /** The lookup key of what it was paid for, and the plan at the gateway: of an order the same. */
  price: string;
  readonly plan: string;
  readonly amount: number;
  readonly refunds: Map<string, { amount: number; status: RefundStatus }>;
  /** When a payment on an order was first verified or captured. */
  notedAt: Time | null;
};

/** The user's cancellations of a source: the times of those at once, and the period end that it is cancelled for. */
export type Cancellation = { readonly cancelledAt: Time[]; cancelledFor: Time | null };

/** Purchases that extend each other, from a time, after another source. They do not rule before `rulesFrom`. */
export type Chain = {
  readonly from: Time;
  readonly after: string | null;
  readonly rulesFrom: Time;
  readonly links: Order[];
};

/** When the period of an order begins; null: the order does not say it. */
export type Start = 'now' | 'after_current' | null;

/** The source whose unused time an order credits and replaces, up to an end; what was paid for it, and the credit. */
export type Credit = {
  readonly name: string;
  readonly kind: 'payment' | 'gateway';
  readonly until: Time;
  readonly paid: number;
  readonly credit: number;
};

export type Order = Cancellation & {
  readonly name: string;
  readonly price: string;
  readonly starts: Start;
  readonly credited: Credit | null;
  readonly amount: number;
  readonly orderedAt: Time;
  /** At the fulfilment, of an order that follows what runs: the greatest `since` of that. */
  follows: Time | null;
  /** When the row was written by hand that stood at the fulfilment. */
  afterRow: Time | null;
  /** The payment that counts, and the others. */
  money: Money | null;
  readonly extras: { readonly money: Money; isCaptured: boolean }[];
  isCaptured: boolean;
  fulfilledAt: Time | null;
  /** `since` by the customer's first verification. */
  verifiedAt: Time | null;
  chain: Chain | null;
  /** What it extends has ended early: it rules from its own period on. */
  waitsUntil: Time | null;
  /** At the fulfilment: the ruling source, and the live sources that were newer than the order. */
  found: { readonly ruling: string | null; readonly isRulingNewer: boolean; readonly newer: readonly string[] } | null;
  isRefused: boolean;
};

/**
 * A cycle of a gateway subscription. `at` is the time of its charge; `money` is null until an event names the payment. `by`
 * is the newest fact about it: a trial has no payment, and an activation may announce a cycle that is not paid.
 */
export type Cycle = {
  readonly start: Time;
  readonly end: Time;
  at: Time;
  money: Money | null;
  by: 'trial' | 'activation' | 'charge';
  /** Only a row written by hand says so. */
  readonly isByHand?: boolean;
};

/** The time of an event at the gateway, and the time of its delivery. */
export type EventTimes = { readonly at: Time; readonly arrivedAt: Time };

/** The mirror of a gateway subscription whose plan is one of ours. */
export type Subscription = Cancellation & {
  readonly name: string;
  /** When the user asked for it, else when it was first seen: a wish covers what was asked for before it. */
  askedAt: Time;
  price: string;
  planAt: Time;
  readonly authentications: EventTimes[];
  readonly activations: (EventTimes & { readonly cycle: Cycle })[];
  readonly charges: EventTimes[];
  readonly halts: Time[];
  readonly resumptions: Time[];
  readonly statuses: { at: Time; status: GatewayStatus; isRead: boolean; chargeAt: Time | null }[];
  paidCount: number | null;
  /** When a row written by hand last named it. */
  writtenAt: Time | null;
  /** When the row was written by hand that stood when it was first seen. */
  readonly afterRow: Time | null;
  /** When the newest fact about it arrived. */
  newsAt: Time;
  /** Whether an event other than a charge arrived. */
  isNoted: boolean;
  /** Whether an answer named the plan of one that was written by hand: until an event does, the row rules. */
  isReadImport: boolean;
  /** When its notes were last seen, and whom they named. */
  notes: { at: Time; name: GatewayEvent['notes'] } | null;
  /** The times of the user's cancellations at once, of any source. */
  readonly stops: Time[];
  readonly cycles: Cycle[];
  endedAt: Time | null;
  reconciledAt: Time | null;
  /** Whether the gateway was told to stop. */
  isTold: boolean;
  /** Its user was deleted: the gateway is to stop, unless he is back. */
  isUnwanted: boolean;
};

/** A gateway subscription that the user asked for, and that starts later: also the renewal of an order. */
export type Planned = {
  readonly name: string;
  readonly price: string;
  readonly at: Time;
  readonly startsAt: Time;
  readonly isTrial: boolean;
  readonly replaces: string | null;
  readonly renews: string | null;
};

/** A grant by an admin. */
export type Grant = Cancellation & {
  readonly name: string;
  readonly tier: string;
  readonly at: Time;
  readonly until: Time;
};

/** The row of the user as it was last written by hand. `until`: infinity for none. `subscription`: that it names. */
export type Row = Cancellation & {
  readonly name: 'row';
  readonly tier: string;
  readonly at: Time;
  readonly start: Time;
  readonly until: Time;
  readonly subscription: string | null;
  /** Whether it was written as cancelled: no access until a later fact. */
  readonly isCancelled: boolean;
};

/** What a history is drawn with. Each plan has the days of grace. */
export type Settings = { readonly earlyRenewal: 'replace' | 'extend'; readonly graceDays: number };

/** All facts about a user that were sent to the database. */
export type Facts = Settings & {
  /** The prices that are not sold now. */
  readonly offSale: string[];
  readonly orders: Order[];
  readonly subscriptions: Subscription[];
  /** The gateway subscriptions that the user asked for: they start after a trial, or when what they replace or renew ends. */
  readonly planned: Planned[];
  readonly grants: Grant[];
  /** One at most. */
  readonly rows: Row[];
  readonly money: Map<string, Money>;
  /** The events of gateway subscriptions: one that comes again changes nothing. */
  readonly received: Set<string>;
  readonly cancellations: Time[];
  /** The cancellations for the end of the period that were not withdrawn. */
  readonly wishes: Time[];
  /** When the user was deleted, if he is not back. His orders are `gone` for good. */
  deletedAt: Time | null;
  readonly gone: Order[];
  /** Whether it is decided what he has when he is back. */
  isRestorable: boolean;
};

/** The facts before the first action, under some settings. */
export function noFacts({ earlyRenewal, graceDays }: Settings): Facts {
  const none = {
    offSale: [],
    orders: [],
    subscriptions: [],
    planned: [],
    grants: [],
    rows: [],
    cancellations: [],
    wishes: [],
    gone: [],
  };
  return {
    earlyRenewal,
    graceDays,
    ...none,
    deletedAt: null,
    isRestorable: false,
    money: new Map(),
    received: new Set(),
  };
}

/** What was paid and not refunded. Only processed refunds count. */
export function paidOf(money: Money | null): number {
  const refunds = [...money?.refunds.values() ?? []].filter(({ status }) => status === 'processed');
  return refunds.reduce((left, { amount }) => left - amount, money?.amount ?? 0);
}

/** What may still be refunded: pending refunds count, too. */
export function leftOf(money: Money | null): number {
  const refunds = [...money?.refunds.values() ?? []].filter(({ status }) => status !== 'failed');
  return Math.max(0, refunds.reduce((left, { amount }) => left - amount, money?.amount ?? 0));
}

export function isRefunded(money: Money | null): boolean {
  return money !== null && paidOf(money) <= 0;
}

/** Whether an order was fulfilled, and not refunded in full. */
export function isPaid({ money, fulfilledAt }: Order): boolean {
  return fulfilledAt !== null && !isRefunded(money);
}

/** A payment by its name; created at its first use. */
export function moneyNamed({ money }: Facts, name: string, price: string, amount: number): Money {
  const known = money.get(name) ?? { name, price, plan: price, amount, refunds: new Map(), notedAt: null };
  money.set(name, known);
  return known;
}
