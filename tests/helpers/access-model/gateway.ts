import { type Answer, type GatewayEvent, type GatewayStatus, planOf } from './actions.ts';
import type { Facts } from './facts.ts';
import { addMonths, day, isoTime, parseTime, type Time, wholeSeconds } from './time.ts';

/** A gateway subscription at the gateway. The database knows only what was delivered. */
export type Billed = {
  readonly name: string;
  tier: string;
  /** The cycles; one whose charge failed has no payment, and one that is charged twice a second one. */
  readonly cycles: { start: Time; end: Time; payment: string | null; again?: string }[];
  status: GatewayStatus;
  endedAt: Time | null;
  /** When the first cycle is charged, if it was authorised before. */
  readonly startsAt: Time | null;
  /** The subscription that ends when this one starts. */
  readonly replaces: string | null;
  /** Events that were not delivered yet. */
  readonly held: GatewayEvent[];
  readonly delivered: GatewayEvent[];
};

function newBilled(name: string, tier: string, rest: Partial<Billed> = {}): Billed {
  return {
    name,
    tier,
    cycles: [],
    status: 'active',
    endedAt: null,
    startsAt: null,
    replaces: null,
    held: [],
    delivered: [],
    ...rest,
  };
}

/** A new gateway subscription and its first cycle, charged now. */
export function activate(name: string, tier: string, now: Time): { billed: Billed; events: GatewayEvent[] } {
  const billed = newBilled(name, tier);
  return { billed, events: begin(billed, wholeSeconds(now)) };
}

/** A new gateway subscription that is authorised now and charged later. */
export function authorise(
  name: string,
  tier: string,
  startsAt: Time,
  replaces: string | null,
  now: Time,
): { billed: Billed; events: GatewayEvent[] } {
  const billed = newBilled(name, tier, { status: 'authenticated', startsAt, replaces });
  return { billed, events: [eventOf(billed, 'authenticated', wholeSeconds(now))] };
}

/** The first cycle, charged as it begins. */
export function begin(billed: Billed, start: Time): GatewayEvent[] {
  billed.status = 'active';
  addCycle(billed, start, addMonths(start, planOf(billed.tier).cycleMonths), true);
  return [eventOf(billed, 'activated', start), eventOf(billed, 'charged', start)];
}

/** The next cycle, charged as it begins. */
export function charge(billed: Billed): GatewayEvent {
  const { start, end } = nextCycle(billed);
  addCycle(billed, start, end, true);
  return eventOf(billed, 'charged', start);
}

/** The newest cycle is charged once more. */
export function chargeAgain(billed: Billed, now: Time): GatewayEvent | null {
  const cycle = billed.cycles.at(-1);
  const isLate = [...billed.held, ...billed.delivered].some((event) => eventTime(event) >= wholeSeconds(now));
  if (billed.status !== 'active' || !cycle?.payment || cycle.again || cycle.end <= now || isLate) return null;
  cycle.again = `${cycle.payment} again`;
  return { ...eventOf(billed, 'charged', wholeSeconds(now)), payment: cycle.again };
}

/** The charge of the next cycle fails as it begins. */
export function failCharge(billed: Billed): GatewayEvent {
  const { start, end } = nextCycle(billed);
  addCycle(billed, start, end, false);
  return changeStatus(billed, 'pending', start);
}

/** The customer pays the cycle whose charge failed. After a halt that activates the subscription again. */
export function payCycle(billed: Billed, now: Time): GatewayEvent[] {
  const at = wholeSeconds(now);
  const wasHalted = billed.status === 'halted';
  const cycle = currentOf(billed);
  billed.cycles.splice(-1, 1, { ...cycle, payment: `${billed.name}/${billed.cycles.length}` });
  billed.status = 'active';
  return [...(wasHalted ? [eventOf(billed, 'activated', at)] : []), eventOf(billed, 'charged', at)];
}

/** The subscription goes on: in its cycle, else with a new one that is charged now. */
export function resume(billed: Billed, now: Time): GatewayEvent[] {
  const at = wholeSeconds(now);
  billed.status = 'active';
  if (currentOf(billed).end > at) return [eventOf(billed, 'resumed', at)];
  addCycle(billed, at, addMonths(at, planOf(billed.tier).cycleMonths), true);
  return [eventOf(billed, 'resumed', at), eventOf(billed, 'charged', at)];
}

