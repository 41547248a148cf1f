import fc from 'fast-check';
import { expect } from 'vitest';
import { openRacers } from '../racers.ts';
import { openSession } from '../session.ts';
import type { TestDatabase } from '../test-database.ts';
import { seededRandom, shuffle } from '../permutations.ts';
import { type ScenarioName, stage } from './scenarios.ts';
import { takeSteps, walk } from './walk.ts';

const replay = (scenario: string, word: readonly string[]) =>
  `REPLAY='${scenario}: ${word.join(' ')}' npm test -- tests/database/convergence-replay.test.ts`;

/**
 * Proves that all orders of a scenario's steps, up to a length and each step at most twice, end the same where the facts
 * are the same. Returns how many orders that were. @throws with two orders to replay where they differ.
 */
export async function proveEveryOrder(
  database: TestDatabase,
  name: ScenarioName,
  length: number,
): Promise<number> {
  const { orders, divergences } = await walk(database, await stage(database, name), length);
  const different = divergences.slice(0, 3).flatMap(({ words, states }) =>
    words.map((word, index) => `${replay(name, word)}\n${states[index]}`)
  );
  expect(different.join('\n'), `${divergences.length} sets of facts end differently`).toBe('');
  return orders;
}

/** Some of many orders, longer than all of which can be tried; what fails is made as short as it can be. */
export async function proveGeneratedOrders(
  database: TestDatabase,
  name: ScenarioName,
  parameters: { numRuns: number; seed?: number },
): Promise<void> {
  const scenario = await stage(database, name);
  const session = await openSession(database, { role: 'service_role' });
  const end = async (word: readonly string[]) =>
    JSON.stringify((await takeSteps(session, scenario, word)).at(-1)?.state);
  const names = scenario.steps.map((step) => step.name);
  const words = fc.shuffledSubarray([...names, ...names, ...names], { minLength: names.length })
    .filter((word) => scenario.isWhole(new Set(word)));
  await fc.assert(
    fc.asyncProperty(words, async (word) => {
      const facts = names.filter((step) => word.includes(step));
      expect(await end(word), replay(name, word)).toBe(await end(facts));
    }),
    { ...parameters, verbose: 0 },
  );
  await session.end();
}

/** Random orders on eight connections at once, one of each seed: they end as the facts do one after the other. */
export async function proveRaces(
  database: TestDatabase,
  names: readonly ScenarioName[],
  seeds: readonly number[],
): Promise<void> {
  const sessions = await openRacers(database, 8);
  const [first] = sessions;
  if (!first) throw new Error('no sessions');
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const name = names[seed % names.length];
    if (!name) throw new Error('no scenarios');
    const scenario = await stage(database, name);
    const { subject, steps } = scenario;
    const word = shuffle([...steps, ...steps.filter(() => random() < 0.7)], random);
    const alone = await takeSteps(first, scenario, steps.map((step) => step.name));

    const waiting = [...word];
    await Promise.all(sessions.map(async (session) => {
      for (let step = waiting.shift(); step; step = waiting.shift()) {
        await session.query('select test.take_step($1)', [JSON.stringify(step)]);
      }
    }));
    // An event that came while its order was being stored is applied by the next sweep.
    await database.query('select private.replay_missed_events()');
    const { rows: [row] } = await first.query('select test.read_state($1) as state', [JSON.stringify(subject)]);
    const message = `seed ${seed}: ${replay(name, word.map((step) => step.name))}`;
    expect(row.state, message).toEqual(alone.at(-1)?.state);
  }
  await Promise.all(sessions.map((session) => session.end()));
}
