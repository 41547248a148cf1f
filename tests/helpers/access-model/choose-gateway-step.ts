import type { Action, GatewayEvent } from './actions.ts';
import type { Draw, Kind } from './draws.ts';
import { activate, answerOf, type Billed, charge, end, eventTime, nextCycle, reactivate } from './gateway.ts';
import type { State } from './history.ts';
import { day, hour, type Time } from './time.ts';

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
      return deliverSome(one, [charge(one)], how > 1 ? 1 : 0);
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
    case 'end':
      return one && one.status !== 'cancelled' ? deliverSome(one, [end(one, now)], how > 2 ? 1 : 0) : null;
    case 'halt':
      if (one?.status !== 'active' || one.held.length > 0) return null;
      one.status = 'halted';
      return [{ do: 'wait' }];
    case 'reactivate':
      if (!one || !mirror || one.status === 'cancelled' || one.held.length > 0) return null;
      if (mirror.cancelledAt.length > 0 || mirror.cancelledFor !== null) return null;
      return deliverSome(one, reactivate(one, now), 3);
    case 'ask':
      if (facts.subscriptions.length === 0) return null;
      return [{
        do: 'ask',
        answers: Object.fromEntries(
          billed.filter(({ name }) => facts.subscriptions.some((mirror) => mirror.name === name))
            .map((each) => [each.name, answerOf(each)]),
        ),
      }];
    default:
      return null;
  }
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
