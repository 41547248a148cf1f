import type { Change, CurrentSubscription, OfferedPlan, Subscription } from '../../subscriptions.ts';
import { en, type Texts } from './en.ts';

/** What the page shows about the plan that the customer has. */
export type State = {
  /** The name of the plan, with its interval. */
  title: string;
  badge: { text: string; tone: 'good' | 'plain' | 'warn' };
  /** Sentences, the most important one first. */
  lines: string[];
  /** The price, for example `₹99.00 a month`; null: nothing was sold. */
  price: string | null;
  canCancel: boolean;
  canResume: boolean;
  /** The gateway's page for another method of payment, while no charge has failed. */
  manageUrl: string | null;
  /** A charge that failed: what to do, and the gateway's page to do it. */
  attention: { title: string; text: string; url: string | null } | null;
  /** What follows the running period. `undoTo`: the price to change back to; null: that is not possible. */
  next: { text: string; note: string; undoTo: string | null } | null;
};

/** Derives the state of the page from an answer of `current()`. */
export function stateOf(
  current: CurrentSubscription,
  plans: readonly OfferedPlan[],
  now = Date.now(),
  texts: Texts = en,
): State {
  const { every, money, per, state: words } = texts;
  const { subscription: had, billing, currentTier } = current;
  const running = had?.status === 'active' ? had : null;
  const ends = running?.cancel_at_period_end ?? false;
  const name = (tier: string) => nameOf(tier, plans);
  const charge = billing?.next_charge_at ?? null;
  // A charge that failed may be due since some days.
  const isAhead = charge !== null && Date.parse(charge) > now;
  // A grant or a row that support wrote rules over what the customer pays for, which may be another plan.
  const isGiven = billing !== null && running !== null && running.price === null;
  const shared = {
    // A halted or paused subscription has no next charge, but is charged again with a new card.
    canCancel: charge !== null ||
      !ends && billing !== null && (billing.payment_attention || billing.status === 'paused'),
    canResume: ends,
    manageUrl: billing?.payment_attention || charge === null ? null : billing?.manage_url ?? null,
    attention: attentionOf(current, running && !isGiven ? planName(running, plans) : null, texts),
    next: nextOf(current, plans, now, texts),
  };
  if (running === null) {
    const lines = shared.attention ? [] : [words.anyTime];
    if (had?.cancelled_at) {
      lines.unshift(
        words.ended(
          name(had.tier),
          had.access_ends_at ?? had.cancelled_at,
          words.endings[had.ended_reason ?? ''] ?? '',
        ),
      );
    }
    if (charge !== null && isAhead) lines.unshift(words.chargedOn(charge));
    else if (shared.canCancel) lines.unshift(words.mayBeCharged);
    const isOffered = plans.some(({ tier }) => tier === currentTier);
    const title = currentTier === 'free' && !isOffered ? words.free : name(currentTier);
    return { title, badge: { text: words.noPlan, tone: 'plain' }, lines, price: null, ...shared };
  }
  const { price, current_period_end: end } = running;
  const title = planName(running, plans) + (price ? `, ${every(price)}` : '');
  const cost = price && `${money(price.amount, price.currency)} ${per(price)}`;
  const isOwn = billing !== null && billing.gateway_subscription_id === running.gateway_subscription_id;
  const isTrial = isOwn && billing.status === 'authenticated';
  const badge: State['badge'] = ends
    ? { text: words.endsOn(end), tone: 'warn' }
    : shared.attention
    ? { text: words.paymentFailed, tone: 'warn' }
    : { text: isTrial ? words.trial : words.active, tone: 'good' };
  const lines: string[] = [];
  // A change begins also where a tier that was given ends before it.
  if (ends) lines.push(words.keepsUntil(end, charge !== null || Boolean(billing?.next)));
  else if (isTrial && charge) lines.push(words.trialEnds(charge, cost ?? amountOf(current, texts) ?? ''));
  else if (isGiven && end) {
    // A row of the subscription itself rules until that is charged again.
    const own = running.gateway_subscription_id === null ? null : billing.next?.starts_at ?? charge;
    lines.push(words.hasUntil(own !== null && Date.parse(own) < Date.parse(end) ? own : end));
    if (charge && !billing.next && !shared.attention) lines.push(words.chargedBelow(charge, amountOf(current, texts)));
  } else if (billing?.next && end) lines.push(words.paidUntil(end));
  else if (
    charge && end && !isOwn && !shared.attention && Math.abs(Date.parse(charge) - Date.parse(end)) > 86_400_000
  ) {
    // What is charged next is not what runs: its last payment was returned.
    lines.push(words.paidUntil(end), words.chargedBelow(charge, amountOf(current, texts)));
  } else if (charge && !shared.attention) lines.push(words.renews(charge, amountOf(current, texts)));
  else if (end === null) lines.push(words.noEnd);
  else if (running.access_ends_at !== null) {
    lines.push(words.grace(end, running.access_ends_at, billing !== null));
  } else lines.push(`${words.paidUntil(end)} ${words.notRenewing}`);
  if (shared.attention && charge && isAhead) {
    lines.unshift(words.nextAttempt(charge, amountOf(current, texts)));
  }
  return { title, badge, lines, price: cost, ...shared };
}

