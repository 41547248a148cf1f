import { expect } from 'vitest';
import { addMonths, day, priceOf, wholeSeconds } from './actions.ts';
import type { Answer, GatewayEvent, GatewayStatus, Time } from './actions.ts';
import type { Facts } from './facts.ts';

/** A gateway subscription at the gateway. The database knows only what was delivered. */
export type Billed = {
  readonly name: string;
  price: string;
  /** The cycles with their prices; one whose charge failed has no payment. */
  readonly cycles: { start: Time; end: Time; price: string; payment: string | null }[];
  status: GatewayStatus;
  endedAt: Time | null;
  /** When the first cycle is charged, if it was authorised before. */
  readonly startsAt: Time | null;
  readonly replaces: string | null;
  /** The merchant cancelled it for the end of its cycle: nothing tells it before. */
  endsWithCycle: boolean;
  /** Whom the notes name. */
  notes: GatewayEvent['notes'];
  readonly held: GatewayEvent[];
  readonly delivered: GatewayEvent[];
};

type Begun = { billed: Billed; events: GatewayEvent[] };
const unbilled = { cycles: [], endedAt: null, startsAt: null, replaces: null, held: [], delivered: [] };
const unedited = { endsWithCycle: false, notes: 'user' } as const;

/** A new gateway subscription and its first cycle, charged now. */
export function activate(name: string, price: string, now: Time): Begun {
  const billed: Billed = { ...structuredClone(unbilled), ...unedited, name, price, status: 'active' };
  return { billed, events: begin(billed, wholeSeconds(now)) };
}

/** A new gateway subscription that is authorised now and charged later. */
export function authorise(name: string, price: string, plan: Pick<Billed, 'startsAt' | 'replaces'>, now: Time): Begun {
  const billed: Billed = { ...structuredClone(unbilled), ...unedited, name, price, status: 'authenticated', ...plan };
  return { billed, events: [eventOf(billed, 'authenticated', now)] };
}

/** The first cycle, charged as it begins. */
export function begin(billed: Billed, start: Time): GatewayEvent[] {
  billed.status = 'active';
  addCycle(billed, { start, end: addMonths(start, priceOf(billed.price).months) }, true);
  return [eventOf(billed, 'activated', start), eventOf(billed, 'charged', start)];
}

/** The next cycle, charged as it begins, or the end that the merchant asked for. */
export function charge(billed: Billed): GatewayEvent {
  const next = nextCycle(billed);
  if (billed.endsWithCycle) return changeStatus(billed, 'cancelled', next.start);
  addCycle(billed, next, true);
  return eventOf(billed, 'charged', next.start);
}

/** The charge of the next cycle fails as it begins, or the subscription ends then. */
export function failCharge(billed: Billed): GatewayEvent {
  if (billed.endsWithCycle) return charge(billed);
  const next = nextCycle(billed);
  addCycle(billed, next, false);
  return changeStatus(billed, 'pending', next.start);
}

/** The customer pays the cycle whose charge failed. After a halt that activates the subscription again. */
export function payCycle(billed: Billed, now: Time): GatewayEvent[] {
  const wasHalted = billed.status === 'halted';
  billed.cycles.splice(-1, 1, { ...currentOf(billed), payment: `${billed.name}/${billed.cycles.length}` });
  billed.status = 'active';
  return [...(wasHalted ? [eventOf(billed, 'activated', now)] : []), eventOf(billed, 'charged', now)];
}

/** The subscription goes on after a pause or a halt: in its cycle, else with a new one that is charged now. */
export function goOn(billed: Billed, event: 'resumed' | 'activated', now: Time): GatewayEvent[] {
  const start = wholeSeconds(now);
  billed.status = 'active';
  if (currentOf(billed).end > start) return [eventOf(billed, event, now)];
  addCycle(billed, { start, end: addMonths(start, priceOf(billed.price).months) }, true);
  return [eventOf(billed, event, now), eventOf(billed, 'charged', now)];
}

/** Sets the status, and returns its event. A cancellation is final. */
export function changeStatus(
  billed: Billed,
  status: 'pending' | 'halted' | 'paused' | 'completed' | 'cancelled',
  at: Time,
): GatewayEvent {
  billed.status = status;
  if (status === 'cancelled') billed.endedAt = wholeSeconds(at);
  return eventOf(billed, status, at);
}

/** Changes the price from the next charge on. */
export function updatePlan(billed: Billed, price: string, now: Time): GatewayEvent {
  billed.price = price;
  return eventOf(billed, 'updated', now);
}

/** Start and end of the next cycle. Months are counted from the first cycle of a series without a gap and of one length. */
export function nextCycle({ price, cycles, startsAt }: Billed): { start: Time; end: Time } {
  const { months } = priceOf(price);
  if (cycles.length === 0 && startsAt !== null) return { start: startsAt, end: addMonths(startsAt, months) };
  const start = cycles.at(-1)?.end ?? 0;
  if (priceOf(cycles.at(-1)?.price ?? price).months !== months) return { start, end: addMonths(start, months) };
  const breaks = cycles.findLastIndex((cycle, index) => {
    const before = cycles[index - 1];
    return cycle.start !== before?.end || priceOf(before.price).months !== priceOf(cycle.price).months;
  });
  const first = cycles[breaks]?.start ?? 0;
  return { start, end: addMonths(first, (cycles.length - breaks + 1) * months) };
}

/** What the gateway's API answers about the subscriptions that are known to the database, by name. */
export function answersAbout({ subscriptions }: Facts, billed: readonly Billed[]): Record<string, Answer> {
  const known = billed.filter(({ name }) => subscriptions.some((mirror) => mirror.name === name));
  return Object.fromEntries(known.map((one) => {
    const { name, price, status, cycles, endedAt, notes } = one;
    const { start = null, end = null } = cycles.at(-1) ?? {};
    const counted = { paidCount: paidCount(one), chargeAt: chargeTime(one) };
    return [name, { price, status, start, end, endedAt, ...counted, notes }];
  }));
}

function addCycle({ name, price, cycles }: Billed, cycle: { start: Time; end: Time }, isPaid: boolean): void {
  cycles.push({ ...cycle, price, payment: isPaid ? `${name}/${cycles.length + 1}` : null });
}

function paidCount({ cycles }: Billed): number {
  return cycles.filter(({ payment }) => payment !== null).length;
}

function chargeTime({ status, cycles, startsAt }: Billed): Time | null {
  const cycle = cycles.at(-1);
  if (status === 'authenticated' && startsAt !== null) return startsAt;
  if (status === 'active' && cycle) return cycle.end;
  return status === 'pending' && cycle ? cycle.start + day : null;
}

function eventOf(billed: Billed, event: GatewayEvent['do'], at: Time): GatewayEvent {
  const { name: subscription, price, cycles, notes } = billed;
  const { start = null, end = null, payment = null } = cycles.at(-1) ?? {};
  const charged = { payment: event === 'charged' ? payment : null, paidCount: paidCount(billed) };
  const createdAt = wholeSeconds(at);
  return { do: event, subscription, price, createdAt, start, end, ...charged, chargeAt: chargeTime(billed), notes };
}

function currentOf({ cycles }: Billed) {
  return cycles.at(-1) ?? expect.fail('a gateway subscription without a cycle');
}
