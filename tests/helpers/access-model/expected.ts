import { addMonths, day, isoTime, minute, type Time } from './actions.ts';
import { type Cycle, type Facts, isCycleRefunded, isPaid, type Order, type Subscription } from './facts.ts';
import { findingsOf } from './findings.ts';
import {
  authorisedSince,
  hasEndedAtGateway,
  isStopped,
  newestStatus,
  rulingSource,
  sinceOf,
  sourcesOf,
  successorOf,
} from './model.ts';

/** The access of a user, in one shape for the model and the database. */
export type Access = {
  /** The tier of the profile. */
  readonly tier: string;
  /** The subscription row while it is active. */
  readonly active: {
    readonly tier: string;
    readonly end: Time;
    readonly gatewaySubscription: string | null;
    readonly cancelAtPeriodEnd: boolean;
  } | null;
  readonly findings: readonly string[];
};

/** The billed subscription that GET /api/subscriptions shows. A time of null: no charge follows. */
export type Billing = {
  readonly name: string;
  readonly status: string;
  readonly nextChargeAt: Time | null;
  readonly needsAttention: boolean;
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
  const [model, database] = [describeBilling(billing, isDecided), describeBilling(stored.billing, isDecided)];
  return [
    ...(billing === undefined || model === database ? [] : [`model    ${model}`, `database ${database}`]),
    ...[...toBeCancelled(facts, now)].filter(([name, isCancelled]) => stored.cancelled.includes(name) !== isCancelled)
      .map(([name, isCancelled]) => `${isCancelled ? 'not ' : ''}to be cancelled at the gateway: ${name}`),
  ];
}

/** In a few words: `billed S1 pending, no next charge, attention`. */
export function describeBilling(billing: ExpectedBilling, isDecided = true): string {
  if (billing === null || billing === undefined) return 'no billing';
  const { name, status, nextChargeAt, needsAttention } = billing;
  const next = isDecided && nextChargeAt ? isoTime(nextChargeAt) : 'no next charge';
  return [`billed ${name} ${status}`, next, ...(needsAttention ? ['attention'] : [])].join(', ');
}

/** The access by the model. */
export function accessOf(facts: Facts, now: Time): Access {
  const ruling = rulingSource(facts, now);
  return {
    tier: ruling?.tier ?? 'free',
    active: ruling && {
      tier: ruling.tier,
      end: ruling.end,
      gatewaySubscription: ruling.kind === 'gateway' ? ruling.name : null,
      cancelAtPeriodEnd: ruling.cancelAtPeriodEnd,
    },
    findings: findingsOf(facts, now),
  };
}

/** The access in one line: `pro until 2027-01-31T10:00:00.000Z, S1, cancelled for then; paid_twice: B`. */
export function describeAccess({ tier, active, findings }: Access): string {
  const row = active === null ? [] : [
    ` ${active.tier === tier ? '' : `row ${active.tier} `}until ${isoTime(active.end)}`,
    ...(active.gatewaySubscription === null ? [] : [`, ${active.gatewaySubscription}`]),
    ...(active.cancelAtPeriodEnd ? [', cancelled for then'] : []),
  ];
  return [[tier, ...row].join(''), ...findings].join('; ');
}

/** The billing by the model. */
export function billingOf(facts: Facts, now: Time): ExpectedBilling {
  // A running one comes before one whose period is over, and that before one without a period.
  const rank = ({ cycles }: Subscription) =>
    cycles.length === 0 ? 0 : Math.max(...cycles.map((cycle) => cycle.end)) > now ? 2 : 1;
  const isStopping = (one: Subscription) =>
    ['paused', 'halted'].includes(newestStatus(one)?.status ?? '') || isToStop(facts, one, now);
  const shown = facts.subscriptions.filter((one) => isBilled(one) && !isStopped(one)).toSorted((one, other) =>
    Number(isStopping(one)) - Number(isStopping(other)) || rank(other) - rank(one) ||
    (sinceOf(other) ?? 0) - (sinceOf(one) ?? 0)
  );
  if (shown.length > 1 && shown.some((one) => sinceOf(one) === null || isStopping(one) === undefined)) return undefined;
  return shown[0] ? shownBilling(facts, shown[0]) : null;
}

