import { planOf } from './actions.ts';
import { type Credit, type Facts, isPaid, isRefunded, type Order, paidOf } from './facts.ts';
import {
  cyclesWithAccess,
  isOpen,
  paidCycle,
  periodOf,
  replacing,
  rulingSource,
  type Source,
  sourcesOf,
} from './model.ts';
import { day, type Time } from './time.ts';

/** The price of a tier now; a changed plan costs 100 more. */
export function priceOf({ months }: Facts, tier: string): number {
  return planOf(tier).price + (months[tier] === undefined ? 0 : 100);
}

/** The credit of an order that starts now. Contract: Start and credit. */
export function creditFor(facts: Facts, tier: string, now: Time): Credit | null {
  const ruling = rulingSource(facts, now);
  if (ruling === null || priceOf(facts, ruling.tier) >= priceOf(facts, tier)) return null;
  const { name, kind } = ruling;
  if (kind !== 'payment' && kind !== 'gateway') return null;
  const period = kind === 'payment' ? runningLink(facts, name, now) : runningCycle(facts, name, now);
  if (period === null) return null;
  const { start, end: until } = period;
  const paid = paidFor(facts, kind, period.name, until);
  const share = BigInt(paid) * BigInt(until - Math.max(now, start)) / BigInt(until - start);
  const credit = Math.min(Number(share), priceOf(facts, tier) - 100);
  return credit > 0 ? { name: period.name, kind, until, paid, credit } : null;
}

/** What was paid for a period and not refunded, the credit of its purchase included. */
function paidFor(facts: Facts, kind: Credit['kind'], name: string, until: Time): number {
  if (kind === 'gateway') {
    const cycles = facts.subscriptions.find((each) => each.name === name)?.cycles ?? [];
    const charges = cycles.filter(({ end }) => end === until).flatMap((cycle) => cycle.charges);
    return Math.max(0, ...charges.map(({ money }) => paidOf(money)));
  }
  const order = facts.orders.find((each) => each.name === name);
  return order && isPaid(order) ? paidOf(order.money) + (order.credited?.credit ?? 0) : 0;
}

/** The period of a chain of renewals that runs now, else the next one. */
function runningLink(facts: Facts, name: string, now: Time) {
  const links = facts.orders.find((order) => order.name === name)?.chain?.links ?? [];
  return links.flatMap((link) => {
    const period = periodOf(link);
    const isThere = isPaid(link) && link.cancelledAt.length === 0 && replacing(facts, link.name, null).length === 0;
    return isThere && period !== null && period.end > now ? [{ name: link.name, ...period }] : [];
  }).toSorted((one, other) => one.start - other.start)[0] ?? null;
}

/** The newest cycle of a gateway subscription, if it runs and was not refunded in full. */
function runningCycle(facts: Facts, name: string, now: Time) {
  const subscription = facts.subscriptions.find((each) => each.name === name);
  const cycle = subscription && paidCycle(subscription);
  const isNewest = subscription && cyclesWithAccess(subscription).every(({ start }) => start <= (cycle?.start ?? 0));
  return cycle && isNewest && cycle.end > now ? { name, start: cycle.start, end: cycle.end } : null;
}

/** What ends last of what runs or begins later, and the greatest `since` of all; null: nothing runs. */
export function endOfRunning(facts: Facts, now: Time): { last: Source; end: Time; since: Time } | null {
  const ruling = rulingSource(facts, now);
  if (ruling === null) return null;
  const open = sourcesOf(facts).filter((source) => !source.isReplaced && isOpen(source, now));
  const isRuling = ({ name }: Source) => Number(name === ruling.name);
  const last = open.filter((source) => source.kind !== 'grant' || isRuling(source))
    .toSorted((one, other) => other.end - one.end || isRuling(other) - isRuling(one))[0];
  if (last === undefined || last.end <= now) return null;
  return { last, end: last.end, since: Math.max(...open.map(({ since }) => since)) };
}

/** Whether the credit of an order was not covered. Contract: Start and credit. */
export function isUnearned(facts: Facts, order: Order, now: Time): boolean {
  const { credited, fulfilledAt, orderedAt, money } = order;
  if (credited === null || fulfilledAt === null || !isPaid(order) || isRefunded(money)) return false;
  if ((periodOf(order)?.end ?? 0) <= now) return false;
  const first = replacing(facts, credited.name, credited.until)
    .toSorted((one, other) => (one.fulfilledAt ?? 0) - (other.fulfilledAt ?? 0))[0];
  return first !== order || paidFor(facts, credited.kind, credited.name, credited.until) < credited.paid ||
    fulfilledAt > orderedAt + day;
}