/** Sets the status, and returns its event. */
export function changeStatus(billed: Billed, status: 'pending' | 'halted' | 'paused' | 'completed', at: Time) {
  billed.status = status;
  return eventOf(billed, status, wholeSeconds(at));
}

/** Changes the plan from the next charge on. */
export function updatePlan(billed: Billed, tier: string, now: Time): GatewayEvent {
  billed.tier = tier;
  return eventOf(billed, 'updated', wholeSeconds(now));
}

/** Start and end of the next cycle. Months are counted from the first cycle of a series without a gap. */
export function nextCycle({ tier, cycles, startsAt }: Billed): { start: Time; end: Time } {
  const months = planOf(tier).cycleMonths;
  if (cycles.length === 0 && startsAt !== null) return { start: startsAt, end: addMonths(startsAt, months) };
  const breaks = cycles.findLastIndex(({ start }, index) => start !== cycles[index - 1]?.end);
  const first = cycles[breaks]?.start ?? 0;
  return {
    start: cycles.at(-1)?.end ?? 0,
    end: addMonths(first, (cycles.length - breaks + 1) * months),
  };
}

/** Activates a subscription again: in the running cycle, else with a new one. */
export function reactivate(billed: Billed, now: Time): GatewayEvent[] {
  const at = wholeSeconds(now);
  billed.status = 'active';
  if ((billed.cycles.at(-1)?.end ?? 0) > at) return [eventOf(billed, 'activated', at)];
  addCycle(billed, at, addMonths(at, planOf(billed.tier).cycleMonths), true);
  return [eventOf(billed, 'activated', at), eventOf(billed, 'charged', at)];
}

/** Cancels a subscription at the gateway. That is final. */
export function end(billed: Billed, now: Time): GatewayEvent {
  billed.status = 'cancelled';
  billed.endedAt = wholeSeconds(now);
  return eventOf(billed, 'cancelled', billed.endedAt);
}

/** The subscription as the gateway's API returns it. */
function answerOf(billed: Billed): Answer {
  const { tier, status, cycles, endedAt } = billed;
  const cycle = cycles.at(-1);
  return {
    tier,
    status,
    start: cycle ? isoTime(cycle.start) : null,
    end: cycle ? isoTime(cycle.end) : null,
    endedAt: endedAt === null ? null : isoTime(endedAt),
    paidCount: paidCount(billed),
    chargeAt: chargeTime(billed),
  };
}

/** The answers about the subscriptions that are known to the database, by name. */
export function answersAbout({ subscriptions }: Facts, billed: readonly Billed[]): Record<string, Answer> {
  const known = billed.filter(({ name }) => subscriptions.some((mirror) => mirror.name === name));
  return Object.fromEntries(known.map((each) => [each.name, answerOf(each)]));
}

/** The time of an event at the gateway. */
export function eventTime({ createdAt }: GatewayEvent): Time {
  return parseTime(createdAt);
}

function addCycle({ name, cycles }: Billed, start: Time, end: Time, isPaid: boolean): void {
  cycles.push({ start, end, payment: isPaid ? `${name}/${cycles.length + 1}` : null });
}

function paidCount({ cycles }: Billed): number {
  return cycles.filter(({ payment }) => payment !== null).length;
}

/** When the gateway charges next. */
function chargeTime({ status, cycles, startsAt }: Billed): string | null {
  const cycle = cycles.at(-1);
  if (status === 'authenticated' && startsAt !== null) return isoTime(startsAt);
  if (status === 'active' && cycle) return isoTime(cycle.end);
  return status === 'pending' && cycle ? isoTime(cycle.start + day) : null;
}

function eventOf(billed: Billed, event: GatewayEvent['do'], at: Time): GatewayEvent {
  const cycle = billed.cycles.at(-1);
  return {
    do: event,
    subscription: billed.name,
    tier: billed.tier,
    createdAt: isoTime(at),
    start: cycle ? isoTime(cycle.start) : null,
    end: cycle ? isoTime(cycle.end) : null,
    payment: event === 'charged' ? cycle?.payment ?? null : null,
    paidCount: paidCount(billed),
    chargeAt: chargeTime(billed),
  };
}

function currentOf({ cycles }: Billed) {
  const cycle = cycles.at(-1);
  if (!cycle) throw new Error('a gateway subscription without a cycle');
  return cycle;
}
