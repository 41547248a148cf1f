import { day, hour, priceOf, second, type Time } from './actions.ts';
import { type Cycle, type Facts, isRefunded, type Money, type Order, type Subscription } from './facts.ts';
import { findingsAfterDeletion } from './deletion.ts';
import {
  authorisedAt,
  hasPlan,
  isLive,
  isOpen,
  isStopped,
  isUnearned,
  paidCycle,
  rulingSource,
  sinceOf,
  sourcesOf,
} from './model.ts';
import type { Source } from './model.ts';

/** The findings by the model: kind and subject, as `paid_twice: A`. */
export function findingsOf(facts: Facts, now: Time): string[] {
  const ruling = rulingSource(facts, now);
  // More than a day after its grace, because no reconciliation ran.
  const isUnpaid = ruling !== null && ruling.end + (facts.graceDays + 1) * day + hour < now;
  const twice = twiceForTheSameTime(facts, now);
  const afterDeletion = findingsAfterDeletion(facts);
  if (facts.deletedAt !== null) return afterDeletion.sort();
  const rows = [
    ...afterDeletion,
    ...facts.orders.flatMap((order) => fromOrder(facts, order, now)),
    ...facts.orders.filter(({ name }) => twice.includes(name)).map((order) =>
      `paid_twice: ${nameOf(order, order.money)}`
    ),
    ...facts.subscriptions.flatMap((subscription) => fromCycles(facts, subscription, now)),
    ...facts.subscriptions.filter(({ notes }) => notes?.name === 'another').map(({ name }) => `notes_edited: ${name}`),
    ...(isUnpaid || isGivenByRow(facts, ruling, now) ? ['entitled_not_paid: user'] : []),
    ...(ruling === null ? revokedNames(facts, now).map((name) => `paid_not_entitled: ${name}`) : []),
  ];
  return [...new Set(rows)].sort();
}

/** Whether only a row written by hand gives the tier. One that names a gateway subscription is paid there. */
function isGivenByRow(facts: Facts, ruling: Source | null, now: Time): boolean {
  return ruling?.kind === 'row' && facts.rows[0]?.subscription === null &&
    !sourcesOf(facts).some((other) =>
      other.kind !== 'row' && other.tier === ruling.tier && !other.isReplaced && isOpen(other, now - hour)
    );
}

/** What is paid for now, and was ended by a row that was written as cancelled. */
function revokedNames(facts: Facts, now: Time): string[] {
  return paidSources(facts).filter((source) => source.isRevoked && source.rulesFrom <= now && isRunning(source, now))
    .map(({ name }) => name);
}

function fromOrder(facts: Facts, order: Order, now: Time): string[] {
  const { name } = order;
  return [
    ...(isPaidUnder(facts, order, now) || isPaidBeside(facts, order, now)
      ? [`paid_twice: ${nameOf(order, order.money)}`]
      : []),
    ...order.extras.filter((extra) => isKept(extra, now)).map(({ money }) => `paid_twice: ${nameOf(order, money)}`),
    ...(isUnearned(facts, order, now) ? [`unearned_credit: ${name}`] : []),
  ];
}

/** The first payment on an order has the name of the order. */
const nameOf = ({ name }: Order, money: Money | null): string =>
  money === null || money.name === `${name}1` ? name : money.name;

/** Whether the seller has the money. The gateway refunds what was not captured within five days. */
function isKept({ money, isCaptured }: Order['extras'][number], now: Time): boolean {
  return !isRefunded(money) && (isCaptured || (money.notedAt ?? now) > now - 5 * day);
}

/** Whether only a webhook announced the payment, while a newer source existed that still runs. */
export function isPaidUnder(facts: Facts, { name, verifiedAt, orderedAt, fulfilledAt }: Order, now: Time): boolean {
  if (verifiedAt !== null || fulfilledAt === null) return false;
  const running = paidSources(facts).filter((source) => isRunning(source, now));
  const own = running.find((source) => source.name === name);
  return own !== undefined && running.some((other) => {
    const since = sincesOf(facts, other).at(-1) ?? other.since;
    const thereAt = other.kind === 'gateway' ? since : other.arrivedAt;
    return since > orderedAt && thereAt < fulfilledAt && overlap(own, other);
  });
}

