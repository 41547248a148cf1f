import { openSession } from '../session.ts';
import type { TestDatabase } from '../test-database.ts';
import type { Scenario } from './scenarios.ts';

/** Two orders of the same facts that end differently. */
export type Divergence = { readonly words: [string[], string[]]; readonly states: [string, string] };

const tables = [
  'public.payments',
  'public.subscriptions',
  'public.profiles',
  'private.gateway_events',
  'private.outbox',
];

/**
 * Executes every order of a scenario's steps up to a length, each step at most twice, and compares where those of the
 * same facts end: one step twice is one fact. Returns how many orders there were, and what differs, shortest first.
 */
export async function walk(
  database: TestDatabase,
  { subject, steps, isWhole }: Scenario,
  length: number,
): Promise<{ orders: number; divergences: Divergence[] }> {
  const ends = new Map<string, { word: number[]; state: string }[]>();
  let orders = 0;
  const nameOf = (index: number) => steps[index]?.name ?? '';
  const reached = (word: number[], state: string) => {
    const set = new Set(word);
    if (!isWhole(new Set([...set].map(nameOf)))) return;
    orders += 1;
    const facts = [...set].sort().join();
    const known = ends.get(facts) ?? [];
    ends.set(facts, known);
    const same = known.find((end) => end.state === state);
    if (!same) known.push({ word, state });
    else if (word.length < same.word.length) same.word = word;
  };

  // A long walk is divided by its first two steps; an empty start stands for what is shorter.
  const indexes = steps.map((_, index) => index);
  const starts = length <= 4 ? [[]] : [[], ...indexes.flatMap((first) => indexes.map((second) => [first, second]))];
  const session = await openSession(database, { role: 'service_role' });
  session.on('notice', ({ message }) => {
    const [, word, state] = /^(\[.*?\]) (\{.*\})$/s.exec(message ?? '') ?? [];
    if (word !== undefined && state !== undefined) reached(JSON.parse(word), state);
  });
  for (const start of starts) {
    await session.query('begin');
    await session.query("select set_config('test.clock', '2026-11-20T12:00:00Z', true)");
    for (const index of start) await session.query('select test.take_step($1)', [JSON.stringify(steps[index])]);
    await session.query('select test.walk($1, $2, $3, $4)', [
      JSON.stringify(subject),
      JSON.stringify(steps),
      start,
      starts.length > 1 && start.length === 0 ? 2 : length,
    ]);
    await session.query('rollback');
    // What was rolled back lies in the tables still.
    await database.query(`vacuum ${tables.join(', ')}`);
  }
  await session.end();

  const divergences = [...ends.values()].flatMap(([first, ...others]) =>
    others.map((other): Divergence => {
      if (!first) throw new Error('a set of facts that no order has');
      return {
        words: [first.word.map(nameOf), other.word.map(nameOf)],
        states: [first.state, other.state],
      };
    })
  );
  const size = ({ words: [one, two] }: Divergence) => one.length + two.length;
  return { orders, divergences: divergences.sort((one, two) => size(one) - size(two)) };
}
