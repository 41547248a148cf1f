import { expect } from 'vitest';
import { runAllSequences } from './run-all-sequences.ts';
import { replayCommand } from './run-sequence.ts';
import { createScenario, type ScenarioName } from './scenarios.ts';
import type { TestDatabase } from '../database/test-database.ts';

/**
 * Proves that all sequences of a scenario's steps end in the same state if they contain the same steps. A sequence has
 * at most `length` steps, and each step at most twice; `share` as `runAllSequences` takes it. Returns the number of sequences. @throws with two sequences to
 * replay where the states differ.
 */
export async function proveAllSequences(
  database: TestDatabase,
  name: ScenarioName,
  length: number,
  share = 1,
): Promise<number> {
  const { orders, divergences } = await runAllSequences(database, await createScenario(database, name), length, share);
  const different = divergences.slice(0, 3).flatMap(({ sequences, states }) =>
    sequences.map((sequence, index) => `${replayCommand(name, sequence)}\n${states[index]}`)
  );
  expect(different.join('\n'), `${divergences.length} sets of facts end differently`).toBe('');
  return orders;
}
