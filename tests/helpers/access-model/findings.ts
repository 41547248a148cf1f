import { isUnearned } from './credits.ts';
import { type Charge, type Cycle, type Facts, isCycleRefunded, isRefunded } from './facts.ts';
import type { Order, Subscription } from './facts.ts';
import { firstSinceOf, isStopped, rulingSource, sinceOf, type Source, sourcesOf } from './model.ts';
import { day, hour, second, type Time } from './time.ts';

/** The findings by the model: kind and subject, as `paid_twice: A`. */
export function findingsOf(facts: Facts, now: Time): string[] {
  const ruling = rulingSource(facts, now);
  // Written by hand, or more than a day after its grace because no reconciliation ran.
  const isUnpaid = ruling !== null && (ruling.kind === 'manual' || ruling.end + 4 * day + hour < now);
  const rows = [
    ...facts.orders.flatMap((order) => fromOrder(facts, order, now)),
    ...twiceForTheSameTime(facts, now).map((name) => `paid_twice: ${name}`),
    ...facts.subscriptions.flatMap((subscription) => fromCycles(facts, subscription, now)),
    ...(isUnpaid ? ['entitled_not_paid: user'] : []),
  ];
  return [...new Set(rows)].sort();
}

function fromOrder(facts: Facts, order: Order, now: Time): string[] {
  const { name, extras, isNeverCaptured, isDisputeLost } = order;
  // After a lost dispute an admin ends what still runs.
  const hasEnded = sourcesOf(facts).every((source) => source.name !== name || source.isEnded);
  return [
    ...extras.filter((money) => !isRefunded(money)).map((money) => `paid_twice: ${money.name}`),
    ...(isPaidUnder(facts, order, now) ? [`paid_twice: ${name}`] : []),
    ...(isUnearned(facts, order, now) ? [`unearned_credit: ${name}`] : []),
    ...(isNeverCaptured ? [`never_captured: ${name}`] : []),
    ...(isDisputeLost && !hasEnded ? [`dispute_lost: ${name}`] : []),
  ];
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

/** The times from which a source ranks. A gateway subscription that was activated again also has its first one. */
function sincesOf({ subscriptions }: Facts, { name, since }: Source): Time[] {
  return [since, ...subscriptions.filter((each) => each.name === name).map(firstSinceOf)];
}

/** Of two purchases of one tier the later one; of a purchase and a gateway subscription the purchase. */
function twiceForTheSameTime(facts: Facts, now: Time): string[] {
  const running = paidSources(facts).filter((source) => isRunning(source, now));
  const isBefore = (one: Source, other: Source) =>
    one.arrivedAt < other.arrivedAt || one.arrivedAt === other.arrivedAt && one.since < other.since;
  return running.filter((one) =>
    one.kind === 'payment' &&
    running.some((other) =>
      other.tier === one.tier && overlap(one, other) && (other.kind === 'gateway' || isBefore(other, one))
    )
  ).map(({ name }) => name);
}

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
  return subscription.cycles.flatMap(eachCharge).flatMap((cycle) => {
    const { at, charges: [charge], before } = cycle;
    if (!charge || isRefunded(charge.money)) return [];
    const { name } = charge.money;
    const isTwice = before.some(({ money }) => !isRefunded(money)) ||
      cycle.end > now && chargedAgain(facts, subscription, cycle).some((other) => other > at);
    return [
      ...(isChargedAfterReplacement(facts, subscription, cycle) ? [`charged_after_replacement: ${name}`] : []),
      ...(isChargedAfterCancellation(subscription, cycle) ? [`charged_after_cancellation: ${name}`] : []),
      ...(isTwice ? [`charged_twice: ${name}`] : []),
    ];
  });
}

/** A cycle once for each of its charges, as if that were the only one, with the charges before it. */
export function eachCharge(cycle: Cycle): (Cycle & { before: Charge[] })[] {
  if (cycle.charges.length === 0) return [{ ...cycle, before: [] }];
  return cycle.charges.map((charge) => {
    const before = cycle.charges.filter(({ at }) => at < charge.at);
    return { ...cycle, at: charge.at, charges: [charge], before };
  });
}

/**
 * The times of charges of other subscriptions to the same plan for the time of a charged cycle. One of the two subscriptions was
 * started here, and the customer had no other plan between the charges.
 */
export function chargedAgain(facts: Facts, subscription: Subscription, cycle: Cycle): Time[] {
  if (cycle.by !== 'charge' || isStopped(subscription)) return [];
  const isStartedHere = ({ name }: Subscription) => facts.planned.some((planned) => planned.name === name);
  const others = facts.subscriptions.filter((other) =>
    other.name !== subscription.name && other.tier === subscription.tier && !isStopped(other) &&
    (isStartedHere(subscription) || isStartedHere(other))
  );
  return others.flatMap(({ cycles }) => cycles.flatMap(eachCharge)).filter((other) =>
    other.by === 'charge' && !isCycleRefunded(other) && overlap(other, cycle) &&
    (subscription.endedAt === null || subscription.endedAt > other.at) &&
    !paidSources(facts).some(({ tier, since }) =>
      tier !== subscription.tier && since >= cycle.at && since <= other.at + second
    )
  ).map(({ at }) => at);
}

/** Whether a newer payment or gateway subscription existed when the cycle was charged. */
export function isChargedAfterReplacement(facts: Facts, subscription: Subscription, { at }: Cycle): boolean {
  const since = sinceOf({ ...subscription, authentications: [] }) ?? 0;
  return paidSources(facts).some((other) =>
    other.name !== subscription.name && sincesOf(facts, other).some((newer) => newer > since && newer < at)
  );
}

/** Whether the user cancelled at once before the charge, or for a period end at or before the start of the cycle. */
export function isChargedAfterCancellation({ stops, cancelledFor }: Subscription, { at }: Cycle): boolean {
  return stops.some((time) => time < at) || cancelledFor !== null && at > cancelledFor;
}
