import { addMonths, day, gatewayStatuses, hour, priceOf, second, tiers, type Time } from './actions.ts';
import { isPaid, isRefunded, leftOf } from './facts.ts';
import type { Cancellation, Credit, Cycle, EventTimes, Facts, Grant, Order, Row, Subscription } from './facts.ts';

/** Gives a user a tier from a start to an end: supabase/README.md, Sources of access. */
export type Source = {
  readonly name: string;
  readonly kind: 'payment' | 'gateway' | 'grant' | 'row';
  readonly tier: string;
  /** The lookup key; null: a grant, or a row written by hand. */
  readonly price: string | null;
  readonly start: Time;
  readonly end: Time;
  /** The running source with the greatest `since` rules. */
  readonly since: Time;
  readonly arrivedAt: Time;
  /** When the newest fact about it arrived: later than a row was written by hand, it ranks above that. */
  readonly newsAt: Time;
  readonly isEnded: boolean;
  /** A purchase that stands credited its unused time. */
  readonly isReplaced: boolean;
  /** A row was written as cancelled since its newest fact. */
  readonly isRevoked: boolean;
  /** An order that follows another price does not rule before its period. */
  readonly rulesFrom: Time;
  readonly cancelAtPeriodEnd: boolean;
  readonly graceDays: number;
  /** The gateway bills the next cycle, and was not read since the end: the source runs until it is reconciled. */
  readonly runsUntilReconciled: boolean;
  /** Its next charge fails. */
  readonly isFailing: boolean;
};

/** A source, beside a row written by hand. */
type Known = Omit<Source, 'isRevoked'>;

type Times = Pick<Subscription, 'authentications' | 'activations' | 'charges' | 'askedAt' | 'writtenAt' | 'afterRow'>;

/** The gateway subscription that the user's row names while a source rules. */
export function shownSubscription({ rows }: Facts, ruling: Source | null): string | null {
  if (ruling?.kind === 'gateway') return ruling.name;
  return ruling?.kind === 'row' ? rows[0]?.subscription ?? null : null;
}

/** All sources of a user, also those that ended. */
export function sourcesOf(facts: Facts): Source[] {
  if (facts.deletedAt !== null) return [];
  const revokedAt = facts.rows.find(({ isCancelled }) => isCancelled)?.at ?? -Infinity;
  return [
    ...facts.orders.flatMap((order) => fromOrder(facts, order)),
    ...facts.subscriptions.flatMap((subscription) => fromSubscription(facts, subscription)),
    ...facts.grants.map((grant) => fromGrant(grant, facts)),
    ...facts.rows.flatMap((row) => fromRow(row, facts)),
  ].map((source) => ({ ...source, isRevoked: source.newsAt < revokedAt }));
}

export function isLive(source: Source, now: Time): boolean {
  return !source.isReplaced && !source.isRevoked && source.rulesFrom <= now && isOpen(source, now);
}

/** A source runs until its end and its grace are over. One that the gateway bills runs until it is reconciled. */
export function isOpen({ isEnded, end, graceDays, runsUntilReconciled }: Source, now: Time): boolean {
  return !isEnded && (end + graceDays * day > now || runsUntilReconciled);
}

/** The fulfilled orders that credited the time of a source up to an end, and were not refunded. */
export function replacing({ orders }: Facts, name: string, until: Time | null): Order[] {
  return orders.filter((order) =>
    isPaid(order) && order.credited?.name === name &&
    (order.credited.kind === 'payment' || order.credited.until === until)
  );
}

/** The ruling source: the running one with the greatest `since`. */
export function rulingSource(facts: Facts, now: Time): Source | null {
  return newestOf(facts, sourcesOf(facts).filter((source) => isLive(source, now)), now);
}

/**
 * Of several running sources the one with the greatest `since`. Those in days of grace come after what is paid for now. A row
 * written by hand comes before what was known then, and after all that arrived later.
 */
export function newestOf({ rows }: Facts, live: readonly Source[], now: Time): Source | null {
  const rank = ({ kind, newsAt }: Source) => kind === 'row' ? 1 : newsAt > (rows[0]?.at ?? Infinity) ? 2 : 0;
  const isPaidNow = live.some(({ end }) => end > now);
  const isInGrace = ({ end, runsUntilReconciled, isFailing }: Source) =>
    end <= now && (!runsUntilReconciled || isFailing || end <= now - day);
  const isLast = (one: Source) => Number(isPaidNow && isInGrace(one));
  return live.toSorted((one, other) =>
    isLast(one) - isLast(other) || rank(other) - rank(one) || other.since - one.since
  )[0] ?? null;
}

