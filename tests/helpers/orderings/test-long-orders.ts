import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../../scripts/stack/process/child.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { proveAllSequences } from './prove-all-sequences.ts';
import { installRunner } from './run-sequence.ts';
import { smallScenarioNames } from './scenarios.ts';

/** With `EVERY_ORDER=1` all orders of six steps are run, which takes an hour; else those of each sixth set of steps. */
const share = Deno.env.get('EVERY_ORDER') === '1' ? 1 : 6;

/**
 * Registers the tests of long orders for a part of the scenarios: `part` 0 to `parts` - 1. Each part is a file of its own,
 * so that the parts run side by side.
 */
export function testLongOrders(part: number, parts: number): void {
  let database: TestDatabase;
  beforeAll(async () => {
    // The findings depend on the facts that a seed picks: charges after a purchase or a cancellation, second
    // payments, and purchases that ended by the cancellation of an attached gateway subscription.
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

  test.each(smallScenarioNames.filter((_, index) => index % parts === part))(
    'orders of up to six steps give the result of their facts: %s',
    async (name) => {
      const orders = await proveAllSequences(database, name, 6, share);
      writeLine(`${orders} orders of up to 6 steps end as their facts do: ${name}`);
      expect(orders).toBeGreaterThan(500);
    },
  );
}
