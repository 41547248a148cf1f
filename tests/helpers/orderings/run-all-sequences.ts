import { sharedSession } from '../database/session.ts';
import type { TestDatabase } from '../database/test-database.ts';
import type { Scenario } from './scenarios.ts';

/** Two sequences of the same steps that end in different states. */
export type Divergence = { readonly sequences: [string[], string[]]; readonly states: [string, string] };

const tables = [
  'public.payments',
  'public.subscriptions',
  'public.profiles',
  'billing.gateway_events',
  'billing.outbox',
];

/**
 * Runs every sequence of a scenario's steps up to a length, each step at most twice, and compares the final states of
 * the sequences that contain the same steps. A step that is repeated counts as one fact. With a `share`, of the longest
 * sequences only all orders of each `share`-th set of steps are run. Returns the number of sequences and the
 * differences, shortest first.
 */
export async function runAllSequences(
  database: TestDatabase,
  { subject, steps, isComplete }: Scenario,
  length: number,
  share = 1,
): Promise<{ orders: number; divergences: Divergence[] }> {
  const ends = new Map<string, { sequence: number[]; state: string }[]>();
  let orders = 0;
  const nameOf = (index: number) => steps[index]?.name ?? '';
  const reached = (sequence: number[], state: string) => {
    const set = new Set(sequence);
    if (!isComplete(new Set([...set].map(nameOf)))) return;
    orders += 1;
    const facts = [...set].sort().join();
    const known = ends.get(facts) ?? [];
    ends.set(facts, known);
    const same = known.find((end) => end.state === state);
    if (!same) known.push({ sequence, state });
    else if (sequence.length < same.sequence.length) same.sequence = sequence;
  };

  // Long runs are split by their first two steps. The empty start covers the shorter sequences.
  const indexes = steps.map((_, index) => index);
  const starts = length <= 4 ? [[]] : [[], ...indexes.flatMap((first) => indexes.map((second) => [first, second]))];
  const session = await sharedSession(database);
  const onNotice = ({ message }: { message?: string }) => {
    const [, sequence, state] = /^(\[.*?\]) (\{.*\})$/s.exec(message ?? '') ?? [];
    if (sequence !== undefined && state !== undefined) reached(JSON.parse(sequence), state);
  };
  session.on('notice', onNotice);
  for (const start of starts) {
    await session.query('begin');
    try {
      await session.query("select set_config('test.clock', '2026-11-20T12:00:00Z', true)");
      for (const index of start) await session.query('select test.run_step($1)', [JSON.stringify(steps[index])]);
      await session.query('select test.run_all_sequences($1, $2, $3, $4, $5)', [
        JSON.stringify(subject),
        JSON.stringify(steps),
        start,
        starts.length > 1 && start.length === 0 ? 2 : length,
        share,
      ]);
    } finally {
      await session.query('rollback');
    }
    // The rolled-back rows are still in the tables as dead tuples. A vacuum also discards plans, so short runs go without.
    if (length > 3) await database.query(`vacuum ${tables.join(', ')}`);
  }
  session.off('notice', onNotice);

  const divergences = [...ends.values()].flatMap(([first, ...others]) =>
    others.map((other): Divergence => {
      if (!first) throw new Error('a set of facts without a sequence');
      return {
        sequences: [first.sequence.map(nameOf), other.sequence.map(nameOf)],
        states: [first.state, other.state],
      };
    })
  );
  const size = ({ sequences: [one, two] }: Divergence) => one.length + two.length;
  return { orders, divergences: divergences.sort((one, two) => size(one) - size(two)) };
}
