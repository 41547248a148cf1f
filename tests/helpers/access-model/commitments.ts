import { day, priceOf, type Time } from './actions.ts';
import { type Credit, type Facts, isPaid, type Planned, type Subscription } from './facts.ts';
import * as rules from './model.ts';
import type { Source } from './model.ts';

/** What an act of the customer is about: supabase/docs/rules.md, "Commitments". `price` is null where nothing was sold. */
export type Commitment = Pick<Source, 'tier' | 'price' | 'end'> & {
  /** By itself: the gateway charges it again, or the change that follows it. */
  readonly goesOn: boolean;
  /** Whether a charge is due, and not known to have failed. */
  readonly isCharging: boolean;
  /** The price of the change that waits for its end. */
  readonly followedBy: string | null;
  /** What paid for the period that runs. */
  readonly paidBy: { readonly kind: Credit['kind']; readonly name: string } | null;
};

/** Whether the gateway is to stop billing a subscription; undefined where the model does not decide it. */
export function isToStop(facts: Facts, one: Subscription): boolean | undefined {
  if (facts.cancellations.some((at) => at >= one.askedAt) || one.cancelledFor !== null) return true;
  if (rules.successorOf(facts, one) !== null) return true;
  if (one.activations.length === 0 && one.writtenAt === null) {
    const asked = facts.planned.find(({ name }) => name === one.name);
    return asked?.renews && one.charges.length === 0 ? isRenewalToStop(facts, one, asked) : undefined;
  }
  return isReplaced(facts, one, rules.sinceOf(one) ?? 0);
}

/** Whether the renewal of an order that waits is to stop; undefined beside another one that was asked for. */
function isRenewalToStop(facts: Facts, one: Subscription, { renews, startsAt }: Planned): boolean | undefined {
  const order = facts.orders.find(({ name }) => name === renews);
  if (!order || !isPaid(order) || order.cancelledAt.length > 0) return true;
  // Paid later than it was ordered, it would be charged before that time is over.
  if ((rules.periodOf(order)?.end ?? 0) > startsAt + day) return true;
  if (facts.planned.length > 1 || facts.rows[0]?.subscription) return undefined;
  const newest = rules.sourcesOf(facts).filter((source) => isBought(source) && !isTakenBack(facts, source.name))
    .toSorted((source, other) => other.since - source.since)[0];
  return newest?.kind === 'payment' && newest.name !== renews && newest.since > rules.authorisedAt(one);
}

/** Whether it is neither a grant nor a row written by hand. */
const isBought = ({ kind }: Source): boolean => kind === 'payment' || kind === 'gateway';

/** Whether a price is on sale, and its tier, too. */
export function isOnOffer({ offSale }: Facts, key: string): boolean {
  return !offSale.includes(key) && !offSale.includes(priceOf(key).tier);
}

/**
 * What is newer replaced it, also after it ended, unless it was refunded and is not billed any more. A row written by hand that
 * names another one replaces it with the next fact: undefined.
 */
function isReplaced(facts: Facts, one: Subscription, since: Time): boolean | undefined {
  const own = [one.name, facts.planned.find(({ name }) => name === one.name)?.renews];
  const isNewer = rules.sourcesOf(facts).some((source) =>
    isBought(source) && !own.includes(source.name) && source.since > since && !isTakenBack(facts, source.name)
  );
  const { subscription = null, at = 0 } = facts.rows[0] ?? {};
  return isNewer || (subscription !== null && subscription !== one.name && at > since ? undefined : false);
}

function isTakenBack({ orders, subscriptions }: Facts, name: string): boolean {
  const order = orders.find((each) => each.name === name);
  if (order) return !isPaid(order);
  const one = subscriptions.find((each) => each.name === name);
  return one !== undefined && rules.paidCycle(one) === null && !isOpenAtGateway(one);
}

/** Whether the gateway may charge it again, and the customer did not end it at once. */
export function isOpenAtGateway(one: Subscription): boolean {
  return !rules.hasEndedAtGateway(one) && !rules.isStopped(one) &&
    !['completed', 'cancelled'].includes(rules.newestStatus(one)?.status ?? '');
}

/** The newest cycle, paid or not; null: it waits for its start. */
function newestCycle(one: Subscription) {
  return rules.cyclesWithAccess(one).toSorted((cycle, other) => other.end - cycle.end)[0] ?? null;
}

