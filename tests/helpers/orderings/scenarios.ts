import { createStepBuilder, dayOfEvents, type OrderIds, type Step, type StepBuilder } from './step-builder.ts';
import { billingScenarios } from './billing-scenarios.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { createPayment, createUser } from '../records/records.ts';
import { type EarlyRenewal, setEarlyRenewal } from '../database/early-renewal.ts';

/** A user, and the steps whose sequences are run. */
export type Scenario = {
  name: string;
  subject: { userId: string; paymentIds: string[]; subscriptionIds: string[]; expires: boolean };
  steps: Step[];
  /** Whether these facts, by the names of the steps, can be a final set. Other sets are not compared. */
  isComplete(facts: ReadonlySet<string>): boolean;
};

/** A scenario before it has a user. */
export type ScenarioTemplate = {
  orders: number;
  earlyRenewal?: EarlyRenewal;
  /** Set to false: the ids of the orders are not stored yet. */
  areStored?: false;
  /** The user made a purchase in October. */
  isCustomer?: true;
  /** The time of the orders, counted as `day` in `StepBuilder.subscription`. */
  orderedOn?: number;
  /** What the last order credits and replaces: a payment, or the cycle of a gateway subscription up to `until`. */
  credits?: (build: StepBuilder, orders: OrderIds[]) => { kind: string; id: string; until: string };
  /** Periods end before the sequences: the scheduled expiry runs at the end of each. */
  expires?: true;
  /** Steps that run before the sequences, each on its day. */
  before?: (build: StepBuilder, orders: OrderIds[]) => [day: number, step: Step][];
  /** `orders` starts with the paid one of October, if any; the others are not paid yet. */
  steps(build: StepBuilder, orders: OrderIds[]): Step[];
  isComplete?: Scenario['isComplete'];
};

/** All steps of one order, paid by payment A after attempt B failed. */
const oneOrder: ScenarioTemplate = {
  orders: 1,
  steps: (build, [order]) => [
    build.verify('verify', required(order), 'A'),
    build.captured('captured', required(order), 'A'),
    build.orderPaid('order.paid', required(order), 'A'),
    build.failed('failed', required(order), 'B'),
    build.refunded('refund-of-part', required(order), 'A', 30000),
    build.refunded('refund-of-more', required(order), 'A', 40000),
    build.refunded('refund', required(order), 'A'),
  ],
};

/** An order whose events arrive before its id is stored. */
const orderNotStored: ScenarioTemplate = {
  orders: 1,
  areStored: false,
  steps: (build, [order]) => {
    const { id, orderId } = required(order);
    return [
      { name: 'stored', stored: id, orderId },
      build.captured('captured', required(order), 'A'),
      build.orderPaid('order.paid', required(order), 'A'),
      build.failed('failed', required(order), 'B'),
      build.refunded('refund', required(order), 'A'),
    ];
  },
};

/** One gateway subscription. `days` are those of its activation, two charges and its cancellation. */
function subscription(days: [number, number, number, number], plan = 'plan_pro'): ScenarioTemplate {
  return {
    orders: 0,
    steps: (build) => [
      build.subscription('activated', { day: days[0], months: [0, 1], plan }),
      build.subscription('charged', { day: days[1], months: [0, 1], as: 'first-charge', plan }),
      build.subscription('charged', { day: days[2], months: [1, 2], as: 'second-charge', plan }),
      build.subscription('cancelled', { day: days[3], plan }),
    ],
  };
}

/** A purchase, and a gateway subscription that began before it. Without `months` the subscription has no period yet. */
function purchaseAndSubscription(
  plan: string,
  months: [number, number] | undefined,
  days: [number, number],
): ScenarioTemplate {
  return {
    orders: 1,
    steps: (build, [order]) => [
      build.verify('verify', required(order), 'A'),
      build.captured('captured', required(order), 'A'),
      build.subscription('activated', { day: days[0], plan, ...(months ? { months } : {}) }),
      build.subscription('cancelled', { day: days[1], plan }),
    ],
  };
}

/** The events of a subscription before and after a purchase that only a webhook announces. */
function purchaseBetweenEvents(plan: string): ScenarioTemplate {
  return {
    orders: 1,
    orderedOn: 5,
    steps: (build, [order]) => [
      build.captured('captured', required(order), 'A'),
      ...subscription([1, 2, 9, 12], plan).steps(build, []),
      build.subscription('activated', { day: 11, months: [2, 3], as: 'activated-again', plan }),
    ],
  };
}