function isBilled(one: Subscription): boolean {
  return !hasEndedAtGateway(one) && ![undefined, 'completed', 'cancelled'].includes(newestStatus(one)?.status);
}

function shownBilling(facts: Facts, one: Subscription): ExpectedBilling {
  const { status, chargeAt } = newestStatus(one) ?? { status: 'active', chargeAt: null };
  const isPlain = (status === 'active' || status === 'pending') && facts.subscriptions.length === 1 &&
    facts.grants.length === 0 && facts.orders.every(({ fulfilledAt }) => fulfilledAt === null);
  const isCancelledAtOnce = facts.cancellations.some((at) => at >= authorisedSince(one));
  const hasNone = one.cancelledFor !== null || status === 'paused' || isPlain && isCancelledAtOnce;
  return {
    name: one.name,
    status,
    nextChargeAt: hasNone ? null : isPlain && chargeAt !== null ? chargeAt : undefined,
    needsAttention: status === 'pending' || status === 'halted',
  };
}

/**
 * Whether the gateway is to stop billing a subscription, by name. Each that the customer cancelled is to stop, also below a
 * grant or a purchase; so is one whose change of plan was authorised, and one that a newer purchase replaced. One that
 * rules and renews goes on. Those that the rules of the model do not decide are left out.
 */
export function toBeCancelled(facts: Facts, now: Time): Map<string, boolean> {
  const open = facts.subscriptions.filter((one) =>
    !hasEndedAtGateway(one) && !['completed', 'cancelled'].includes(newestStatus(one)?.status ?? '')
  );
  return new Map(open.flatMap((one) => {
    const isStopped = isToStop(facts, one, now);
    return isStopped === undefined ? [] : [[one.name, isStopped]];
  }));
}

function isToStop(facts: Facts, one: Subscription, now: Time): boolean | undefined {
  if (facts.cancellations.some((at) => at >= authorisedSince(one)) || one.cancelledFor !== null) return true;
  if (successorOf(facts, one) !== null) return true;
  if (one.activations.length === 0) return undefined;
  const [ruling, since] = [rulingSource(facts, now), sinceOf(one) ?? 0];
  // A newer purchase is paid that begins after what runs.
  const isFollowed = () =>
    sourcesOf(facts).some((source) => !source.isEnded && source.rulesFrom > now && source.since > since);
  if (ruling?.name === one.name) return isFollowed();
  const isPurchase = ruling?.kind === 'payment' || ruling?.kind === 'gateway';
  return isPurchase && since < ruling.since ? true : undefined;
}

/** The period that the database sold for a fulfilled order. */
export type Sold = { readonly order: string; readonly start: Time; readonly end: Time; readonly isEnded: boolean };

/** Time of a tier that was paid for, or given: `isSure` where nothing that happened since can end it. */
type Paid = {
  readonly name: string;
  readonly tier: string;
  readonly start: Time;
  readonly end: Time;
  readonly isSure: boolean;
};

const grace = 3 * day;

/**
 * Where the database gives or promises more or less time than was paid for. It counts payments and does not rank them:
 *
 * - An order that is paid has the months that were bought, from its fulfilment or from the end of other time; one that is
 *   refunded in full, was never captured or ended by its customer has none.
 * - The access of the row ends no later than the paid time of its tier, and is over three days after that. Only access that
 *   the gateway bills may last until it is reconciled.
 * - While paid time runs, some time that is paid or in its days of grace gives the tier.
 *
 * One direction only: a cycle that an activation announced allows access, and does not require it. The time of a
 * subscription that the gateway cancelled, of a cancellation at once, and of what a credited order replaced is not required.
 * The amount of a credit is compared when the order is placed. A lost dispute leaves access, with a finding.
 */
export function moneyFaults(facts: Facts, now: Time, sold: readonly Sold[], access: Access): string[] {
  const paid = [
    ...facts.orders.flatMap((order) => paidByOrder(facts, order, sold)),
    ...facts.subscriptions.flatMap((each) => each.cycles.flatMap((cycle) => paidByCycle(facts, each, cycle))),
    ...facts.grants.map(({ name, tier, at, until, cancelledAt }) => ({
      ...{ name, tier, start: at, end: until },
      isSure: cancelledAt.length === 0,
    })),
  ];
  return [
    ...facts.orders.flatMap((order) => orderFaults(facts, order, sold)),
    ...promiseFaults(facts, now, paid, access),
    ...lossFaults(now, paid, access),
  ];
}

