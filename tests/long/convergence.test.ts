import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/child.ts';
import { proveEveryOrder, proveGeneratedOrders, proveRaces } from '../helpers/orderings/prove.ts';
import { type ScenarioName, scenarioNames } from '../helpers/orderings/scenarios.ts';
import { prepareToWalk } from '../helpers/orderings/walk.ts';
import { countDeadlocks } from '../helpers/racers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await prepareToWalk(database);
});
afterAll(() => database.close());

/** Those of six or seven steps have far more orders of six than the rest together. */
const shorter: Partial<Record<ScenarioName, number>> = {
  'order on its way': 5,
  'two payments on one order': 5,
  'two purchases, the second adds to the first': 5,
  'three purchases that add to each other': 5,
  'purchase and subscription with charges': 5,
  'two subscriptions': 5,
};

test.each(scenarioNames)('every order of five or six steps ends as its facts do: %s', async (name) => {
  const length = shorter[name] ?? 6;
  const began = performance.now();
  const orders = await proveEveryOrder(database, name, { length, sessions: 2 });
  const seconds = Math.round((performance.now() - began) / 1000);
  writeLine(`${orders} orders of up to ${length} steps end as their facts do: ${name} (${seconds} s)`);
  expect(orders).toBeGreaterThan(2000);
});

test.each(scenarioNames)('generated orders of up to all steps three times end as their facts do: %s', async (name) => {
  await proveGeneratedOrders(database, name, { numRuns: 100 });
});

test('two hundred and four random orders on eight connections at once end as their facts do', async () => {
  await proveRaces(database, scenarioNames, Array.from({ length: 204 }, (_, seed) => seed));
  expect(await countDeadlocks(database, [])).toBe(0);
});
