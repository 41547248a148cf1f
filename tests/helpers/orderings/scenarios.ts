import {
  activated,
  ask,
  authenticated,
  cancelAtEnd,
  cancelAtOnce,
  cancelled,
  captured,
  charged,
  completed,
  disputed,
  expire,
  failed,
  grant,
  halted,
  paid,
  paused,
  pending,
  refunded,
  resumed,
  stored,
  updated,
  verify,
  writeRow,
} from './steps.ts';
import type { Parts, StepTemplate } from './steps.ts';

/** A scenario before it has a user. Times are days as `dayOfEvents` reads them. */
export type ScenarioTemplate = {
  /** The days of the orders, which are not paid yet. */
  readonly orders?: readonly number[];
  /** The user paid order A in October, with payment O. */
  readonly isCustomer?: true;
  readonly earlyRenewal?: 'extend';
  readonly isUnstored?: true;
  readonly credits?: (parts: Parts) => { kind: string; id: string | undefined; until: string };
  /** Steps that run before the sequences, each on its day. */
  readonly before?: readonly (readonly [day: number, step: StepTemplate])[];
  /** In the order in which they happened. */
  readonly steps: readonly StepTemplate[];
  /** Sets of facts that have the first step and not the second one cannot be final, and are not compared. */
  readonly needs?: readonly (readonly [step: string, needed: string])[];
  /** What all steps lead to: the tier, the row, and the gateway subscriptions to cancel. */
  readonly end: string;
};

// The sequences run on day 42. The days of grace after `first` end on day 40, those after `recent` on day 46.
const first = [4, 28] as const;
const next = [28, 148] as const;
const recent = [4, 34] as const;
const renewed = [34, 154] as const;
const running = [4, 60] as const;
const later = [60, 180] as const;
const last = [180, 300] as const;
const over = [-200, -100] as const;

const premium = { plan: 'premium' };
const B = { sub: 'B', plan: 'premium' };
const byA = { paidBy: 'A' };
const byB = { paidBy: 'B' };
const begun = [activated(4, first), charged(4, first)];
const active = [[4, activated(4, running)]] as const;
const trial = [3, ask('A', 28)] as const;
const charge = [['charged', 'activated']] as const;
const charge2 = [['charged', 'activated'], ['charged-2', 'activated']] as const;
const chargeOfB = [['charged-B', 'activated-B']] as const;
const refundable = ['charged', 'charged-2', 'refund-P', 'captured-P', 'expire']
  .map((step) => [step, 'activated'] as const);

const subscription = (days: readonly [number, number, number, number], plan = 'pro') => [
  activated(days[0], running, { plan }),
  charged(days[1], running, { plan }),
  charged(days[2], later, { plan }),
  cancelled(days[3], null, { plan }),
];
const order = [
  ...[verify(), captured(), paid(), failed('F')],
  ...[refunded('P', 30000), refunded('P', 40000), refunded()],
];
/** An act of the user or of an admin on day 5, between the events of a subscription. */
const actBetween = (act: StepTemplate): ScenarioTemplate => ({
  before: [[2, activated(1, running)], [5, act]],
  steps: [charged(2, running), charged(9, later), cancelled(12), activated(10, last, B)],
  end: 'premium; premium active B',
});

