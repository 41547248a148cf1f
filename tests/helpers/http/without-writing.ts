import { expect } from 'vitest';
import type { TestDatabase } from '../database/test-database.ts';
import { readRowsExcept } from '../records/read-records.ts';

/** What each delivery of an event writes. */
export const ledger = ['billing.gateway_events', 'billing.unsettled_events', 'billing.scheduled_jobs'];

/** Asserts that work writes no row of schemas public and billing, but for these tables. @returns what work returns */
export async function withoutWriting<T>(
  database: TestDatabase,
  work: () => Promise<T>,
  left: string[] = [],
): Promise<T> {
  const before = await readRowsExcept(database, left);
  const result = await work();
  expect(await readRowsExcept(database, left)).toEqual(before);
  return result;
}
