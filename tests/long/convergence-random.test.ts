import { afterAll, beforeAll, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { proveRandomSets } from '../helpers/orderings/random-sets.ts';
import { installRunner } from '../helpers/orderings/run-sequence.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await installRunner(database);
});
afterAll(() => database.close());

test.each([0, 1, 2, 3])(
  'fifty random sets of facts give the same result in each of fourteen orders: part %i',
  async (part) => {
    await proveRandomSets(database, Array.from({ length: 50 }, (_, index) => part * 50 + index));
  },
);

test.each(Array.from({ length: 20 }, (_, part) => part))(
  'a hundred random sets of facts give the same result in each of fourteen orders: part %i',
  async (part) => {
    await proveRandomSets(database, Array.from({ length: 100 }, (_, index) => 1000 + part * 100 + index));
  },
);
