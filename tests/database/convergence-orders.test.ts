import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { proveAllSequences } from '../helpers/orderings/prove-all-sequences.ts';
import { proveGeneratedSequences } from '../helpers/orderings/prove-generated-sequences.ts';
import { runAllSequences } from '../helpers/orderings/run-all-sequences.ts';
import { installRunner } from '../helpers/orderings/run-sequence.ts';
import { createScenario, scenarioNames, smallScenarioNames } from '../helpers/orderings/scenarios.ts';

// tests/long runs all orders, and longer ones.
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await installRunner(database);
});
afterAll(() => database.close());

test.each(smallScenarioNames)(
  'every order of two steps, and of each sixth set of three, gives the result of its facts: %s',
  async (name) => {
    expect(await proveAllSequences(database, name, 3, 6)).toBeGreaterThan(20);
  },
);

test.each(scenarioNames)(
  'generated orders in which each step runs up to three times give the result of their facts: %s',
  async (name) => {
    await proveGeneratedSequences(database, name, { numRuns: 2, seed: 20261120 });
  },
);

test('an order with another result is found, and reported with the two shortest lists of steps', async () => {
  // Which of two payments counts depends on arrival, so the proofs ignore it. This test compares it.
  await database.query('alter function test.read_state(jsonb) rename to read_real_state');
  await database.query(`
    create function test.read_state(p_subject jsonb) returns jsonb language sql stable
    return (
      select jsonb_build_object('counts', p.gateway_payment_id)
      from public.payments p where p.id = (p_subject #>> '{paymentIds,0}')::uuid
    )`);
  const { divergences } = await runAllSequences(
    database,
    await createScenario(database, 'two payments on one order'),
    3,
  );
  expect(divergences[0]?.sequences.map((word) => word.toSorted())).toEqual([['captured-A', 'captured-B'], [
    'captured-A',
    'captured-B',
  ]]);
});
