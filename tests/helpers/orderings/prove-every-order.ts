import { expect } from 'vitest';
import type { TestDatabase } from '../test-database.ts';
import { replayCommand } from './replay-command.ts';
import { type ScenarioName, stage } from './scenarios.ts';
import { walk } from './walk.ts';

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
    words.map((word, index) => `${replayCommand(name, word)}\n${states[index]}`)
  );
  expect(different.join('\n'), `${divergences.length} sets of facts end differently`).toBe('');
  return orders;
}
