import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareToWalk } from '../helpers/orderings/prepare-to-walk.ts';
import { proveRaces } from '../helpers/orderings/prove-races.ts';
import { scenarioNames } from '../helpers/orderings/scenarios.ts';
import { countDeadlocks } from '../helpers/racers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  // Of two payments on one order neither was given back.
  database = await createTestDatabase({ findings: { paid_twice: 1 } });
  await prepareToWalk(database);
});
afterAll(() => database.close());

// Two hundred seeds: tests/long.
test('seventy-two random orders on eight connections at once end as their facts do one after the other', async () => {
  await proveRaces(database, scenarioNames, Array.from({ length: 72 }, (_, seed) => seed));
  expect(await countDeadlocks(database, [])).toBe(0);
});
