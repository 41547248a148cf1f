import { addMonths, day, hour, minute, parseTime, priceOf, prices, second } from './actions.ts';
import type { Action, Look, Time } from './actions.ts';
import type { Draw, Drawn, Kind } from './draws.ts';
import { authorise, chooseGatewayStep } from './choose-gateway.ts';
import { changedRefund, newRefund } from './choose-refund.ts';
import { commitmentOf, creditFor, isExcess, isOnOffer, purchasesAfter, scenarioOf } from './commitments.ts';
import { isErasedSoon } from './deletion.ts';
import { accessOf } from './expected.ts';
import { type Facts, noFacts, type Order, type Settings } from './facts.ts';
import { isChargedAfterCancellation, isOpenCase } from './findings.ts';
import * as gateway from './gateway.ts';
import type { Billed } from './gateway.ts';
import { isLive, reasonOf, relationOf, rulingSource, sourcesOf } from './model.ts';
import { recordAction } from './record.ts';

/** The state of a history: the facts sent to the database, and the subscriptions at the gateway. */
export type State = { now: Time; facts: Facts; billed: Billed[]; last: Kind | null };

export function startOf({ start, ...settings }: Settings & Pick<Drawn, 'start'>): State {
  return { now: parseTime(start), facts: noFacts(settings), billed: [], last: null };
}

/** A step that is possible: the state before its actions, at their time. */
type ChosenStep = { kind: Kind; state: State; actions: Action[] };

/** Turns a drawn step into actions; null where it is not possible, or where the contract leaves the result open. */
export function chooseStep(before: State, draw: Draw): ChosenStep | null {
  for (const kind of draw.kinds) {
    const state = structuredClone(before);
    state.now = timeOf(state, kind, draw);
    // The contract does not say whether the exact instant of an end still counts.
    while (edgesOf(state.facts).includes(state.now)) state.now += second;
    const actions = choose(state, kind, draw);
    if (actions === null) continue;
    state.last = kind;
    if (!isErasedSoon(state.facts, state.now) && !isLeftOpen(state.facts, actions, state.now)) {
      return { kind, state, actions };
    }
  }
  return null;
}

/** Whether the contract leaves the result of actions open. */
export function isLeftOpen(before: Facts, actions: readonly Action[], now: Time): boolean {
  const facts = structuredClone(before);
  return actions.some((action) => {
    recordAction(facts, action, now);
    return isOpenCase(facts, now) || isShownAfterItsEnd(before, facts, now);
  });
}

/** A resumed source runs after its days of grace: until it is reconciled the row shows it, and the profile does not. */
function isShownAfterItsEnd(before: Facts, facts: Facts, now: Time): boolean {
  const wasLive = (name: string) => sourcesOf(before).some((source) => source.name === name && isLive(source, now));
  return sourcesOf(facts).some((source) =>
    source.runsUntilReconciled && source.end + facts.graceDays * day <= now && isLive(source, now) &&
    !wasLive(source.name)
  );
}

function timeOf({ now, facts, last }: State, kind: Kind, { wait, how }: Draw): Time {
  // Two purchases at the same instant still have an order.
  if ((kind === 'buy' || kind === 'verify') && (last === 'buy' || last === 'verify') && how > 9) return now;
  if ('unit' in wait) {
    const { unit, count } = wait;
    return unit === 'month' ? addMonths(now, count) : now + count * { minute, hour, day }[unit];
  }
  const edges = edgesOf(facts).map((edge) => edge + wait.offset * second).filter((time) => time >= now + minute);
  return edges.toSorted((one, other) => one - other)[wait.edge % Math.max(edges.length, 1)] ?? now + day;
}

/** Times at which something ends: periods and their grace. */
function edgesOf(facts: Facts): Time[] {
  return [
    ...new Set(
      sourcesOf(facts).filter(({ end }) => end < Infinity)
        .flatMap(({ end }) => [end, end + (facts.graceDays - 1) * day, end + facts.graceDays * day]),
    ),
  ];
}

