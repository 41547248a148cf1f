import type { ScenarioTemplate } from './scenarios.ts';

// The sequences run on day 42, 20 November at noon. The days of grace after `paid` end on day 40.
const paid = [4, 28] as const;
const next = [28, 148] as const;
/** The cycle after `recent`. */
const renewed = [34, 154] as const;
/** A period that ended, and whose days of grace end on day 46. */
const recent = [4, 34] as const;
/** A period that has not ended when the sequences run. */
const running = [4, 60] as const;
const once = { fields: { paid_count: 1 } };
const twice = { fields: { paid_count: 2 } };

/** Scenarios with the states of a billed gateway subscription, with trials and with changes of plan. */
export const billingScenarios = {
  'charge that fails, then a charge after the halt': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: paid, ...once }),
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge', ...once }),
      build.subscription('pending', { day: 28, days: next, ...once }),
      build.subscription('halted', { day: 40, days: next, ...once }),
      build.subscription('charged', { day: 41, days: next, as: 'second-charge', ...twice }),
      build.expire('expire'),
    ],
  },
  'halt, then an activation without a charge': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: paid, ...once }),
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge', ...once }),
      build.subscription('halted', { day: 40, days: next, ...once }),
      build.subscription('activated', { day: 41, days: next, as: 'activated-again', ...once }),
      build.subscription('halted', { day: 41, days: next, as: 'halted-again', ...once }),
      build.expire('expire'),
    ],
  },
  'halt, then an activation and a charge in one second': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: paid, ...once }),
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge', ...once }),
      build.subscription('halted', { day: 40, days: next, ...once }),
      build.subscription('activated', { day: 41, days: next, as: 'activated-again', ...twice }),
      build.subscription('charged', { day: 41, days: next, as: 'second-charge', ...twice }),
      build.expire('expire'),
    ],
  },
  'pause and resumption': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: paid }),
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge', ...once }),
      build.subscription('paused', { day: 10, days: paid }),
      build.subscription('resumed', { day: 30, days: paid }),
      build.subscription('charged', { day: 41, days: [41, 160], as: 'second-charge', ...twice }),
      build.expire('expire'),
    ],
  },
  'pause, resumption and an update of the plan in a running cycle': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: running }),
      build.subscription('paused', { day: 10, days: running }),
      build.subscription('resumed', { day: 10, days: running }),
      build.subscription('updated', { day: 12, days: running, plan: 'plan_premium' }),
      build.subscription('paused', { day: 20, days: running, as: 'paused-again', plan: 'plan_premium' }),
      build.expire('expire'),
    ],
  },
  'last charge, completion and cancellation': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: paid }),
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge' }),
      build.subscription('charged', { day: 28, days: running, as: 'last-charge' }),
      build.subscription('completed', { day: 28, days: running }),
      build.subscription('cancelled', { day: 41, days: running }),
      build.expire('expire'),
    ],
  },
  'trial whose first charge fails, then succeeds': {
    orders: 0,
    expires: true,
    before: (build) => [[3, build.ask('ask', { startsOn: 28, isTrial: true })]],
    steps: (build) => [
      build.subscription('authenticated', { day: 4 }),
      build.subscription('pending', { day: 28 }),
      build.subscription('halted', { day: 40 }),
      build.subscription('activated', { day: 41, days: next, ...once }),
      build.subscription('charged', { day: 41, days: next, ...once }),
      build.expire('expire'),
    ],
  },
  'trial with a purchase, then the first charge': {
    orders: 1,
    orderedOn: 10,
    expires: true,
    before: (build) => [[3, build.ask('ask', { startsOn: 28, isTrial: true })]],
    steps: (build, [order]) => [
      build.subscription('authenticated', { day: 4 }),
      build.captured('captured', ordered(order), 'P'),
      build.subscription('activated', { day: 28, days: [28, 60], ...once }),
      build.subscription('charged', { day: 28, days: [28, 60], ...once }),
      build.subscription('cancelled', { day: 41 }),
      build.expire('expire'),
    ],
    isComplete: isActivated,
  },
  'trial that the user cancels for its end': {
    orders: 1,
    orderedOn: 30,
    expires: true,
    before: (build) => [
      [3, build.ask('ask', { startsOn: 60, isTrial: true })],
      [4, build.subscription('authenticated', { day: 4 })],
      [5, build.cancel('cancel', 'at period end')],
    ],
    steps: (build, [order]) => [
      build.captured('captured', ordered(order), 'P'),
      build.subscription('cancelled', { day: 41 }),
      build.refunded('refund', ordered(order), 'P'),
      build.subscription('authenticated', { day: 4, as: 'authenticated-again' }),
      build.expire('expire'),
    ],
  },
  'change of plan at the end of the cycle': {
    orders: 0,
    expires: true,
    before: (build) => [
      [4, build.subscription('activated', { day: 4, days: paid, ...once })],
      [9, build.ask('ask', { sub: 'B', startsOn: 28, replaces: 'A' })],
    ],
    steps: (build) => [
      build.subscription('charged', { day: 4, days: paid, as: 'charged-A', ...once }),
      build.subscription('authenticated', { day: 10, sub: 'B', as: 'authenticated-B', plan: 'plan_premium' }),
      build.subscription('cancelled', { day: 28, as: 'cancelled-A' }),
      build.subscription('activated', { day: 29, days: next, sub: 'B', as: 'activated-B', plan: 'plan_premium' }),
      build.subscription('charged', { day: 29, days: next, sub: 'B', as: 'charged-B', plan: 'plan_premium' }),
      build.expire('expire'),
    ],
    isComplete: (facts) => facts.has('activated-B') || !facts.has('charged-B'),
  },
  'change of plan whose first charge fails': {
    orders: 0,
    expires: true,
    before: (build) => [
      [4, build.subscription('activated', { day: 4, days: recent, ...once })],
      [9, build.ask('ask', { sub: 'B', startsOn: 34, replaces: 'A' })],
      [10, build.subscription('authenticated', { day: 10, sub: 'B', as: 'authenticated-B', plan: 'plan_premium' })],
    ],
    steps: (build) => [
      build.subscription('charged', { day: 4, days: recent, as: 'charged-A', ...once }),
      build.subscription('cancelled', { day: 34, as: 'cancelled-A' }),
      build.subscription('pending', { day: 34, sub: 'B', as: 'pending-B', plan: 'plan_premium' }),
      build.subscription('halted', { day: 40, sub: 'B', as: 'halted-B', plan: 'plan_premium' }),
      build.subscription('cancelled', { day: 41, sub: 'B', as: 'cancelled-B', plan: 'plan_premium' }),
      build.expire('expire'),
    ],
  },
  'change of plan in the middle of a cycle, with a purchase': {
    orders: 1,
    orderedOn: 20,
    expires: true,
    before: (build) => [
      [4, build.subscription('activated', { day: 4, days: running, ...once })],
      [9, build.ask('ask', { sub: 'B', startsOn: 60, replaces: 'A' })],
    ],
    steps: (build, [order]) => [
      build.subscription('charged', { day: 4, days: running, as: 'charged-A', ...once }),
      build.subscription('authenticated', { day: 10, sub: 'B', as: 'authenticated-B', plan: 'plan_premium' }),
      build.captured('captured', ordered(order), 'P'),
      build.subscription('cancelled', { day: 30, sub: 'B', as: 'cancelled-B', plan: 'plan_premium' }),
      build.refunded('refund', ordered(order), 'P'),
    ],
  },
  'change of plan whose first cycle is debited before it begins': {
    orders: 0,
    expires: true,
    before: (build) => [
      [4, build.subscription('activated', { day: 4, days: running, ...once })],
      [9, build.ask('ask', { sub: 'B', startsOn: 60, replaces: 'A' })],
    ],
    steps: (build) => [
      build.subscription('charged', { day: 4, days: running, as: 'charged-A', ...once }),
      build.subscription('authenticated', { day: 10, sub: 'B', as: 'authenticated-B', plan: 'plan_premium' }),
      build.subscription('activated', { day: 41, days: [60, 180], sub: 'B', as: 'activated-B', plan: 'plan_premium' }),
      build.subscription('charged', { day: 41, days: [60, 180], sub: 'B', as: 'charged-B', plan: 'plan_premium' }),
      build.expire('expire'),
    ],
  },
  'cycle that is charged twice, and refunded': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: running, ...once }),
      build.subscription('charged', { day: 4, days: running, as: 'charge', paidBy: 'A', ...once }),
      build.subscription('charged', { day: 5, days: running, as: 'second-charge', paidBy: 'B', ...once }),
      build.cycleRefunded('refund', 'A'),
      build.cycleRefunded('second-refund', 'B'),
      build.expire('expire'),
    ],
    isComplete: (facts) => facts.has('activated'),
  },
  'cycle whose payment is named later, then refunded': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: paid, ...once }),
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge', ...once }),
      build.subscription('charged', { day: 28, days: [28, 60], as: 'charge', ...twice }),
      build.subscription('charged', { day: 29, days: [28, 60], as: 'payment', paidBy: 'A', ...twice }),
      build.cycleRefunded('refund', 'A'),
      build.expire('expire'),
    ],
    isComplete: (facts) => facts.has('activated'),
  },
  'dispute about a cycle, and its refund': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: running, ...once }),
      build.subscription('charged', { day: 4, days: running, as: 'charge', paidBy: 'A', ...once }),
      build.disputed('dispute', 'created', 'A'),
      build.disputed('dispute-lost', 'lost', 'A'),
      build.cycleRefunded('refund', 'A'),
      build.expire('expire'),
    ],
    isComplete: (facts) => facts.has('activated'),
  },
  'refund of a cycle while a charge fails': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('activated', { day: 4, days: paid }),
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge', paidBy: 'A' }),
      build.subscription('pending', { day: 28, days: next }),
      build.cycleRefunded('refund-first', 'A'),
      build.subscription('charged', { day: 40, days: next, as: 'second-charge', paidBy: 'B' }),
      build.cycleRefunded('refund-second', 'B'),
    ],
  },
  'refund of a cycle before and after a halt': {
    orders: 0,
    expires: true,
    steps: (build) => [
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge', paidBy: 'A' }),
      build.subscription('halted', { day: 40, days: next }),
      build.cycleRefunded('refund-first', 'A'),
      build.subscription('charged', { day: 41, days: next, as: 'second-charge', paidBy: 'B' }),
      build.cycleRefunded('refund-second', 'B'),
      build.expire('expire'),
    ],
  },
  'purchase over a subscription whose charge fails': {
    orders: 1,
    orderedOn: 36,
    expires: true,
    steps: (build, [order]) => [
      build.subscription('activated', { day: 4, days: recent, plan: 'plan_premium' }),
      build.subscription('pending', { day: 34, days: renewed, plan: 'plan_premium' }),
      build.captured('captured', ordered(order), 'P'),
      build.subscription('halted', { day: 40, days: renewed, plan: 'plan_premium' }),
      build.subscription('charged', { day: 41, days: renewed, plan: 'plan_premium' }),
      build.refunded('refund', ordered(order), 'P'),
    ],
    isComplete: isActivated,
  },
  'purchase under a subscription that is halted': {
    orders: 1,
    orderedOn: 2,
    expires: true,
    steps: (build, [order]) => [
      build.captured('captured', ordered(order), 'P'),
      build.subscription('activated', { day: 4, days: recent, plan: 'plan_premium' }),
      build.subscription('charged', { day: 4, days: recent, plan: 'plan_premium' }),
      build.subscription('pending', { day: 34, days: renewed, plan: 'plan_premium' }),
      build.subscription('halted', { day: 40, days: renewed, plan: 'plan_premium' }),
      build.expire('expire'),
    ],
    isComplete: isActivated,
  },
  'cancellation that the gateway gets after the charge of the next cycle': {
    orders: 0,
    expires: true,
    before: (build) => [
      [4, build.subscription('activated', { day: 4, days: paid, ...once })],
      [20, build.cancel('cancel', 'at period end')],
    ],
    steps: (build) => [
      build.subscription('charged', { day: 4, days: paid, as: 'first-charge', ...once }),
      build.subscription('charged', { day: 26, days: next, as: 'second-charge', paidBy: 'B', ...twice }),
      build.cycleRefunded('refund-second', 'B'),
      build.subscription('cancelled', { day: 28, days: next }),
      build.expire('expire'),
    ],
  },
} satisfies Record<string, ScenarioTemplate>;

/** A charged subscription was activated. */
function isActivated(facts: ReadonlySet<string>): boolean {
  return facts.has('activated') || !facts.has('charged');
}

function ordered<T>(order: T | undefined): T {
  if (order === undefined) throw new Error('the scenario has no order');
  return order;
}
