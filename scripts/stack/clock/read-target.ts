import postgres, { type ISql } from 'postgres';

/** The time to move to: Unix seconds, or null for the machine's time. */
export type Target = { status: 'found'; at: number | null } | { status: 'refused'; reason: string };

/**
 * Adds an interval to the stack's time. The database reads it: '1 month' is a calendar month.
 * @param interval as Postgres writes it; undefined: back to the machine's time
 */
export async function readTarget(sql: ISql, interval: string | undefined): Promise<Target> {
  if (interval === undefined) return { status: 'found', at: null };
  try {
    const [row] = await sql`select extract(epoch from billing.clock() + ${interval}::text::interval)::float8 as at`;
    return { status: 'found', at: row?.at };
  } catch (error) {
    // Class 22: no interval, or one that leads beyond the times that Postgres knows.
    if (!(error instanceof postgres.PostgresError) || !error.code.startsWith('22')) throw error;
    return { status: 'refused', reason: `'${interval}' is no interval: ${error.message}` };
  }
}
