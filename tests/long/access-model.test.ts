import { afterAll, beforeAll, test } from 'vitest';
import { proveHistories } from '../helpers/access-model/prove-histories.ts';
import { type NewSubject, prepareSubjects } from '../helpers/access-model/prepare-subjects.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let database: TestDatabase;
let newSubject: NewSubject;
beforeAll(async () => {
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  newSubject = await prepareSubjects(database);
});
afterAll(() => database.close());

// The first 25 of them are those of `npm test`.
test('150 random histories of a fixed seed match the model', async () => {
  await proveHistories(newSubject, { numRuns: 150, seed: 20261121 });
});

// In parts, so that each fits into the time limit of one test. Each run draws new histories; in CI the seeds
// are fixed.
test.each(Array.from({ length: 10 }, (_, part) => part + 1))(
  '2,000 random histories match the model: part %i of 10',
  async (part) => {
    await proveHistories(newSubject, { numRuns: 200, ...(Deno.env.get('CI') && { seed: part }) });
  },
);
