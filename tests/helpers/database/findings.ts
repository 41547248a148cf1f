import { setClock } from './clock.ts';
import type { Row, TestDatabase } from './test-database.ts';

/**
 * The number of findings of each kind that a test file leaves on purpose; 0 for a kind that it does not name. `any` is
 * for a number that depends on chance or on the date; a comment beside it gives the reason.
 */
export type Findings = Readonly<Record<string, number | 'any'>>;

/**
 * The findings that a test file leaves on purpose, and the time of the comparison: now, or `at`, for files with fixed
 * periods. `compared elsewhere` is for a second connection to a database that is compared already.
 */
export type Declared = { readonly findings?: Findings | 'compared elsewhere'; readonly at?: string };

/**
 * Runs the sweep, because no scheduler runs here, and compares the findings with the declared ones. With `isPart` only
 * some of the tests ran, so there may be fewer findings.
 * @throws with every row of a kind whose number differs
 */
export async function compareFindings(
  database: Pick<TestDatabase, 'query'>,
  { findings = {}, at }: Declared,
  isPart: boolean,
): Promise<void> {
  if (findings === 'compared elsewhere') return;
  if (at !== undefined) await setClock(database, at);
  await database.query('select billing.sweep()');
  const rows = await database.query(`
    select finding, subject, user_id, since, detail from billing.findings
    -- Most tests have no dispatcher, so rows that were never attempted are overdue wherever a clock was set. The same is true
    -- of records that no test reconciled.
    where not (finding = 'outbox_stuck' and detail @> '{"state": "due", "attempts": 0}')
      and not (finding = 'untold_stop' and detail @> '{"attempts": 0}')
      and finding <> 'reconciliation_backlog'
    order by finding, since`);
  const found = Map.groupBy(rows, ({ finding }) => String(finding));
  const problems = [...new Set([...Object.keys(findings), ...found.keys()])].sort().flatMap((finding) => {
    const there = found.get(finding) ?? [];
    const wanted = findings[finding] ?? 0;
    if (wanted === 'any' || there.length === wanted || isPart && there.length < wanted) return [];
    return [`  ${finding}: ${there.length}, declared ${wanted}`, ...there.map((row) => `    ${describe(row)}`)];
  });
  if (problems.length > 0) {
    throw new Error(`billing.findings is not what this file declares:\n${problems.join('\n')}`);
  }
}

function describe({ subject, user_id: userId, since, detail }: Row): string {
  const time = since instanceof Date ? since.toISOString() : since;
  return `${subject} of ${userId} since ${time} ${JSON.stringify(detail)}`;
}

/** The findings now: kind, subject and, where it has one, the reason, outcome or state. */
export async function readFindings(database: TestDatabase): Promise<unknown[][]> {
  const rows = await database.query('select finding, subject, detail from billing.findings order by finding, subject');
  return rows.map(({ finding, subject, detail }) => {
    const { reason, outcome, state } = Object(detail);
    return [finding, subject, reason ?? outcome ?? state].filter((field) => field !== undefined);
  });
}
