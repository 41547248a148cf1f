import type { EarlyRenewal } from '../database/early-renewal.ts';
import fc from 'fast-check';

/** The weight of each kind. fast-check shrinks a failing history towards the first kinds. */
const weights = {
  'wait': 3,
  'buy': 9,
  'order': 5,
  'buy with start': 6,
  'order with start': 4,
  'capture': 8,
  'verify': 8,
  'pay again': 4,
  'fail': 2,
  'refund': 9,
  'move refund': 8,
  'dispute': 3,
  'nothing captured': 4,
  'activate': 7,
  'charge': 12,
  'charge again': 3,
  'deliver': 8,
  'end': 3,
  'halt': 5,
  'reactivate': 2,
  'try': 3,
  'change': 4,
  'start': 6,
  'fail charge': 6,
  'fail again': 2,
  'pay': 5,
  'pause': 3,
  'go on': 4,
  'complete': 2,
  'update': 2,
  'ask': 7,
  'cancel at end': 5,
  'cancel': 4,
  'resume': 2,
  'grant': 3,
  'repeat': 2,
  'change plan': 2,
  'write by hand': 1,
};

export type Kind = keyof typeof weights;

/** The weights of histories about the billing of gateway subscriptions. */
const billingWeights: Partial<Record<Kind, number>> = {
  'wait': 2,
  'activate': 4,
  'try': 4,
  'change': 8,
  'start': 8,
  'charge': 5,
  'charge again': 2,
  'fail charge': 8,
  'fail again': 3,
  'halt': 8,
  'pay': 8,
  'reactivate': 4,
  'pause': 3,
  'go on': 4,
  'complete': 2,
  'update': 2,
  'end': 2,
  'deliver': 8,
  'repeat': 2,
  'ask': 6,
  'refund': 4,
  'move refund': 2,
  'buy': 2,
  'buy with start': 3,
  'order with start': 2,
  'capture': 3,
  'cancel at end': 3,
  'cancel': 1,
  'resume': 2,
};

/** The time since the step before: a duration, or an offset in seconds from the end of a period. */
export type Wait = { unit: 'minute' | 'hour' | 'day' | 'month'; count: number } | { edge: number; offset: number };

/** A drawn step: the first of `kinds` that is possible runs; `which` and `how` select its target and variant. */
export type Draw = { kinds: Kind[]; wait: Wait; which: number; how: number };

/** A drawn history. REPLAY takes it as JSON. */
export type Drawn = { start: string; earlyRenewal: EarlyRenewal; draws: Draw[] };

const kinds = Object.keys(weights).filter((name): name is Kind => name in weights);

const wait: fc.Arbitrary<Wait> = fc.oneof(
  fc.record({ unit: fc.constantFrom('minute', 'hour', 'day'), count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ unit: fc.constant('month'), count: fc.constantFrom(1, 1, 2, 5, 12) }),
  fc.record({ edge: fc.nat(7), offset: fc.constantFrom(-86_400, -3600, -1, 1, 3600, 86_400) }),
);

/** A draw of the kinds, by their weights. */
function drawOf(weightOf: Partial<Record<Kind, number>>, waits = wait): fc.Arbitrary<Draw> {
  const arbitraries = kinds.filter((kind) => weightOf[kind] !== undefined)
    .map((kind) => ({ weight: weightOf[kind] ?? 1, arbitrary: fc.constant(kind) }));
  return fc.record({
    kinds: fc.array(fc.oneof(...arbitraries), { minLength: 1, maxLength: 4, size: 'max' }),
    wait: waits,
    which: fc.nat(7),
    how: fc.nat(11),
  });
}

/** More steps are drawn than run, because many are not possible in their state. */
export const maxSteps = 12;

/**
 * Histories of up to twelve steps, most of which start near the end of a month or a leap day. Half of them are about the
 * billing of gateway subscriptions.
 */
export function drawnHistories(): fc.Arbitrary<Drawn> {
  return fc.oneof(historiesOf(drawOf(weights)), billingHistories());
}

/** Histories about the billing of gateway subscriptions. */
export function billingHistories(): fc.Arbitrary<Drawn> {
  return historiesOf(drawOf(billingWeights));
}

/** Short histories, in most of which a charge fails or the last charge was made. */
export function unpaidHistories(): fc.Arbitrary<Drawn> {
  const days = fc.record({ unit: fc.constant('day' as const), count: fc.integer({ min: 1, max: 5 }) });
  const one = (...kinds: Kind[]) => drawOf(Object.fromEntries(kinds.map((kind) => [kind, 1])), days);
  const some = (...kinds: Kind[]) => fc.array(one(...kinds), { maxLength: 2 });
  const draws = fc.tuple(
    some('buy', 'grant', 'activate'),
    one('activate', 'activate', 'try'),
    some('cancel at end', 'change', 'charge', 'update', 'buy', 'refund', 'ask', 'pause', 'go on'),
    one('fail charge', 'fail charge', 'start', 'complete'),
    some('fail again', 'buy', 'ask', 'refund', 'pay', 'fail charge'),
    some('halt', 'complete', 'cancel at end', 'refund', 'fail charge'),
    some('reactivate', 'halt', 'ask'),
  ).map((parts) => parts.flat());
  return historiesOf(one('wait')).chain((history) => draws.map((draws) => ({ ...history, draws })));
}

function historiesOf(draw: fc.Arbitrary<Draw>): fc.Arbitrary<Drawn> {
  return fc.record({
    start: fc.constantFrom(
      '2026-01-31T10:00:00.000Z',
      '2028-01-31T23:59:59.999Z',
      '2028-02-29T12:00:00.123Z',
      '2027-02-28T00:00:00.000Z',
      '2027-01-30T06:30:00.500Z',
      '2026-12-31T23:30:00.000Z',
      '2026-08-31T18:45:00.001Z',
      '2026-11-10T09:00:00.000Z',
    ),
    earlyRenewal: fc.constantFrom('replace', 'extend'),
    draws: fc.array(draw, { minLength: 1, maxLength: 2 * maxSteps, size: 'max' }),
  });
}
