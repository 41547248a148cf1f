import { expect } from 'vitest';
import { foreign, minute, priceOf, wholeSeconds } from './actions.ts';
import type { Action, Answer, GatewayEvent, GatewayStatus, Time } from './actions.ts';
import {
  type Chain,
  type Cycle,
  type Facts,
  isRefunded,
  moneyNamed,
  type Order,
  type Row,
  type Subscription,
} from './facts.ts';
import { creditFor } from './commitments.ts';
import { deleteUser } from './deletion.ts';
import * as rules from './model.ts';
import { countAgain, isUnpaid, notePayment } from './payments.ts';

/** Adds an action and its time to the facts. `answers` of `ask` contains only the subscriptions that were claimed. */
export function recordAction(facts: Facts, action: Action, now: Time): void {
  record(facts, action, now);
  // A wish covers each subscription that was asked for before it, also below a grant.
  for (const one of facts.subscriptions) {
    if (rules.hasEndedAtGateway(one) || rules.newestStatus(one)?.status === 'completed') continue;
    one.cancelledFor = facts.wishes.find((at) => at >= one.askedAt) ?? null;
  }
  awaitPeriods(facts, now);
}

/** What extends another source does not rule before its own period where that one has ended early. */
function awaitPeriods(facts: Facts, now: Time): void {
  for (
    let ruling = rules.rulingSource(facts, now);
    ruling?.kind === 'payment';
    ruling = rules.rulingSource(facts, now)
  ) {
    const startOf = (order: Order) => rules.periodOf(order)?.start ?? -Infinity;
    const running = rules.sourcesOf(facts).filter((source) => !source.isReplaced && rules.isOpen(source, now));
    const waiting = facts.orders.find((order) =>
      running.some((source) => source.name === order.name && source.start > now && source.rulesFrom <= now) &&
      !running.some(({ start, end, rulesFrom }) =>
        start < startOf(order) && end >= startOf(order) && Math.min(start, rulesFrom) <= now
      )
    );
    if (waiting === undefined) return;
    for (const link of waiting.chain?.links ?? []) {
      if (startOf(link) >= startOf(waiting)) link.waitsUntil = startOf(waiting);
    }
  }
}

function record(facts: Facts, action: Action, now: Time): void {
  switch (action.do) {
    case 'wait':
    case 'look':
      return;
    case 'order':
      return void facts.orders.push(newOrder(facts, action, now));
    case 'verify':
      return verify(facts, orderNamed(facts, action.order), action.payment, now);
    case 'failed':
      return;
    case 'sell':
      facts.offSale.splice(0, facts.offSale.length, ...facts.offSale.filter((price) => price !== action.price));
      if (!action.isOnSale) facts.offSale.push(action.price);
      return;
    case 'captured':
      return capture(facts, orderNamed(facts, action.order), action.payment, now);
    case 'refund': {
      const { refund, amount, status } = action;
      const { refunds } = moneyNamed(facts, action.payment, action.price, action.of);
      // refund.created may arrive after refund.processed or refund.failed.
      if (status !== 'pending' || !refunds.has(refund)) refunds.set(refund, { amount, status });
      for (const order of facts.orders) countAgain(order);
      // A payment whose refund preceded its fulfilment is fulfilled once that refund fails.
      const order = facts.orders.find(({ money, isCaptured }) => isCaptured && money?.name === action.payment);
      if (order && order.fulfilledAt === null && !isRefunded(order.money)) fulfil(facts, order, now);
      return;
    }
    case 'subscribe': {
      const { subscription: name, do: _, ...asked } = action;
      return void facts.planned.push({ name, at: now, ...asked });
    }
    case 'ask':
      for (const [name, answer] of Object.entries(action.answers)) {
        receiveNews(facts, name, now, () => receiveAnswer(facts, name, answer, now));
      }
      return;
    case 'cancel':
      return cancel(facts, action.atPeriodEnd, now);
    case 'resume':
      // What may still be charged is resumed, too.
      if (
        rules.rulingSource(facts, now) === null &&
        !facts.subscriptions.some((one) => one.cancelledFor !== null && rules.mayBeCharged(facts, one))
      ) return;
      facts.wishes.length = 0;
      for (const source of [...facts.orders, ...facts.grants, ...facts.rows]) source.cancelledFor = null;
      return;
    case 'grant': {
      const { grant: name, tier, until } = action;
      return void facts.grants.push({ name, tier, at: now, until, cancelledAt: [], cancelledFor: null });
    }
    case 'delete':
      return deleteUser(facts, now);
    case 'restore':
      facts.deletedAt = null;
      return;
    case 'write': {
      const { do: _, isEnding, until, ...written } = action;
      // As the stored row shows it: such a step runs after a sweep.
      const isNamed = rules.shownSubscription(facts, rules.rulingSource(facts, now)) === action.subscription;
      const row = { ...written, until: until ?? Infinity };
      const cancelledFor = isEnding ? row.until : null;
      const cancelledAt = row.isCancelled ? [now] : [];
      facts.rows.splice(0, facts.rows.length, { ...row, name: 'row', at: now, cancelledAt, cancelledFor });
      if (row.subscription !== null) nameByHand(facts, row.subscription, row.tier, row, now, isNamed);
      return;
    }
    default:
      if (facts.received.has(JSON.stringify(action))) return;
      facts.received.add(JSON.stringify(action));
      receiveNews(facts, action.subscription, now, () => receiveEvent(facts, action, now));
      if (facts.deletedAt === null || action.do === 'cancelled') return;
      for (const one of facts.subscriptions) one.isUnwanted ||= one.name === action.subscription;
      return;
  }
}

