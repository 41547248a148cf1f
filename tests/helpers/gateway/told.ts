import type { TestDatabase } from '../database/test-database.ts';
import { shortTime } from '../records/time.ts';

/**
 * What the gateway is to be told about the end of a subscription, and when: `at cycle end 2026-06-29`, `at once 2026-06-10`;
 * `delivered`, `withdrawn` or `nothing`.
 */
export async function told(database: TestDatabase, id: string): Promise<string> {
  const [row] = await database.query(
    `select case when payload @> '{"at_cycle_end": true}' then 'at cycle end' else 'at once' end as how,
       next_attempt_at as at, delivered_at, parked_at
     from billing.outbox where key = 'cancel-subscription/' || $1`,
    [id],
  );
  if (!row) return 'nothing';
  if (row.delivered_at !== null) return 'delivered';
  return row.parked_at === null ? `${row.how} ${shortTime(row.at)}` : 'withdrawn';
}

/** Marks the message about the end of a subscription as attempted, so that the gateway may have it. */
export async function attempt(database: TestDatabase, id: string): Promise<void> {
  await database.query("update billing.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [id]);
}
