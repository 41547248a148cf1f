import fc from 'fast-check';
import { expect } from 'vitest';
import { endOfSequence, replayCommand } from './run-sequence.ts';
import { createScenario, type ScenarioName } from './scenarios.ts';
import { sharedSession } from '../database/session.ts';
import type { TestDatabase } from '../database/test-database.ts';

/** Proves it for random sequences that are too long to run all of them. fast-check shrinks a failing sequence. */
export async function proveGeneratedSequences(
  database: TestDatabase,
  name: ScenarioName,
  parameters: { numRuns: number; seed?: number },
): Promise<void> {
  const scenario = await createScenario(database, name);
  const session = await sharedSession(database);
  const end = async (sequence: readonly string[]) => JSON.stringify(await endOfSequence(session, scenario, sequence));
  const names = scenario.steps.map((step) => step.name);
  const sequences = fc.shuffledSubarray([...names, ...names, ...names], { minLength: 1 })
    .filter((sequence) => scenario.isComplete(new Set(sequence)));
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      const facts = names.filter((step) => sequence.includes(step));
      expect(await end(sequence), replayCommand(name, sequence)).toBe(await end(facts));
    }),
    { ...parameters, verbose: 0 },
  );
}
