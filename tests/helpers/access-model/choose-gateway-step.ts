import type { Action, GatewayEvent } from './actions.ts';
import type { Draw, Kind } from './draws.ts';
import {
  activate,
  answersAbout,
  authorise,
  begin,
  type Billed,
  changeStatus,
  charge,
  chargeAgain,
  end,
  eventTime,
  failCharge,
  nextCycle,
  payCycle,
  reactivate,
  resume,
  updatePlan,
} from './gateway.ts';
import type { State } from './history.ts';
import { rulingSource } from './model.ts';
import { day, hour, isoTime, type Time, wholeSeconds } from './time.ts';

/** An event older than this is never delivered: the gateway stopped retrying. */
const longestDelay = 13 * day;

/** A step of a gateway subscription: an event that is delivered now or held back, or a reconciliation. */
export function chooseGatewayStep(state: State, kind: Kind, { which, how }: Draw): Action[] | null {
  const { billed, facts, now } = state;
  for (const { held } of billed) held.splice(0, held.length, ...held.filter((event) => isDeliverable(event, now)));
  const one = billed[which % Math.max(billed.length, 1)];
  const mirror = facts.subscriptions.find(({ name }) => name === one?.name);
  switch (kind) {
    case 'activate': {
      if (billed.length >= 3) return null;
      const tier = (['basic', 'pro', 'premium'] as const)[how % 3] ?? 'basic';
      const { billed: added, events } = activate(`S${billed.length + 1}`, tier, now);
      billed.push(added);
      return deliverSome(added, events, [0, 1, 2, 3, 3, 3][which % 6] ?? 3);
    }
    case 'charge': {
      if (one?.status !== 'active') return null;
      const { start } = nextCycle(one);
      if (start > now) state.now = start + ([0, hour, 2 * day][which % 3] ?? 0);
      if (state.now - start > longestDelay) return null;
      // The gateway writes its events in the order of their times.
      if ([...one.held, ...one.delivered].some((event) => eventTime(event) > start)) return null;
      return deliverSome(one, [charge(one)], how > 1 ? 1 : 0);
    }
    case 'charge again': {
      const event = one ? chargeAgain(one, now) : null;
      return one && event ? deliverSome(one, [event], how > 1 ? 1 : 0) : null;
    }
    case 'deliver': {
      const late = billed.filter(({ held }) => held.length > 0)[which % Math.max(billed.length, 1)];
      const event = late?.held.splice(how % late.held.length, 1)[0];
      if (!late || !event) return null;
      late.delivered.push(event);
      return [event];
    }
    case 'repeat': {
      const event = one?.delivered[how % one.delivered.length];
      return event ? [event] : null;
    }
    case 'try': {
      if (billed.length >= 3) return null;
      const startsAt = wholeSeconds(now) + ([7, 14, 30][which % 3] ?? 7) * day;
      return planStart(state, (['basic', 'pro', 'premium'] as const)[how % 3] ?? 'basic', startsAt, null);
    }
    case 'change': {
      const ruling = rulingSource(facts, now);
      const old = billed.find(({ name, status, held }) =>
        name === ruling?.name && (status === 'active' || status === 'authenticated') && held.length === 0
      );
      const until = old?.cycles.at(-1)?.end ?? old?.startsAt ?? now;
      if (!old || billed.length >= 3 || until <= now || ruling?.cancelAtPeriodEnd) return null;
      if (facts.planned.some(({ replaces }) => replaces === old.name)) return null;
      return planStart(state, (['basic', 'pro', 'premium'] as const)[how % 3] ?? 'basic', until, old.name);
    }
    case 'start': {
      const waiting = billed.find(({ status }) => status === 'authenticated');
      if (!waiting || waiting.startsAt === null) return null;
      if (waiting.startsAt > now) state.now = waiting.startsAt + ([0, hour, 2 * day][which % 3] ?? 0);
      if (state.now - waiting.startsAt > longestDelay) return null;
      const old = billed.find(({ name, status }) => name === waiting.replaces && status !== 'cancelled');
      const ended = old && how !== 0 ? deliverSome(old, [end(old, waiting.startsAt)], how > 2 ? 1 : 0) : [];
      if (how % 4 === 3) return [...ended, ...deliverSome(waiting, [failCharge(waiting)], how > 4 ? 1 : 0)];
      return [...ended, ...deliverSome(waiting, begin(waiting, waiting.startsAt), [0, 1, 2, 3, 3, 3][which % 6] ?? 3)];
    }
    case 'fail charge': {
      if (one?.status !== 'active') return null;
      const { start } = nextCycle(one);
      if (start > now) state.now = start + ([0, hour, day][which % 3] ?? 0);
      if (state.now - start > longestDelay) return null;
      return deliverSome(one, [failCharge(one)], how > 1 ? 1 : 0);
    }
    case 'fail again':
      return one?.status === 'pending' ? deliverSome(one, [changeStatus(one, 'pending', now)], 1) : null;
    case 'pay':
      if (one?.status !== 'pending' && one?.status !== 'halted') return null;
      return deliverSome(one, payCycle(one, now), [3, 3, 3, 1, 2, 0][how % 6] ?? 3);
    case 'pause':
      return one?.status === 'active' ? deliverSome(one, [changeStatus(one, 'paused', now)], how > 1 ? 1 : 0) : null;
    case 'go on':
      return one?.status === 'paused' ? deliverSome(one, resume(one, now), [3, 3, 3, 1, 2, 0][how % 6] ?? 3) : null;
    case 'complete':
      return one?.status === 'active' ? deliverSome(one, [changeStatus(one, 'completed', now)], how > 1 ? 1 : 0) : null;
    case 'update':
      if (one?.status !== 'active') return null;
      return deliverSome(
        one,
        [updatePlan(one, (['basic', 'pro', 'premium'] as const)[how % 3] ?? 'basic', now)],
        which > 1 ? 1 : 0,
      );
    case 'end':
      if (!one || one.status === 'cancelled' || one.status === 'completed') return null;
      return deliverSome(one, [end(one, now)], how > 2 ? 1 : 0);
    case 'halt':
      return one?.status === 'pending' ? deliverSome(one, [changeStatus(one, 'halted', now)], how > 1 ? 1 : 0) : null;
    case 'reactivate':
      if (!one || !mirror || one.held.length > 0 || !['active', 'halted'].includes(one.status)) return null;
      if (mirror.cancelledAt.length > 0 || mirror.cancelledFor !== null) return null;
      return deliverSome(one, reactivate(one, now), 3);
    case 'ask':
      if (facts.subscriptions.length === 0) return null;
      return [{ do: 'ask', answers: answersAbout(facts, billed) }];
    default:
      return null;
  }
}

/** A gateway subscription that the user asks for and authorises now. Without one to replace it is a trial. */
function planStart({ billed, now }: State, tier: string, startsAt: Time, replaces: string | null): Action[] {
  const name = `S${billed.length + 1}`;
  const { billed: added, events } = authorise(name, tier, startsAt, replaces, now);
  billed.push(added);
  const isTrial = replaces === null;
  const order: Action = { do: 'subscribe', subscription: name, tier, startsAt: isoTime(startsAt), isTrial, replaces };
  return [order, ...deliverSome(added, events, 1)];
}

function isDeliverable(event: GatewayEvent, now: Time): boolean {
  return now - eventTime(event) < longestDelay;
}

/** Delivers the events whose bit is set in the mask now, and holds the others back. */
function deliverSome({ held, delivered }: Billed, events: GatewayEvent[], mask: number): Action[] {
  held.push(...events.filter((_, index) => (mask >> index) % 2 === 0));
  const now = events.filter((_, index) => (mask >> index) % 2 === 1);
  delivered.push(...now);
  return now.length > 0 ? now : [{ do: 'wait' }];
}
