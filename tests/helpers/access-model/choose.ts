import { type Action, planOf } from './actions.ts';
import { chooseGatewayStep } from './choose-gateway-step.ts';
import { chooseRefund } from './choose-refund.ts';
import { creditFor, priceOf } from './credits.ts';
import type { Draw, Kind } from './draws.ts';
import type { Facts } from './facts.ts';
import { isChargedAfterCancellation } from './findings.ts';
import type { State } from './history.ts';
import { rulingSource } from './model.ts';
import { addMonths, day, hour, isoTime } from './time.ts';

/** The actions of a drawn step; null where it is not possible. May advance the state's time and change its gateway. */
export function choose(state: State, kind: Kind, draw: Draw): Action[] | null {
  const { facts, now } = state;
  const { which, how } = draw;
  const tier = (['basic', 'pro', 'premium'] as const)[how % 3] ?? 'basic';
  const amount = priceOf(facts, tier);
  const order = facts.orders[which % Math.max(facts.orders.length, 1)];
  switch (kind) {
    case 'wait':
      return [{ do: 'wait' }];
    case 'buy': {
      const name = nextName(facts);
      return [{ do: 'order', order: name, tier, amount }, { do: 'verify', order: name, payment: `${name}1` }];
    }
    case 'order':
      return [{ do: 'order', order: nextName(facts), tier, amount }];
    case 'buy with start':
    case 'order with start': {
      const start = which % 2 === 0 ? 'now' : 'after_current';
      // A repeated order within 30 minutes would return the open one.
      const isOpen = facts.orders.some(({ orderedAt, ...other }) =>
        other.tier === tier && other.starts === start && orderedAt >= now - hour
      );
      if (isOpen) return null;
      const name = nextName(facts);
      const credit = start === 'now' ? creditFor(facts, tier, now)?.credit ?? 0 : 0;
      const placed: Action = { do: 'order', order: name, tier, amount: amount - credit, start };
      return kind === 'buy with start' ? [placed, { do: 'verify', order: name, payment: `${name}1` }] : [placed];
    }
    case 'capture': {
      if (!order) return null;
      const event = how % 2 === 0 && !order.isCaptured ? 'payment.captured' : 'order.paid';
      return [{ do: 'captured', order: order.name, payment: `${order.name}1`, event }];
    }
    case 'verify':
      return order ? [{ do: 'verify', order: order.name, payment: `${order.name}1` }] : null;
    case 'pay again':
      if (!order?.isCaptured || order.extras.length > 0 || order.money === null || order.money.refunds.size > 0) {
        return null;
      }
      return [{ do: 'captured', order: order.name, payment: `${order.name}2`, event: 'payment.captured' }];
    case 'fail': {
      if (!order) return null;
      const isOpen = order.money === null && !facts.money.has(`${order.name}1`);
      return [{ do: 'failed', order: order.name, payment: `${order.name}${isOpen && how % 2 === 0 ? 1 : 0}` }];
    }
    case 'refund':
    case 'move refund':
      return chooseRefund(state, kind, draw);
    case 'dispute':
      if (!order?.isCaptured || order.fulfilledAt === null || order.isDisputeLost || order.money?.refunds.size !== 0) {
        return null;
      }
      return [{ do: 'dispute', order: order.name, payment: order.money.name }];
    case 'nothing captured': {
      if (!order || order.verifiedAt === null || order.isCaptured || order.isNeverCaptured) return null;
      if (order.cancelledAt.length > 0 || facts.money.get(`${order.name}1`)?.refunds.size !== 0) return null;
      const deadline = order.verifiedAt + 120 * hour;
      // Most draws reconcile after the deadline.
      if (state.now < deadline && how > 2) state.now = deadline + (1 + how) * hour;
      return [{ do: 'nothing captured', order: order.name, isUnknown: how % 2 === 0 }];
    }
    case 'cancel at end': {
      const ruling = rulingSource(facts, now);
      if (ruling === null) return how === 0 ? [{ do: 'cancel', atPeriodEnd: true }] : null;
      return ruling.end > now ? [{ do: 'cancel', atPeriodEnd: true }] : null;
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
    case 'grant': {
      const until = [now + 10 * day, addMonths(now, 1), addMonths(now, 3), addMonths(now, 13)][which % 4] ?? now + day;
      // An admin who grants what runs already is refused.
      if (facts.grants.some((grant) => grant.kind === 'grant' && grant.tier === tier && grant.until >= until)) {
        return null;
      }
      return [{ do: 'grant', grant: `G${facts.grants.length + 1}`, tier, until: isoTime(until) }];
    }
    case 'write by hand':
      if (state.last !== null) return null;
      return [{ do: 'write by hand', tier, until: isoTime(addMonths(now, 1 + which % 2)) }];
    case 'change plan':
      return [{ do: 'change plan', tier, months: 1 + which % 3, price: planOf(tier).price + 100 }];
    default:
      return chooseGatewayStep(state, kind, draw);
  }
}

function nextName({ orders }: Facts): string {
  return String.fromCharCode('A'.charCodeAt(0) + orders.length);
}