/** A row written by hand names a subscription: an import, where nothing else is known about it. `isNamed`: it did before. */
function nameByHand(
  facts: Facts,
  name: string,
  price: string,
  row: Pick<Row, 'start' | 'until'>,
  now: Time,
  isNamed: boolean,
): void {
  const one = mirrorOf(facts, name, price, now);
  if (!isNamed) one.writtenAt = now;
  if (one.newsAt > -Infinity) return;
  // A longer row is not charged later.
  if (row.until < Infinity && one.cycles.some(({ end }) => end >= now && end <= row.until)) return;
  if (row.until === Infinity) return void one.cycles.splice(0);
  const cycle: Cycle = { start: row.start, end: row.until, at: now, money: null, by: 'activation', isByHand: true };
  one.cycles.splice(0, one.cycles.length, cycle);
}

/** Notes when a fact arrived, if it changes what is known. */
function receiveNews(facts: Facts, name: string, now: Time, receive: () => void): void {
  const known = () => facts.subscriptions.find((one) => one.name === name);
  const before = describeKnown(known());
  receive();
  const one = known();
  if (one && describeKnown(one) !== before) one.newsAt = now;
}

/** What is known of a subscription, without when it was read. */
function describeKnown(one: Subscription | undefined): string {
  if (one === undefined) return '';
  const { reconciledAt: _, statuses: __, isReadImport: ___, ...known } = one;
  const { status, chargeAt } = rules.newestStatus(one) ?? {};
  return JSON.stringify([known, status, chargeAt]);
}

function orderNamed({ orders, gone }: Facts, name: string): Order {
  return [...orders, ...gone].find((order) => order.name === name) ?? expect.fail(`no order ${name}`);
}

function newOrder(facts: Facts, action: Extract<Action, { do: 'order' }>, now: Time): Order {
  const { order: name, price, amount, start: starts = null } = action;
  const credited = starts === 'now' ? creditFor(facts, price, now) : null;
  const unpaid = { money: null, extras: [], isCaptured: false, fulfilledAt: null, verifiedAt: null, isRefused: false };
  const open = { follows: null, afterRow: null, chain: null, found: null, waitsUntil: null };
  const kept = { cancelledAt: [], cancelledFor: null };
  return { name, price, starts, credited, amount, orderedAt: now, ...unpaid, ...open, ...kept };
}

