import fc from 'fast-check';

/** What a customer, support or the gateway's dashboard does, with weights in lives about everything, and about changes. */
const weights = {
  'subscribe': [9, 1],
  'approve': [4, 2],
  'buy': [5, 1],
  'order': [2, 1],
  'pay': [3, 1],
  'cancel at end': [7, 4],
  'cancel now': [2, 0],
  'resume': [3, 3],
  'change at end': [4, 7],
  'change now': [4, 9],
  'undo change': [2, 6],
  'refund': [4, 2],
  'refund here': [1, 2],
  'dispute': [2, 1],
  'fail': [5, 1],
  'new card': [4, 1],
  'pause': [2, 1],
  'go on': [2, 1],
  'end at gateway': [1, 0],
  'grant': [1, 4],
  'extend by hand': [1, 2],
  'import': [2, 0],
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
  /** How many cycles the gateway bills; 0: for ten years. */
  cycles: number;
};

const kinds = Object.keys(weights).filter((name): name is Kind => name in weights);

/** Among them the last seven days, and the last 80 hours. Seconds. */
const afterEdge = [-500_000, -289_000, -287_000, -180_000, -172_801, -90_000, -3600, -30, -1, 1, 20, 3600, 90_000];

const wait: fc.Arbitrary<Wait> = fc.oneof(
  fc.record({ hours: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ hours: fc.integer({ min: 100, max: 500 }) }),
  fc.record({ edge: fc.nat(3), after: fc.constantFrom(...afterEdge) }),
);

/** Soon, so that what follows the acts is seen. */
const soon: fc.Arbitrary<Wait> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ hours: fc.constantFrom(1, 1, 2, 30, 60, 120) }) },
  { weight: 1, arbitrary: fc.record({ edge: fc.nat(3), after: fc.constantFrom(...afterEdge) }) },
);

const actOf = (place: 0 | 1): fc.Arbitrary<Act> =>
  fc.record({
    kind: fc.oneof(...kinds.map((kind) => ({ weight: weights[kind][place] ?? 0, arbitrary: fc.constant(kind) }))),
    wait: place === 0 ? wait : soon,
    which: fc.nat(7),
    how: fc.nat(11),
  });

/** The acts of one customer. The first one buys or subscribes. */
const anyLife: fc.Arbitrary<Act[]> = fc.tuple(
  actOf(0).map((first): Act => ({
    ...first,
    kind: first.how % 3 === 0 ? 'buy' : first.how === 1 ? 'import' : 'subscribe',
  })),
  fc.array(actOf(0), { minLength: 3, maxLength: 9, size: 'max' }),
).map(([first, rest]) => [first, ...rest]);

const authorised = (kind: Kind, which: number[]): fc.Arbitrary<Act> =>
  fc.record({
    kind: fc.constant(kind),
    wait: soon,
    which: fc.constantFrom(...which),
    how: fc.constantFrom(0, 1, 2, 3),
  });

/**
 * A customer who is billed, half of them after an upgrade with a credit, so that the renewal waits; then a few acts, of which
 * the last one is a change: what it says is seen.
 */
const changingLife: fc.Arbitrary<Act[]> = fc.tuple(
  authorised('subscribe', [0, 1]),
  fc.option(authorised('change now', [1, 2]), { nil: null }),
  fc.array(actOf(1), { minLength: 0, maxLength: 3, size: 'max' }),
  fc.constantFrom<Kind>('change now', 'change at end', 'undo change').chain((kind) =>
    authorised(kind, [0, 1, 2, 3, 4])
  ),
).map(([first, upgrade, rest, last]) => [first, ...(upgrade ? [upgrade] : []), ...rest, last]);

const lives = fc.oneof(anyLife, changingLife);

export const drawLives = (seed: number, count: number): Act[][] => fc.sample(lives, { seed, numRuns: count });
