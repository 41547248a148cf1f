import { describePrice, isoTime, priceOf, type Time } from './actions.ts';
import { type Facts, isPaid, type Subscription } from './facts.ts';
import { isToStop } from './commitments.ts';
import { unwanted } from './deletion.ts';
import { findingsOf } from './findings.ts';
import * as rules from './model.ts';

/** The access of a user, in one shape for the model and the database. */
export type Access = {
  readonly tier: string;
  readonly active: {
    readonly tier: string;
    /** As `describePrice`; null: a grant, or a row written by hand. */
    readonly price: string | null;
    readonly end: Time;
    readonly gatewaySubscription: string | null;
    readonly cancelAtPeriodEnd: boolean;
  } | null;
  readonly findings: readonly string[];
};

/** The billed subscription that GET /api/subscriptions shows. A time of null: no charge follows. */
export type Billing = {
  readonly name: string;
  readonly price: string;
  readonly status: string;
  readonly nextChargeAt: Time | null;
  /** Undefined: the model does not decide whether it is to stop. */
  readonly needsAttention: boolean | undefined;
};

/** What the model says about the billing. A field is undefined where the rules that it knows do not decide it. */
type ExpectedBilling = (Omit<Billing, 'nextChargeAt'> & { nextChargeAt: Time | null | undefined }) | null | undefined;

/** Where the stored billing, and the stops for the gateway, differ from the model; empty: nowhere. */
export function billingDifferences(
  facts: Facts,
  now: Time,
  stored: { billing: Billing | null; cancelled: readonly string[] },
): string[] {
  const billing = billingOf(facts, now);
  const isDecided = billing?.nextChargeAt !== undefined;
  const read = billing?.needsAttention === undefined && stored.billing
    ? { ...stored.billing, needsAttention: undefined }
    : stored.billing;
  const [model, database] = [describeBilling(billing, isDecided), describeBilling(read, isDecided)];
  return [
    ...(billing === undefined || model === database ? [] : [`model    ${model}`, `database ${database}`]),
    ...[...toBeCancelled(facts)].filter(([name, isCancelled]) => stored.cancelled.includes(name) !== isCancelled)
      .map(([name, isCancelled]) => `${isCancelled ? 'not ' : ''}to be cancelled at the gateway: ${name}`),
  ];
}

/** In a few words: `billed S1 pending at pro, no next charge, attention`. */
export function describeBilling(billing: ExpectedBilling, isDecided = true): string {
  if (billing === null || billing === undefined) return 'no billing';
  const { name, price, status, nextChargeAt, needsAttention } = billing;
  const next = isDecided && nextChargeAt ? isoTime(nextChargeAt) : 'no next charge';
  return [`billed ${name} ${status} at ${price}`, next, ...(needsAttention ? ['attention'] : [])].join(', ');
}

/** The access by the model. */
export function accessOf(facts: Facts, now: Time): Access {
  const ruling = rules.rulingSource(facts, now);
  return {
    tier: ruling?.tier ?? 'free',
    active: ruling && {
      tier: ruling.tier,
      price: ruling.price && describePrice(ruling.price),
      end: ruling.end,
      gatewaySubscription: rules.shownSubscription(facts, ruling),
      cancelAtPeriodEnd: ruling.cancelAtPeriodEnd,
    },
    findings: findingsOf(facts, now),
  };
}

/** The access in one line: `pro until 2027-01-31T10:00:00.000Z at pro INR 12, S1, cancelled for then; paid_twice: B`. */
export function describeAccess({ tier, active, findings }: Access, told: ReadonlySet<string> = new Set()): string {
  const row = active === null ? [] : [
    ` ${active.tier === tier ? '' : `row ${active.tier} `}until ${isoTime(active.end)}`,
    ...(active.price === null ? [] : [` at ${active.price}`]),
    ...(active.gatewaySubscription === null ? [] : [`, ${active.gatewaySubscription}`]),
    // What the gateway was told is final, and shown as such from the next change on.
    ...(active.cancelAtPeriodEnd && !told.has(active.gatewaySubscription ?? '') ? [', cancelled for then'] : []),
  ];
  return [[tier, ...row].join(''), ...findings].join('; ');
}