/** The customer verifies a payment. One that was refunded is refused. */
function verify(facts: Facts, order: Order, payment: string, now: Time): void {
  const money = moneyNamed(facts, payment, order.price, order.amount);
  order.isRefused ||= isRefunded(money);
  if (isRefunded(money)) return;
  const isNeeded = isUnpaid(order);
  notePayment(order, money, false, now);
  if (order.verifiedAt !== null && !isNeeded) return;
  order.verifiedAt = Math.max(now, ...rules.sourcesOf(facts).map(({ since }) => since + 1));
  if (isNeeded) fulfil(facts, order, now);
}

function capture(facts: Facts, order: Order, payment: string, now: Time): void {
  const money = moneyNamed(facts, payment, order.price, order.amount);
  const isNeeded = isUnpaid(order);
  notePayment(order, money, true, now);
  if (isNeeded && !isRefunded(order.money) && !facts.gone.includes(order)) fulfil(facts, order, now);
}

function fulfil(facts: Facts, order: Order, now: Time): void {
  const ruling = rules.rulingSource(facts, now);
  const newer = rules.sourcesOf(facts).filter((source) => rules.isLive(source, now) && source.since > order.orderedAt);
  order.afterRow = facts.rows[0]?.at ?? null;
  order.found = {
    ruling: ruling?.name ?? null,
    isRulingNewer: ruling !== null && ruling.since > (order.verifiedAt ?? order.orderedAt),
    newer: newer.map(({ name }) => name),
  };
  order.chain?.links.splice(order.chain.links.indexOf(order), 1);
  order.chain = chainFor(facts, order, now);
  order.chain.links.push(order);
  for (const link of order.chain.links) link.waitsUntil = null;
  order.fulfilledAt = now;
}

/**
 * What follows another source begins at its end; it extends that if it has its tier, currency and months, and rules or begins
 * later. Under extend the same tier follows what runs, unless it gets a credit for that or is an
 * upgrade that is to start now.
 */
function chainFor(facts: Facts, order: Order, now: Time): Chain {
  const { starts, credited } = order;
  const { tier, currency, months } = priceOf(order.price);
  const ruling = rules.rulingSource(facts, now);
  const follows = starts === 'after_current' ||
    facts.earlyRenewal === 'extend' && credited === null && ruling?.tier === tier &&
      !(starts === 'now' && rules.relationOf(ruling, order.price) === 'upgrade');
  const followed = follows ? rules.endOfRunning(facts, now) : null;
  order.follows = followed?.since ?? null;
  if (followed === null) return { from: now, after: null, rulesFrom: now, links: [] };
  const { last, end } = followed;
  const sold = last.price === null ? null : priceOf(last.price);
  const isSame = last.tier === tier && (sold === null || sold.currency === currency && sold.months === months);
  if (!isSame || ruling?.tier !== tier && last.rulesFrom <= now) {
    return { from: end, after: null, rulesFrom: end, links: [] };
  }
  const link = facts.orders.find(({ name }) => name === last.name);
  return link?.chain ?? { from: end, after: last.name, rulesFrom: last.rulesFrom, links: [] };
}

/** At once: every running source ends. At the period's end: the ruling source is marked, and all that is billed. */
function cancel(facts: Facts, atPeriodEnd: boolean, now: Time): void {
  const all = [...facts.orders, ...facts.subscriptions, ...facts.grants, ...facts.rows];
  const ruling = rules.rulingSource(facts, now);
  // What the gateway may still charge is cancelled, also where nothing runs.
  const charged = facts.subscriptions.filter((one) => rules.mayBeCharged(facts, one));
  if (ruling === null && charged.length === 0) return;
  if (atPeriodEnd) {
    if (ruling === null) { for (const one of charged) one.cancelledFor ??= now; }
    else for (const source of all) if (source.name === ruling.name) source.cancelledFor ??= ruling.end;
    return void facts.wishes.push(now);
  }
  const open = rules.sourcesOf(facts).filter((source) => rules.isOpen(source, now)).map(({ name }) => name);
  facts.cancellations.push(now);
  for (const each of facts.subscriptions) if (!rules.hasEndedAtGateway(each)) each.stops.push(now);
  // What a row written by hand names ends with it, also before its first event.
  for (const one of facts.subscriptions) if (!rules.hasPlan(one)) one.cancelledAt.push(now);
  for (const source of all) if (open.includes(source.name)) source.cancelledAt.push(now);
}