/** Whether something else for the same time was paid between the order and its own payment, such as in another tab. */
function isPaidBeside(facts: Facts, { name, credited, orderedAt, fulfilledAt }: Order, now: Time): boolean {
  if (credited !== null || fulfilledAt === null) return false;
  const running = paidSources(facts).filter((source) => isRunning(source, now));
  const own = running.find((source) => source.name === name);
  const paid = [
    ...facts.orders.map((other) => ({ name: other.name, at: other.fulfilledAt ?? Infinity })),
    ...facts.subscriptions.filter(isCharged).map((each) => ({ name: each.name, at: authorisedAt(each) })),
  ];
  return own !== undefined &&
    paid.some(({ name, at }) =>
      at > orderedAt && at < fulfilledAt && running.some((source) => source.name === name && overlap(own, source))
    );
}

/** The times from which a source ranks. A gateway subscription that was activated again also has its authorisation. */
function sincesOf({ subscriptions }: Facts, { name, since }: Pick<Source, 'name' | 'since'>): Time[] {
  return [since, ...subscriptions.filter((each) => each.name === name).map(authorisedAt)];
}

/** Of two purchases of one tier the later one; of a purchase and a gateway subscription, but a trial, the purchase. */
function twiceForTheSameTime(facts: Facts, now: Time): string[] {
  const running = paidSources(facts).filter((source) => isRunning(source, now));
  const isBefore = (one: Source, other: Source) =>
    one.arrivedAt < other.arrivedAt || one.arrivedAt === other.arrivedAt && one.since < other.since;
  return running.filter((one) =>
    one.kind === 'payment' &&
    running.some((other) =>
      other.tier === one.tier && overlap(one, other) &&
      (other.kind === 'gateway'
        ? facts.subscriptions.some((each) => each.name === other.name && isCharged(each))
        : isBefore(other, one))
    )
  ).map(({ name }) => name);
}

/** A trial is not paid for. */
const isCharged = ({ activations, charges }: Subscription) => activations.length + charges.length > 0;

function paidSources(facts: Facts): Source[] {
  return sourcesOf(facts).filter(({ kind }) => kind === 'payment' || kind === 'gateway');
}

function isRunning(source: Source, now: Time): boolean {
  return !source.isEnded && !source.isReplaced && source.end > now;
}

export function overlap(one: { start: Time; end: Time }, other: { start: Time; end: Time }): boolean {
  return one.start < other.end && other.start < one.end;
}

function fromCycles(facts: Facts, subscription: Subscription, now: Time): string[] {
  return subscription.cycles.flatMap((cycle) => {
    const { at, money, end } = cycle;
    if (money === null || isRefunded(money)) return [];
    const isTwice = end > now && chargedAgain(facts, subscription, cycle).some((other) => other > at);
    return [
      ...(isChargedAfterReplacement(facts, subscription, cycle) ? [`charged_after_replacement: ${money.name}`] : []),
      ...(isChargedAfterCancellation(subscription, cycle) ? [`charged_after_cancellation: ${money.name}`] : []),
      ...(isTwice ? [`charged_twice: ${money.name}`] : []),
      // Of the price that is billed now: what another plan was sold for is not known any more.
      ...(end > now && money.price === subscription.price && isMismatch(money) ? [`mismatch: ${money.name}`] : []),
    ];
  });
}

/** Whether another amount or currency was charged than was sold. */
function isMismatch({ plan, price, amount }: Money): boolean {
  return amount !== priceOf(price).amount || priceOf(plan).currency !== priceOf(price).currency;
}

/**
 * The times of charges of other subscriptions at the same price, for the time of a charged cycle. One of the two was started here, and the customer had no other plan between the charges.
 */
