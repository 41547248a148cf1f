import type { TestDatabase } from './test-database.ts';

/** The findings now: kind, subject and, where it has one, the reason, outcome or state. */
export async function readFindings(database: TestDatabase): Promise<unknown[][]> {
  const rows = await database.query('select finding, subject, detail from private.findings order by finding, subject');
  return rows.map(({ finding, subject, detail }) => {
    const { reason, outcome, state } = Object(detail);
    return [finding, subject, reason ?? outcome ?? state].filter((field) => field !== undefined);
  });
}

/** `readFindings` without `outbox_stuck`: most tests have no dispatcher. */
export async function readAccessFindings(database: TestDatabase): Promise<unknown[][]> {
  return (await readFindings(database)).filter(([finding]) => finding !== 'outbox_stuck');
}
