import { afterAll, beforeAll, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { proveRandomSets } from '../helpers/orderings/random-sets.ts';
import { installRunner } from '../helpers/orderings/run-sequence.ts';

// tests/long runs two thousand more.
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await installRunner(database);
});
afterAll(() => database.close());

test('twenty-five random sets of facts give the same result in each of fourteen orders', async () => {
  await proveRandomSets(database, Array.from({ length: 12 }, (_, seed) => seed));
});
