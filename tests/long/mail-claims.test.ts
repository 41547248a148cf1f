import { afterAll, beforeAll, expect, test } from 'vitest';
import { proveClaims } from '../helpers/access-model/prove-claims.ts';
import { type NewSubject, prepareSubjects } from '../helpers/access-model/prepare-subjects.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let database: TestDatabase;
let newSubject: NewSubject;
beforeAll(async () => {
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  newSubject = await prepareSubjects(database);
});
afterAll(() => database.close());

test('after a mail about a failed or the last charge, and no later payment, access ends when the mail says', async () => {
  const checked = await proveClaims(newSubject, { numRuns: 600, seed: 20261122 });
  expect(checked.withTime).toBeGreaterThan(40);
  expect(checked.withoutTime).toBeGreaterThan(40);
});
