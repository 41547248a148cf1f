import { type Action, planOf } from './actions.ts';
import { type Chain, type Facts, isRefunded, moneyNamed, type Order } from './facts.ts';
import { creditFor, endOfRunning } from './credits.ts';
import { authorisedSince, isLive, isOpen, rulingSource, sourcesOf } from './model.ts';
import { receiveAnswer, receiveEvent } from './record-gateway-event.ts';
import { hasEndedAtGateway, newestStatus } from './states.ts';
import { hour, parseTime, type Time } from './time.ts';

/** Adds an action and its time to the facts. `answers` of `ask` contains only the subscriptions that were claimed. */
export function recordAction(facts: Facts, action: Action, now: Time): void {
  record(facts, action, now);
  coverByWishes(facts);
}

function record(facts: Facts, action: Action, now: Time): void {
  switch (action.do) {
    case 'order':
      return void facts.orders.push(newOrder(facts, action, now));
    case 'change plan':
      return void (facts.months[action.tier] = action.months);
    case 'verify':
      return verify(facts, orderNamed(facts, action.order), action.payment, now);
    case 'captured':
      return capture(facts, orderNamed(facts, action.order), action.payment, now);
    case 'refund': {
      const { refunds } = moneyNamed(facts, action.payment, action.of);
      const { refund, amount, status } = action;
      // refund.created may arrive after refund.processed or refund.failed.
      if (status !== 'pending' || !refunds.has(refund)) refunds.set(refund, { amount, status });
      // A payment whose refund preceded its fulfilment is fulfilled once that refund fails.
      const order = facts.orders.find(({ money, isCaptured }) => isCaptured && money?.name === action.payment);
      if (order && order.fulfilledAt === null && !isRefunded(order.money)) fulfil(facts, order, now);
      return;
    }
    case 'dispute':
      return void (orderNamed(facts, action.order).isDisputeLost = true);
    case 'nothing captured':
      return endUncaptured(orderNamed(facts, action.order), now);
    case 'subscribe': {
      const { subscription: name, startsAt, isTrial, replaces } = action;
      return void facts.planned.push({ name, startsAt: parseTime(startsAt), isTrial, replaces });
    }
    case 'authenticated':
    case 'activated':
    case 'charged':
    case 'pending':
    case 'halted':
    case 'paused':
    case 'resumed':
    case 'updated':
    case 'cancelled':
    case 'completed':
      return receiveEvent(facts, action, now);
    case 'ask':
      for (const [name, answer] of Object.entries(action.answers)) receiveAnswer(facts, name, answer, now);
      return;
    case 'cancel':
      return cancel(facts, action.atPeriodEnd, now);
    case 'resume': {
      if (rulingSource(facts, now) === null) return;
      facts.wishes.length = 0;
      for (const source of [...facts.orders, ...facts.grants]) source.cancelledFor = null;
      return;
    }
    case 'grant':
      return void facts.grants.push(newGrant('grant', action.grant, action.tier, now, parseTime(action.until)));
    case 'write by hand':
      return void facts.grants.push(newGrant('manual', 'manual', action.tier, now, parseTime(action.until)));
    case 'failed':
    case 'wait':
      return;
  }
}

/** @throws where there is no such order */
export function orderNamed(facts: Facts, name: string): Order {
  const order = facts.orders.find((order) => order.name === name);
  if (!order) throw new Error(`no order ${name}`);
  return order;
}

function newOrder(
  facts: Facts,
  { order: name, tier, amount, start = null }: Extract<Action, { do: 'order' }>,
  now: Time,
): Order {
  return {
    name,
    tier,
    starts: start,
    credited: start === 'now' ? creditFor(facts, tier, now) : null,
    follows: null,
    months: facts.months[tier] ?? planOf(tier).months,
    amount,
    orderedAt: now,
    money: null,
    isCaptured: false,
    fulfilledAt: null,
    verifiedAt: null,
    chain: null,
    found: null,
    isRefused: false,
    isNeverCaptured: false,
    isDisputeLost: false,
    extras: [],
    cancelledAt: [],
    cancelledFor: null,
  };
}

function newGrant(kind: 'grant' | 'manual', name: string, tier: string, at: Time, until: Time) {
  return { kind, name, tier, at, until, cancelledAt: [], cancelledFor: null };
}