/** The events of a subscription, with acts of the user or of an admin between them. */
function actBetweenEvents(acts: (build: StepBuilder) => Step | Step[], plan = 'plan_pro'): ScenarioTemplate {
  return {
    orders: 0,
    before: (build) => [
      [2, build.subscription('activated', { day: 1, months: [0, 1], plan })],
      ...[acts(build)].flat().map((act): [number, Step] => [5, act]),
    ],
    steps: (build) => [
      build.subscription('charged', { day: 2, months: [0, 1], as: 'charged-before', plan }),
      build.subscription('charged', { day: 9, months: [1, 2], as: 'charged-after', plan }),
      build.subscription('cancelled', { day: 12, plan }),
      build.subscription('activated', { day: 10, months: [0, 6], sub: 'B', as: 'activated-B', plan: 'plan_premium' }),
    ],
  };
}

const templates = {
  ...billingScenarios,
  'purchase between the events of a subscription': purchaseBetweenEvents('plan_pro'),
  'purchase between the events of a subscription, plan unknown': purchaseBetweenEvents('plan_unknown'),
  'purchase between two subscriptions': {
    orders: 1,
    orderedOn: 5,
    steps: (build, [order]) => [
      build.captured('captured', required(order), 'A'),
      build.subscription('activated', { day: 1, months: [0, 1], as: 'activated-A' }),
      build.subscription('charged', { day: 6, months: [1, 2], as: 'charged-A' }),
      build.subscription('activated', { day: 8, months: [0, 6], sub: 'B', as: 'activated-B', plan: 'plan_premium' }),
      build.subscription('cancelled', { day: 12, sub: 'B', as: 'cancelled-B', plan: 'plan_premium' }),
    ],
    isComplete: (facts) => facts.has('activated-A') || !facts.has('charged-A'),
  },
  'purchase between two subscriptions, one of a plan unknown': {
    orders: 1,
    orderedOn: 5,
    steps: (build, [order]) => [
      build.captured('captured', required(order), 'A'),
      build.subscription('activated', { day: 1, months: [0, 1], as: 'activated-A' }),
      build.subscription('activated', { day: 8, months: [0, 6], sub: 'B', as: 'activated-B', plan: 'plan_unknown' }),
      build.subscription('charged', { day: 9, months: [6, 12], sub: 'B', as: 'charged-B', plan: 'plan_unknown' }),
      build.subscription('cancelled', { day: 12, sub: 'B', as: 'cancelled-B', plan: 'plan_unknown' }),
    ],
    isComplete: (facts) => facts.has('activated-B') || !facts.has('charged-B'),
  },
  'cycles refunded': {
    orders: 1,
    orderedOn: 5,
    steps: (build, [order]) => [
      build.captured('captured', required(order), 'P'),
      build.subscription('activated', { day: 1, months: [0, 1] }),
      build.subscription('charged', { day: 1, months: [0, 1], as: 'first-charge', paidBy: 'A' }),
      build.subscription('charged', { day: 9, months: [1, 2], as: 'second-charge', paidBy: 'B' }),
      build.cycleRefunded('refund-first', 'A'),
      build.cycleRefunded('refund-second', 'B'),
    ],
    isComplete: (facts) => facts.has('activated'),
  },
  'refund that fails after all': {
    orders: 1,
    steps: (build, [order]) => [
      build.verify('verify', required(order), 'A'),
      build.captured('captured', required(order), 'A'),
      build.refunded('refund-of-part', required(order), 'A', 30000),
      build.refunded('refund-of-rest', required(order), 'A', 69900),
      build.refundFailed('refund-fails', 'refund-of-rest', required(order), 'A', 69900),
    ],
  },
  'grant between the events of a subscription': actBetweenEvents((build) => build.grant('grant')),
  'grant between the events of a subscription, plan unknown': actBetweenEvents(
    (build) => build.grant('grant'),
    'plan_unknown',
  ),
  'cancellation at once between the events of a subscription': actBetweenEvents((build) =>
    build.cancel('cancel', 'at once')
  ),
  'cancellation at period end between the events of a subscription': actBetweenEvents((build) =>
    build.cancel('cancel', 'at period end')
  ),
  'cancellation and resumption between the events of a subscription': actBetweenEvents((build) => [
    build.cancel('cancel', 'at period end'),
    build.resume('resume'),
  ]),
  'row written by hand between the events of a subscription': actBetweenEvents((build) => build.writeRow('write')),
  'purchase that replaced a credited purchase': {
    orders: 1,
    isCustomer: true,
    credits: (_, [bought]) => ({ kind: 'payment', id: required(bought).id, until: '2027-10-01T00:00:00Z' }),
    steps: (build, [bought, order]) => [
      build.verify('verify', required(order), 'A'),
      build.captured('captured', required(order), 'A'),
      build.refunded('refund', required(order), 'A'),
      build.refundFailed('refund-fails', 'refund', required(order), 'A'),
      build.refunded('refund-of-credited', required(bought), 'O'),
    ],
  },
  'purchase that replaced a credited cycle': {
    orders: 1,
    orderedOn: 5,
    credits: (build) => ({
      kind: 'gateway_subscription',
      id: build.subscriptionIds[0] ?? '',
      until: '2126-02-01T00:00:00Z',
    }),
    before: (build) => [[1, build.subscription('activated', { day: 1, months: [0, 1] })]],
    steps: (build, [order]) => [
      build.captured('captured', required(order), 'P'),
      build.refunded('refund', required(order), 'P'),
      build.subscription('charged', { day: 1, months: [0, 1], as: 'first-charge', paidBy: 'A' }),
      build.subscription('charged', { day: 9, months: [1, 2], as: 'second-charge', paidBy: 'B' }),
      build.cycleRefunded('refund-second', 'B'),
    ],
  },
  'order': oneOrder,
  'order whose id is not stored yet': orderNotStored,
  'subscription': subscription([1, 1, 9, 12]),
  'subscription, all in one second': subscription([1, 1, 1, 1]),
  'subscription, plan unknown': subscription([1, 2, 3, 4], 'plan_unknown'),
  'subscription of a user with an earlier purchase': { ...subscription([1, 1, 9, 12]), isCustomer: true },
  'subscription before its first cycle, of a user with an earlier purchase': {
    orders: 0,
    isCustomer: true,
    steps: (build) => [
      build.subscription('activated', { day: 1 }),
      build.subscription('charged', { day: 2, months: [0, 1], as: 'first-charge' }),
      build.subscription('charged', { day: 9, months: [1, 2], as: 'second-charge' }),
      build.subscription('cancelled', { day: 12 }),
    ],
  },
  'refunded purchase and a newer subscription before its first cycle': {
    orders: 0,
    isCustomer: true,
    steps: (build, [bought]) => [
      build.refunded('refund', required(bought), 'O'),
      build.subscription('activated', { day: 1 }),
      build.subscription('charged', { day: 2, months: [0, 1] }),
      build.subscription('cancelled', { day: 12 }),
    ],
    // A charge alone restores access that lapsed. Here a refund ended it.
    isComplete: (facts) => facts.has('activated') || !facts.has('charged'),
  },
  'purchase and subscription': purchaseAndSubscription('plan_pro', [0, 1], [1, 12]),
  'purchase and subscription, all in one second': purchaseAndSubscription('plan_pro', [0, 1], [1, 1]),
  'purchase and subscription, plan unknown': purchaseAndSubscription('plan_unknown', [0, 1], [1, 12]),
  'purchase and subscription before its first cycle': purchaseAndSubscription('plan_pro', undefined, [1, 12]),
  'purchase and subscription with charges': {
    orders: 1,
    steps: (build, [order]) => [
      build.verify('verify', required(order), 'A'),
      ...subscription([1, 2, 9, 12]).steps(build, []),
    ],
  },
  'purchase and two subscriptions': {
    orders: 1,
    steps: (build, [order]) => [
      build.captured('captured', required(order), 'A'),
      build.subscription('activated', { day: 1, months: [0, 1], as: 'activated-A' }),
      build.subscription('activated', { day: 3, months: [0, 6], sub: 'B', as: 'activated-B' }),
      build.subscription('cancelled', { day: 12, as: 'cancelled-A' }),
    ],
  },
  'two subscriptions': {
    orders: 0,
    steps: (build) => [
      build.subscription('activated', { day: 1, months: [0, 1], as: 'activated-A' }),
      build.subscription('charged', { day: 2, months: [1, 2], as: 'charged-A' }),
      build.subscription('activated', { day: 3, months: [0, 6], sub: 'B', as: 'activated-B' }),
      build.subscription('charged', { day: 4, months: [6, 12], sub: 'B', as: 'charged-B' }),
      build.subscription('cancelled', { day: 12, as: 'cancelled-A' }),
    ],
    // The subscription with the newest activation counts.
    isComplete: (facts) => facts.has('activated-A') || facts.has('activated-B'),
  },
  'two payments on one order': {
    orders: 1,
    steps: (build, [order]) => [
      build.verify('verify-A', required(order), 'A'),
      build.captured('captured-A', required(order), 'A'),
      build.captured('captured-B', required(order), 'B'),
      build.refunded('refund-A', required(order), 'A'),
      build.refunded('refund-of-part-B', required(order), 'B', 30000),
      build.refunded('refund-B', required(order), 'B'),
    ],
  },
  'two purchases, the second adds to the first': {
    orders: 2,
    earlyRenewal: 'extend',
    steps: (build, [first, second]) => [
      build.verify('verify-A', required(first), 'A'),
      build.captured('captured-A', required(first), 'A'),
      build.captured('captured-B', required(second), 'B'),
      build.refunded('refund-A', required(first), 'A'),
      build.refunded('refund-B', required(second), 'B'),
    ],
  },
  'three purchases that add to each other': {
    orders: 3,
    earlyRenewal: 'extend',
    steps: (build, [first, second, third]) => [
      build.captured('captured-A', required(first), 'A'),
      build.captured('captured-B', required(second), 'B'),
      build.captured('captured-C', required(third), 'C'),
      build.refunded('refund-A', required(first), 'A'),
      build.refunded('refund-B', required(second), 'B'),
    ],
  },
  'everything at once': {
    orders: 1,
    steps: (build, [order]) => [
      ...oneOrder.steps(build, [required(order)]).filter(({ name }) => name !== 'refund'),
      build.captured('captured-extra', required(order), 'C'),
      build.refunded('refund-extra', required(order), 'C'),
      build.subscription('activated', { day: 1, months: [0, 1] }),
      build.subscription('charged', { day: 9, months: [1, 2] }),
      build.subscription('cancelled', { day: 12 }),
      build.subscription('activated', { day: 3, months: [0, 3], sub: 'B', as: 'activated-B' }),
      build.subscription('charged', { day: 10, months: [0, 6], sub: 'B', as: 'charged-B' }),
    ],
    // A charged subscription was activated. An order that was refunded before its capture arrived has replaced nothing;
    // one that was granted first has, and the subscription that was cancelled for it stays cancelled.
    isComplete: (facts) =>
      (facts.has('activated') || !facts.has('charged')) &&
      (facts.has('activated-B') || !facts.has('charged-B')) &&
      (!facts.has('refund-extra') || ['verify', 'captured', 'order.paid'].some((name) => facts.has(name))),
  },
} satisfies Record<string, ScenarioTemplate>;

