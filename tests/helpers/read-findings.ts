import type { TestDatabase } from './test-database.ts';

/** What is wrong now: which view says so, of what, and why where it tells. */
export async function readFindings(database: TestDatabase): Promise<unknown[][]> {
  const rows = await database.query('select finding, subject, detail from private.findings order by finding, subject');
  return rows.map(({ finding, subject, detail }) => {
    const { reason, outcome, state } = Object(detail);
    return [finding, subject, reason ?? outcome ?? state].filter((field) => field !== undefined);
  });
}

/** `readFindings` without the outbox, which most tests do not dispatch. */
export async function readAccessFindings(database: TestDatabase): Promise<unknown[][]> {
  return (await readFindings(database)).filter(([finding]) => finding !== 'outbox_stuck');
}
