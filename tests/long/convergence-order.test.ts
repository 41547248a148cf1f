import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { proveAllSequences } from '../helpers/orderings/prove-all-sequences.ts';
import { installRunner } from '../helpers/orderings/run-sequence.ts';

// A file of its own: this scenario takes as long as the others together, and on two cores both files run at
// once.
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await installRunner(database);
});
afterAll(() => database.close());

test('every order of six steps gives the result of its facts: order', async () => {
  const orders = await proveAllSequences(database, 'order', 6);
  writeLine(`${orders} orders of up to 6 steps end as their facts do: order`);
  expect(orders).toBeGreaterThan(100_000);
});