export type ScenarioName = keyof typeof templates;

/** All scenarios by name. */
export const scenarioNames = Object.keys(templates).filter((name): name is ScenarioName => name in templates);

/** The scenarios with so few steps that all of their shorter sequences can be run. */
export const smallScenarioNames = scenarioNames.filter((name) => name !== 'everything at once');

/**
 * A scenario by its name, with a new user and new orders, and the setting of early renewals. The
 * database needs the runner: see `installRunner`.
 */
export async function createScenario(database: TestDatabase, name: ScenarioName): Promise<Scenario> {
  return await createScenarioFrom(database, name, templates[name]);
}

/**
 * A scenario from a template, with a new user and new orders, and the setting of early renewals. The
 * database needs the runner: see `installRunner`.
 */
export async function createScenarioFrom(
  database: TestDatabase,
  name: string,
  template: ScenarioTemplate,
): Promise<Scenario> {
  await setEarlyRenewal(database, template.earlyRenewal ?? 'replace');
  const { id: userId } = await createUser(database);
  const build = createStepBuilder(userId);
  const orders: OrderIds[] = [];
  for (let count = template.isCustomer ? -1 : 0; count < template.orders; count++) {
    orders.push(await createPayment(database, { userId }));
  }
  if (template.isCustomer) {
    const step = build.verify('bought', required(orders[0]), 'O');
    await database.query("select set_config('test.clock', '2026-10-01T00:00:00Z', true), test.run_step($1)", [
      JSON.stringify(step),
    ]);
  }
  if (template.orderedOn !== undefined) {
    await database.query('update public.payments set created_at = $2 where user_id = $1', [
      userId,
      dayOfEvents(template.orderedOn),
    ]);
  }
  for (const [day, step] of template.before?.(build, orders) ?? []) {
    await database.query("select set_config('test.clock', $1, true), test.run_step($2)", [
      dayOfEvents(day),
      JSON.stringify(step),
    ]);
  }
  if (template.credits) {
    const { kind, id, until } = template.credits(build, orders);
    await database.query(
      `update public.payments
       set starts = 'now', credit = 1000, credited_kind = $2, credited_id = $3, credited_until = $4, credited_amount = 49900
       where id = $1`,
      [required(orders.at(-1)).id, kind, id, until],
    );
  }
  if (template.areStored === false) {
    await database.query('update public.payments set gateway_order_id = null where user_id = $1', [userId]);
  }
  const steps = template.steps(build, orders);
  return {
    name,
    subject: {
      userId,
      paymentIds: orders.map(({ id }) => id),
      subscriptionIds: build.subscriptionIds,
      expires: template.expires === true,
    },
    steps,
    isComplete: template.isComplete ?? (() => true),
  };
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the scenario has fewer orders than its steps');
  return value;
}
