import type { Access } from './expected.ts';
import { type Cycle, type Facts, isCycleRefunded, isPaid, type Order, type Subscription } from './facts.ts';
import { addMonths, day, isoTime, minute, type Time } from './time.ts';

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