/** The actions of a drawn step; null where it is not possible. May advance the state's time and change its gateway. */
function choose(state: State, kind: Kind, draw: Draw): Action[] | null {
  const { facts, now } = state;
  const { which, how } = draw;
  const price = drawnPrice(how);
  const { tier, amount } = priceOf(price);
  const orders = facts.deletedAt === null ? facts.orders : facts.gone;
  const order = orders[which % Math.max(orders.length, 1)];
  const name = String.fromCharCode('A'.charCodeAt(0) + facts.orders.length + facts.gone.length);
  const verified: Action = { do: 'verify', order: name, payment: `${name}1` };
  if (facts.deletedAt !== null && isActOfUser(kind)) return null;
  switch (kind) {
    case 'wait':
      return [{ do: 'wait' }];
    case 'look':
      return lookAt(facts, price, which % 2 === 0 ? 'now' : 'period_end', now);
    case 'buy':
      return [{ do: 'order', order: name, price, amount }, verified];
    case 'order':
      return [{ do: 'order', order: name, price, amount }];
    case 'buy with start':
    case 'order with start': {
      const start = which % 2 === 0 ? 'now' : 'after_current';
      if (!isOnOffer(facts, price)) return null;
      // A repeated order within 30 minutes would return the open one.
      const isRepeated = ({ orderedAt, ...other }: Order) =>
        other.price === price && other.starts === start && orderedAt >= now - hour;
      if (facts.orders.some(isRepeated)) return null;
      if (start === 'now' && (commitmentOf(facts, now) === undefined || isExcess(facts, price, now))) return null;
      const credit = start === 'now' ? creditFor(facts, price, now)?.credit ?? 0 : 0;
      const placed: Action = { do: 'order', order: name, price, amount: amount - credit, start };
      return kind === 'buy with start' ? [placed, verified] : [placed];
    }
    case 'capture': {
      if (!order) return null;
      const event = how % 2 === 0 && !order.isCaptured ? 'payment.captured' : 'order.paid';
      return [{ do: 'captured', order: order.name, payment: `${order.name}1`, event }];
    }
    case 'pay again': {
      if (!order || order.money === null) return null;
      const again = { order: order.name, payment: `${order.name}2` };
      if (how % 3 === 0) return [{ do: 'verify', ...again }];
      return [{ do: 'captured', ...again, event: how % 3 === 1 ? 'payment.captured' : 'order.paid' }];
    }
    case 'verify':
      return order ? [{ do: 'verify', order: order.name, payment: `${order.name}1` }] : null;
    case 'refund':
      return newRefund(state, which, how);
    case 'move refund':
      return changedRefund(state, which, how);
    case 'cancel at end': {
      const ruling = rulingSource(facts, now);
      return (ruling === null ? how === 0 : ruling.end > now) ? [{ do: 'cancel', atPeriodEnd: true }] : null;
    }
    case 'cancel':
      // Not while events are held back: those of an unknown subscription would arrive after the cancellation.
      if (state.billed.some(({ held }) => held.length > 0) || rulingSource(facts, now) === null && how > 0) return null;
      return [{ do: 'cancel', atPeriodEnd: false }];
    case 'resume': {
      // A charge after the cancellation stays a finding after a resume.
      const ruling = rulingSource(facts, now);
      const one = facts.subscriptions.find(({ name }) => name === ruling?.name);
      if (one?.cycles.some((cycle) => isChargedAfterCancellation(one, cycle))) return null;
      return ruling?.cancelAtPeriodEnd || how === 0 ? [{ do: 'resume' }] : null;
    }
    case 'fail':
      return order && !order.isCaptured && order.fulfilledAt === null && order.money === null
        ? [{ do: 'failed', order: order.name, payment: `${order.name}1` }]
        : null;
    case 'sell':
      return [{ do: 'sell', price, isOnSale: facts.offSale.includes(price) }];
    case 'upgrade':
      return upgrade(state, name, how);
    case 'grant': {
      const until = [now + 10 * day, addMonths(now, 1), addMonths(now, 3), addMonths(now, 13)][which % 4] ?? now + day;
      // An admin who grants what runs already is refused.
      const runs = facts.grants.some((each) => each.tier === tier && each.until >= until);
      return runs ? null : [{ do: 'grant', grant: `G${facts.grants.length + 1}`, tier, until }];
    }
    case 'delete':
      return facts.deletedAt === null ? [{ do: 'delete' }] : null;
    case 'restore':
      return facts.deletedAt !== null && facts.isRestorable ? [{ do: 'restore' }] : null;
    case 'write':
      return writeRow(state, price, which, how);
    default:
      return chooseGatewayStep(state, kind, draw);
  }
}

/** What a user does or is given, and what is asked of the catalogue: nothing of a deleted one. */
const isActOfUser = (kind: Kind): boolean =>
  /^(look|buy|order|verify|pay again|cancel|resume|fail$|sell|upgrade|grant|write|try|change|authorise|edit notes|delete)/
    .test(kind);

/**
 * An admin extends the row that rules, cancels it, takes its end away, or writes one of another tier; an import names a
 * subscription.
 */
