import { type Answer, type GatewayEvent, planOf } from './actions.ts';
import { addMonths, isoTime, parseTime, type Time, wholeSeconds } from './time.ts';

/** A gateway subscription at the gateway. The database knows only what was delivered. */
export type Billed = {
  readonly name: string;
  readonly tier: string;
  readonly cycles: { start: Time; end: Time; payment: string }[];
  status: 'active' | 'halted' | 'cancelled';
  endedAt: Time | null;
  /** Events that were not delivered yet. */
  readonly held: GatewayEvent[];
  readonly delivered: GatewayEvent[];
};

/** A new gateway subscription and its first cycle, charged now. */
export function activate(name: string, tier: string, now: Time): { billed: Billed; events: GatewayEvent[] } {
  const billed: Billed = { name, tier, cycles: [], status: 'active', endedAt: null, held: [], delivered: [] };
  const start = wholeSeconds(now);
  const cycle = addCycle(billed, start, addMonths(start, planOf(tier).cycleMonths));
  return { billed, events: [eventOf(billed, 'activated', start), eventOf(billed, 'charged', cycle.start)] };
}

/** The next cycle, charged as it begins. */
export function charge(billed: Billed): GatewayEvent {
  const { start, end } = nextCycle(billed);
  return eventOf(billed, 'charged', addCycle(billed, start, end).start);
}

/** Start and end of the next cycle. Months are counted from the first cycle of a series without a gap. */
export function nextCycle({ tier, cycles }: Billed): { start: Time; end: Time } {
  const breaks = cycles.findLastIndex(({ start }, index) => start !== cycles[index - 1]?.end);
  const first = cycles[breaks]?.start ?? 0;
  return {
    start: cycles.at(-1)?.end ?? 0,
    end: addMonths(first, (cycles.length - breaks + 1) * planOf(tier).cycleMonths),
  };
}

/** Activates a subscription again: in the running cycle, else with a new one. */
export function reactivate(billed: Billed, now: Time): GatewayEvent[] {
  const at = wholeSeconds(now);
  billed.status = 'active';
  if ((billed.cycles.at(-1)?.end ?? 0) > at) return [eventOf(billed, 'activated', at)];
  addCycle(billed, at, addMonths(at, planOf(billed.tier).cycleMonths));
  return [eventOf(billed, 'activated', at), eventOf(billed, 'charged', at)];
}

/** Cancels a subscription at the gateway. That is final. */
export function end(billed: Billed, now: Time): GatewayEvent {
  billed.status = 'cancelled';
  billed.endedAt = wholeSeconds(now);
  return eventOf(billed, 'cancelled', billed.endedAt);
}

/** The subscription as the gateway's API returns it. */
export function answerOf({ tier, status, cycles, endedAt }: Billed): Answer {
  const { start, end } = currentOf(cycles);
  return {
    tier,
    status,
    start: isoTime(start),
    end: isoTime(end),
    endedAt: endedAt === null ? null : isoTime(endedAt),
  };
}

/** The time of an event at the gateway. */
export function eventTime({ createdAt }: GatewayEvent): Time {
  return parseTime(createdAt);
}

function addCycle({ name, cycles }: Billed, start: Time, end: Time) {
  const cycle = { start, end, payment: `${name}/${cycles.length + 1}` };
  cycles.push(cycle);
  return cycle;
}

function eventOf({ name, tier, cycles }: Billed, event: GatewayEvent['do'], at: Time): GatewayEvent {
  const { start, end, payment } = currentOf(cycles);
  return {
    do: event,
    subscription: name,
    tier,
    createdAt: isoTime(at),
    start: isoTime(start),
    end: isoTime(end),
    payment: event === 'charged' ? payment : null,
  };
}

function currentOf(cycles: Billed['cycles']) {
  const cycle = cycles.at(-1);
  if (!cycle) throw new Error('a gateway subscription without a cycle');
  return cycle;
}
