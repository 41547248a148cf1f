import { createPayment, createUser } from '../records.ts';
import type { TestDatabase } from '../test-database.ts';
import { type Cast, createCast, dayOfEvents, type Order, type Step } from './cast.ts';

/** Whose events are put in order, and all that can happen to them. */
export type Scenario = {
  name: string;
  subject: { userId: string; paymentIds: string[]; subscriptionIds: string[] };
  steps: Step[];
  /** Whether such a set of facts, by the names of the steps, can be in the end: others are not compared. */
  isWhole(facts: ReadonlySet<string>): boolean;
};

/** A scenario before it has a user. */
export type Play = {
  orders: number;
  earlyRenewal?: 'extend';
  /** Whether the ids of the orders are known. */
  areStored?: false;
  /** The user has bought something in October. */
  isCustomer?: true;
  /** The orders were made on that day of the events' November, as `Cast.subscription` counts days. */
  orderedOn?: number;
  /** What happened before the walk, each on its day. */
  before?: (cast: Cast, orders: Order[]) => [day: number, step: Step][];
  /** `orders` are those not paid yet, after the one of October, if any. */
  steps(cast: Cast, orders: Order[]): Step[];
  isWhole?: Scenario['isWhole'];
};

/** Everything that can happen to one order, paid by A; an attempt B failed before. */
const oneOrder: Play = {
  orders: 1,
  steps: (cast, [order]) => [
    cast.verify('verify', must(order), 'A'),
    cast.captured('captured', must(order), 'A'),
    cast.orderPaid('order.paid', must(order), 'A'),
    cast.failed('failed', must(order), 'B'),
    cast.refunded('refund-of-part', must(order), 'A', 30000),
    cast.refunded('refund-of-more', must(order), 'A', 40000),
    cast.refunded('refund', must(order), 'A'),
  ],
};

/** An order of which the gateway tells before its id is stored. */
const orderOnItsWay: Play = {
  orders: 1,
  areStored: false,
  steps: (cast, [order]) => {
    const { id, orderId } = must(order);
    return [
      { name: 'stored', stored: id, orderId },
      cast.captured('captured', must(order), 'A'),
      cast.orderPaid('order.paid', must(order), 'A'),
      cast.failed('failed', must(order), 'B'),
      cast.refunded('refund', must(order), 'A'),
    ];
  },
};

/** One gateway subscription; `days` of activated, charged, charged and cancelled. */
function subscription(days: [number, number, number, number], plan = 'plan_pro'): Play {
  return {
    orders: 0,
    steps: (cast) => [
      cast.subscription('activated', { day: days[0], months: [0, 1], plan }),
      cast.subscription('charged', { day: days[1], months: [0, 1], as: 'first-charge', plan }),
      cast.subscription('charged', { day: days[2], months: [1, 2], as: 'second-charge', plan }),
      cast.subscription('cancelled', { day: days[3], plan }),
    ],
  };
}

/** A purchase and a gateway subscription that began before; where it has no period yet, `months` is left out. */
function crossed(plan: string, months: [number, number] | undefined, days: [number, number]): Play {
  return {
    orders: 1,
    steps: (cast, [order]) => [
      cast.verify('verify', must(order), 'A'),
      cast.captured('captured', must(order), 'A'),
      cast.subscription('activated', { day: days[0], plan, ...(months ? { months } : {}) }),
      cast.subscription('cancelled', { day: days[1], plan }),
    ],
  };
}

/** Everything of a subscription around a purchase that only a webhook announces. */
function around(plan: string): Play {
  return {
    orders: 1,
    orderedOn: 5,
    steps: (cast, [order]) => [
      cast.captured('captured', must(order), 'A'),
      ...subscription([1, 2, 9, 12], plan).steps(cast, []),
      cast.subscription('activated', { day: 11, months: [2, 3], as: 'activated-again', plan }),
    ],
  };
}