/**
 * The authorisation, or a later activation: more than 36 hours after the first charge. Times are at the end of their second.
 * A row written by hand is such an act, and what arrives after such a row is newer.
 */
export function sinceOf(one: Times): Time | null {
  const again = activatedAgainAt(one);
  if (one.writtenAt !== null) return Math.max(one.writtenAt, again);
  const since = actOf(one);
  return since === null ? null : Math.max(since, (one.afterRow ?? -Infinity) + 1);
}

function activatedAgainAt(one: Times): Time {
  const newest = one.activations.toSorted((activation, other) => other.at - activation.at)[0];
  return newest && happenedAt(newest) > firstChargedAt(one) + 36 * hour ? happenedAt(newest) : -Infinity;
}

function actOf(one: Times): Time | null {
  const again = activatedAgainAt(one);
  if (again > -Infinity) return Math.max(again, one.askedAt);
  const authorised = authorisedAt(one);
  return authorised === Infinity ? null : authorised;
}

/** When the customer authorised a gateway subscription; infinity: not yet. */
export function authorisedAt(one: Times): Time {
  return Math.max(Math.min(firstChargedAt(one), ...one.authentications.map(happenedAt)), one.askedAt);
}

/** The first activation or charge of a gateway subscription. */
function firstChargedAt({ activations, charges }: Pick<Subscription, 'activations' | 'charges'>): Time {
  return Math.min(...[...activations, ...charges].map(happenedAt));
}

/** When an event shows a subscription that was not asked for here. The gateway's time counts only where it arrives late. */
export function seenAt(times: EventTimes): Time {
  return times.at < times.arrivedAt - hour ? happenedAt(times) : times.arrivedAt;
}

function happenedAt({ at, arrivedAt }: EventTimes): Time {
  return isOld(at, arrivedAt) ? arrivedAt : Math.min(at + 0.999999 * second, arrivedAt);
}

/** Whether a fact counts from its arrival: the gateway does not retry for so long. */
export function isOld(at: Time, arrivedAt: Time): boolean {
  return arrivedAt - at > 14 * day;
}

/** The period that an order bought. In a chain a refunded link takes no time, and months are counted from the first start. */
export function periodOf(order: Order): { start: Time; end: Time } | null {
  if (order.chain === null || order.fulfilledAt === null) return null;
  let [first, months, end] = [order.chain.from, 0, order.chain.from];
  for (const link of order.chain.links) {
    if (link !== order && !isPaid(link)) continue;
    const start = Math.max(link.fulfilledAt ?? 0, end);
    if (start > end) [first, months] = [start, 0];
    months += priceOf(link.price).months;
    end = addMonths(first, months);
    if (link === order) return { start, end };
  }
  return null;
}

/** What was bought and cancelled for its end has no days of grace, also below a source that ruled then. */
function isCancelled({ wishes }: Facts, { cancelledFor }: Cancellation, since: Time): boolean {
  return cancelledFor !== null || wishes.some((at) => at >= since);
}

function boughtAt({ verifiedAt, orderedAt, afterRow, follows }: Order): Time {
  return Math.max(verifiedAt ?? orderedAt, (afterRow ?? -Infinity) + 1, (follows ?? -Infinity) + 1);
}

function fromOrder(facts: Facts, order: Order): Known[] {
  const period = periodOf(order);
  if (period === null || order.fulfilledAt === null) return [];
  const since = boughtAt(order);
  return [{
    name: order.name,
    kind: 'payment',
    tier: priceOf(order.price).tier,
    price: order.price,
    ...period,
    since,
    arrivedAt: order.fulfilledAt,
    newsAt: Math.max(order.fulfilledAt, order.verifiedAt ?? 0),
    isEnded: !isPaid(order) || order.cancelledAt.length > 0,
    isReplaced: replacing(facts, order.name, null).length > 0,
    rulesFrom: order.waitsUntil ?? order.chain?.rulesFrom ?? -Infinity,
    cancelAtPeriodEnd: order.cancelledFor !== null,
    graceDays: isCancelled(facts, order, since) ? 0 : facts.graceDays,
    runsUntilReconciled: false,
    isFailing: false,
  }];
}