function writeRow({ facts, now, billed }: State, price: string, which: number, how: number): Action[] | null {
  const ruling = accessOf(facts, now).active;
  const { tier: sold } = priceOf(price);
  const plain = { do: 'write', subscription: null, isEnding: false, isCancelled: false } as const;
  const shown = ruling === null ? null : { tier: ruling.tier, start: now, subscription: ruling.gatewaySubscription };
  if (how % 4 === 2) {
    const isCancelled = which < 5;
    const until = which === 0 ? now - 10 * day : isCancelled ? ruling?.end ?? addMonths(now, 1) : Infinity;
    // An import without an end, of which nothing else is known, is not decided.
    const isKnown = facts.subscriptions.every(({ name, newsAt }) => name !== shown?.subscription || newsAt > -Infinity);
    const same = which % 2 === 0 && (until < Infinity || isKnown) ? shown : null;
    const row = { ...plain, tier: sold, start: now - 40 * day, ...same, isCancelled };
    return [{ ...row, until: until === Infinity ? null : until }];
  }
  if (how % 4 === 3 && billed.length < 3) {
    const { billed: one } = gateway.activate(`S${billed.length + 1}`, price, now);
    billed.push(one);
    const { start = now, end: until = now } = one.cycles[0] ?? {};
    return [{ ...plain, tier: sold, start, until, subscription: one.name }];
  }
  if (which % 2 === 1 || ruling === null || ruling.end === Infinity) {
    const until = [now + 10 * day, addMonths(now, 1), addMonths(now, 13)][which % 3] ?? now + day;
    return [{ ...plain, tier: sold, start: now, until }];
  }
  const { tier, gatewaySubscription: subscription, cancelAtPeriodEnd: isEnding } = ruling;
  return [{ ...plain, tier, start: now, until: ruling.end + 9 * day, subscription, isEnding }];
}

/** Orders an upgrade that gets a credit, with its renewal, which the customer mostly authorises now. */
function upgrade(state: State, order: string, how: number): Action[] | null {
  const { facts, now, billed } = state;
  const keys = Object.keys(prices);
  const price = [...keys.slice(how % keys.length), ...keys].find((key) =>
    isOnOffer(facts, key) && (creditFor(facts, key, now)?.credit ?? 0) > 0
  );
  const isAsked = facts.planned.some(({ renews, at }) => renews !== null && at > now - day);
  if (price === undefined || isAsked || billed.length >= 3 || !commitmentOf(facts, now)?.goesOn) return null;
  const { amount, months } = priceOf(price);
  const startsAt = addMonths(Math.floor(now / 1000) * 1000, months);
  const renewal = { subscription: `R${facts.planned.length + 1}`, price, startsAt, isTrial: false, replaces: null };
  const planned = { ...renewal, name: renewal.subscription, at: now, renews: order };
  return [
    { do: 'order', order, price, amount: amount - (creditFor(facts, price, now)?.credit ?? 0), start: 'now' },
    { do: 'subscribe', ...renewal, renews: order },
    { do: 'verify', order, payment: `${order}1` },
    ...(how % 4 > 0 ? authorise(state, planned, 1) : []),
  ];
}

export const drawnPrice = (how: number): string => Object.keys(prices)[how % Object.keys(prices).length] ?? 'basic';

/** @returns null where the model does not decide what is shown */
function lookAt(facts: Facts, price: string, when: Look['when'], now: Time): [Look] | null {
  const from = commitmentOf(facts, now);
  const decided = scenarioOf(facts, price, now);
  if (from === undefined || decided === undefined) return null;
  const scenario = isOnOffer(facts, price) ? decided : null;
  const isSame = from !== null && relationOf(from, price) === 'same';
  const isLater = from !== null && !isSame && reasonOf(from, price) !== null || isExcess(facts, price, now);
  const isPaid = from !== null && (from.goesOn || from.paidBy?.kind === 'gateway') &&
    purchasesAfter(facts, from.end, now).some((source) => source.tier === priceOf(price).tier && source.end > from.end);
  const isRepeated = from !== null &&
    (isSame ? from.goesOn : when === 'period_end' && (from.followedBy === price || isPaid));
  const outcome = isSame && (!from?.goesOn || from.followedBy !== null)
    ? null
    : scenario === null
    ? 'plan_not_found'
    : from === null || from.end <= now && (when !== 'now' || from.isCharging)
    ? 'subscription_not_found'
    : when === 'now' && isLater
    ? 'not_now'
    : isRepeated
    ? 'already_subscribed'
    : 'change';
  const credit = when === 'now' ? creditFor(facts, price, now)?.credit ?? 0 : 0;
  return [{ do: 'look', price, when, scenario, outcome, credit }];
}