/** A subscription's later events after something that the user or an admin did between them. */
function after(before: (cast: Cast) => Step, plan = 'plan_pro'): Play {
  return {
    orders: 0,
    before: (cast) => [
      [2, cast.subscription('activated', { day: 1, months: [0, 1], plan })],
      [5, before(cast)],
    ],
    steps: (cast) => [
      cast.subscription('charged', { day: 2, months: [0, 1], as: 'charged-before', plan }),
      cast.subscription('charged', { day: 9, months: [1, 2], as: 'charged-after', plan }),
      cast.subscription('cancelled', { day: 12, plan }),
      cast.subscription('activated', { day: 10, months: [0, 6], sub: 'B', as: 'activated-B', plan: 'plan_premium' }),
    ],
  };
}

const plays = {
  'purchase between the events of a subscription': around('plan_pro'),
  'purchase between the events of a subscription, plan unknown': around('plan_unknown'),
  'purchase between two subscriptions': {
    orders: 1,
    orderedOn: 5,
    steps: (cast, [order]) => [
      cast.captured('captured', must(order), 'A'),
      cast.subscription('activated', { day: 1, months: [0, 1], as: 'activated-A' }),
      cast.subscription('charged', { day: 6, months: [1, 2], as: 'charged-A' }),
      cast.subscription('activated', { day: 8, months: [0, 6], sub: 'B', as: 'activated-B', plan: 'plan_premium' }),
      cast.subscription('cancelled', { day: 12, sub: 'B', as: 'cancelled-B', plan: 'plan_premium' }),
    ],
    isWhole: (facts) => facts.has('activated-A') || !facts.has('charged-A'),
  },
  'purchase between two subscriptions, one of a plan unknown': {
    orders: 1,
    orderedOn: 5,
    steps: (cast, [order]) => [
      cast.captured('captured', must(order), 'A'),
      cast.subscription('activated', { day: 1, months: [0, 1], as: 'activated-A' }),
      cast.subscription('activated', { day: 8, months: [0, 6], sub: 'B', as: 'activated-B', plan: 'plan_unknown' }),
      cast.subscription('charged', { day: 9, months: [6, 12], sub: 'B', as: 'charged-B', plan: 'plan_unknown' }),
      cast.subscription('cancelled', { day: 12, sub: 'B', as: 'cancelled-B', plan: 'plan_unknown' }),
    ],
    isWhole: (facts) => facts.has('activated-B') || !facts.has('charged-B'),
  },
  'cycles refunded': {
    orders: 1,
    orderedOn: 5,
    steps: (cast, [order]) => [
      cast.captured('captured', must(order), 'P'),
      cast.subscription('activated', { day: 1, months: [0, 1] }),
      cast.subscription('charged', { day: 1, months: [0, 1], as: 'first-charge', paidBy: 'A' }),
      cast.subscription('charged', { day: 9, months: [1, 2], as: 'second-charge', paidBy: 'B' }),
      cast.cycleRefunded('refund-first', 'A'),
      cast.cycleRefunded('refund-second', 'B'),
    ],
    isWhole: (facts) => facts.has('activated'),
  },
  'refund that fails after all': {
    orders: 1,
    steps: (cast, [order]) => [
      cast.verify('verify', must(order), 'A'),
      cast.captured('captured', must(order), 'A'),
      cast.refunded('refund-of-part', must(order), 'A', 30000),
      cast.refunded('refund-of-rest', must(order), 'A', 69900),
      cast.refundFailed('refund-fails', 'refund-of-rest', must(order), 'A', 69900),
    ],
  },
  'grant between the events of a subscription': after((cast) => cast.grant('grant')),
  'grant between the events of a subscription, plan unknown': after((cast) => cast.grant('grant'), 'plan_unknown'),
  'cancellation at once between the events of a subscription': after((cast) => cast.cancel('cancel', 'at once')),
  'cancellation at period end between the events of a subscription': after((cast) =>
    cast.cancel('cancel', 'at period end')
  ),
  'order': oneOrder,
  'order on its way': orderOnItsWay,
  'subscription': subscription([1, 1, 9, 12]),
  'subscription, all in one second': subscription([1, 1, 1, 1]),
  'subscription, plan unknown': subscription([1, 2, 3, 4], 'plan_unknown'),
  'subscription of somebody who bought before': { ...subscription([1, 1, 9, 12]), isCustomer: true },
  'subscription before its first cycle of somebody who bought before': {
    orders: 0,
    isCustomer: true,
    steps: (cast) => [
      cast.subscription('activated', { day: 1 }),
      cast.subscription('charged', { day: 2, months: [0, 1], as: 'first-charge' }),
      cast.subscription('charged', { day: 9, months: [1, 2], as: 'second-charge' }),
      cast.subscription('cancelled', { day: 12 }),
    ],
  },
  'purchase given back and subscription before its first cycle that began after it': {
    orders: 0,
    isCustomer: true,
    steps: (cast, [bought]) => [
      cast.refunded('refund', must(bought), 'O'),
      cast.subscription('activated', { day: 1 }),
      cast.subscription('charged', { day: 2, months: [0, 1] }),
      cast.subscription('cancelled', { day: 12 }),
    ],
    // A charge alone restores only what lapsed; here access ended by a refund.
    isWhole: (facts) => facts.has('activated') || !facts.has('charged'),
  },
  'purchase and subscription': crossed('plan_pro', [0, 1], [1, 12]),
  'purchase and subscription, all in one second': crossed('plan_pro', [0, 1], [1, 1]),
  'purchase and subscription, plan unknown': crossed('plan_unknown', [0, 1], [1, 12]),
  'purchase and subscription before its first cycle': crossed('plan_pro', undefined, [1, 12]),
  'purchase and subscription with charges': {
    orders: 1,
    steps: (cast, [order]) => [
      cast.verify('verify', must(order), 'A'),
      ...subscription([1, 2, 9, 12]).steps(cast, []),
    ],
  },
  'purchase and two subscriptions': {
    orders: 1,
    steps: (cast, [order]) => [
      cast.captured('captured', must(order), 'A'),
      cast.subscription('activated', { day: 1, months: [0, 1], as: 'activated-A' }),
      cast.subscription('activated', { day: 3, months: [0, 6], sub: 'B', as: 'activated-B' }),
      cast.subscription('cancelled', { day: 12, as: 'cancelled-A' }),
    ],
  },
  'two subscriptions': {
    orders: 0,
    steps: (cast) => [
      cast.subscription('activated', { day: 1, months: [0, 1], as: 'activated-A' }),
      cast.subscription('charged', { day: 2, months: [1, 2], as: 'charged-A' }),
      cast.subscription('activated', { day: 3, months: [0, 6], sub: 'B', as: 'activated-B' }),
      cast.subscription('charged', { day: 4, months: [6, 12], sub: 'B', as: 'charged-B' }),
      cast.subscription('cancelled', { day: 12, as: 'cancelled-A' }),
    ],
    // Which one counts is what the newest activation says.
    isWhole: (facts) => facts.has('activated-A') || facts.has('activated-B'),
  },
  'two payments on one order': {
    orders: 1,
    steps: (cast, [order]) => [
      cast.verify('verify-A', must(order), 'A'),
      cast.captured('captured-A', must(order), 'A'),
      cast.captured('captured-B', must(order), 'B'),
      cast.refunded('refund-A', must(order), 'A'),
      cast.refunded('refund-of-part-B', must(order), 'B', 30000),
      cast.refunded('refund-B', must(order), 'B'),
    ],
  },
  'two purchases, the second adds to the first': {
    orders: 2,
    earlyRenewal: 'extend',
    steps: (cast, [first, second]) => [
      cast.verify('verify-A', must(first), 'A'),
      cast.captured('captured-A', must(first), 'A'),
      cast.captured('captured-B', must(second), 'B'),
      cast.refunded('refund-A', must(first), 'A'),
      cast.refunded('refund-B', must(second), 'B'),
    ],
  },
  'three purchases that add to each other': {
    orders: 3,
    earlyRenewal: 'extend',
    steps: (cast, [first, second, third]) => [
      cast.captured('captured-A', must(first), 'A'),
      cast.captured('captured-B', must(second), 'B'),
      cast.captured('captured-C', must(third), 'C'),
      cast.refunded('refund-A', must(first), 'A'),
      cast.refunded('refund-B', must(second), 'B'),
    ],
  },
  'everything at once': {
    orders: 1,
    steps: (cast, [order]) => [
      ...oneOrder.steps(cast, [must(order)]).filter(({ name }) => name !== 'refund'),
      cast.captured('captured-extra', must(order), 'C'),
      cast.refunded('refund-extra', must(order), 'C'),
      cast.subscription('activated', { day: 1, months: [0, 1] }),
      cast.subscription('charged', { day: 9, months: [1, 2] }),
      cast.subscription('cancelled', { day: 12 }),
      cast.subscription('activated', { day: 3, months: [0, 3], sub: 'B', as: 'activated-B' }),
      cast.subscription('charged', { day: 10, months: [0, 6], sub: 'B', as: 'charged-B' }),
    ],
    // What is charged was activated. And an order that was given back before its capture came has replaced nothing, while
    // one that was granted first has: no subscription that was cancelled for it comes back.
    isWhole: (facts) =>
      (facts.has('activated') || !facts.has('charged')) &&
      (facts.has('activated-B') || !facts.has('charged-B')) &&
      (!facts.has('refund-extra') || ['verify', 'captured', 'order.paid'].some((name) => facts.has(name))),
  },
} satisfies Record<string, Play>;