function fromSubscription(facts: Facts, subscription: Subscription): Known[] {
  const { name, price, authentications, activations, charges, cancelledAt, cancelledFor, reconciledAt } = subscription;
  const begun = sinceOf(subscription);
  const cycles = cyclesWithAccess(subscription);
  if (begun === null || cycles.length === 0 || !hasPlan(subscription)) return [];
  const paid = paidCycle(subscription);
  // A renewal follows its purchase, whichever came first.
  const renews = facts.planned.find((planned) => planned.name === name)?.renews;
  const since = Math.max(begun, ...facts.orders.filter((one) => one.name === renews).map((one) => boughtAt(one) + 1));
  const { start, end, at } = paid ?? { start: since, end: since, at: since };
  // After a full refund of the newest cycle, the cycle before has no grace, and its end needs no reconciliation.
  const isNewest = cycles.every((cycle) => cycle.start <= start);
  const { isEnded, hasGrace, isFinal } = paid === null
    ? { isEnded: true, hasGrace: false, isFinal: true }
    : closingOf(facts, subscription, paid);
  const grace = cancelledFor === null && isNewest && hasGrace ? facts.graceDays : 0;
  return [{
    name,
    kind: 'gateway',
    tier: priceOf(price).tier,
    price,
    start,
    end,
    since,
    arrivedAt: Math.min(...[...authentications, ...activations, ...charges].map(({ arrivedAt }) => arrivedAt)),
    newsAt: subscription.newsAt,
    isEnded: isEnded || cancelledAt.some((time) => at <= time),
    isReplaced: isNewest && replacing(facts, name, end).length > 0,
    rulesFrom: -Infinity,
    cancelAtPeriodEnd: cancelledFor !== null,
    graceDays: grace,
    runsUntilReconciled: isNewest && !isFinal && (reconciledAt ?? 0) - 10 * second <=
        Math.max(end, end + (grace - 1) * day),
    isFailing: ['pending', 'halted'].includes(newestStatus(subscription)?.status ?? ''),
  }];
}

function fromGrant({ name, tier, at, until, cancelledAt, cancelledFor }: Grant, { graceDays }: Facts): Known {
  return {
    name,
    kind: 'grant',
    tier,
    price: null,
    start: at,
    end: until,
    since: at,
    arrivedAt: at,
    newsAt: at,
    isEnded: cancelledAt.length > 0,
    isReplaced: false,
    rulesFrom: -Infinity,
    cancelAtPeriodEnd: cancelledFor !== null,
    graceDays: cancelledFor === null ? graceDays : 0,
    runsUntilReconciled: false,
    isFailing: false,
  };
}

/** Whether its plan is known. What only a row written by hand names has none, until an event or a charge names it. */
export const hasPlan = ({ planAt }: Subscription): boolean => planAt > -Infinity;

/** A row that names a gateway subscription is that subscription, once a fact about it arrives. */
function fromRow(row: Row, facts: Facts): Known[] {
  const { at, start, until, subscription } = row;
  const named = facts.subscriptions.find(({ name }) => name === subscription);
  if (named && named.newsAt > at && hasPlan(named) && cyclesWithAccess(named).length > 0) return [];
  const known = fromGrant({ ...row, at: start }, facts);
  return [{
    ...known,
    kind: 'row',
    since: at,
    arrivedAt: at,
    newsAt: at,
    isEnded: row.cancelledAt.length > 0 || named !== undefined && named.newsAt > at && hasEndedAtGateway(named),
    // The gateway is not read again once it says completed or cancelled.
    runsUntilReconciled: named !== undefined && !hasEndedAtGateway(named) &&
      newestStatus(named)?.status !== 'completed' &&
      (named.reconciledAt ?? 0) - 10 * second <= until + Math.max(0, known.graceDays - 1) * day,
  }];
}

type Status = Subscription['statuses'][number];

/**
 * What the newest fact says about the status: a reconciliation, or an event that is newer than those before. Of two in one
 * second the later status counts, and no further charge.
 */
