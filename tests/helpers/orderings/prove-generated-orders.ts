import fc from 'fast-check';
import { expect } from 'vitest';
import { openSession } from '../session.ts';
import type { TestDatabase } from '../test-database.ts';
import { replayCommand } from './replay-command.ts';
import { type ScenarioName, stage } from './scenarios.ts';
import { takeSteps } from './take-steps.ts';

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
  const words = fc.shuffledSubarray([...names, ...names, ...names], { minLength: 1 })
    .filter((word) => scenario.isWhole(new Set(word)));
  await fc.assert(
    fc.asyncProperty(words, async (word) => {
      const facts = names.filter((step) => word.includes(step));
      expect(await end(word), replayCommand(name, word)).toBe(await end(facts));
    }),
    { ...parameters, verbose: 0 },
  );
  await session.end();
}