/** Whether a change waits for the end of a subscription, and no purchase replaced it. */
function hasSuccessor(facts: Facts, one: Subscription, now: Time): boolean {
  const next = rules.successorOf(facts, one);
  const planned = facts.planned.find(({ name }) => name === next?.name);
  return next !== null && !rules.isStopped(next) && (planned?.startsAt ?? -Infinity) > now &&
    !facts.orders.some((order) => {
      const source = rules.sourcesOf(facts).find(({ name }) => name === order.name);
      return source !== undefined && isPaid(order) && source.since > rules.authorisedAt(next);
    });
}

/** The commitment that an act is about; undefined where the model does not decide it. */
export function commitmentOf(facts: Facts, now: Time): Commitment | null | undefined {
  const live = rules.sourcesOf(facts).filter((source) => rules.isLive(source, now));
  const goingOn: (Commitment & { since: Time; isChange: boolean })[] = [];
  for (const one of facts.subscriptions) {
    // Before its first event it is what the row says that names it, while that runs.
    const isNamed = facts.rows[0]?.subscription === one.name && live.some(({ kind }) => kind === 'row');
    if (!rules.hasPlan(one) && !isNamed) continue;
    const isOpen = isOpenAtGateway(one);
    const cycle = newestCycle(one);
    const isFollowed = hasSuccessor(facts, one, now) && (isOpen || cycle !== null && cycle.end > now);
    if (!isOpen && !isFollowed) continue;
    const isStopped = isToStop(facts, one) ??
      (cycle === null ? undefined : isReplaced(facts, one, rules.sinceOf(one) ?? 0));
    if (isStopped && !isFollowed) continue;
    const planned = facts.planned.find(({ name }) => name === one.name);
    const { status, chargeAt } = rules.newestStatus(one) ?? {};
    // The gateway does not charge it by itself.
    if (status === 'paused' && !isFollowed) continue;
    const end = cycle?.end ?? planned?.startsAt ?? chargeAt ?? -Infinity;
    const isCharged = !isStopped && !['paused', 'halted'].includes(status ?? '');
    const goesOnFrom = cycle === null ? planned?.renews ?? planned?.replaces : one.name;
    const runs = isNamed && (cycle?.isByHand ?? true) ||
      rules.sourcesOf(facts).some((source) =>
        source.name === goesOnFrom && !source.isReplaced && rules.isOpen(source, now)
      );
    if (Math.max(end, isCharged ? chargeAt ?? -Infinity : -Infinity) <= now && !runs) continue;
    if (isStopped === undefined && !isFollowed) return undefined;
    const renewed = cycle === null ? facts.orders.find(({ name }) => name === planned?.renews) : undefined;
    // The renewal of an order that is not paid yet.
    if (cycle === null && planned?.renews && (renewed?.fulfilledAt ?? null) === null) continue;
    goingOn.push({
      ...{ tier: priceOf(one.price).tier, price: one.price, goesOn: true },
      isCharging: isCharged && isOpen && dueOf(one, end) <= now,
      end: renewed ? rules.periodOf(renewed)?.end ?? end : end,
      followedBy: isFollowed ? rules.successorOf(facts, one)?.price ?? null : null,
      ...{ since: rules.sinceOf(one) ?? 0, isChange: cycle === null && !renewed },
      paidBy: cycle !== null
        ? { kind: 'gateway', name: one.name }
        : renewed
        ? { kind: 'payment', name: renewed.name }
        : null,
    });
  }
  const [first] = goingOn.toSorted((one, other) =>
    Number(one.isChange) - Number(other.isChange) || other.since - one.since
  );
  if (first) return first;
  const paid = rules.newestOf(facts, live.filter(isBought), now) ?? rules.newestOf(facts, live, now);
  if (paid === null) return null;
  const { name, kind, tier, price, end } = paid;
  const named = facts.subscriptions.find((one) => kind === 'row' && one.name === facts.rows[0]?.subscription);
  return {
    tier,
    price,
    end,
    goesOn: false,
    isCharging: named !== undefined && isOpenAtGateway(named) && isToStop(facts, named) !== true &&
      dueOf(named, end) <= now,
    followedBy: null,
    paidBy: kind === 'payment' || kind === 'gateway' ? { kind, name } : null,
  };
}