export function newestStatus({ statuses }: Subscription): Status | undefined {
  const isNewer = (one: Status, known: Status) =>
    one.isRead ||
    (one.at - known.at ||
        gatewayStatuses.indexOf(one.status) - gatewayStatuses.indexOf(known.status) ||
        (one.chargeAt ?? Infinity) - (known.chargeAt ?? Infinity)) > 0;
  return statuses.reduce<Status | undefined>((known, one) => known && !isNewer(one, known) ? known : one, undefined);
}

/** Whether the gateway cancelled it, and did not activate it again. */
export function hasEndedAtGateway({ endedAt, activations }: Subscription): boolean {
  return endedAt !== null && activations.every((activation) => activation.at <= endedAt);
}

/** The subscription that replaces it when it ends, once an event of that one arrived and until that one is cancelled. */
export function successorOf({ planned, subscriptions }: Facts, { name }: Subscription): Subscription | null {
  const order = planned.find(({ replaces }) => replaces === name);
  const next = subscriptions.find((each) => each.name === order?.name);
  return next?.isNoted && next.cancelledFor === null && !hasEndedAtGateway(next) ? next : null;
}

/** Whether the user ended it at once, and the gateway did not activate or charge it since. */
export function isStopped({ stops, activations, charges }: Subscription): boolean {
  return stops.some((time) => [...activations, ...charges].every(({ at }) => at < time));
}

/** Whether the gateway may charge it, by what is known here, and the user did not end it at once. */
export function mayBeCharged({ cancellations }: Facts, one: Subscription): boolean {
  return !hasEndedAtGateway(one) && !['completed', 'cancelled'].includes(newestStatus(one)?.status ?? '') &&
    !cancellations.some((at) => at >= one.askedAt);
}

/** The cycles that give access. After a halt those of charges, of a trial, and of the first activation before it. */
export function cyclesWithAccess({ cycles, halts, activations }: Subscription): Cycle[] {
  if (halts.length === 0) return cycles;
  const halted = Math.min(...halts);
  const first = activations.toSorted((one, other) => one.at - other.at || other.cycle.end - one.cycle.end)[0];
  const counting = cycles.filter((cycle) =>
    cycle.by !== 'activation' || first?.cycle.start === cycle.start && first.at < halted
  );
  if (counting.length > 0 || !first) return counting;
  // The unpaid cycle began where the paid time ended.
  const end = Math.min(first.cycle.start, halted);
  return [{ start: end, end, at: -Infinity, money: null, by: 'trial' }];
}

/** The newest cycle that was not refunded in full. */
export function paidCycle(subscription: Subscription): Cycle | null {
  const newest = cyclesWithAccess(subscription).toSorted((one, other) => other.start - one.start);
  return newest.find((cycle) => !isRefunded(cycle.money)) ?? null;
}

/** Whether access has ended, days of grace follow the paid time, and its end is final without a reconciliation. */
function closingOf(facts: Facts, subscription: Subscription, paid: Cycle) {
  const { cancelledFor, cancelledAt, activations, charges, halts, resumptions, endedAt } = subscription;
  const atPaidTime = { isEnded: false, hasGrace: false, isFinal: true };
  const isBeforeChange = successorOf(facts, subscription)?.charges.length === 0;
  if (hasEndedAtGateway(subscription)) {
    const isStopped = cancelledAt.some((time) => paid.at <= time);
    // The cancellation for the end of a trial is sent before that end.
    const isTrial = activations.length === 0 && charges.length === 0;
    const isEnding = cancelledFor !== null || subscription.isTold && successorOf(facts, subscription) === null;
    if (isTrial && isEnding && !isStopped) return atPaidTime;
    // The gateway debits up to 36 hours early.
    const isAtEnd = isTrial || (endedAt ?? 0) >= paid.end - 36 * hour;
    const endsWithChange = successorOf(facts, subscription) !== null && !isStopped && isAtEnd;
    return { isEnded: !endsWithChange, hasGrace: !endsWithChange || isBeforeChange, isFinal: true };
  }
  const [halted, resumed] = [Math.max(...halts), Math.max(...resumptions)];
  if (halted > paid.at && !(resumed >= paid.end && resumed <= halted)) {
    return { isEnded: false, hasGrace: true, isFinal: true };
  }
  // The paid time passed while it was paused.
  if (resumed >= paid.end) return atPaidTime;
  const status = newestStatus(subscription)?.status;
  if (status === 'paused' || status === 'completed' && !lacksCharge(facts, subscription)) {
    return { isEnded: false, hasGrace: isBeforeChange, isFinal: true };
  }
  return { isEnded: false, hasGrace: true, isFinal: false };
}

