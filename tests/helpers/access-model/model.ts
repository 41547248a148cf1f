import { type Facts, type Grant, isRefunded, type Order, type Subscription, type Told } from './facts.ts';
import { addMonths, day, second, type Time } from './time.ts';

/** What gives a user a tier from a start to an end: CORE.md, "The model". */
export type Source = {
  readonly name: string;
  readonly kind: 'payment' | 'gateway' | 'grant' | 'manual';
  readonly tier: string;
  readonly start: Time;
  readonly end: Time;
  /** The greatest rules. */
  readonly since: Time;
  readonly arrivedAt: Time;
  readonly isEnded: boolean;
  readonly cancelAtPeriodEnd: boolean;
  /** Days of access after the end. */
  readonly graceDays: number;
  /** The gateway bills its next cycle: the source lives until the gateway was asked after this time. */
  readonly isLiveUntilAsked: boolean;
};

const graceDays = 3;

/** All sources of a user, whether they live or not. */
export function sourcesOf({ orders, subscriptions, grants }: Facts): Source[] {
  return [...orders.flatMap(fromOrder), ...subscriptions.flatMap(fromSubscription), ...grants.map(fromGrant)];
}

/** A source gives access until its end and its grace are over; what the gateway bills, until the gateway was asked. */
export function isLive({ isEnded, end, graceDays, isLiveUntilAsked }: Source, now: Time): boolean {
  return !isEnded && (end + graceDays * day > now || isLiveUntilAsked);
}

/** The source whose tier and end the user has: of the live ones the newest. */
export function rulingSource(facts: Facts, now: Time): Source | null {
  const live = sourcesOf(facts).filter((source) => isLive(source, now));
  return live.sort((one, other) => other.since - one.since)[0] ?? null;
}

/** When a gateway subscription was last activated, else first charged: whole seconds at the gateway, so their end. */
export function sinceOf({ activations, charges }: Pick<Subscription, 'activations' | 'charges'>): Time | null {
  const charged = charges.toSorted((one, other) => one.at - other.at)[0];
  const newest = activations.toSorted((one, other) => other.at - one.at)[0] ?? charged;
  return newest === undefined ? null : happenedAt(newest);
}

/** Since when a gateway subscription was there: its first activation or charge. */
export function firstSinceOf({ activations, charges }: Pick<Subscription, 'activations' | 'charges'>): Time {
  return Math.min(...[...activations, ...charges].map(happenedAt));
}

function happenedAt({ at, arrivedAt }: Told): Time {
  return arrivedAt - at > 14 * day ? arrivedAt : Math.min(at + 0.999999 * second, arrivedAt);
}

/** The period that an order bought. In a chain a refunded link takes no time, and months count from the first start. */
export function periodOf(order: Order): { start: Time; end: Time } | null {
  if (order.chain === null || order.fulfilledAt === null) return null;
  let [first, months, end] = [order.chain.from, 0, order.chain.from];
  for (const link of order.chain.links) {
    if (link !== order && !isPaid(link)) continue;
    const start = Math.max(link.fulfilledAt ?? 0, end);
    if (start > end) [first, months] = [start, 0];
    months += link.months;
    end = addMonths(first, months);
    if (link === order) return { start, end };
  }
  return null;
}

/** The newest cycle that was not refunded. */
export function paidCycle({ cycles }: Subscription): Subscription['cycles'][number] | null {
  return cycles.toSorted((one, other) => other.start - one.start).find(({ money }) => !isRefunded(money)) ?? null;
}

function isPaid({ money, fulfilledAt, isNeverCaptured }: Order): boolean {
  return fulfilledAt !== null && !isNeverCaptured && !isRefunded(money);
}

function fromOrder(order: Order): Source[] {
  const period = periodOf(order);
  if (period === null || order.fulfilledAt === null) return [];
  return [{
    name: order.name,
    kind: 'payment',
    tier: order.tier,
    ...period,
    since: order.verifiedAt ?? order.orderedAt,
    arrivedAt: order.fulfilledAt,
    isEnded: !isPaid(order) || order.cancelledAt.length > 0,
    cancelAtPeriodEnd: order.cancelledFor !== null,
    graceDays: order.cancelledFor === null ? graceDays : 0,
    isLiveUntilAsked: false,
  }];
}

function fromSubscription(subscription: Subscription): Source[] {
  const { name, tier, activations, charges, cycles, endedAt, cancelledAt, cancelledFor, askedAt } = subscription;
  const since = sinceOf(subscription);
  if (since === null) return [];
  const paid = paidCycle(subscription);
  const { start, end, at } = paid ?? { start: since, end: since, at: since };
  // After a full refund of the newest cycle the one before has no grace, and nobody waits for the gateway.
  const isNewest = cycles.every((cycle) => cycle.start <= start);
  const grace = cancelledFor === null && isNewest ? graceDays : 0;
  const isEndedByGateway = endedAt !== null && activations.every((activation) => activation.at <= endedAt);
  return [{
    name,
    kind: 'gateway',
    tier,
    start,
    end,
    since,
    arrivedAt: Math.min(...[...activations, ...charges].map(({ arrivedAt }) => arrivedAt)),
    isEnded: paid === null || isEndedByGateway || cancelledAt.some((time) => at <= time),
    cancelAtPeriodEnd: cancelledFor !== null,
    graceDays: grace,
    isLiveUntilAsked: isNewest && (askedAt ?? 0) <= Math.max(end, end + (grace - 1) * day),
  }];
}

function fromGrant({ kind, name, tier, at, until, cancelledAt, cancelledFor }: Grant): Source {
  return {
    name,
    kind,
    tier,
    start: at,
    end: until,
    // What is written by hand is outranked by every fact that arrives later; the histories write by hand first.
    since: kind === 'manual' ? 0 : at,
    arrivedAt: at,
    isEnded: cancelledAt.length > 0,
    cancelAtPeriodEnd: cancelledFor !== null,
    graceDays: cancelledFor === null ? graceDays : 0,
    isLiveUntilAsked: false,
  };
}
