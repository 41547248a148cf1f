import { type Cycle, type Facts, isRefunded, type Order, type Subscription } from './facts.ts';
import { firstSinceOf, isLive, rulingSource, sinceOf, type Source, sourcesOf } from './model.ts';
import { day, hour, type Time } from './time.ts';

/** A row of `private.findings`: its kind, and the payment that it is about. */
export type Finding = `${string}: ${string}`;

/** What an admin is to look into, by CORE.md's table of rules. */
export function findingsOf(facts: Facts, now: Time): Finding[] {
  const rows = [
    ...facts.orders.flatMap((order) => fromOrder(facts, order, now)),
    ...twiceForTheSameTime(facts, now).map((name): Finding => `paid_twice: ${name}`),
    ...facts.subscriptions.flatMap((subscription) => fromCycles(facts, subscription)),
    ...(isUnpaid(rulingSource(facts, now), now) ? ['entitled_not_paid: user' as const] : []),
  ];
  return [...new Set(rows)].sort();
}

/** Access that somebody wrote by hand, or that goes on a day after its grace since nobody asked the gateway. */
function isUnpaid(ruling: Source | null, now: Time): boolean {
  return ruling !== null && (ruling.kind === 'manual' || ruling.end + 4 * day + hour < now);
}

function fromOrder(facts: Facts, order: Order, now: Time): Finding[] {
  return [
    ...order.extras.filter((money) => !isRefunded(money)).map(({ name }): Finding => `paid_twice: ${name}`),
    ...(isPaidUnder(facts, order, now) ? [`paid_twice: ${order.name}` as const] : []),
    ...(order.isNeverCaptured ? [`never_captured: ${order.name}` as const] : []),
    ...(order.isDisputeLost && !hasEnded(facts, order.name) ? [`dispute_lost: ${order.name}` as const] : []),
  ];
}

/** Whether it gives no access any more, for another reason than its time: there is nothing left for an admin to end. */
function hasEnded(facts: Facts, name: string): boolean {
  return sourcesOf(facts).every((source) => source.name !== name || source.isEnded);
}

/** Whether its money came by webhook alone, when a newer source was there that still runs. */
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

/** Since when a source ranks as it does; a gateway subscription that was activated once more was there before, too. */
function sincesOf({ subscriptions }: Facts, { name, since }: Source): Time[] {
  return [since, ...subscriptions.filter((each) => each.name === name).map(firstSinceOf)];
}

/** Of two purchases of one tier for the same time the later; of a purchase and a gateway subscription the purchase. */
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
  return isLive(source, now) && source.end > now;
}

function overlap(one: Source, other: Source): boolean {
  return one.start < other.end && other.start < one.end;
}

function fromCycles(facts: Facts, subscription: Subscription): Finding[] {
  return subscription.cycles.flatMap((cycle): Finding[] => {
    const { money } = cycle;
    if (money === null || isRefunded(money)) return [];
    return [
      ...(isChargedAfterReplacement(facts, subscription, cycle)
        ? [`charged_after_replacement: ${money.name}` as const]
        : []),
      ...(isChargedAfterCancellation(subscription, cycle)
        ? [`charged_after_cancellation: ${money.name}` as const]
        : []),
    ];
  });
}

/** Whether a payment or a gateway subscription that is newer than this one was there when the cycle was charged. */
export function isChargedAfterReplacement(facts: Facts, subscription: Subscription, { at }: Cycle): boolean {
  const since = sinceOf(subscription) ?? 0;
  return paidSources(facts).some((other) =>
    sincesOf(facts, other).some((otherSince) => otherSince > since && otherSince < at)
  );
}

/** Whether the user had cancelled at once before the charge, or for a period's end by which the cycle began. */
export function isChargedAfterCancellation({ cancelledAt, cancelledFor }: Subscription, { start, at }: Cycle): boolean {
  return cancelledAt.some((time) => time < at) || cancelledFor !== null && start >= cancelledFor;
}