const templates = {
  'charge that fails, then a charge after the halt': {
    steps: [...begun, pending(28, next), halted(40, next), charged(41, next), expire],
    end: 'pro; pro active A',
  },
  'halt, then an activation without a charge': {
    steps: [...begun, halted(40, next), activated(41, next), halted(41, next), expire],
    end: 'free; pro cancelled A',
  },
  'pause, resumption and an update of the plan in a running cycle': {
    steps: [
      ...[activated(4, running), paused(10, running), resumed(10, running)],
      ...[updated(12, running, premium), paused(20, running, premium), expire],
    ],
    end: 'premium; premium active A',
  },
  'last charge, completion and cancellation': {
    steps: [...begun, charged(28, running), completed(28, running), cancelled(41, running), expire],
    end: 'free; pro cancelled A',
  },
  'trial whose first charge fails, then succeeds': {
    before: [trial],
    steps: [authenticated(4), pending(28), halted(40), activated(41, next), charged(41, next), expire],
    end: 'pro; pro active A',
  },
  'trial that the user cancels for its end': {
    orders: [30],
    before: [[3, ask('A', 60)], [4, authenticated(4)], [5, cancelAtEnd]],
    steps: [captured(), cancelled(41), refunded(), authenticated(4), expire],
    end: 'pro; pro active A',
  },
  'change of plan at the end of the cycle': {
    before: [[4, activated(4, first)], [9, ask('B', 28)]],
    steps: [
      ...[charged(4, first), authenticated(10, null, B), cancelled(28)],
      ...[activated(29, next, B), charged(29, next, B), expire],
    ],
    needs: chargeOfB,
    end: 'premium; premium active B',
  },
  'change of plan whose first charge fails': {
    before: [[4, activated(4, recent)], [9, ask('B', 34)], [10, authenticated(10, null, B)]],
    steps: [
      ...[charged(4, recent), cancelled(34), pending(34, null, B)],
      ...[halted(40, null, B), cancelled(41, null, B), expire],
    ],
    end: 'free; pro cancelled A',
  },
  'change of plan whose first cycle is debited before it begins': {
    before: [...active, [9, ask('B', 60)]],
    steps: [
      ...[charged(4, running), authenticated(10, null, B)],
      ...[activated(41, later, B), charged(41, later, B), expire],
    ],
    end: 'pro; pro active A; stops A',
  },
  'cycle that is charged twice, and refunded': {
    steps: [
      ...[activated(4, running), charged(4, running, byA), charged(5, running, byB)],
      ...[refunded('A'), refunded('B'), expire],
    ],
    needs: refundable,
    end: 'free',
  },
  'cycle whose payment is named later, then refunded': {
    steps: [...begun, charged(28, [28, 60]), charged(29, [28, 60], byA), refunded('A'), expire],
    needs: [...refundable, ['charged-3', 'activated']],
    end: 'free',
  },
  'dispute about a cycle, and its refund': {
    steps: [
      ...[activated(4, running), charged(4, running, byA), disputed('A', 'created'), disputed('A', 'lost')],
      ...[refunded('A'), expire],
    ],
    needs: [...refundable, ['dispute-created', 'activated'], ['dispute-lost', 'activated']],
    end: 'free',
  },
  'refund of a cycle while a charge fails': {
    steps: [
      ...[activated(4, first), charged(4, first, byA), pending(28, next), refunded('A')],
      ...[charged(40, next, byB), refunded('B')],
    ],
    end: 'free',
  },
  'purchase over a subscription whose charge fails': {
    orders: [36],
    steps: [
      ...[activated(4, recent, premium), pending(34, renewed, premium), captured()],
      ...[halted(40, renewed, premium), charged(41, renewed, premium), refunded()],
    ],
    needs: charge,
    end: 'premium; premium active A',
  },
  'cancellation that the gateway gets after the charge of the next cycle': {
    before: [[4, activated(4, first)], [20, cancelAtEnd]],
    steps: [charged(4, first), charged(26, next, byB), refunded('B'), cancelled(28, next), expire],
    end: 'free; pro cancelled A',
  },
  'purchase between the events of a subscription': {
    orders: [5],
    steps: [...subscription([1, 2, 9, 12]), activated(11, last), captured()],
    end: 'pro; pro active purchase',
  },
  'purchase between two subscriptions': {
    orders: [5],
    steps: [
      ...[activated(1, running), captured(), charged(6, later)],
      ...[activated(8, last, B), cancelled(12, null, B)],
    ],
    needs: charge,
    end: 'pro; pro active purchase; stops A',
  },
  'purchase between two subscriptions, one of a plan unknown': {
    orders: [5],
    steps: [
      ...[activated(1, running), captured()],
      ...[activated, charged].map((event) => event(9, later, { sub: 'B', plan: 'unknown' })),
      cancelled(12, null, { sub: 'B', plan: 'unknown' }),
    ],
    needs: chargeOfB,
    end: 'free; pro cancelled B; stops A',
  },
  'cycles refunded': {
    orders: [5],
    steps: [
      ...[activated(1, running), charged(1, running, byA), captured(), charged(9, later, byB)],
      ...[refunded('A'), refunded('B')],
    ],
    needs: refundable,
    end: 'pro; pro active purchase; stops A',
  },
  'refund that fails after all': {
    orders: [10],
    steps: [
      ...[verify(), captured(), refunded('P', 30000)],
      ...[refunded('P', 69900), refunded('P', 69900, 'failed')],
    ],
    end: 'pro; pro active purchase',
  },
  'grant between the events of a subscription': actBetween(grant),
  'cancellation at once between the events of a subscription': actBetween(cancelAtOnce),
  'cancellation at period end between the events of a subscription': actBetween(cancelAtEnd),
  'row written by hand between the events of a subscription': actBetween(writeRow),
  'purchase that replaced a credited purchase': {
    orders: [10],
    isCustomer: true,
    credits: ({ orders: [bought] }) => ({ kind: 'payment', id: bought?.id, until: '2027-10-01Z' }),
    steps: [
      ...[verify('P', 'B'), captured('P', 'B'), refunded(), refunded('P', 99900, 'failed'), refunded('O')],
    ],
    end: 'pro; pro active purchase',
  },
  'purchase that replaced a credited cycle': {
    orders: [5],
    credits: ({ subscriptionId }) => ({
      ...{ kind: 'gateway_subscription', id: subscriptionId('A'), until: '2026-11-25Z' },
    }),
    before: [[1, activated(1, running)]],
    steps: [
      ...[charged(1, running, byA), captured(), charged(9, later, byB)],
      ...[refunded(), refunded('B')],
    ],
    end: 'pro; pro active A',
  },
  'order': { orders: [10], steps: order, end: 'free' },
  'order whose id is not stored yet': {
    orders: [10],
    isUnstored: true,
    steps: [stored, captured(), paid(), failed('F'), refunded()],
    end: 'free',
  },
  'subscription, all in one second': { steps: subscription([1, 1, 1, 1]), end: 'free; pro cancelled A' },
  'subscription, plan unknown': { steps: subscription([1, 2, 3, 4], 'unknown'), end: 'free' },
  'subscription that is cancelled, and activated again': {
    steps: [...subscription([1, 2, 3, 4]).toSpliced(2, 1), activated(5, later), charged(6, last)],
    end: 'pro; pro active A',
  },
  'subscription whose first cycle was over when it arrived': {
    steps: [activated(1, over), charged(2, running), charged(3, later)],
    end: 'pro; pro active A',
  },
  'two cycles of one end within one second': {
    steps: [activated(1, [4, 90]), charged(1, [30, 90]), charged(1, [60, 90])],
    end: 'pro; pro active A',
  },
  'subscription before its first cycle, of a user with an earlier purchase': {
    isCustomer: true,
    steps: [activated(1), charged(2, running), charged(9, later), cancelled(12)],
    end: 'pro; pro active purchase',
  },
  'refunded purchase and a newer subscription before its first cycle': {
    isCustomer: true,
    steps: [refunded('O'), activated(1), charged(2, running), cancelled(12)],
    // A charge alone restores access that lapsed. Here a refund ended it.
    needs: charge,
    end: 'free',
  },
  'purchase and subscription': {
    orders: [10],
    steps: [activated(1, running), cancelled(12), verify(), captured()],
    end: 'pro; pro active purchase',
  },
  'two subscriptions': {
    steps: [
      ...[activated(1, running), charged(2, later)],
      ...[activated(3, later, B), charged(4, last, B), cancelled(12)],
    ],
    // The subscription with the newest activation counts.
    needs: [...charge, ...chargeOfB],
    end: 'premium; premium active B',
  },
  'two subscriptions, of which the second one ends first': {
    steps: [activated(1, running), activated(2, last, B), cancelled(3, null, B), charged(4, later)],
    needs: charge,
    end: 'pro; pro active A; stops A',
  },
  'two payments on one order': {
    orders: [10],
    steps: [
      ...[verify('A'), captured('A'), captured('B')],
      ...[refunded('A'), refunded('B', 30000), refunded('B')],
    ],
    end: 'free',
  },
  'three purchases that add to each other': {
    orders: [10, 10, 10],
    earlyRenewal: 'extend',
    steps: [captured('A', 'A'), captured('B', 'B'), captured('C', 'C'), refunded('A'), refunded('B')],
    end: 'pro; pro active purchase',
  },
  'everything at once': {
    orders: [10],
    steps: [
      ...[...order.slice(0, -1), captured('E'), refunded('E')],
      ...[activated(1, running), charged(9, later), cancelled(12)],
      ...[activated(3, later, { sub: 'B' }), charged(10, last, { sub: 'B' })],
    ],
    // An order that was refunded before its capture arrived has replaced nothing; one that was granted first has, and the
    // subscription that was cancelled for it stays cancelled.
    needs: [...charge2, ...chargeOfB, ['refund-E', 'captured-P']],
    end: 'pro; pro active purchase; stops B',
  },
} satisfies Record<string, ScenarioTemplate>;

export type ScenarioName = keyof typeof templates;

export const scenarioNames = Object.keys(templates).filter((name): name is ScenarioName => name in templates);

export function templateOf(name: ScenarioName): ScenarioTemplate {
  return templates[name];
}
