import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../../scripts/stack/process/child.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { proveAllSequences } from './prove-all-sequences.ts';
import { installRunner } from './run-sequence.ts';
import { smallScenarioNames } from './scenarios.ts';

/** `EVERY_ORDER=1` runs every order of six steps, which takes an hour. */
const share = Deno.env.get('EVERY_ORDER') === '1' ? 1 : 8;

/**
 * Registers the tests of all orders of five steps, and of each eighth set of six, for a part of the scenarios: `part` 0 to
 * `parts` - 1. Each part is a file of its own, so that the parts run side by side.
 */
export function testLongOrders(part: number, parts: number): void {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await installRunner(database);
  });
  afterAll(() => database.close());

  test.each(smallScenarioNames.filter((_, index) => index % parts === part))(
    'every order of five steps, and of a part of the sets of six, gives the result of its facts: %s',
    async (name) => {
      const orders = await proveAllSequences(database, name, 6, share);
      writeLine(`${orders} orders of up to 6 steps end as their facts do: ${name}`);
      expect(orders).toBeGreaterThan(name === 'order' ? 10_000 : 500);
    },
  );
}
