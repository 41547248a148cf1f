import type { TestDatabase } from '../database/test-database.ts';
import { readCancellation } from '../records/read-records.ts';
import { shortTime } from '../records/time.ts';

/**
 * What the gateway is to be told about the end of a subscription, and when: `at cycle end 2026-06-29`, `at once 2026-06-10`;
 * `delivered`, `withdrawn` or `nothing`.
 */
export async function told(database: TestDatabase, id: string): Promise<string> {
  const row = await readCancellation(database, id);
  if (row?.state !== 'pending') return String(row?.state ?? 'nothing');
  const due = "select next_attempt_at as at from billing.outbox where key = 'cancel-subscription/' || $1";
  return `at ${row.at} ${shortTime((await database.one(due, [id])).at)}`;
}

/** Marks the message about the end of a subscription as attempted, so that the gateway may have it. */
export async function attempt(database: TestDatabase, id: string): Promise<void> {
  await database.query(
    "update billing.outbox set attempts = 1, told_at = billing.clock() where key = 'cancel-subscription/' || $1",
    [id],
  );
}
