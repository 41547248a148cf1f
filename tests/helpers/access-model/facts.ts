import type { Time } from './time.ts';

/** A payment at the gateway, with its refunds by id. */
export type Money = {
  readonly name: string;
  readonly amount: number;
  readonly refunds: Map<string, { amount: number; status: 'pending' | 'processed' | 'failed' }>;
};

/** What the user did to a source: the times at which a cancellation ended it, and the period end it is cancelled for. */
export type Cancellation = { readonly cancelledAt: Time[]; cancelledFor: Time | null };

/** Purchases that follow each other without a gap. */
export type Chain = { readonly from: Time; readonly after: string | null; readonly links: Order[] };

/** An order, and what became of it. */
export type Order = Cancellation & {
  readonly name: string;
  readonly tier: string;
  readonly months: number;
  readonly amount: number;
  readonly orderedAt: Time;
  /** The payment that counts. */
  money: Money | null;
  isCaptured: boolean;
  fulfilledAt: Time | null;
  /** `since` by the customer's first verification. */
  verifiedAt: Time | null;
  chain: Chain | null;
  /** The source that ruled when it was fulfilled, and the live ones that were newer than the order. */
  found: { readonly ruling: string | null; readonly isRulingNewer: boolean; readonly newer: readonly string[] } | null;
  /** The customer verified it when it was refunded. */
  isRefused: boolean;
  isNeverCaptured: boolean;
  isDisputeLost: boolean;
  /** Further captured payments. */
  readonly extras: Money[];
};

/** A cycle of a gateway subscription: `at` is when it was charged, `money` null until an event named its payment. */
export type Cycle = { readonly start: Time; readonly end: Time; at: Time; money: Money | null };

/** A time at the gateway, and when its event came. */
export type Told = { readonly at: Time; readonly arrivedAt: Time };

/** The mirror of a gateway subscription whose plan is one of ours. */
export type Subscription = Cancellation & {
  readonly name: string;
  readonly tier: string;
  readonly activations: Told[];
  readonly charges: Told[];
  readonly cycles: Cycle[];
  endedAt: Time | null;
  /** When the gateway was last asked. */
  askedAt: Time | null;
};

/** A grant by an admin, or a row written by hand. */
export type Grant = Cancellation & {
  readonly kind: 'grant' | 'manual';
  readonly name: string;
  readonly tier: string;
  readonly at: Time;
  readonly until: Time;
};

/** Everything that the database was told about a user. */
export type Facts = {
  readonly earlyRenewal: 'replace' | 'extend';
  readonly orders: Order[];
  readonly subscriptions: Subscription[];
  readonly grants: Grant[];
  readonly money: Map<string, Money>;
  /** Months of the plans that were changed, by tier. */
  readonly months: Record<string, number>;
  /** The cancellations at once. */
  readonly cancellations: Time[];
};

export function noFacts(earlyRenewal: Facts['earlyRenewal']): Facts {
  return { earlyRenewal, orders: [], subscriptions: [], grants: [], money: new Map(), months: {}, cancellations: [] };
}

/** Whether all of a payment was refunded; only what is processed counts. */
export function isRefunded(money: Money | null): boolean {
  if (money === null) return false;
  const refunds = [...money.refunds.values()].filter(({ status }) => status === 'processed');
  return refunds.reduce((sum, { amount }) => sum + amount, 0) >= money.amount;
}

/** A payment by its name, new when nothing was told of it before. */
export function moneyNamed({ money }: Facts, name: string, amount: number): Money {
  const known = money.get(name);
  if (known) return known;
  const created: Money = { name, amount, refunds: new Map() };
  money.set(name, created);
  return created;
}
