import { afterAll, beforeAll, expect, test } from 'vitest';
import { countDeadlocks } from '../helpers/database/racers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { proveGeneratedSequences } from '../helpers/orderings/prove-generated-sequences.ts';
import { proveRaces } from '../helpers/orderings/prove-races.ts';
import { installRunner } from '../helpers/orderings/run-sequence.ts';
import { scenarioNames } from '../helpers/orderings/scenarios.ts';

let database: TestDatabase;
beforeAll(async () => {
  // The findings depend on the facts that a seed picks: charges after a purchase or a cancellation, second payments and
  // second charges, purchases that ended by the cancellation of an attached gateway subscription, credits of a purchase
  // that was refunded, and lost disputes.
  database = await createTestDatabase({
    findings: {
      charged_after_cancellation: 'any',
      charged_after_replacement: 'any',
      charged_twice: 'any',
      dispute_lost: 'any',
      paid_not_entitled: 'any',
      paid_twice: 'any',
      unearned_credit: 'any',
    },
  });
  await installRunner(database);
});
afterAll(() => database.close());

test.each(scenarioNames)(
  'generated orders in which each step runs up to three times give the result of their facts: %s',
  async (name) => {
    await proveGeneratedSequences(database, name, { numRuns: 20 });
  },
);

test('two hundred and sixteen random orders on eight connections at once give the result of their facts', async () => {
  await proveRaces(database, scenarioNames, Array.from({ length: 216 }, (_, seed) => seed));
  expect(await countDeadlocks(database, [])).toBe(0);
});