function isCancelledSince({ cancellations }: Facts, at: Time): boolean {
  return cancellations.some((time) => time >= at);
}

/** Whether a later order has the unused time of a source as its credit. */
function isCredited({ orders }: Facts, name: string, until: Time | null): boolean {
  return orders.some((order) =>
    order.credited?.name === name && (until === null || order.credited.until === until) && isPaid(order)
  );
}

function paidByOrder(facts: Facts, order: Order, sold: readonly Sold[]): Paid[] {
  const { name, tier, fulfilledAt } = order;
  const period = sold.find((each) => each.order === name);
  if (period === undefined || fulfilledAt === null || !isPaid(order)) return [];
  const isSure = !isCancelledSince(facts, fulfilledAt) && !isCredited(facts, name, null);
  return [{ name, tier, start: period.start, end: period.end, isSure }];
}

function paidByCycle(facts: Facts, { name, tier, endedAt }: Subscription, cycle: Cycle): Paid[] {
  const { start, end, at, by } = cycle;
  if (isCycleRefunded(cycle)) return [];
  const isKept = endedAt === null && !isCancelledSince(facts, at) && !isCredited(facts, name, end);
  return [{ name, tier, start, end, isSure: by !== 'activation' && isKept }];
}

/** What the database sold for an order, compared with the months that were paid. */
function orderFaults(facts: Facts, order: Order, sold: readonly Sold[]): string[] {
  const { name, fulfilledAt, months, starts } = order;
  const period = sold.find((each) => each.order === name);
  if (fulfilledAt === null || period === undefined) {
    return period === undefined && fulfilledAt === null ? [] : [`${name} is fulfilled on one side only`];
  }
  const { start, end, isEnded } = period;
  const isLost = !isPaid(order) || isCancelledSince(facts, fulfilledAt) && isEnded;
  if (isLost) return isEnded ? [] : [`${name} is not paid, and has not ended`];
  if (isEnded) return [`${name} is paid, and has ended`];
  // In a chain the months are counted from its first start: a month may begin or end on one of the last days.
  const mayShift = starts === 'after_current' || facts.earlyRenewal === 'extend';
  const isWhole = Math.abs(end - addMonths(start, months)) <= (mayShift ? grace : 0);
  const ends = [
    ...sold.map((each) => each.end),
    ...facts.subscriptions.flatMap(({ cycles }) => cycles.map((cycle) => cycle.end)),
    ...facts.grants.map(({ until }) => until),
  ];
  // What it followed may have ended, or have been paid anew, since.
  const isBehind = start > fulfilledAt && (ends.includes(start) || order.chain?.from === start);
  return [
    ...(isWhole ? [] : [`${name} has not ${months} months: ${isoTime(start)} to ${isoTime(end)}`]),
    ...(start === fulfilledAt || mayShift && isBehind ? [] : [`${name} begins at ${isoTime(start)}`]),
  ];
}

/** Access that is promised or given beyond what was paid. */
function promiseFaults({ subscriptions }: Facts, now: Time, paid: readonly Paid[], { tier, active }: Access): string[] {
  if (active === null) return tier === 'free' ? [] : [`${tier} without a subscription`];
  const { end, gatewaySubscription } = active;
  const isBilled = subscriptions.some(({ name }) => name === gatewaySubscription);
  const own = paid.filter((each) => each.tier === active.tier && isBilled === (each.name === gatewaySubscription));
  return [
    ...(own.some((each) => each.end >= end) ? [] : [`${active.tier} until ${isoTime(end)} is not paid`]),
    ...(tier === 'free' || isBilled || now < end + grace + minute ? [] : [`${tier} ended at ${isoTime(end)}`]),
  ];
}

/** Paid time that runs and gives no access. */
function lossFaults(now: Time, paid: readonly Paid[], { tier, active }: Access): string[] {
  const running = paid.filter(({ isSure, start, end }) => isSure && start <= now && now < end);
  const giving = paid.filter(({ start, end }) => start <= now && now < end + grace || end === active?.end);
  if (running.length === 0 || giving.some((each) => each.tier === tier)) return [];
  return [`${tier}, while paid time runs: ${running.map(({ name }) => name).join(', ')}`];
}
