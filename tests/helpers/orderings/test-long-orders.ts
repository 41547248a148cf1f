import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../../scripts/stack/process/child.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { proveAllSequences } from './prove-all-sequences.ts';
import { installRunner } from './run-sequence.ts';
import { smallScenarioNames } from './scenarios.ts';

/**
 * Registers the tests of all orders of six steps for a part of the scenarios: `part` 0 to `parts` - 1. Each part is a file
 * of its own, so that the parts run side by side.
 */
export function testLongOrders(part: number, parts: number): void {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await installRunner(database);
  });
  afterAll(() => database.close());

  test.each(smallScenarioNames.filter((_, index) => index % parts === part))(
    'every order of six steps gives the result of its facts: %s',
    async (name) => {
      const orders = await proveAllSequences(database, name, 6);
      writeLine(`${orders} orders of up to 6 steps end as their facts do: ${name}`);
      expect(orders).toBeGreaterThan(name === 'order' ? 100_000 : 2000);
    },
  );
}
