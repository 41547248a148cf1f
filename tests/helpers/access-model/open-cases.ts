import { type Cycle, type Facts, isCycleRefunded, isRefunded, type Order, type Subscription } from './facts.ts';
import {
  chargedAgain,
  eachCharge,
  isChargedAfterCancellation,
  isChargedAfterReplacement,
  isPaidUnder,
} from './findings.ts';
import { isLive, paidCycle, sinceOf, sourcesOf } from './model.ts';
import { day, second, type Time } from './time.ts';

/** Whether the contract leaves the result open here. Such histories are not generated. */
export function isOpenCase(facts: Facts, now: Time): boolean {
  const sources = sourcesOf(facts);
  const sinces = sources.filter(({ kind }) => kind === 'gateway').map(({ since }) => since);
  return facts.subscriptions.some((one) => isSubscriptionOpen(facts, one)) ||
    // Two gateway subscriptions that were activated in the same second.
    new Set(sinces).size < sinces.length ||
    // At the exact instant at which access ends.
    sources.some(({ end, graceDays }) => end + graceDays * day === now) ||
    isRevivalOpen(facts, now) ||
    facts.orders.some((order) => isPaidUnderOpen(facts, order, now) || isChainOpen(facts, order, now)) ||
    // Verified while it was refunded, and then the refund failed: does it count as verified?
    facts.orders.some(({ isRefused, fulfilledAt }) => isRefused && fulfilledAt !== null);
}

function isSubscriptionOpen(facts: Facts, one: Subscription): boolean {
  const { cancelledAt, cancelledFor } = one;
  const revived = paidCycle(one)?.at ?? 0;
  // Cancelled for the period's end and at once, then charged: is it still cancelled for the end?
  if (cancelledFor !== null && cancelledAt.some((time) => time < revived)) return true;
  const isCancelled = cancelledFor !== null || cancelledAt.length > 0;
  return one.cycles.flatMap(eachCharge).some((cycle) =>
    // Charged for the same time as another one in the same second, or cancelled by the user at a time that is not known.
    chargedAgain(facts, one, cycle).some((at) => at === cycle.at || at > cycle.at && isCancelled) ||
    cycle.by !== 'trial' && isChargeOpen(facts, one, cycle)
  );
}

/** A source that was refunded or had lapsed when the user cancelled at once, and runs again. */
function isRevivalOpen(facts: Facts, now: Time): boolean {
  const cancelledAt = (name: string) =>
    [...facts.orders, ...facts.subscriptions, ...facts.grants].find((each) => each.name === name)?.cancelledAt ?? [];
  return sourcesOf(facts).some((source) =>
    isLive(source, now) &&
    facts.cancellations.some((time) => source.arrivedAt < time && !cancelledAt(source.name).includes(time))
  );
}

/** Replaced by the facts known now but not by those known at the charge, or the reverse; or the charge has no payment. */
function isChargeOpen(facts: Facts, one: Subscription, cycle: Cycle): boolean {
  const isAfterReplacement = isChargedAfterReplacement(facts, one, cycle);
  const isAfterCancellation = isChargedAfterCancellation(one, cycle);
  // The gateway's times have whole seconds.
  const latest = { ...cycle, at: cycle.at + second };
  return isAfterReplacement !== wasChargedAfterReplacement(facts, one, cycle.at) ||
    isAfterReplacement !== isChargedAfterReplacement(facts, one, latest) ||
    isAfterCancellation !== isChargedAfterCancellation(one, latest) ||
    isAfterReplacement && isAfterCancellation ||
    cycle.charges.length === 0 && (isAfterReplacement || isAfterCancellation);
}

function wasChargedAfterReplacement(facts: Facts, { activations, charges }: Subscription, at: Time): boolean {
  const before = activations.filter((event) => event.at <= at);
  const since = sinceOf({ authentications: [], activations: before, charges }) ?? 0;
  const there = sourcesOf(facts).filter((source) => isLive(source, at) && source.arrivedAt < at)
    .map(({ name }) => name);
  return facts.orders.some(({ name, verifiedAt, orderedAt }) =>
    there.includes(name) && (verifiedAt !== null && verifiedAt < at ? verifiedAt : orderedAt) > since
  ) || facts.subscriptions.some((other) => {
    const known = other.activations.filter(({ arrivedAt }) => arrivedAt < at);
    return there.includes(other.name) && (sinceOf({ ...other, activations: known }) ?? 0) > since;
  });
}

/** A source is newer than the order now but was not at the capture, or the reverse; or only a grant was newer. */
function isPaidUnderOpen(facts: Facts, order: Order, now: Time): boolean {
  const { found, verifiedAt, fulfilledAt, orderedAt } = order;
  if (found === null || fulfilledAt === null || verifiedAt !== null) return false;
  if (found.newer.some((name) => facts.grants.some((given) => given.name === name))) return true;
  return isPaidUnder(facts, order, now) &&
    sourcesOf(facts).some(({ name, since, arrivedAt, kind }) =>
      since > orderedAt && arrivedAt < fulfilledAt && (kind === 'payment' || kind === 'gateway') &&
      !found.newer.includes(name)
    );
}

/** A chain that is extended while another source rules, or whose first link was refunded. */
function isChainOpen(facts: Facts, order: Order, now: Time): boolean {
  const { chain, found, fulfilledAt, verifiedAt, isNeverCaptured } = order;
  if (chain === null || found === null) return false;
  const { links, after, from } = chain;
  const isLast = links.at(-1) === order;
  const isChained = links[0] !== order || after !== null;
  // Does a chain rank by its newest `since`, or each link by its own?
  if (isChained && found.isRulingNewer || !isLast && (verifiedAt ?? 0) > (fulfilledAt ?? 0)) return true;
  if (isNeverCaptured && !isLast) return true;
  const before = facts.subscriptions.find(({ name }) => name === after);
  if (before?.cycles.some((cycle) => cycle.end === from && isCycleRefunded(cycle))) return true;
  if (fulfilledAt !== now || !isChained || after === found.ruling) return false;
  const paid = links.filter((link) => link !== order && !isRefunded(link.money) && !link.isNeverCaptured);
  return paid.at(-1)?.name !== found.ruling;
}
