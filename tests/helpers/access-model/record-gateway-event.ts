import { type Answer, type GatewayEvent, type GatewayStatus, planOf } from './actions.ts';
import { type Cycle, type Facts, moneyNamed, type Subscription } from './facts.ts';
import { isOld } from './model.ts';
import { cyclesWithAccess, newestStatus } from './states.ts';
import { parseTime, type Time, wholeSeconds } from './time.ts';

/** Adds an event of a gateway subscription to its mirror. */
export function receiveEvent(facts: Facts, event: GatewayEvent, now: Time): void {
  const times = { at: parseTime(event.createdAt), arrivedAt: now };
  const subscription = mirrorOf(facts, event.subscription, event.tier, times.at);
  const period = event.start !== null && event.end !== null ? { start: event.start, end: event.end } : null;
  const chargeAt = event.chargeAt === null ? null : parseTime(event.chargeAt);
  subscription.statuses.push({ at: times.at, status: statusAfter(event.do), isRead: false, chargeAt });
  subscription.isNoted ||= event.do !== 'charged';
  if (event.do !== 'cancelled') namePlan(subscription, event.tier, times.at);
  switch (event.do) {
    case 'cancelled':
      subscription.endedAt = times.at;
      return;
    case 'halted':
      return void subscription.halts.push(times.at);
    case 'resumed':
      return void subscription.resumptions.push(times.at);
    case 'authenticated': {
      subscription.authentications.push(times);
      const trial = facts.planned.find(({ name, isTrial }) => isTrial && name === subscription.name);
      const isKnown = subscription.cycles.some(({ by }) => by === 'trial');
      if (trial && !isKnown) {
        subscription.cycles.push({ start: times.at, end: trial.startsAt, at: times.at, charges: [], by: 'trial' });
      }
      return;
    }
    case 'activated':
      if (period) subscription.activations.push({ ...times, cycle: cycleOf(subscription, period, times.at) });
      return;
    case 'charged': {
      subscription.charges.push(times);
      subscription.paidCount = Math.max(subscription.paidCount ?? 0, event.paidCount);
      if (!period) return;
      const cycle = cycleOf(subscription, period, times.at);
      cycle.by = 'charge';
      if (event.payment === null) return;
      const money = moneyNamed(facts, event.payment, planOf(event.tier).price);
      if (cycle.charges.every((charge) => charge.money !== money)) cycle.charges.push({ money, at: times.at });
      cycle.at = Math.max(...cycle.charges.map(({ at }) => at));
    }
  }
}

/** Adds the gateway's answer about a subscription: a cycle that no event announced, its status, or its end. */
export function receiveAnswer(facts: Facts, name: string, answer: Answer, now: Time): void {
  const subscription = mirrorOf(facts, name, answer.tier, now);
  const { status, paidCount } = answer;
  const before = newestStatus(subscription)?.status;
  const at = wholeSeconds(now);
  subscription.reconciledAt = now;
  const period = paidPeriod(subscription, answer);
  // Without a charge the first activation counts as one.
  if (period && paidCount > (subscription.paidCount ?? Math.min(subscription.activations.length, 1))) {
    const start = parseTime(period.start);
    const cycle = cycleOf(subscription, period, start);
    if (cycle.by !== 'charge') {
      subscription.charges.push({ at: start, arrivedAt: now });
      cycle.at = start;
      cycle.by = 'charge';
    }
    subscription.paidCount = paidCount;
    namePlan(subscription, answer.tier, start);
  }
  if (status === 'cancelled' && answer.endedAt !== null) {
    const endedAt = parseTime(answer.endedAt);
    subscription.endedAt ??= isOld(endedAt, now) ? now : endedAt;
  }
  if (status !== before && status !== 'cancelled') {
    if (status === 'halted') subscription.halts.push(at);
    const isUnpaid = (each: GatewayStatus | undefined) => each === 'pending' || each === 'halted' || each === 'paused';
    if (isUnpaid(status) || isUnpaid(before) || status === 'completed') namePlan(subscription, answer.tier, at);
  }
  const chargeAt = answer.chargeAt === null ? null : parseTime(answer.chargeAt);
  subscription.statuses.push({ at, status, isRead: true, chargeAt });
}

/** The newest cycle that the gateway charged, by its answer. While a charge fails, the cycle before is the paid one. */
function paidPeriod(subscription: Subscription, { status, start, end }: Answer): { start: string; end: string } | null {
  if (start === null || end === null) return null;
  const known = cyclesWithAccess(subscription).toSorted((one, other) => other.start - one.start)[0];
  if (status === 'active' || status === 'completed') {
    return !known || parseTime(end) > known.end ? { start, end } : null;
  }
  if (!known) return null;
  // Charged, and paused since.
  if (status === 'paused') return parseTime(start) === known.end ? { start, end } : null;
  if (status !== 'pending' || parseTime(start) <= known.end) return null;
  return { start: new Date(known.end / 1000).toISOString(), end: start };
}

function statusAfter(event: GatewayEvent['do']): GatewayStatus {
  return event === 'activated' || event === 'charged' || event === 'resumed' || event === 'updated' ? 'active' : event;
}

/** The newest event names the plan. */
function namePlan(subscription: Subscription, tier: string, at: Time): void {
  if (at < subscription.planAt || at === subscription.planAt && tier <= subscription.tier) return;
  subscription.tier = tier;
  subscription.planAt = at;
}

/** @param at the time of the first fact */
function mirrorOf({ subscriptions, cancellations }: Facts, name: string, tier: string, at: Time): Subscription {
  const known = subscriptions.find((subscription) => subscription.name === name);
  if (known) return known;
  // A cancellation at once also ends what was activated before it and is known later.
  const stops = cancellations.filter((time) => time > at);
  const mirror: Subscription = {
    name,
    tier,
    planAt: -Infinity,
    authentications: [],
    activations: [],
    charges: [],
    halts: [],
    resumptions: [],
    statuses: [],
    paidCount: null,
    isNoted: false,
    stops,
    cycles: [],
    endedAt: null,
    reconciledAt: null,
    cancelledAt: [...stops],
    cancelledFor: null,
  };
  subscriptions.push(mirror);
  return mirror;
}

function cycleOf({ cycles }: Subscription, period: { start: string; end: string }, at: Time): Cycle {
  const [start, end] = [parseTime(period.start), parseTime(period.end)];
  const known = cycles.find((cycle) => cycle.start === start);
  if (known) return known;
  const cycle: Cycle = { start, end, at, charges: [], by: 'activation' };
  cycles.push(cycle);
  return cycle;
}
