import { day, foreign, hour, wholeSeconds } from './actions.ts';
import type { Action, GatewayEvent, Time } from './actions.ts';
import { drawnPrice, type State } from './choose.ts';
import type { Draw, Kind } from './draws.ts';
import type { Planned } from './facts.ts';
import * as gateway from './gateway.ts';
import { hasPlan, rulingSource } from './model.ts';

/** An event older than this is never delivered: the gateway stopped retrying. */
const longestDelay = 13 * day;

/** A step of a gateway subscription: an event that is delivered now or held back, or a reconciliation. */
export function chooseGatewayStep(state: State, kind: Kind, { which, how }: Draw): Action[] | null {
  const { billed, facts, now } = state;
  for (const { held } of billed) {
    held.splice(0, held.length, ...held.filter((event) => now - event.createdAt < longestDelay));
  }
  const one = billed[which % Math.max(billed.length, 1)];
  const mirror = facts.subscriptions.find(({ name }) => name === one?.name);
  const price = drawnPrice(how);
  const name = `S${billed.length + 1}`;
  const mostlyAll = [3, 3, 3, 1, 2, 0][how % 6] ?? 3;
  /** Time passes until a charge, and a little further. Returns false where its event would be too late. */
  const reach = (start: Time, most = 2 * day) => {
    if (start > now) state.now = start + ([0, hour, most][which % 3] ?? 0);
    return state.now - start <= longestDelay;
  };
  /** The user asks for a gateway subscription and authorises it now. Without one to replace it is a trial. */
  const plan = (startsAt: Time, replaces: string | null): Action[] => {
    const added = gateway.authorise(name, price, { startsAt, replaces }, now);
    billed.push(added.billed);
    const asked = { subscription: name, price, startsAt, isTrial: replaces === null, replaces, renews: null };
    return [{ do: 'subscribe', ...asked }, ...deliverSome(added.billed, added.events, 1)];
  };
  switch (kind) {
    case 'activate': {
      if (billed.length >= 3) return null;
      const added = gateway.activate(name, price, now);
      billed.push(added.billed);
      return deliverSome(added.billed, added.events, [0, 1, 2, 3, 3, 3][which % 6] ?? 3);
    }
    case 'create there': {
      if (billed.length >= 3) return null;
      const startsAt = wholeSeconds(now) + ([7, 14, 30][which % 3] ?? 7) * day;
      const added = gateway.authorise(name, price, { startsAt, replaces: null }, now);
      billed.push(added.billed);
      return deliverSome(added.billed, added.events, how > 1 ? 1 : 0);
    }
    case 'try':
      return billed.length < 3 ? plan(wholeSeconds(now) + ([7, 14, 30][which % 3] ?? 7) * day, null) : null;
    case 'change': {
      const ruling = rulingSource(facts, now);
      const old = billed.find(({ name, status, held }) =>
        name === ruling?.name && (status === 'active' || status === 'authenticated') && held.length === 0
      );
      const until = old?.cycles.at(-1)?.end ?? old?.startsAt ?? now;
      if (!old || billed.length >= 3 || until <= now || ruling?.cancelAtPeriodEnd) return null;
      return facts.planned.some(({ replaces }) => replaces === old.name) ? null : plan(until, old.name);
    }
    case 'authorise': {
      const asked = facts.planned.find(({ name, renews, at }) =>
        renews !== null && at > now - day && !billed.some((each) => each.name === name)
      );
      if (!asked) return null;
      return authorise(state, asked, how > 1 ? 1 : 0);
    }
    case 'start': {
      const waiting = billed.find(({ status }) => status === 'authenticated');
      const start = waiting?.startsAt ?? null;
      if (!waiting || start === null || !reach(start)) return null;
      const old = billed.find(({ name, status }) => name === waiting.replaces && status !== 'cancelled');
      const ended = old && how !== 0
        ? deliverSome(old, [gateway.changeStatus(old, 'cancelled', start)], how > 2 ? 1 : 0)
        : [];
      if (how % 4 === 3) return [...ended, ...deliverSome(waiting, [gateway.failCharge(waiting)], how > 4 ? 1 : 0)];
      return [...ended, ...deliverSome(waiting, gateway.begin(waiting, start), [0, 1, 2, 3, 3, 3][which % 6] ?? 3)];
    }
    case 'deliver': {
      const late = billed.filter(({ held }) => held.length > 0)[which % Math.max(billed.length, 1)];
      const event = late?.held.splice(how % late.held.length, 1)[0];
      if (!late || !event) return null;
      late.delivered.push(event);
      return [event];
    }
    case 'ask':
      return facts.subscriptions.length > 0 ? [{ do: 'ask', answers: gateway.answersAbout(facts, billed) }] : null;
  }
  if (!one) return null;
  const { status } = one;
  switch (kind) {
    case 'charge': {
      if (status !== 'active') return null;
      const { start } = gateway.nextCycle(one);
      if (!reach(start)) return null;
      // The gateway writes its events in the order of their times.
      if ([...one.held, ...one.delivered].some((event) => event.createdAt > start)) return null;
      return deliverSome(one, [gateway.charge(one)], how > 1 ? 1 : 0);
    }
    case 'repeat': {
      const event = one.delivered[how % one.delivered.length];
      return event ? [event] : null;
    }
    case 'fail charge':
      if (status !== 'active' || !reach(gateway.nextCycle(one).start, day)) return null;
      return deliverSome(one, [gateway.failCharge(one)], how > 1 ? 1 : 0);
    case 'pay':
      return status === 'pending' || status === 'halted'
        ? deliverSome(one, gateway.payCycle(one, now), mostlyAll)
        : null;
    case 'go on':
      return status === 'paused' ? deliverSome(one, gateway.goOn(one, 'resumed', now), mostlyAll) : null;
    case 'pause':
    case 'complete':
    case 'halt': {
      if (status !== (kind === 'halt' ? 'pending' : 'active')) return null;
      const next = ({ pause: 'paused', complete: 'completed', halt: 'halted' } as const)[kind];
      return deliverSome(one, [gateway.changeStatus(one, next, now)], how > 1 ? 1 : 0);
    }
    case 'leave plan':
      // Without a plan of ours before, it would be attached to what rules.
      if (status !== 'active' || !mirror || !hasPlan(mirror)) return null;
      return deliverSome(one, [gateway.updatePlan(one, foreign, now)], which > 1 ? 1 : 0);
    case 'end with cycle':
      if (status !== 'active') return null;
      one.endsWithCycle = true;
      return [{ do: 'wait' }];
    case 'edit notes':
      // Of one that was not asked for here they say whose it is.
      if (!facts.planned.some((each) => each.name === one.name)) return null;
      one.notes = one.notes === 'user' ? 'another' : 'user';
      return [{ do: 'wait' }];
    case 'update':
      return status === 'active' ? deliverSome(one, [gateway.updatePlan(one, price, now)], which > 1 ? 1 : 0) : null;
    case 'end':
      if (status === 'cancelled' || status === 'completed') return null;
      return deliverSome(one, [gateway.changeStatus(one, 'cancelled', now)], how > 2 ? 1 : 0);
    case 'reactivate':
      if (!mirror || one.held.length > 0 || status !== 'active' && status !== 'halted') return null;
      if (mirror.cancelledAt.length > 0 || mirror.cancelledFor !== null) return null;
      return deliverSome(one, gateway.goOn(one, 'activated', now), 3);
    default:
      return null;
  }
}

/** The customer authorises the renewal of an order. */
export function authorise({ billed, now }: State, { name, price, startsAt }: Planned, mask: number): Action[] {
  const added = gateway.authorise(name, price, { startsAt: wholeSeconds(startsAt), replaces: null }, now);
  billed.push(added.billed);
  return deliverSome(added.billed, added.events, mask);
}

/** Delivers the events whose bit is set in the mask now, and holds the others back. */
function deliverSome({ held, delivered }: gateway.Billed, events: GatewayEvent[], mask: number): Action[] {
  const isNow = (index: number) => (mask >> index) % 2 === 1;
  held.push(...events.filter((_, index) => !isNow(index)));
  const now = events.filter((_, index) => isNow(index));
  delivered.push(...now);
  return now.length > 0 ? now : [{ do: 'wait' }];
}
