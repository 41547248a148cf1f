import {
  type Charge,
  type Cycle,
  type Facts,
  isCycleRefunded,
  isRefunded,
  type Order,
  type Subscription,
} from './facts.ts';
import { isUnearned } from './credits.ts';
import { firstSinceOf, rulingSource, sinceOf, type Source, sourcesOf } from './model.ts';
import { isStopped } from './states.ts';
import { day, hour, second, type Time } from './time.ts';

/** A row of `billing.findings`: its kind and its subject. */
export type Finding = `${string}: ${string}`;

/** The findings by the model. */
export function findingsOf(facts: Facts, now: Time): Finding[] {
  const rows = [
    ...facts.orders.flatMap((order) => fromOrder(facts, order, now)),
    ...twiceForTheSameTime(facts, now).map((name): Finding => `paid_twice: ${name}`),
    ...facts.subscriptions.flatMap((subscription) => fromCycles(facts, subscription, now)),
    ...(isUnpaid(rulingSource(facts, now), now) ? ['entitled_not_paid: user' as const] : []),
  ];
  return [...new Set(rows)].sort();
}

/** Access that was written by hand, or that runs more than a day after its grace because no reconciliation ran. */
function isUnpaid(ruling: Source | null, now: Time): boolean {
  return ruling !== null && (ruling.kind === 'manual' || ruling.end + 4 * day + hour < now);
}

function fromOrder(facts: Facts, order: Order, now: Time): Finding[] {
  return [
    ...order.extras.filter((money) => !isRefunded(money)).map(({ name }): Finding => `paid_twice: ${name}`),
    ...(isPaidUnder(facts, order, now) ? [`paid_twice: ${order.name}` as const] : []),
    ...(isUnearned(facts, order, now) ? [`unearned_credit: ${order.name}` as const] : []),
    ...(order.isNeverCaptured ? [`never_captured: ${order.name}` as const] : []),
    ...(order.isDisputeLost && !hasEnded(facts, order.name) ? [`dispute_lost: ${order.name}` as const] : []),
  ];
}

/** Whether the source ended for another reason than its time, so that an admin has nothing left to end. */
function hasEnded(facts: Facts, name: string): boolean {
  return sourcesOf(facts).every((source) => source.name !== name || source.isEnded);
}

/** Whether only a webhook announced the payment, while a newer source existed that still runs. */
export function isPaidUnder(facts: Facts, { name, verifiedAt, orderedAt, fulfilledAt }: Order, now: Time): boolean {
  if (verifiedAt !== null || fulfilledAt === null) return false;
  const running = paidSources(facts).filter((source) => isRunning(source, now));
  const own = running.find((source) => source.name === name);
  return own !== undefined &&
    running.some((other) => {
      const since = sincesOf(facts, other).at(-1) ?? other.since;
      const thereAt = other.kind === 'gateway' ? since : other.arrivedAt;
      return since > orderedAt && thereAt < fulfilledAt && overlap(own, other);
    });
}

/** The times from which a source ranks. A gateway subscription that was activated again also has its first one. */
function sincesOf({ subscriptions }: Facts, { name, since }: Source): Time[] {
  return [since, ...subscriptions.filter((each) => each.name === name).map(firstSinceOf)];
}

/**
 * Purchases whose time is paid twice: of two purchases of one tier the later one; of a purchase and a gateway
 * subscription the purchase.
 */
function twiceForTheSameTime(facts: Facts, now: Time): string[] {
  const running = paidSources(facts).filter((source) => isRunning(source, now));
  return running.filter((one) =>
    one.kind === 'payment' &&
    running.some((other) =>
      other.tier === one.tier && overlap(one, other) && (other.kind === 'gateway' || isBefore(other, one))
    )
  ).map(({ name }) => name);
}

function isBefore(one: Source, other: Source): boolean {
  return one.arrivedAt < other.arrivedAt || one.arrivedAt === other.arrivedAt && one.since < other.since;
}

function paidSources(facts: Facts): Source[] {
  return sourcesOf(facts).filter(({ kind }) => kind === 'payment' || kind === 'gateway');
}

function isRunning(source: Source, now: Time): boolean {
  return !source.isEnded && !source.isReplaced && source.end > now;
}

function overlap(one: Source, other: Source): boolean {
  return one.start < other.end && other.start < one.end;
}

function fromCycles(facts: Facts, subscription: Subscription, now: Time): Finding[] {
  return subscription.cycles.flatMap(eachCharge).flatMap((cycle): Finding[] => {
    const { at, charges: [charge], before } = cycle;
    if (!charge || isRefunded(charge.money)) return [];
    const { name } = charge.money;
    const isTwice = before.some(({ money }) => !isRefunded(money)) ||
      cycle.end > now && chargedAgain(facts, subscription, cycle).some((other) => other > at);
    return [
      ...(isChargedAfterReplacement(facts, subscription, cycle) ? [`charged_after_replacement: ${name}` as const] : []),
      ...(isChargedAfterCancellation(subscription, cycle) ? [`charged_after_cancellation: ${name}` as const] : []),
      ...(isTwice ? [`charged_twice: ${name}` as const] : []),
    ];
  });
}

/** A cycle once for each of its charges, as if that were the only one, with the charges before it. */
export function eachCharge(cycle: Cycle): (Cycle & { before: Charge[] })[] {
  if (cycle.charges.length === 0) return [{ ...cycle, before: [] }];
  return cycle.charges.map((charge) => ({
    ...cycle,
    at: charge.at,
    charges: [charge],
    before: cycle.charges.filter(({ at }) => at < charge.at),
  }));
}

/**
 * The times of charges of other subscriptions to the same plan for the time of a charged cycle. One of the two subscriptions was
 * started here, and the customer had no other plan between the charges.
 */
export function chargedAgain(facts: Facts, subscription: Subscription, cycle: Cycle): Time[] {
  if (cycle.by !== 'charge' || isStopped(subscription)) return [];
  const isStartedHere = ({ name }: Subscription) => facts.planned.some((planned) => planned.name === name);
  return facts.subscriptions
    .filter((other) =>
      other.name !== subscription.name && other.tier === subscription.tier && !isStopped(other) &&
      (isStartedHere(subscription) || isStartedHere(other))
    )
    .flatMap(({ cycles }) => cycles.flatMap(eachCharge))
    .filter((other) =>
      other.by === 'charge' && !isCycleRefunded(other) && other.start < cycle.end && cycle.start < other.end &&
      (subscription.endedAt === null || subscription.endedAt > other.at) &&
      !paidSources(facts).some(({ tier, since }) =>
        tier !== subscription.tier && since >= cycle.at && since <= other.at + second
      )
    )
    .map(({ at }) => at);
}

/** Whether a newer payment or gateway subscription existed when the cycle was charged. */
export function isChargedAfterReplacement(facts: Facts, subscription: Subscription, { at }: Cycle): boolean {
  const since = sinceOf({ ...subscription, authentications: [] }) ?? 0;
  return paidSources(facts).some((other) =>
    other.name !== subscription.name &&
    sincesOf(facts, other).some((otherSince) => otherSince > since && otherSince < at)
  );
}

/** Whether the user cancelled at once before the charge, or for a period end at or before the start of the cycle. */
export function isChargedAfterCancellation({ stops, cancelledFor }: Subscription, { at }: Cycle): boolean {
  return stops.some((time) => time < at) || cancelledFor !== null && at > cancelledFor;
}
