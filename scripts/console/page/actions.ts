/// <reference lib="dom" />
import type { SupportAction } from '../rows.ts';
import { minuteOf } from './format.ts';

/** What the dialog asks for, and says before it is carried out. */
export type ActionText = {
  /** The button that opens the dialog, and the title of the dialog. */
  label: string;
  /** The button that carries it out. */
  confirm: string;
  /** Takes something away from a customer. */
  isDangerous?: boolean;
  /** The dialog asks for a tier and a time. */
  asksForTier?: boolean;
  /** Says in one sentence what will happen. */
  sentence(action: Partial<SupportAction>, who: string): string;
};

/** The support actions that the console offers, by their name in the database. */
export const actionTexts = {
  grant: {
    label: 'Grant a tier',
    confirm: 'Grant',
    asksForTier: true,
    sentence: ({ tier, until }, who) =>
      tier && until
        ? `${who} gets ${tier} until ${minuteOf(until)} without paying; what is paid continues below it.`
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
    sentence: ({ reference, tier }) =>
      `The access to ${tier ?? 'the tier'} that ${reference} gives ends now; no money is refunded.`,
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
