import type { RetentionConfig } from '../config.ts';
import type { Database } from '../ports.ts';

/** A batch is at most 1,000 records of each table. The next call deletes what is left. */
const maxBatches = 20;

/**
 * Deletes the records that are older than their retention, in batches. A failure is logged and does not fail the
 * request: the next call retries.
 */
export async function purgeRecords(
  database: Pick<Database, 'purgeRecords'>,
  retention: RetentionConfig,
  logFault: (error: unknown) => void,
): Promise<void> {
  try {
    for (let batch = 0; batch < maxBatches; batch += 1) {
      if ((await database.purgeRecords(retention)).purged === 0) return;
    }
  } catch (error) {
    logFault(error);
  }
}