/** The billing by the model. */
export function billingOf(facts: Facts, now: Time): ExpectedBilling {
  // A deleted user sees none.
  if (facts.deletedAt !== null) return undefined;
  // A running one comes before one whose period is over, and that before one without a period.
  const rank = ({ cycles }: Subscription) =>
    cycles.length === 0 ? 0 : Math.max(...cycles.map((cycle) => cycle.end)) > now ? 2 : 1;
  const isStopping = (one: Subscription) =>
    ['paused', 'halted'].includes(rules.newestStatus(one)?.status ?? '') || isToStop(facts, one);
  // The next charge; what is overdue comes last.
  const chargeOf = (one: Subscription) => {
    const at = isStopping(one) ? null : rules.newestStatus(one)?.chargeAt ?? null;
    return at === null ? Infinity : at > now ? at : at + Number.MAX_SAFE_INTEGER / 2;
  };
  const shown = facts.subscriptions.filter((one) => isBilled(one) && !rules.isStopped(one)).toSorted((one, other) =>
    Number(isStopping(one)) - Number(isStopping(other)) || (chargeOf(one) - chargeOf(other) || 0) ||
    rank(other) - rank(one) ||
    (rules.sinceOf(other) ?? 0) - (rules.sinceOf(one) ?? 0)
  );
  if (!facts.subscriptions.every(rules.hasPlan)) return undefined;
  if (shown.length > 1 && shown.some((one) => rules.sinceOf(one) === null || isStopping(one) === undefined)) {
    return undefined;
  }
  return shown[0] ? shownBilling(facts, shown[0]) : null;
}

function isBilled(one: Subscription): boolean {
  return !rules.hasEndedAtGateway(one) &&
    ![undefined, 'completed', 'cancelled'].includes(rules.newestStatus(one)?.status);
}

function shownBilling(facts: Facts, one: Subscription): ExpectedBilling {
  const { status, chargeAt } = rules.newestStatus(one) ?? { status: 'active', chargeAt: null };
  const isPlain = (status === 'active' || status === 'pending') && facts.subscriptions.length === 1 &&
    facts.grants.length === 0 && facts.orders.every(({ fulfilledAt }) => fulfilledAt === null);
  const isCancelledAtOnce = facts.cancellations.some((at) => at >= one.askedAt);
  const hasNone = one.cancelledFor !== null || status === 'paused' || isPlain && isCancelledAtOnce;
  return {
    name: one.name,
    price: one.price,
    status,
    nextChargeAt: hasNone ? null : isPlain && chargeAt !== null ? chargeAt : undefined,
    // Of what is to stop nothing is asked for.
    needsAttention: status !== 'pending' && status !== 'halted'
      ? false
      : isToStop(facts, one) === undefined
      ? undefined
      : !isToStop(facts, one),
  };
}

/**
 * Whether the gateway is to stop billing a subscription, by name. Each that the customer cancelled is to stop, also below a
 * grant or a purchase; so is one whose change of plan was authorised, and one that a newer purchase replaced. One that
 * rules and renews goes on. Those that the rules of the model do not decide are left out.
 */
export function toBeCancelled(facts: Facts): Map<string, boolean> {
  if (facts.deletedAt !== null) return unwanted(facts);
  const open = facts.subscriptions.filter((one) =>
    !rules.hasEndedAtGateway(one) && !['completed', 'cancelled'].includes(rules.newestStatus(one)?.status ?? '')
  );
  return new Map(open.flatMap((one) => {
    // Planned again with the next fact, or when the dispatcher reads it.
    if ((one.writtenAt ?? -Infinity) > one.newsAt) return [];
    const isStopped = isToStop(facts, one);
    // So is a stop that a row by hand takes back.
    if (!isStopped && (facts.rows[0]?.at ?? -Infinity) > one.newsAt) return [];
    // Of a user who is back it is withdrawn when the dispatcher reads it.
    return isStopped === undefined || one.isUnwanted && !isStopped ? [] : [[one.name, isStopped]];
  }));
}

/** The period that was sold for a fulfilled order, and its price. */
export type Sold = {
  readonly order: string;
  readonly price: string;
  readonly start: Time;
  readonly end: Time;
  readonly isEnded: boolean;
};

/** The payment of a cycle, and the price that it was charged for. */
export type Charge = { readonly payment: string; readonly price: string };

/** The charges that are not stored at their price. */
export function chargeDifferences({ money }: Facts, stored: readonly Charge[]): string[] {
  return stored.flatMap(({ payment, price }) => {
    const { price: sold = '', plan = '' } = money.get(payment) ?? {};
    const expected = [sold, priceOf(plan).currency, priceOf(sold).months].join(' ');
    return price === expected ? [] : [`charge ${payment} at ${price}, not ${expected}`];
  });
}

/** Where the periods that the database sold are not those that were paid, also of orders that do not rule. */
export function soldDifferences(facts: Facts, stored: readonly Sold[]): string[] {
  const describe = ({ order, price, start, end, isEnded }: Sold) =>
    `sold ${order} at ${price} ${isEnded ? 'until it was ended' : `${isoTime(start)} to ${isoTime(end)}`}`;
  const paid = [...facts.orders, ...facts.gone].flatMap((order) => {
    const period = rules.periodOf(order);
    const isEnded = !isPaid(order) || order.cancelledAt.length > 0;
    return period === null
      ? []
      : [describe({ order: order.name, price: describePrice(order.price), ...period, isEnded })];
  });
  const [model, database] = [new Set(paid), new Set(stored.map(describe))];
  return [
    ...[...model.difference(database)].map((line) => `model    ${line}`),
    ...[...database.difference(model)].map((line) => `database ${line}`),
  ];
}
