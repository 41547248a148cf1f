import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { type NewSubject, prepareSubjects } from './prepare-subjects.ts';

/** A database for histories, for the tests of the surrounding block. @returns a function that begins a history */
export function useSubjects(): NewSubject {
  let database: TestDatabase;
  let newSubject: NewSubject;
  beforeAll(async () => {
    // Each history compares the findings of its own user after each step.
    database = await createTestDatabase({ findings: 'compared elsewhere' });
    newSubject = await prepareSubjects(database);
  });
  afterAll(() => database.close());
  return (earlyRenewal) => newSubject(earlyRenewal);
}