/** Whether the gateway counts a paid cycle, of what was asked for here, whose payment is not known yet. */
function lacksCharge({ planned }: Facts, { name, cycles, paidCount }: Subscription): boolean {
  const charged = new Set(cycles.filter(({ money }) => money !== null).map(({ end }) => end));
  return planned.some((each) => each.name === name) && (paidCount ?? 0) > charged.size;
}

/** What a change from a source to a price is. A grant counts as the default price of its tier. Contract: Scenarios. */
export function relationOf({ tier, price }: Pick<Source, 'tier' | 'price'>, key: string): string {
  const [from, to] = [priceOf(price ?? tier), priceOf(key)];
  if (from === to) return 'same';
  const steps = [
    tiers.indexOf(to.tier) - tiers.indexOf(from.tier),
    to.months - from.months,
    to.currency === from.currency ? to.amount - from.amount : 0,
  ];
  return (steps.find((step) => step !== 0) ?? 0) > 0 ? 'upgrade' : 'downgrade';
}

/** Why a change from a source to a price can not begin at once, but for its credit. Contract: Scenarios. */
export function reasonOf(source: Pick<Source, 'tier' | 'price'>, key: string): 'currency' | 'downgrade' | null {
  const [from, to] = [priceOf(source.price ?? source.tier), priceOf(key)];
  if (from.currency !== to.currency) return 'currency';
  return from.tier === to.tier && relationOf(source, key) === 'downgrade' ? 'downgrade' : null;
}

/** What was paid for a period in a currency and not refunded, nor is to be, the credit of its purchase included. */
export function paidFor(facts: Facts, kind: Credit['kind'], name: string, until: Time, currency: string): number {
  const isIn = (price = '') => priceOf(price).currency === currency;
  if (kind === 'gateway') {
    const cycles = facts.subscriptions.find((each) => each.name === name)?.cycles ?? [];
    return Math.max(
      0,
      ...cycles.filter(({ end, money }) => end === until && money !== null && isIn(money.plan)).map(({ money }) =>
        leftOf(money)
      ),
    );
  }
  const order = facts.orders.find((each) => each.name === name);
  const left = order && isIn(order.price) && isPaid(order) ? leftOf(order.money) : 0;
  return left > 0 ? left + (order?.credited?.credit ?? 0) : 0;
}

/** What ends last of what runs or begins later, and the greatest `since` of all; null: nothing that has an end runs. */
export function endOfRunning(facts: Facts, now: Time): { last: Source; end: Time; since: Time } | null {
  const ruling = rulingSource(facts, now);
  if (ruling === null) return null;
  const open = sourcesOf(facts).filter((source) => !source.isReplaced && isOpen(source, now));
  const isRuling = ({ name }: Source) => Number(name === ruling.name);
  const last = open.filter((source) => source.end < Infinity && (source.kind !== 'grant' || isRuling(source)))
    .toSorted((one, other) => other.end - one.end || isRuling(other) - isRuling(one))[0];
  if (last === undefined || last.end <= now) return null;
  return { last, end: last.end, since: Math.max(...open.map(({ since }) => since)) };
}

/** Whether a purchase runs, or begins later, that got its credit from an order, or from one that did. */
function givesCredit(facts: Facts, { name }: Order, now: Time): boolean {
  return replacing(facts, name, null).some((order) =>
    order.cancelledAt.length === 0 && (periodOf(order)?.end ?? 0) > now || givesCredit(facts, order, now)
  );
}

/** Whether the credit of an order was not covered. Contract: Start and credit. */
export function isUnearned(facts: Facts, order: Order, now: Time): boolean {
  const { credited, fulfilledAt, orderedAt, money } = order;
  if (credited === null || fulfilledAt === null || !isPaid(order) || isRefunded(money)) return false;
  if ((periodOf(order)?.end ?? 0) <= now && !givesCredit(facts, order, now)) return false;
  const first = replacing(facts, credited.name, credited.until)
    .toSorted((one, other) => (one.fulfilledAt ?? 0) - (other.fulfilledAt ?? 0))[0];
  return first !== order ||
    paidFor(facts, credited.kind, credited.name, credited.until, priceOf(order.price).currency) < credited.paid ||
    fulfilledAt > orderedAt + day;
}
