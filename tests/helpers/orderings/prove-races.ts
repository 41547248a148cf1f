import { expect } from 'vitest';
import { seededRandom, shuffle } from './permutations.ts';
import { endOfSequence, replayCommand } from './run-sequence.ts';
import { createScenario, type ScenarioName } from './scenarios.ts';
import { openRacers } from '../database/racers.ts';
import type { TestDatabase } from '../database/test-database.ts';

/** Runs one random sequence for each seed on eight connections at once: it ends as its steps do one after the other. */
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
    const scenario = await createScenario(database, name);
    const { subject, steps } = scenario;
    const some = steps.filter(() => random() < 0.8);
    const facts = some.length > 0 && scenario.isComplete(new Set(some.map(({ name }) => name))) ? some : steps;
    const sequence = shuffle([...facts, ...facts.filter(() => random() < 0.7)], random);
    const alone = await endOfSequence(first, scenario, facts.map((step) => step.name));

    const waiting = [...sequence];
    await Promise.all(sessions.map(async (session) => {
      for (let step = waiting.shift(); step; step = waiting.shift()) {
        await session.query('select test.run_step($1)', [JSON.stringify(step)]);
      }
    }));
    // An event that was delivered while its order was being stored is applied by the next sweep.
    await database.query('select billing.replay_missed_events()');
    const { rows: [row] } = await first.query(
      "select set_config('test.clock', (billing.clock() + interval '1 minute')::text, true), test.read_end($1) as state",
      [JSON.stringify(subject)],
    );
    const message = `seed ${seed}: ${replayCommand(name, sequence.map((step) => step.name))}`;
    expect(row.state, message).toEqual(alone);
  }
  await Promise.all(sessions.map((session) => session.end()));
}