function receiveEvent(facts: Facts, event: GatewayEvent, now: Time): void {
  const { createdAt: at, price, start, end, chargeAt } = event;
  const times = { at, arrivedAt: now };
  const one = mirrorOf(facts, event.subscription, price, rules.seenAt(times));
  const period = start !== null && end !== null ? { start, end } : null;
  // From before the newest charge, which a reconciliation may have told.
  if (event.paidCount >= (one.paidCount ?? 0)) {
    one.statuses.push({ at, status: statusAfter(event.do), isRead: false, chargeAt });
  }
  one.isNoted ||= event.do !== 'charged';
  if (at >= (one.notes?.at ?? -Infinity)) one.notes = { at, name: event.notes };
  if (event.do !== 'cancelled' || one.writtenAt !== null && !rules.hasPlan(one)) namePrice(one, price, at);
  // Its last charge is known by this number only.
  const isLast = event.do === 'cancelled' || event.do === 'completed';
  if (isLast && event.paidCount > 0) one.paidCount = Math.max(one.paidCount ?? 0, event.paidCount);
  switch (event.do) {
    case 'cancelled':
      one.endedAt = at;
      return;
    case 'halted':
      one.halts.push(at);
      one.paidCount = Math.max(one.paidCount ?? 0, event.paidCount);
      return;
    case 'resumed':
      return void one.resumptions.push(at);
    case 'authenticated': {
      one.authentications.push(times);
      const trial = facts.planned.find(({ name, isTrial }) => isTrial && name === one.name);
      const isKnown = one.cycles.some(({ by }) => by === 'trial');
      if (trial && !isKnown) one.cycles.push({ start: at, end: trial.startsAt, at, money: null, by: 'trial' });
      return;
    }
    case 'activated':
      if (period) one.activations.push({ ...times, cycle: cycleOf(one, period, at) });
      return;
    case 'charged': {
      one.charges.push(times);
      one.paidCount = Math.max(one.paidCount ?? 0, event.paidCount);
      if (!period) return;
      const cycle = cycleOf(one, period, at);
      cycle.by = 'charge';
      if (event.payment === null || cycle.money !== null) return;
      cycle.money = moneyNamed(facts, event.payment, price, priceOf(price).amount);
      // It pays for what was sold.
      if (price === foreign) cycle.money.price = one.price;
      cycle.at = at;
    }
  }
}

function statusAfter(event: GatewayEvent['do']): GatewayStatus {
  return event === 'activated' || event === 'charged' || event === 'resumed' || event === 'updated' ? 'active' : event;
}