export function chargedAgain(facts: Facts, subscription: Subscription, cycle: Cycle): Time[] {
  if (cycle.by !== 'charge' || isStopped(subscription)) return [];
  const plan = priceOf(subscription.price);
  const isSamePlan = ({ price }: Subscription) => price === subscription.price;
  const isStartedHere = ({ name }: Subscription) => facts.planned.some((planned) => planned.name === name);
  const others = facts.subscriptions.filter((other) =>
    other.name !== subscription.name && isSamePlan(other) && !isStopped(other) &&
    (isStartedHere(subscription) || isStartedHere(other))
  );
  return others.flatMap(({ cycles }) => cycles).filter((other) =>
    other.by === 'charge' && !isRefunded(other.money) && overlap(other, cycle) &&
    (subscription.endedAt === null || subscription.endedAt > other.at) &&
    !paidSources(facts).some(({ tier, since }) => tier !== plan.tier && since >= cycle.at && since <= other.at + second)
  ).map(({ at }) => at);
}

/** Whether a newer payment or gateway subscription existed when the cycle was charged. */
export function isChargedAfterReplacement(facts: Facts, subscription: Subscription, { at }: Cycle): boolean {
  const since = sinceOf(subscription) ?? 0;
  const imports = facts.subscriptions.filter((one) => one.isReadImport && !hasPlan(one)).map((one) => (
    { name: one.name, kind: 'gateway', since: sinceOf(one) ?? 0, arrivedAt: one.newsAt }
  ));
  return [...paidSources(facts), ...imports].some((other) =>
    other.name !== subscription.name && sincesOf(facts, other).some((newer) => newer > since && newer < at) &&
    // It is known a day after it was paid at the latest. Its order may be older.
    (other.kind !== 'payment' || other.arrivedAt - day < at)
  );
}

/** Whether the user cancelled at once before the charge, or for a period end at or before the start of the cycle. */
export function isChargedAfterCancellation({ stops, cancelledFor }: Subscription, { at }: Cycle): boolean {
  return stops.some((time) => time < at) || cancelledFor !== null && at > cancelledFor;
}

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
    facts.orders.some((order) => isPaidUnderOpen(facts, order, now) || isChainOpen(order, now)) ||
    // Verified while it was refunded, and then the refund failed: does it count as verified?
    facts.orders.some(({ isRefused, fulfilledAt }) => isRefused && fulfilledAt !== null);
}

function isSubscriptionOpen(facts: Facts, one: Subscription): boolean {
  const { cancelledAt, cancelledFor } = one;
  const revived = paidCycle(one)?.at ?? 0;
  // Cancelled for the period's end and at once, then charged: is it still cancelled for the end?
  if (cancelledFor !== null && cancelledAt.some((time) => time < revived)) return true;
  const isCancelled = cancelledFor !== null || cancelledAt.length > 0;
  return one.cycles.some((cycle) =>
    // Charged for the same time as another one in the same second, or cancelled by the user at a time that is not known.
    chargedAgain(facts, one, cycle).some((at) => at === cycle.at || at > cycle.at && isCancelled) ||
    cycle.by !== 'trial' && isChargeOpen(facts, one, cycle)
  );
}

/** A source that was refunded or had lapsed when the user cancelled at once, and runs again. */
function isRevivalOpen(facts: Facts, now: Time): boolean {
  const cancelledAt = (name: string) =>
    [...facts.orders, ...facts.subscriptions, ...facts.grants, ...facts.rows].find((each) => each.name === name)
      ?.cancelledAt ?? [];
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
    cycle.money === null && (isAfterReplacement || isAfterCancellation);
}

function wasChargedAfterReplacement(facts: Facts, one: Subscription, at: Time): boolean {
  const since = sinceOf({ ...one, activations: one.activations.filter((event) => event.at <= at) }) ?? 0;
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

/** A chain that is extended while another source rules. */
function isChainOpen(order: Order, now: Time): boolean {
  const { chain, found, fulfilledAt, verifiedAt } = order;
  if (chain === null || found === null) return false;
  const { links, after } = chain;
  const isLast = links.at(-1) === order;
  const isChained = links[0] !== order || after !== null;
  // Does a chain rank by its newest `since`, or each link by its own?
  if (isChained && found.isRulingNewer || !isLast && (verifiedAt ?? 0) > (fulfilledAt ?? 0)) return true;
  if (fulfilledAt !== now || !isChained || after === found.ruling) return false;
  const paid = links.filter((link) => link !== order && !isRefunded(link.money));
  return paid.at(-1)?.name !== found.ruling;
}
