import type { CurrentSubscription, OfferedPlan, Price } from '../../subscriptions.ts';
import { day, every, moment, money, per } from './texts.ts';

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
  /** What follows the running period. */
  next: { text: string; note: string; canUndo: boolean } | null;
};

/** A renewal that the gateway could not charge: what for, and when the paid period ended. */
export type Unpaid = { name: string; price: Price; at: string } | null;

/** Finds the renewal that failed. The gateway has no payment for it before it succeeds. */
export function unpaidOf({ subscription, billing }: CurrentSubscription, plans: readonly OfferedPlan[]): Unpaid {
  const at = subscription?.current_period_end;
  if (!billing?.payment_attention || !billing.price || !subscription || !at) return null;
  return { name: subscription.plan?.name ?? nameOf(subscription.tier, plans), price: billing.price, at };
}

/** Why access ended. Other reasons are those that an admin gave. */
const endings: Readonly<Record<string, string>> = {
  lapsed: 'It was not renewed.',
  cancelled: 'You cancelled it.',
  refunded: 'Your payment was refunded.',
  never_captured: 'Your payment was never completed.',
};

/** Derives the state of the page from an answer of `current()`. */
export function stateOf(current: CurrentSubscription, plans: readonly OfferedPlan[], now = Date.now()): State {
  const { subscription: had, billing, currentTier } = current;
  const running = had?.status === 'active' ? had : null;
  const ends = running?.cancel_at_period_end ?? false;
  const name = (tier: string) => nameOf(tier, plans);
  const charge = billing?.next_charge_at ?? null;
  // A charge that failed may be due since some days.
  const isAhead = charge !== null && Date.parse(charge) > now;
  const shared = {
    // A halted or paused subscription has no next charge, but is charged again with a new card.
    canCancel: charge !== null ||
      !ends && billing !== null && (billing.payment_attention || billing.status === 'paused'),
    canResume: ends,
    manageUrl: billing?.payment_attention || charge === null ? null : billing?.manage_url ?? null,
    attention: attentionOf(current, running?.plan?.name ?? null),
    next: nextOf(current, name, now),
  };
  if (running === null) {
    const lines = shared.attention ? [] : ['You can choose a plan at any time.'];
    if (had?.cancelled_at) {
      lines.unshift(
        `${name(had.tier)} ended on ${day(had.access_ends_at ?? had.cancelled_at)}. ${
          endings[had.ended_reason ?? ''] ?? ''
        }`.trim(),
      );
    }
    if (charge !== null && isAhead) lines.unshift(`The next charge is on ${day(charge)}. Cancel to stop it.`);
    else if (shared.canCancel) lines.unshift('Your subscription may be charged again. Cancel to stop it.');
    const title = name(currentTier);
    return { title, badge: { text: 'No active plan', tone: 'plain' }, lines, price: null, ...shared };
  }
  const { price, current_period_end: end } = running;
  const title = (running.plan?.name ?? name(running.tier)) + (price ? `, ${every(price)}` : '');
  const cost = price && `${money(price.amount, price.currency)} ${per(price)}`;
  const isOwn = billing !== null && billing.gateway_subscription_id === running.gateway_subscription_id;
  const isTrial = isOwn && billing.status === 'authenticated';
  const badge: State['badge'] = ends
    ? { text: end ? `Ends on ${day(end)}` : 'Ends soon', tone: 'warn' }
    : shared.attention
    ? { text: 'Payment failed', tone: 'warn' }
    : { text: isTrial ? 'Free trial' : 'Active', tone: 'good' };
  const lines: string[] = [];
  if (ends) lines.push(`You keep it until ${end ? day(end) : 'its end'}. Nothing more is charged.`);
  else if (isTrial && charge) lines.push(`Your trial ends on ${day(charge)}. ${cost} is charged from then on.`);
  else if (billing?.next && end) lines.push(`Paid until ${day(end)}.`);
  else if (charge && !shared.attention) lines.push(`Renews on ${day(charge)}${amountOf(current)}.`);
  else if (end === null) lines.push('It has no end, and nothing is charged.');
  else if (running.access_ends_at !== null) {
    const renewal = billing === null ? '' : ' without a payment';
    lines.push(
      `The paid period ended on ${day(end)}. You keep your plan until ${day(running.access_ends_at)}${renewal}.`,
    );
  } else lines.push(`Paid until ${day(end)}. It does not renew by itself.`);
  if (shared.attention && charge && isAhead) {
    lines.unshift(`The next attempt is on ${day(charge)}${amountOf(current)}.`);
  }
  return { title, badge, lines, price: cost, ...shared };
}

/** The name of a plan on offer; of others the tier with a capital letter. */
export function nameOf(tier: string, plans: readonly OfferedPlan[]): string {
  return plans.find((plan) => plan.tier === tier)?.name ?? tier.charAt(0).toUpperCase() + tier.slice(1);
}

function amountOf({ billing }: CurrentSubscription): string {
  return billing?.price ? ` for ${money(billing.price.amount, billing.price.currency)}` : '';
}

function attentionOf({ billing }: CurrentSubscription, name: string | null): State['attention'] {
  if (!billing?.payment_attention) return null;
  const { status, manage_url: url } = billing;
  if (status === 'halted') {
    const text = `Renewal has stopped after several attempts. Update your payment method to ${
      name ? `keep ${name}` : 'get your plan again'
    }.`;
    return { title: 'Your subscription is on hold', text, url };
  }
  const text = `We try again soon. Update your payment method${name ? `, so that you keep ${name}` : ''}.`;
  return { title: 'Your last payment failed', text, url };
}

function nextOf(
  { billing, payments }: CurrentSubscription,
  name: (tier: string) => string,
  now: number,
): State['next'] {
  if (billing?.next) {
    const { tier, price, amount, currency, starts_at, undo_until } = billing.next;
    const canUndo = undo_until !== null && Date.parse(undo_until) > now;
    return {
      text: `${name(tier)}, ${every(price)}, starts on ${day(starts_at)} for ${money(amount, currency)}.`,
      note: canUndo ? `You can undo it until ${moment(undo_until)}.` : 'It can no longer be undone.',
      canUndo,
    };
  }
  const paid = payments.find(({ status, period_start: start, amount, paid_amount, refunded_amount }) =>
    status === 'captured' && start !== null && Date.parse(start) > now && refunded_amount < (paid_amount ?? amount)
  );
  if (!paid?.period_start || !paid.tier) return null;
  const until = paid.period_end ? ` It lasts until ${day(paid.period_end)}.` : '';
  return {
    text: `${name(paid.tier)} starts on ${day(paid.period_start)}.`,
    note: `Already paid.${until}`,
    canUndo: false,
  };
}
