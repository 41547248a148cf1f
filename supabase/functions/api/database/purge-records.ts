import type { RetentionConfig } from '../config.ts';
import type { Database } from '../ports.ts';

/** A batch is at most 1,000 records of each table; what is left comes with the next call. */
const mostBatches = 20;

/**
 * Deletes the records that are older than the settings say, batch by batch until none is left. A failure is logged and
 * fails nothing: the next call tries again.
 */
export async function purgeRecords(
  database: Pick<Database, 'purgeRecords'>,
  retention: RetentionConfig,
  logFault: (error: unknown) => void,
): Promise<void> {
  try {
    for (let batch = 0; batch < mostBatches; batch += 1) {
      if ((await database.purgeRecords(retention)).purged === 0) return;
    }
  } catch (error) {
    logFault(error);
  }
}
