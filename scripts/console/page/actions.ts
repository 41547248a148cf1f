/// <reference lib="dom" />
import type { Customer, Payment, SupportAction } from '../rows.ts';
import { money } from '../../stack/shop/element.ts';
import { textOf } from './zone.ts';

/** What the dialog asks for, and says before it is carried out. */
export type ActionText = {
  /** The button that opens the dialog, and the title of the dialog. */
  label: string;
  /** The button that carries it out. */
  confirm: string;
  /** Takes something away from a customer. */
  isDangerous?: boolean;
  /** The dialog asks for a tier, a time and entitlements. */
  asksForTier?: boolean;
  /** The dialog asks whether it is for now or for the end of what is paid. */
  asksForEnd?: boolean;
  /** Whether the seller and the tax of then had a mistake. */
  asksForSeller?: boolean;
  /** Says in one sentence what will happen. `paid`: the payment that is refunded; `current`: what a grant replaces. */
  sentence(action: Partial<SupportAction>, who: string, paid?: Refundable, current?: Current): string;
};

/** The tier that a customer has, what gives it, and its end. */
export type Current = Pick<Customer, 'tier' | 'source_kind' | 'until' | 'grace_until' | 'next_charge'>;

/** A payment of which something may be refunded. */
export type Refundable = Pick<Payment, 'currency' | 'kind' | 'refundable_amount'> & {
  /** What a refund of all changes of the next charges, or one of any amount of a later purchase. */
  refund_effect: 'uncovers_credit' | 'ends_renewal' | 'resumes_replaced' | null;
};

/** The support actions that the console offers, by their name in the database. */
export const actionTexts = {
  grant: {
    label: 'Grant a tier',
    confirm: 'Grant',
    asksForTier: true,
    sentence: ({ tier, until, entitlements }, who, _paid, current) =>
      tier && until
        ? `${who} gets ${tier}${entitlements ? ` with ${entitlements}` : ''} until ${
          textOf(Date.parse(until), 'minute')
        } without paying; ${replacedBy(current)}`
        : 'Choose a tier and its end.',
  },
  revoke_grant: {
    label: 'Revoke the grant',
    confirm: 'Revoke',
    isDangerous: true,
    sentence: ({ tier }, who) => `The grant of ${tier} ends now, and ${who} keeps only what was paid for.`,
  },
  end_access: {
    label: 'End the access',
    confirm: 'End access',
    isDangerous: true,
    sentence: ({ tier }, who) =>
      `${who} loses the access to ${tier ?? 'the tier'} that this payment gives now, and no money is refunded.`,
  },
  refund: {
    label: 'Refund',
    confirm: 'Refund',
    isDangerous: true,
    sentence: ({ amount }, who, paid, current) =>
      paid && amount !== undefined && amount > 0 && amount <= paid.refundable_amount
        ? `${who} gets ${money(amount, paid.currency)} back; ${afterRefund(amount, paid, current)}`
        : `Enter an amount, at most ${paid && money(paid.refundable_amount, paid.currency)}.`,
  },
  cancel: {
    label: 'Cancel the plan',
    confirm: 'Cancel the plan',
    isDangerous: true,
    asksForEnd: true,
    sentence: ({ at_period_end: atEnd }, who, _paid, current) =>
      [
        current?.tier === 'free'
          ? `${who} has no access that could end.`
          : atEnd && !isOver(current)
          ? `${who} keeps ${tierOf(current)} until ${
            current?.until ? textOf(Date.parse(current.until), 'minute') : 'what is paid ends'
          }.`
          : `${who} loses ${tierOf(current)} now, and no money is refunded.`,
        current?.next_charge
          ? `The charge of ${chargeText(current)} is not made.`
          : 'Nothing is charged next, and nothing will be.',
      ].join(' '),
  },
  resume: {
    label: 'Resume the plan',
    confirm: 'Resume',
    sentence: (_, who) =>
      `The cancellation of ${who} for the end of the period is withdrawn: what renewed before renews again.`,
  },
  reissue: {
    label: 'Reissue',
    confirm: 'Reissue',
    asksForSeller: true,
    sentence: ({ reference, corrects_seller: isCorrected }, who) =>
      `A credit note cancels ${reference}, and a new one has the billing details that ${who} has today${
        isCorrected ? ', and the seller and tax of today' : ''
      }.`,
  },
  requeue_mail: {
    label: 'Send again',
    confirm: 'Send again',
    sentence: (_, who) => `The message to ${who} is delivered again, and tried for another 24 hours.`,
  },
  replay_event: {
    label: 'Apply again',
    confirm: 'Apply again',
    sentence: () => 'The event is applied again now, with today’s plans and settings.',
  },
  ignore_event: {
    label: 'Ignore',
    confirm: 'Ignore',
    isDangerous: true,
    sentence: () => 'The event will never be applied, and disappears from the findings.',
  },
  reconcile_now: {
    label: 'Reconcile now',
    confirm: 'Reconcile',
    sentence: (_, who) => `The open payments and subscriptions of ${who} are read from the gateway.`,
  },
  note: {
    label: 'Add a note',
    confirm: 'Add the note',
    sentence: (_, who) => `The reason appears in the timeline of ${who}; nothing else changes.`,
  },
} satisfies Record<string, ActionText>;

export type ActionName = keyof typeof actionTexts;

/** What a grant replaces: the newest source rules, also where its tier is lower. */
function replacedBy(current?: Current): string {
  if (current === undefined) return 'what is paid continues below it.';
  if (current.source_kind === null || current.tier === 'free') return 'nothing else gives a tier now.';
  const end = current.until === null ? '' : ` until ${textOf(Date.parse(current.until), 'minute')}`;
  return `it replaces ${current.tier}, which continues below it${end}.`;
}

/** In the days of grace nothing is left that was paid. */
const isOver = (current?: Current) => typeof current?.grace_until === 'string';

const tierOf = (current?: Current) => current && current.tier !== 'free' ? current.tier : 'access';

function chargeText({ next_charge: next }: Current): string {
  return next === null ? '' : `${money(next.amount, next.currency)} on ${textOf(Date.parse(next.at), 'minute')}`;
}

/** What becomes of access and of the next charges. The database decides it when the refund is processed. */
function afterRefund(
  amount: number,
  { kind, refundable_amount, refund_effect }: Refundable,
  current?: Current,
): string {
  const next = current?.next_charge
    ? `The next charge is ${chargeText(current)}: to end that, cancel, too.`
    : 'Nothing is charged next.';
  if (kind === 'extra_payment') return `access does not depend on this payment. ${next}`;
  if (refund_effect === 'uncovers_credit') {
    return `access stays, but the unused time of this payment was credited to a later one, which is not covered then: to ` +
      `give the money of both back, refund the later one, too. ${next}`;
  }
  if (amount < refundable_amount) return `access stays. ${next}`;
  if (kind === 'cycle') return `the paid time of this cycle ends. ${next}`;
  const given = 'the access that this payment gives';
  if (refund_effect === 'ends_renewal') {
    const charge = current?.next_charge ? ` The charge of ${chargeText(current)} is not made.` : '';
    return `${given} and its renewal end when the refund is processed.${charge}`;
  }
  if (refund_effect === 'resumes_replaced') {
    return `${given} ends when the refund is processed, and the subscription that it replaced is charged again: to end ` +
      'that, cancel, too.';
  }
  return `${given} ends when the refund is processed. ${next}`;
}
