import { afterAll, beforeAll, expect, test } from 'vitest';
import { countDeadlocks } from '../helpers/database/racers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { findingsOfRaces, installRunner, proveRaces } from '../helpers/orderings/prove-orders.ts';
import { scenarioNames } from '../helpers/orderings/scenarios.ts';
import { isLong, seedOfDay } from '../helpers/project/suite.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ findings: findingsOfRaces });
  await installRunner(database);
});
afterAll(() => database.close());

test('random orders of each scenario, on eight connections at once, give the result of serial execution', async () => {
  const first = isLong ? seedOfDay * 100 : 0;
  const count = scenarioNames.length * (isLong ? 3 : 1);
  await proveRaces(database, Array.from({ length: count }, (_, index) => first + index));
  expect(await countDeadlocks(database, [])).toBe(0);
});
