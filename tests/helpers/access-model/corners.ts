import { type Cycle, type Facts, isRefunded, type Order, type Subscription } from './facts.ts';
import { isPaidUnder, isReplaced, isUnwanted } from './findings.ts';
import { isLive, paidCycle, sinceOf, sourcesOf } from './model.ts';
import { second, type Time } from './time.ts';

/** Whether CORE.md can be read in two ways that differ here: such histories are not generated. */
export function isUnclear(facts: Facts, now: Time): boolean {
  return facts.subscriptions.some((subscription) =>
    isWishUnclear(facts, subscription) ||
    subscription.cycles.some((cycle) => isChargeUnclear(facts, subscription, cycle))
  ) || facts.orders.some((order) => isPaidUnderUnclear(facts, order, now) || isChainUnclear(facts, order, now));
}

/** Cancelled for the period's end and at once, then charged; or charged after a cancellation that found it lapsed. */
function isWishUnclear({ cancellations }: Facts, subscription: Subscription): boolean {
  const { cancelledAt, cancelledFor, cycles, charges, activations } = subscription;
  const revived = paidCycle(subscription)?.at ?? 0;
  const isKnownAt = (time: Time) => [...charges, ...activations].some(({ arrivedAt }) => arrivedAt <= time);
  return cancelledFor !== null && cancelledAt.some((time) => time < revived) ||
    cancellations.some((time) => !cancelledAt.includes(time) && isKnownAt(time) && cycles.some(({ at }) => at > time));
}

/** Replaced by what is known now, and not by what was known at the charge, or the reverse; or no payment to name. */
function isChargeUnclear(facts: Facts, subscription: Subscription, cycle: Cycle): boolean {
  const isAfter = isReplaced(facts, subscription, cycle);
  const isAgainstWill = isUnwanted(subscription, cycle);
  // The gateway's times have whole seconds.
  const latest = { ...cycle, at: cycle.at + second };
  return isAfter !== wasReplaced(facts, subscription, cycle.at) ||
    isAfter !== isReplaced(facts, subscription, latest) || isAgainstWill !== isUnwanted(subscription, latest) ||
    isAfter && isAgainstWill || cycle.money === null && (isAfter || isAgainstWill);
}

function wasReplaced(facts: Facts, { activations, charges }: Subscription, at: Time): boolean {
  const since = sinceOf({ activations: activations.filter((told) => told.at <= at), charges }) ?? 0;
  const isThere = (name: string) =>
    sourcesOf(facts).some((source) => source.name === name && isLive(source, at) && source.arrivedAt < at);
  return facts.orders.some(({ name, verifiedAt, orderedAt }) =>
    isThere(name) && (verifiedAt !== null && verifiedAt < at ? verifiedAt : orderedAt) > since
  ) || facts.subscriptions.some((other) => {
    const known = other.activations.filter(({ arrivedAt }) => arrivedAt < at);
    return isThere(other.name) && (sinceOf({ activations: known, charges: other.charges }) ?? 0) > since;
  });
}

/** Newer than the order now, and not when the money came, or the reverse; or only a grant was newer. */
function isPaidUnderUnclear(facts: Facts, order: Order, now: Time): boolean {
  const { found, verifiedAt, fulfilledAt, orderedAt } = order;
  if (found === null || fulfilledAt === null || verifiedAt !== null) return false;
  if (found.newer.some((name) => facts.given.some((given) => given.name === name))) return true;
  const newerNow = sourcesOf(facts).filter(({ since, arrivedAt, kind }) =>
    since > orderedAt && arrivedAt < fulfilledAt && (kind === 'payment' || kind === 'gateway')
  );
  return isPaidUnder(facts, order, now) && newerNow.some(({ name }) => !found.newer.includes(name));
}

/** A chain that is extended behind another's back, or whose start was taken away. */
function isChainUnclear(facts: Facts, order: Order, now: Time): boolean {
  const { chain, found, fulfilledAt, isNeverCaptured, name, verifiedAt } = order;
  if (chain === null || found === null) return false;
  const [first, ...later] = chain.links;
  const isChained = first !== order || chain.after !== null;
  // Whether the end of an older order by webhook alone, added to what rules, is shown.
  if (isChained && verifiedAt === null && found.newer.includes(found.ruling ?? '')) return true;
  if (isNeverCaptured && chain.links.at(-1) !== order) return true;
  if (chain.after !== null && later.length > 0 && isRefunded(first?.money ?? null)) return true;
  const before = facts.subscriptions.find(({ name }) => name === chain.after);
  if (before?.cycles.some(({ end, money }) => end === chain.from && isRefunded(money))) return true;
  if (fulfilledAt !== now || !isChained || chain.after === found.ruling) return false;
  const paid = chain.links.filter((link) => link.name !== name && !isRefunded(link.money) && !link.isNeverCaptured);
  return paid.at(-1)?.name !== found.ruling;
}
