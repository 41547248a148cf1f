import { type GatewayStatus, gatewayStatuses } from './actions.ts';
import { type Cycle, type Facts, isCycleRefunded, type Subscription } from './facts.ts';
import { day } from './time.ts';

/** What the newest fact says about the status. Of two in one second the reconciliation, then the later status counts. */
export function newestStatus({ statuses }: Subscription): Subscription['statuses'][number] | undefined {
  const rank = (status: GatewayStatus) => gatewayStatuses.indexOf(status);
  return statuses.toSorted((one, other) =>
    other.at - one.at || Number(other.isRead) - Number(one.isRead) || rank(other.status) - rank(one.status) ||
    (other.chargeAt ?? -Infinity) - (one.chargeAt ?? -Infinity)
  )[0];
}

/** Whether the gateway cancelled it, and did not activate it again. */
export function hasEndedAtGateway({ endedAt, activations }: Subscription): boolean {
  return endedAt !== null && activations.every((activation) => activation.at <= endedAt);
}

/** The subscription that replaces it when it ends, once an event of that one arrived and until that one is cancelled. */
export function successorOf({ planned, subscriptions }: Facts, { name }: Subscription): Subscription | null {
  const order = planned.find(({ replaces }) => replaces === name);
  const next = subscriptions.find((each) => each.name === order?.name);
  return next?.isNoted && next.cancelledFor === null && !hasEndedAtGateway(next) ? next : null;
}

/**
 * The cycles that give access. After a halt an activation may announce a cycle that is not paid: then only charges, a trial
 * and the first activation before the halt count.
 */
export function cyclesWithAccess(subscription: Subscription): Cycle[] {
  const { cycles, halts, activations } = subscription;
  if (halts.length === 0) return cycles;
  const halted = Math.min(...halts);
  const first = activations.toSorted((one, other) => one.at - other.at || other.cycle.end - one.cycle.end)[0];
  const counting = cycles.filter((cycle) =>
    cycle.by !== 'activation' || first?.cycle.start === cycle.start && first.at < halted
  );
  if (counting.length > 0 || !first) return counting;
  // The unpaid cycle began where the paid time ended.
  const end = Math.min(first.cycle.start, halted);
  return [{ start: end, end, at: -Infinity, charges: [], by: 'trial' }];
}

/** The newest cycle that was not refunded in full. */
export function paidCycle(subscription: Subscription): Cycle | null {
  const newest = cyclesWithAccess(subscription).toSorted((one, other) => other.start - one.start);
  return newest.find((cycle) => !isCycleRefunded(cycle)) ?? null;
}

/** How access ends that no further charge follows. */
export type Closing = { readonly isEnded: boolean; readonly hasGrace: boolean; readonly isFinal: boolean };

/**
 * What the gateway's states say about the end of access: whether it has ended, whether days of grace follow the paid time,
 * and whether that end is final without a reconciliation.
 */
export function closingOf(facts: Facts, subscription: Subscription, paid: Cycle): Closing {
  const { cancelledFor, cancelledAt, activations, charges, halts, resumptions, endedAt } = subscription;
  if (hasEndedAtGateway(subscription)) {
    const isStopped = cancelledAt.length > 0;
    // The cancellation for the end of a trial is sent before that end.
    const isTrial = activations.length === 0 && charges.length === 0;
    if (isTrial && cancelledFor !== null && !isStopped) return { isEnded: false, hasGrace: false, isFinal: true };
    const isAtEnd = isTrial || (endedAt ?? 0) >= paid.end - day;
    const endsWithChange = successorOf(facts, subscription) !== null && !isStopped && isAtEnd;
    return { isEnded: !endsWithChange, hasGrace: true, isFinal: true };
  }
  const status = newestStatus(subscription)?.status;
  if (status === 'paused' || status === 'completed') return { isEnded: false, hasGrace: false, isFinal: true };
  // The paid time passed while it was paused.
  if (resumptions.some((at) => at >= paid.end)) return { isEnded: false, hasGrace: false, isFinal: true };
  return { isEnded: false, hasGrace: true, isFinal: halts.some((at) => at > paid.at) };
}

/** Whether the user ended it at once, and the gateway did not activate or charge it since. */
export function isStopped({ stops, activations, charges }: Subscription): boolean {
  return stops.some((time) => [...activations, ...charges].every(({ at }) => at < time));
}
