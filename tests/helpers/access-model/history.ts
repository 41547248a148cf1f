import type { Action } from './actions.ts';
import { choose } from './choose.ts';
import type { Draw, Drawn, Kind } from './draws.ts';
import { type Facts, noFacts } from './facts.ts';
import type { Billed } from './gateway.ts';
import { isLive, sourcesOf } from './model.ts';
import { isOpenCase } from './open-cases.ts';
import { recordAction } from './record-action.ts';
import { addMonths, day, hour, minute, parseTime, second, type Time } from './time.ts';

/** The state of a history: the facts sent to the database, and the subscriptions at the gateway. */
export type State = { now: Time; facts: Facts; billed: Billed[]; last: Kind | null };

export function startOf({ start, earlyRenewal }: Pick<Drawn, 'start' | 'earlyRenewal'>): State {
  return { now: parseTime(start), facts: noFacts(earlyRenewal), billed: [], last: null };
}

/** A step that is possible: the state before its actions, at their time. */
export type ChosenStep = { kind: Kind; state: State; actions: Action[] };

/** Turns a drawn step into actions; null where it is not possible, or where the contract leaves the result open. */
export function chooseStep(state: State, draw: Draw): ChosenStep | null {
  for (const kind of draw.kinds) {
    const chosen = chooseKind(structuredClone(state), kind, draw);
    if (chosen !== null) return chosen;
  }
  return null;
}

function chooseKind(state: State, kind: Kind, draw: Draw): ChosenStep | null {
  state.now = timeOf(state, kind, draw);
  // The contract does not say whether the exact instant of an end still counts.
  while (edgesOf(state.facts).includes(state.now)) state.now += second;
  const actions = choose(state, kind, draw);
  if (actions === null) return null;
  state.last = kind;
  return isLeftOpen(state.facts, actions, state.now) ? null : { kind, state, actions };
}

/** Whether the contract leaves the result of actions open. */
export function isLeftOpen(before: Facts, actions: readonly Action[], now: Time): boolean {
  const facts = structuredClone(before);
  return actions.some((action) => {
    recordAction(facts, action, now);
    return isOpenCase(facts, now) || isShownAfterItsEnd(before, facts, now);
  });
}

/**
 * A source that had ended runs again although its days of grace are over: resumed, and its next charge is not known yet. The
 * row shows it until it is reconciled, and the profile does not.
 */
function isShownAfterItsEnd(before: Facts, facts: Facts, now: Time): boolean {
  const wasLive = (name: string) => sourcesOf(before).some((source) => source.name === name && isLive(source, now));
  return sourcesOf(facts).some((source) =>
    source.runsUntilReconciled && source.end + 3 * day <= now && isLive(source, now) && !wasLive(source.name)
  );
}

function timeOf({ now, facts, last }: State, kind: Kind, { wait, how }: Draw): Time {
  // Two purchases at the same instant still have an order.
  const isAtOnce = (kind === 'buy' || kind === 'verify') && (last === 'buy' || last === 'verify') && how > 9;
  if (isAtOnce) return now;
  if ('unit' in wait) {
    const { unit, count } = wait;
    return unit === 'month' ? addMonths(now, count) : now + count * { minute, hour, day }[unit];
  }
  const edges = edgesOf(facts).map((edge) => edge + wait.offset * second).filter((time) => time >= now + minute);
  return edges.toSorted((one, other) => one - other)[wait.edge % Math.max(edges.length, 1)] ?? now + day;
}

/** Times at which something ends: periods, their grace, and the wait for a capture. */
function edgesOf(facts: Facts): Time[] {
  const ends = sourcesOf(facts).flatMap(({ end }) => [end, end + 2 * day, end + 3 * day]);
  const waits = facts.orders.flatMap(({ verifiedAt, isCaptured }) =>
    verifiedAt === null || isCaptured ? [] : [verifiedAt + 120 * hour]
  );
  return [...new Set([...ends, ...waits])];
}
