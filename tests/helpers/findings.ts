import { setClock } from './clock.ts';
import type { Row, TestDatabase } from './test-database.ts';

/** The views that `private.findings` is made of. */
export type Finding =
  | 'paid_not_entitled'
  | 'entitled_not_paid'
  | 'captured_not_fulfilled'
  | 'tier_mismatch'
  | 'paid_twice'
  | 'charged_after_replacement'
  | 'charged_after_cancellation'
  | 'never_captured'
  | 'dispute_lost'
  | 'expiry_failed'
  | 'outbox_stuck'
  | 'failed_events'
  | 'missing_part'
  | 'sweep_overdue'
  | 'reconciliation_overdue'
  | 'job_failing'
  | 'call_failed'
  | 'open_function';

/**
 * How many of each a file leaves on purpose; none of what it doesn't name. `any`, with its reason beside it, is for what
 * depends on chance or on the day.
 */
export type Findings = Readonly<Partial<Record<Finding, number | 'any'>>>;

/**
 * What a file leaves wrong on purpose, and when that is judged: now, or a time at which its fixed periods run. A second
 * way into a database that is compared already is `compared elsewhere`.
 */
export type Declared = { readonly findings?: Findings | 'compared elsewhere'; readonly at?: string };

/**
 * Lets the schedule have its turn, which nothing else gives it here, and compares what is then wrong with what was
 * declared. With `isPart` only some of the tests ran: there may be less.
 * @throws with every row of a finding that differs
 */
export async function compareFindings(
  database: Pick<TestDatabase, 'query'>,
  { findings = {}, at }: Declared,
  isPart: boolean,
): Promise<void> {
  if (findings === 'compared elsewhere') return;
  if (at !== undefined) await setClock(database, at);
  await database.query('select private.sweep()');
  const rows = await database.query(`
    select finding, subject, user_id, since, detail from private.findings
    -- Most tests have no dispatcher, and wherever a clock was set what nobody tried to deliver has long been due.
    where not (finding = 'outbox_stuck' and detail @> '{"state": "due", "attempts": 0}')
    order by finding, since`);
  const found = Map.groupBy(rows, ({ finding }) => String(finding));
  const expected = new Map<string, number | 'any'>(Object.entries(findings));
  const problems = [...new Set([...expected.keys(), ...found.keys()])].sort().flatMap((finding) => {
    const there = found.get(finding) ?? [];
    const wanted = expected.get(finding) ?? 0;
    if (wanted === 'any' || there.length === wanted || isPart && there.length < wanted) return [];
    return [`  ${finding}: ${there.length}, declared ${wanted}`, ...there.map((row) => `    ${describe(row)}`)];
  });
  if (problems.length > 0) {
    throw new Error(`private.findings is not what this file declares:\n${problems.join('\n')}`);
  }
}

function describe({ subject, user_id: userId, since, detail }: Row): string {
  return `${subject} of ${userId} since ${since instanceof Date ? since.toISOString() : since} ${
    JSON.stringify(detail)
  }`;
}