/** When the gateway charges what it may charge. Before its first event at the end that is known. */
function dueOf(one: Subscription, end: Time): Time {
  const { status, chargeAt } = rules.newestStatus(one) ?? {};
  if (status === undefined) return end;
  return ['paused', 'halted'].includes(status) ? Infinity : chargeAt ?? Infinity;
}

/** What it would be to buy a price; undefined where the model does not decide it. Contract: Scenarios. */
export function scenarioOf(facts: Facts, key: string, now: Time): string | undefined {
  const from = commitmentOf(facts, now);
  if (!from) return from === null ? 'buy' : undefined;
  const relation = rules.relationOf(from, key);
  if (relation !== 'same') return isWaiting(facts, key, from.end, now) ? 'scheduled' : relation;
  if (from.goesOn || from.end === Infinity) return 'current';
  return facts.earlyRenewal === 'extend' || from.end <= now + 7 * day ? 'renew' : 'current';
}

/** Whether a change to a price waits for the end of what runs, or a purchase of it for that or outlasts it. */
function isWaiting(facts: Facts, key: string, end: Time, now: Time): boolean {
  return purchasesAfter(facts, end, now).some(({ price }) => price === key) ||
    facts.subscriptions.some((one) =>
      rules.successorOf(facts, one)?.price === key && hasSuccessor(facts, one, now) &&
      (isOpenAtGateway(one) || (newestCycle(one)?.end ?? 0) > now)
    );
}

/** The purchases that wait, or run and outlast what ends at a time. */
export function purchasesAfter(facts: Facts, end: Time, now: Time): Source[] {
  return rules.sourcesOf(facts).filter((source) =>
    source.kind === 'payment' && !source.isEnded && !source.isReplaced &&
    (source.rulesFrom > now || rules.isOpen(source, now) && source.end > end)
  );
}

/** The credit of an order that starts now, if the price covers it. Contract: Start and credit. */
export function creditFor(facts: Facts, key: string, now: Time): Credit | null {
  const unused = unusedFor(facts, key, now);
  return unused !== null && unused.credit <= priceOf(key).amount - 100 ? unused : null;
}

/** Whether the unused time is worth more than an order of the price that starts now could credit. */
export const isExcess = (facts: Facts, key: string, now: Time): boolean =>
  unusedFor(facts, key, now) !== null && creditFor(facts, key, now) === null;

/** The worth of the unused time for an upgrade in one currency. */
function unusedFor(facts: Facts, key: string, now: Time): Credit | null {
  const from = commitmentOf(facts, now);
  if (!from?.paidBy || rules.reasonOf(from, key) === 'currency' || rules.relationOf(from, key) !== 'upgrade') {
    return null;
  }
  const { name, kind } = from.paidBy;
  const period = kind === 'payment' ? runningLink(facts, name, now) : runningCycle(facts, name, now);
  if (period === null) return null;
  const { start, end: until } = period;
  const paid = rules.paidFor(facts, kind, period.name, until, priceOf(key).currency);
  const credit = Number(BigInt(paid) * BigInt(until - Math.max(now, start)) / BigInt(until - start));
  return credit > 0 ? { name: period.name, kind, until, paid, credit } : null;
}

/** The period of a chain of renewals that runs now, else the next one. */
function runningLink(facts: Facts, name: string, now: Time) {
  const links = facts.orders.find((order) => order.name === name)?.chain?.links ?? [];
  return links.flatMap((link) => {
    const period = rules.periodOf(link);
    const isThere = isPaid(link) && link.cancelledAt.length === 0 &&
      rules.replacing(facts, link.name, null).length === 0;
    return isThere && period !== null && period.end > now ? [{ name: link.name, ...period }] : [];
  }).toSorted((one, other) => one.start - other.start)[0] ?? null;
}

/** The newest cycle of a gateway subscription, if it runs and was not refunded in full. */
function runningCycle(facts: Facts, name: string, now: Time) {
  const subscription = facts.subscriptions.find((each) => each.name === name);
  const cycle = subscription && rules.paidCycle(subscription);
  const isNewest = subscription &&
    rules.cyclesWithAccess(subscription).every(({ start }) => start <= (cycle?.start ?? 0));
  return cycle && isNewest && cycle.end > now ? { name, start: cycle.start, end: cycle.end } : null;
}
