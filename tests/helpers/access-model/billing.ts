import type { GatewayStatus } from './actions.ts';
import type { Facts, Subscription } from './facts.ts';
import { authorisedSince, rulingSource, sinceOf, sourcesOf } from './model.ts';
import { hasEndedAtGateway, isStopped, newestStatus, successorOf } from './states.ts';
import { isoTime, type Time } from './time.ts';

/** The billed subscription that GET /api/subscriptions shows. */
export type Billing = {
  readonly name: string;
  readonly status: string;
  /** null: the gateway does not charge, or the user cancelled. */
  readonly nextChargeAt: string | null;
  readonly needsAttention: boolean;
};

/** What the model says about the billing. A field is undefined where the rules that it knows do not decide it. */
export type ExpectedBilling = {
  readonly billing: (Omit<Billing, 'nextChargeAt'> & { nextChargeAt: string | null | undefined }) | null | undefined;
  /** Whether the gateway is to cancel a subscription, by name. */
  readonly isToBeCancelled: ReadonlyMap<string, boolean>;
};

const unbilled: readonly (GatewayStatus | undefined)[] = ['completed', 'cancelled', undefined];

/** The billing by the model. */
export function billingOf(facts: Facts, now: Time): ExpectedBilling {
  const shown = facts.subscriptions.filter((subscription) => isBilled(subscription)).toSorted((one, other) =>
    Number(isStopping(facts, one, now)) - Number(isStopping(facts, other, now)) ||
    periodRank(other, now) - periodRank(one, now) || (sinceOf(other) ?? 0) - (sinceOf(one) ?? 0)
  );
  const [first] = shown;
  return {
    billing: shown.length > 1 && shown.some((one) => sinceOf(one) === null || isStopping(facts, one, now) === undefined)
      ? undefined
      : first
      ? shownBilling(facts, first)
      : null,
    isToBeCancelled: cancellationsOf(facts, now),
  };
}

/** The running one comes before one whose period is over, and that before one without a period. */
function periodRank({ cycles }: Subscription, now: Time): number {
  const end = Math.max(...cycles.map((cycle) => cycle.end));
  return cycles.length === 0 ? 0 : end > now ? 2 : 1;
}

/** Whether no further charge follows. Undefined: the rules that the model knows do not decide it. */
function isStopping(facts: Facts, subscription: Subscription, now: Time): boolean | undefined {
  const status = newestStatus(subscription)?.status;
  return status === 'paused' || status === 'halted' || isToStop(facts, subscription, now);
}

function isBilled(subscription: Subscription): boolean {
  return !hasEndedAtGateway(subscription) && !isStopped(subscription) &&
    !unbilled.includes(newestStatus(subscription)?.status);
}

function shownBilling(facts: Facts, subscription: Subscription): ExpectedBilling['billing'] {
  const { status, chargeAt } = newestStatus(subscription) ?? { status: 'active', chargeAt: null };
  const isPlain = (status === 'active' || status === 'pending') && facts.subscriptions.length === 1 &&
    facts.grants.length === 0 && facts.orders.every(({ fulfilledAt }) => fulfilledAt === null);
  const isCancelledAtOnce = facts.cancellations.some((at) => at >= authorisedSince(subscription));
  return {
    name: subscription.name,
    status,
    nextChargeAt: subscription.cancelledFor !== null || status === 'paused' || isPlain && isCancelledAtOnce
      ? null
      : isPlain && chargeAt !== null
      ? isoTime(chargeAt)
      : undefined,
    needsAttention: status === 'pending' || status === 'halted',
  };
}

/**
 * The subscriptions of which the rules say whether the gateway is to stop billing them. Each that the customer cancelled
 * is, also below a grant or a purchase; so is one whose change of plan was authorised, and one that a newer purchase
 * replaced. One that rules and renews is not.
 */
function cancellationsOf(facts: Facts, now: Time): Map<string, boolean> {
  const open = facts.subscriptions.filter((one) =>
    !hasEndedAtGateway(one) && !['completed', 'cancelled'].includes(newestStatus(one)?.status ?? '')
  );
  return new Map(open.flatMap((one) => {
    const isStopped = isToStop(facts, one, now);
    return isStopped === undefined ? [] : [[one.name, isStopped]];
  }));
}

/** Whether the gateway is to stop billing a subscription. Undefined: the rules that the model knows do not decide it. */
function isToStop(facts: Facts, one: Subscription, now: Time): boolean | undefined {
  const authorisedAt = authorisedSince(one);
  if (facts.cancellations.some((at) => at >= authorisedAt) || one.cancelledFor !== null) return true;
  if (successorOf(facts, one) !== null) return true;
  const ruling = rulingSource(facts, now);
  if (one.activations.length === 0) return undefined;
  if (ruling?.name === one.name) return isFollowed(facts, one, now);
  const isPurchase = ruling?.kind === 'payment' || ruling?.kind === 'gateway';
  return isPurchase && (sinceOf(one) ?? 0) < ruling.since ? true : undefined;
}

/** Whether a newer purchase is paid that begins after what runs. */
function isFollowed(facts: Facts, subscription: Subscription, now: Time): boolean {
  const since = sinceOf(subscription) ?? 0;
  return sourcesOf(facts).some((source) => !source.isEnded && source.rulesFrom > now && source.since > since);
}

/** In a few words: `S1 pending, attention`. */
export function describeBilling(billing: ExpectedBilling['billing']): string {
  if (billing === null || billing === undefined) return 'no billing';
  const { name, status, nextChargeAt, needsAttention } = billing;
  return [`billed ${name} ${status}`, nextChargeAt ?? 'no next charge', ...(needsAttention ? ['attention'] : [])].join(
    ', ',
  );
}