/** The name of the plan that gives the tier. Support may have written another tier into the row. */
export function planName({ tier, plan }: Subscription, plans: readonly OfferedPlan[]): string {
  return plan?.tier === tier ? plan.name : nameOf(tier, plans);
}

/** The name of a plan on offer; of others the tier with a capital letter. */
export function nameOf(tier: string, plans: readonly OfferedPlan[]): string {
  return plans.find((plan) => plan.tier === tier)?.name ?? tier.charAt(0).toUpperCase() + tier.slice(1);
}

/** Whether a change is paid when it is confirmed, also where it starts later. Asks no clock: that of the device may be wrong. */
export function isPaidNow({ amount_due, due_at, starts_at }: Change, when: 'now' | 'period_end'): boolean {
  return amount_due > 0 && due_at !== null && (when === 'now' || Date.parse(due_at) < Date.parse(starts_at));
}

function amountOf({ billing }: CurrentSubscription, { money }: Texts): string | null {
  return billing?.price ? money(billing.price.amount, billing.price.currency) : null;
}

function attentionOf(
  { billing }: CurrentSubscription,
  name: string | null,
  { state: words }: Texts,
): State['attention'] {
  if (!billing?.payment_attention) return null;
  const { status, manage_url: url } = billing;
  return status === 'halted'
    ? { title: words.onHold, text: words.onHoldText(name), url }
    : { title: words.lastFailed, text: words.lastFailedText(name), url };
}

function nextOf(
  { billing, payments, subscription }: CurrentSubscription,
  plans: readonly OfferedPlan[],
  now: number,
  { every, money, next: words }: Texts,
): State['next'] {
  if (billing?.next) {
    const { tier, price, amount, currency, starts_at, undo_until } = billing.next;
    const canUndo = undo_until !== null && Date.parse(undo_until) > now;
    // Below a grant the row has no price: the one on offer that the customer pays for.
    const paid = subscription?.price ?? plans.flatMap(({ prices }) => prices).find((one) => one.scenario === 'current');
    return {
      text: words.change(`${nameOf(tier, plans)}, ${every(price)},`, starts_at, money(amount, currency)),
      note: canUndo ? words.undoUntil(undo_until) : words.final,
      undoTo: canUndo ? paid?.lookup_key ?? null : null,
    };
  }
  // The clock of the device may be slow: what runs never follows.
  const after = Math.max(now, Date.parse(subscription?.current_period_start ?? '') || 0);
  const paid = payments.find(({ status, period_start: start, amount, paid_amount, refunded_amount }) =>
    status === 'captured' && start !== null && Date.parse(start) > after && refunded_amount < (paid_amount ?? amount)
  );
  if (!paid?.period_start || !paid.tier) return null;
  return {
    text: words.starts(nameOf(paid.tier, plans), paid.period_start),
    note: words.paid(paid.period_end),
    undoTo: null,
  };
}
