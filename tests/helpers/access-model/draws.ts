import type { Settings } from './facts.ts';
import fc from 'fast-check';

/**
 * Weights of the steps in histories about everything, about billing, and about edits at the gateway's dashboard. Shrinking
 * prefers the first kinds.
 */
const weights = {
  'wait': [3, 2, 1],
  'look': [4, 4, 2],
  'buy': [9, 2, 2],
  'order': [5, 0, 0],
  'buy with start': [6, 3, 0],
  'order with start': [4, 2, 0],
  'capture': [8, 3, 1],
  'verify': [8, 0, 0],
  'pay again': [4, 1, 0],
  'refund': [9, 4, 3],
  'move refund': [8, 2, 1],
  'activate': [7, 4, 0],
  'charge': [12, 5, 10],
  'deliver': [8, 8, 10],
  'end': [3, 2, 1],
  'halt': [5, 8, 0],
  'reactivate': [2, 4, 0],
  'try': [3, 4, 0],
  'change': [4, 8, 2],
  'start': [6, 8, 3],
  'fail charge': [6, 8, 3],
  'pay': [5, 8, 3],
  'pause': [3, 3, 2],
  'go on': [4, 4, 3],
  'complete': [2, 2, 1],
  'update': [2, 2, 4],
  'leave plan': [2, 2, 4],
  'end with cycle': [2, 2, 1],
  'edit notes': [2, 2, 5],
  'create there': [2, 2, 0],
  'delete': [1, 1, 1],
  'restore': [1, 1, 2],
  'ask': [7, 6, 4],
  'cancel at end': [5, 3, 2],
  'cancel': [4, 1, 1],
  'resume': [2, 2, 2],
  'grant': [3, 3, 1],
  'write': [4, 3, 1],
  'fail': [2, 1, 0],
  'sell': [2, 3, 0],
  'upgrade': [4, 6, 2],
  'authorise': [6, 8, 2],
  'repeat': [2, 2, 2],
};

export type Kind = keyof typeof weights;

/** The time since the step before: a duration, or an offset in seconds from the end of a period. */
export type Wait = { unit: 'minute' | 'hour' | 'day' | 'month'; count: number } | { edge: number; offset: number };

/** A drawn step: the first of `kinds` that is possible runs; `which` and `how` select its target and variant. */
export type Draw = { kinds: Kind[]; wait: Wait; which: number; how: number };

/** A drawn history. REPLAY takes it as JSON. */
export type Drawn = Settings & { start: string; draws: Draw[] };

const kinds = Object.keys(weights).filter((name): name is Kind => name in weights);

const anyWait: fc.Arbitrary<Wait> = fc.oneof(
  fc.record({ unit: fc.constantFrom('minute', 'hour', 'day'), count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ unit: fc.constant('month'), count: fc.constantFrom(1, 1, 2, 5, 12) }),
  fc.record({ edge: fc.nat(7), offset: fc.constantFrom(-86_400, -3600, -1, 1, 3600, 86_400) }),
);

function drawOf(weightOf: (kind: Kind) => number, wait = anyWait): fc.Arbitrary<Draw> {
  const arbitraries = kinds.filter((kind) => weightOf(kind) > 0)
    .map((kind) => ({ weight: weightOf(kind), arbitrary: fc.constant(kind) }));
  const tried = fc.array(fc.oneof(...arbitraries), { minLength: 1, maxLength: 4, size: 'max' });
  return fc.record({ kinds: tried, wait, which: fc.nat(7), how: fc.nat(11) });
}

/** More steps are drawn than run, because many are not possible in their state. */
export const maxSteps = 12;

/**
 * Histories of up to twelve steps, most of which start near the end of a month or a leap day. Some are about billing, and
 * some of these begin with a subscription that is upgraded, so that its renewal waits. Some begin with one that is edited at
 * the gateway's dashboard.
 */
export function drawnHistories(): fc.Arbitrary<Drawn> {
  const billing = drawOf((kind) => weights[kind][1] ?? 0);
  const edits = drawOf((kind) => weights[kind][2] ?? 0);
  return fc.oneof(
    { weight: 2, arbitrary: historiesOf(drawOf((kind) => weights[kind][0] ?? 0)) },
    { weight: 2, arbitrary: historiesOf(billing) },
    { weight: 1, arbitrary: fc.tuple(historiesOf(billing), fc.integer({ min: 1, max: 20 }), fc.nat(11)).map(upgraded) },
    { weight: 1, arbitrary: fc.tuple(historiesOf(edits), fc.nat(11)).map(edited) },
  );
}

/** Some days after its start the subscription is upgraded. */
function upgraded([history, count, how]: [Drawn, number, number]): Drawn {
  const first: Draw = { kinds: ['activate'], wait: { unit: 'minute', count: 1 }, which: 5, how: how % 2 };
  const second: Draw = { kinds: ['upgrade'], wait: { unit: 'day', count }, which: 0, how };
  return { ...history, draws: [first, second, ...history.draws] };
}

/** A subscription is edited at the dashboard after its first charge, or its user is deleted. */
function edited([history, how]: [Drawn, number]): Drawn {
  const first: Kind = how % 3 === 0 ? 'create there' : how % 3 === 1 ? 'try' : 'activate';
  const edit: Kind = how > 8
    ? 'delete'
    : how % 3 === 1
    ? 'edit notes'
    : how % 2 === 0
    ? 'leave plan'
    : 'end with cycle';
  const draws = ([first, 'start', edit, 'charge'] as const).map((kind): Draw => ({
    kinds: [kind],
    wait: { unit: 'hour', count: 1 },
    which: 5,
    how: 6,
  }));
  return { ...history, draws: [...draws, ...history.draws] };
}

function historiesOf(draw: fc.Arbitrary<Draw>): fc.Arbitrary<Drawn> {
  return fc.record({
    start: fc.constantFrom(
      '2026-01-31T10:00:00.000Z',
      '2028-01-31T23:59:59.999Z',
      '2028-02-29T12:00:00.123Z',
      '2026-08-31T18:45:00.001Z',
      '2026-11-10T09:00:00.000Z',
    ),
    earlyRenewal: fc.constantFrom('replace', 'extend'),
    graceDays: fc.constantFrom(3, 3, 0, 9),
    draws: fc.array(draw, { minLength: 1, maxLength: 2 * maxSteps, size: 'max' }),
  });
}