export type ScenarioName = keyof typeof plays;

/** All scenarios by name. */
export const scenarioNames = Object.keys(plays).filter((name): name is ScenarioName => name in plays);

/** Those with so few steps that all of their shorter orders can be tried. */
export const smallScenarioNames = scenarioNames.filter((name) => name !== 'everything at once');

/** A scenario by its name, for a user and orders of its own; the database can walk. */
export async function stage(database: TestDatabase, name: ScenarioName): Promise<Scenario> {
  return await stagePlay(database, name, plays[name]);
}

/** A scenario of any steps, for a user and orders of its own; the database can walk. */
export async function stagePlay(database: TestDatabase, name: string, play: Play): Promise<Scenario> {
  const { id: userId } = await createUser(database);
  const cast = createCast(userId, play.earlyRenewal ?? 'replace');
  const orders: Order[] = [];
  for (let count = play.isCustomer ? -1 : 0; count < play.orders; count++) {
    orders.push(await createPayment(database, { userId }));
  }
  if (play.isCustomer) {
    const step = cast.verify('bought', must(orders[0]), 'O');
    await database.query("select set_config('test.clock', '2026-10-01T00:00:00Z', true), test.take_step($1)", [
      JSON.stringify(step),
    ]);
  }
  if (play.orderedOn !== undefined) {
    await database.query('update public.payments set created_at = $2 where user_id = $1', [
      userId,
      dayOfEvents(play.orderedOn),
    ]);
  }
  for (const [day, step] of play.before?.(cast, orders) ?? []) {
    await database.query("select set_config('test.clock', $1, true), test.take_step($2)", [
      dayOfEvents(day),
      JSON.stringify(step),
    ]);
  }
  if (play.areStored === false) {
    await database.query('update public.payments set gateway_order_id = null where user_id = $1', [userId]);
  }
  const steps = play.steps(cast, orders);
  return {
    name,
    subject: { userId, paymentIds: orders.map(({ id }) => id), subscriptionIds: cast.subscriptionIds },
    steps,
    isWhole: play.isWhole ?? (() => true),
  };
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the scenario has fewer orders than its steps');
  return value;
}