/** Adds the gateway's answer about a subscription: a cycle that no event announced, its status, or its end. */
function receiveAnswer(facts: Facts, name: string, answer: Answer, now: Time): void {
  const { price, status, paidCount, endedAt, chargeAt } = answer;
  const one = mirrorOf(facts, name, price, now);
  const newest = rules.newestStatus(one);
  const before = newest?.status;
  const at = wholeSeconds(now);
  one.reconciledAt = now;
  one.notes = { at: one.notes?.at ?? -Infinity, name: answer.notes };
  const period = paidPeriod(one, answer);
  // Without a charge the first activation counts as one.
  if (period && paidCount > (one.paidCount ?? Math.min(one.activations.length, 1))) {
    const cycle = cycleOf(one, period, period.start);
    if (cycle.by !== 'charge') {
      one.charges.push({ at: period.start, arrivedAt: now });
      cycle.at = period.start;
      cycle.by = 'charge';
    }
    one.paidCount = paidCount;
    namePrice(one, price, period.start);
  }
  one.isReadImport ||= one.writtenAt !== null && price !== foreign;
  // Edited at the gateway; an answer beside an event may be older.
  const isRunning = ['active', 'pending', 'halted', 'paused'].includes(status);
  if (isRunning && rules.hasPlan(one) && price !== one.price && now - one.newsAt >= 10 * minute) {
    namePrice(one, price, at);
  }
  if (status === 'halted') one.paidCount = Math.max(one.paidCount ?? 0, paidCount);
  if (status === 'cancelled' && endedAt !== null) one.endedAt ??= rules.isOld(endedAt, now) ? now : endedAt;
  if (status !== before && status !== 'cancelled') {
    if (status === 'halted') one.halts.push(at);
    const isUnpaid = (each = '') => ['pending', 'halted', 'paused'].includes(each);
    if (isUnpaid(status) || isUnpaid(before) || status === 'completed') namePrice(one, price, at);
  }
  // It has no time of the gateway.
  one.statuses.push({ at: newest?.at ?? -Infinity, status, isRead: true, chargeAt });
}

/** The newest cycle that the gateway charged, by its answer. While a charge fails, the cycle before is the paid one. */
function paidPeriod(one: Subscription, { status, start, end }: Answer): { start: Time; end: Time } | null {
  if (start === null || end === null) return null;
  const known = rules.cyclesWithAccess(one).toSorted((one, other) => other.start - one.start)[0];
  if (status === 'active' || status === 'completed') return !known || end > known.end ? { start, end } : null;
  if (!known) return null;
  // Charged, and paused since.
  if (status === 'paused') return start === known.end ? { start, end } : null;
  return status === 'pending' && start > known.end ? { start: known.end, end: start } : null;
}

/** The newest event names the price. What it was sold for goes on where it names a plan that is not ours. */
function namePrice(one: Subscription, price: string, at: Time): void {
  if (price === foreign || at < one.planAt || at === one.planAt && price <= one.price) return;
  one.price = price;
  one.planAt = at;
}

/** @param seenAt see `rules.seenAt` */
function mirrorOf(
  { subscriptions, cancellations, planned, rows }: Facts,
  name: string,
  price: string,
  seenAt: Time,
): Subscription {
  const known = subscriptions.find((subscription) => subscription.name === name);
  const order = planned.find((each) => each.name === name);
  if (known) {
    if (!order) known.askedAt = Math.min(known.askedAt, seenAt);
    return known;
  }
  const askedAt = order?.at ?? seenAt;
  // A cancellation at once also ends what was asked for before it and is known later.
  const stops = cancellations.filter((time) => time > askedAt);
  const events = { authentications: [], activations: [], charges: [], halts: [], resumptions: [], statuses: [] };
  const open = {
    paidCount: null,
    writtenAt: null,
    afterRow: (rows[0]?.at ?? -Infinity) >= askedAt ? rows[0]?.at ?? null : null,
    newsAt: -Infinity,
    isNoted: false,
    isReadImport: false,
    notes: null,
    isTold: false,
    isUnwanted: false,
    cycles: [],
    endedAt: null,
    reconciledAt: null,
    cancelledFor: null,
  };
  const mirror: Subscription = {
    name,
    askedAt,
    price,
    planAt: -Infinity,
    ...events,
    ...open,
    stops,
    cancelledAt: [...stops],
  };
  subscriptions.push(mirror);
  return mirror;
}

function cycleOf({ cycles }: Subscription, { start, end }: { start: Time; end: Time }, at: Time): Cycle {
  // The gateway's own cycle is not as long as a row by hand says.
  const longer = cycles.findIndex((cycle) => cycle.isByHand && cycle.end > end);
  if (longer >= 0) cycles.splice(longer, 1);
  const known = cycles.find((cycle) => cycle.start === start);
  if (known) return known;
  const cycle: Cycle = { start, end, at, money: null, by: 'activation' };
  cycles.push(cycle);
  return cycle;
}
