import fc from 'fast-check';

/** What a customer, support or the gateway's dashboard does, with weights. */
const weights = {
  'subscribe': 9,
  'approve': 4,
  'buy': 5,
  'order': 2,
  'pay': 3,
  'cancel at end': 7,
  'cancel now': 2,
  'resume': 3,
  'change at end': 4,
  'change now': 4,
  'undo change': 2,
  'refund': 4,
  'dispute': 2,
  'fail': 5,
  'new card': 4,
  'pause': 2,
  'go on': 2,
  'end at gateway': 1,
  'grant': 1,
  'import': 2,
};

export type Kind = keyof typeof weights;

/** When an act happens after the one before it: hours later, or seconds from the next charge or end of a cycle. */
type Wait = { hours: number } | { edge: number; after: number };

/** `which` and `how` select the target and the variant. */
export type Act = { kind: Kind; wait: Wait; which: number; how: number };

/** What the gateway does in a world. */
export type Weather = {
  /** How far its clock is ahead of ours, seconds. */
  skew: number;
  /** The parts of the webhooks that are lost, and that come up to three days late. */
  lost: number;
  late: number;
  /** The part of the runs of the schedule in which calls of its API get no answer. */
  unanswered: number;
  /** How early further cycles are debited, hours. */
  debit: number;
  /** When the cycles of subscriptions end. */
  endAt: 'time_of_authorisation' | 'india_midnight';
  /** The seller's time zone. */
  zone: string;
  account: { fee_bearer?: 'customer'; offer?: { percent: number } };
  /** How a renewal before the end counts, and the days of a trial of pro. */
  renewal: 'replace' | 'extend';
  trial: number;
};

const kinds = Object.keys(weights).filter((name): name is Kind => name in weights);

const wait: fc.Arbitrary<Wait> = fc.oneof(
  fc.record({ hours: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ hours: fc.integer({ min: 100, max: 500 }) }),
  fc.record({ edge: fc.nat(3), after: fc.constantFrom(-180_000, -90_000, -3600, -30, 20, 3600, 90_000) }),
);

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.oneof(...kinds.map((kind) => ({ weight: weights[kind], arbitrary: fc.constant(kind) }))),
  wait,
  which: fc.nat(7),
  how: fc.nat(11),
});

/** The acts of one customer. The first one buys or subscribes. */
const life: fc.Arbitrary<Act[]> = fc.tuple(
  act.map((first): Act => ({ ...first, kind: first.how % 3 === 0 ? 'buy' : first.how === 1 ? 'import' : 'subscribe' })),
  fc.array(act, { minLength: 3, maxLength: 9, size: 'max' }),
).map(([first, rest]) => [first, ...rest]);

export const drawLives = (seed: number, count: number): Act[][] => fc.sample(life, { seed, numRuns: count });
