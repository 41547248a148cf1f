import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { installRunner } from '../helpers/orderings/install-runner.ts';
import { proveAllSequences } from '../helpers/orderings/prove-all-sequences.ts';
import { proveGeneratedSequences } from '../helpers/orderings/prove-generated-sequences.ts';
import { proveRaces } from '../helpers/orderings/prove-races.ts';
import { scenarioNames, smallScenarioNames } from '../helpers/orderings/scenarios.ts';
import { countDeadlocks } from '../helpers/racers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  // What the scenarios leave depends on which facts a seed picks: charges after a purchase or a cancellation, second
  // payments, and purchases that a cancellation without a plan of ours ended.
  database = await createTestDatabase({
    findings: {
      charged_after_cancellation: 'any',
      charged_after_replacement: 'any',
      paid_not_entitled: 'any',
      paid_twice: 'any',
    },
  });
  await installRunner(database);
});
afterAll(() => database.close());

// That of one order is a file of its own: it has as many orders as the others together.
test.each(smallScenarioNames.filter((name) => name !== 'order'))(
  'every order of six steps ends as its facts do: %s',
  async (name) => {
    const orders = await proveAllSequences(database, name, 6);
    writeLine(`${orders} orders of up to 6 steps end as their facts do: ${name}`);
    expect(orders).toBeGreaterThan(2000);
  },
);

test.each(scenarioNames)('generated orders of up to all steps three times end as their facts do: %s', async (name) => {
  await proveGeneratedSequences(database, name, { numRuns: 60 });
});

test('two hundred and sixteen random orders on eight connections at once end as their facts do', async () => {
  await proveRaces(database, scenarioNames, Array.from({ length: 216 }, (_, seed) => seed));
  expect(await countDeadlocks(database, [])).toBe(0);
});
