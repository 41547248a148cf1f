import type { Action } from './actions.ts';
import { choose } from './choose.ts';
import { isUnclear } from './corners.ts';
import type { Draw, Drawn, Kind } from './draws.ts';
import { type Facts, noFacts } from './facts.ts';
import type { Billed } from './gateway.ts';
import { sourcesOf } from './model.ts';
import { recordAction } from './record-action.ts';
import { addMonths, day, hour, minute, parseTime, second, type Time } from './time.ts';

/** Where a history has come to: what the database was told, and the gateway's own truth. */
export type State = { now: Time; facts: Facts; billed: Billed[]; last: Kind | null };

export function startOf({ start, earlyRenewal }: Pick<Drawn, 'start' | 'earlyRenewal'>): State {
  return { now: parseTime(start), facts: noFacts(earlyRenewal), billed: [], last: null };
}

/** A step that is possible: the state before its actions, at their time. */
export type Taken = { kind: Kind; state: State; actions: Action[] };

/** What a drawn step is; null where it is not possible, or CORE.md is unclear about it. */
export function takeDraw(state: State, draw: Draw): Taken | null {
  for (const kind of draw.kinds) {
    const taken = takeKind(structuredClone(state), kind, draw);
    if (taken !== null) return taken;
  }
  return null;
}

function takeKind(state: State, kind: Kind, draw: Draw): Taken | null {
  state.now = timeOf(state, kind, draw);
  // CORE.md does not say whether the very last instant counts.
  while (edgesOf(state.facts).includes(state.now)) state.now += second;
  const actions = choose(state, kind, draw);
  if (actions === null) return null;
  state.last = kind;
  const facts = structuredClone(state.facts);
  for (const action of actions) {
    recordAction(facts, action, state.now);
    if (isUnclear(facts, state.now)) return null;
  }
  return { kind, state, actions };
}

function timeOf({ now, facts, last }: State, kind: Kind, { wait, how }: Draw): Time {
  // Two purchases in one instant still have an order.
  const isAtOnce = (kind === 'buy' || kind === 'verify') && (last === 'buy' || last === 'verify') && how > 9;
  if (isAtOnce) return now;
  if ('unit' in wait) {
    const { unit, count } = wait;
    return unit === 'month' ? addMonths(now, count) : now + count * { minute, hour, day }[unit];
  }
  const edges = edgesOf(facts).map((edge) => edge + wait.offset * second).filter((time) => time >= now + minute);
  return edges.toSorted((one, other) => one - other)[wait.edge % Math.max(edges.length, 1)] ?? now + day;
}

/** Times at which something ends: periods, their grace, the answer that counts, the wait for a capture. */
function edgesOf(facts: Facts): Time[] {
  const ends = sourcesOf(facts).flatMap(({ end }) => [end, end + 2 * day, end + 3 * day]);
  const waits = facts.orders.flatMap(({ verifiedAt, isCaptured }) =>
    verifiedAt === null || isCaptured ? [] : [verifiedAt + 120 * hour]
  );
  return [...new Set([...ends, ...waits])];
}
