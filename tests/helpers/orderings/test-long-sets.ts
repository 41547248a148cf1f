import { afterAll, beforeAll, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { proveRandomSets } from './random-sets.ts';
import { installRunner } from './run-sequence.ts';

/** Registers the tests of half of the 2,200 random sets of facts, for each of two files that run at once. */
export function testLongSets(half: 0 | 1): void {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await installRunner(database);
  });
  afterAll(() => database.close());

  test.each([0, 1].map((part) => part + 2 * half))(
    'fifty random sets of facts give the same result in each of fourteen orders: part %i',
    async (part) => {
      await proveRandomSets(database, Array.from({ length: 50 }, (_, index) => part * 50 + index));
    },
  );

  test.each(Array.from({ length: 10 }, (_, part) => part + 10 * half))(
    'a hundred random sets of facts give the same result in each of fourteen orders: part %i',
    async (part) => {
      await proveRandomSets(database, Array.from({ length: 100 }, (_, index) => 1000 + part * 100 + index));
    },
  );
}