/** The customer verifies a payment. One that was refunded or never captured is refused. */
function verify(facts: Facts, order: Order, payment: string, now: Time): void {
  const money = moneyNamed(facts, payment, order.amount);
  order.isRefused ||= isRefunded(money);
  if (isRefunded(money) || order.isNeverCaptured || order.verifiedAt !== null) return;
  order.verifiedAt = Math.max(now, ...sourcesOf(facts).map(({ since }) => since + 1));
  order.money ??= money;
  if (order.fulfilledAt === null) fulfil(facts, order, now);
}

/** The gateway confirms a capture. */
function capture(facts: Facts, order: Order, payment: string, now: Time): void {
  const money = moneyNamed(facts, payment, order.amount);
  if (order.money !== null && order.money !== money) {
    if (!order.extras.includes(money)) order.extras.push(money);
    return;
  }
  order.money = money;
  order.isCaptured = true;
  if (isRefunded(money) || order.fulfilledAt !== null && !order.isNeverCaptured) return;
  order.isNeverCaptured = false;
  fulfil(facts, order, now);
}

function fulfil(facts: Facts, order: Order, now: Time): void {
  const ruling = rulingSource(facts, now);
  order.found = {
    ruling: ruling?.name ?? null,
    isRulingNewer: ruling !== null && ruling.since > (order.verifiedAt ?? order.orderedAt),
    newer: sourcesOf(facts).filter((source) => isLive(source, now) && source.since > order.orderedAt)
      .map(({ name }) => name),
  };
  order.chain?.links.splice(order.chain.links.indexOf(order), 1);
  order.chain = chainFor(facts, order, now);
  order.chain.links.push(order);
  order.fulfilledAt = now;
}

/**
 * A purchase with `after_current`, and under `extend` one of the running tier, follows what ends last. It extends that if
 * it has its tier, and rules or begins later.
 */
function chainFor(facts: Facts, order: Order, now: Time): Chain {
  const { tier, starts } = order;
  const ruling = rulingSource(facts, now);
  const follows = starts === 'after_current' || facts.earlyRenewal === 'extend' && ruling?.tier === tier;
  const followed = follows ? endOfRunning(facts, now) : null;
  order.follows = followed?.since ?? null;
  if (followed === null) return { from: now, after: null, rulesFrom: now, links: [] };
  const { last, end } = followed;
  if (last.tier !== tier || ruling?.tier !== tier && last.rulesFrom <= now) {
    return { from: end, after: null, rulesFrom: end, links: [] };
  }
  const link = facts.orders.find(({ name }) => name === last.name);
  return link?.chain ?? { from: end, after: last.name, rulesFrom: last.rulesFrom, links: [] };
}

/** The gateway has no captured payment for a verified order: after 120 hours it counts as never captured. */
function endUncaptured(order: Order, now: Time): void {
  const { isCaptured, verifiedAt, orderedAt } = order;
  if (verifiedAt === null || isCaptured || now < Math.max(verifiedAt, orderedAt) + 120 * hour) return;
  order.isNeverCaptured = true;
}

/** At once: every running source ends. At the period's end: the ruling source is marked, and all that is billed. */
function cancel(facts: Facts, atPeriodEnd: boolean, now: Time): void {
  const ruling = rulingSource(facts, now);
  if (ruling === null) return;
  if (atPeriodEnd) {
    sourceNamed(facts, ruling.name).cancelledFor ??= ruling.end;
    return void facts.wishes.push(now);
  }
  facts.cancellations.push(now);
  for (const each of facts.subscriptions.filter((each) => !hasEndedAtGateway(each))) each.stops.push(now);
  for (const source of sourcesOf(facts).filter((source) => isOpen(source, now))) {
    sourceNamed(facts, source.name).cancelledAt.push(now);
  }
}

/** A wish covers each subscription that was authorised before it, also below a grant. */
function coverByWishes({ subscriptions, wishes }: Facts): void {
  for (const subscription of subscriptions) {
    if (hasEndedAtGateway(subscription) || newestStatus(subscription)?.status === 'completed') continue;
    const authorisedAt = authorisedSince(subscription);
    subscription.cancelledFor = wishes.find((at) => at >= authorisedAt) ?? null;
  }
}

function sourceNamed({ orders, subscriptions, grants }: Facts, name: string) {
  const source = [...orders, ...subscriptions, ...grants].find((source) => source.name === name);
  if (!source) throw new Error(`no source ${name}`);
  return source;
}
