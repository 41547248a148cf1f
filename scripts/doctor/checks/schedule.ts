import { type Check, fail, type Outcome, pass } from '../check.ts';
import type { Context } from '../context.ts';
import { checkVault, forgetCalls } from '../vault-rows.ts';

/** The findings about extensions, jobs, Vault rows and the last calls. All others are about customers. */
export const scheduleFindings = [
  'missing_part',
  'job_failing',
  'call_failed',
  'sweep_overdue',
  'reconciliation_overdue',
  'reconciliation_backlog',
  'statement_overdue',
  'statement_repeats',
];

/** Extensions, jobs, triggers and Vault rows exist, the jobs run, and the function answers their calls. */
export const schedule: Check = {
  name: 'schedule',
  needs: ['database'],

  async run(context) {
    const rows = await context.query(
      `select
        f.finding, f.subject, f.remedy, coalesce(f.detail ->> 'error', f.detail ->> 'status_code') as cause
      from billing.findings f
      where f.finding = any ($1)
      order by 1, 2`,
      [scheduleFindings],
    );
    const vault = await checkVault(context);
    // `checkVault` reports Vault rows with a fix, so their findings are left out.
    const others = rows.filter(({ subject }) => !vault.some(({ message }) => message.includes(String(subject))));
    const outcomes = [...others.map(describe), ...vault];
    if (outcomes.length > 0) return outcomes;
    return [pass(`nothing is missing, failing or overdue; ${await describeStatement(context)}`)];
  },
};

/** How far the lists of the gateway were read, and what the last complete ones had. */
async function describeStatement(context: Context): Promise<string> {
  const [row] = await context.query(`select
    to_char(s.read_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as read_until, s.payments, s.news
    from billing.statement s where s.completed_at is not null`);
  if (row === undefined) return "the gateway's lists are not read yet: they are an hour after the installation";
  return `the gateway was read up to ${row.read_until} UTC (payments ${row.payments}, new ${row.news})`;
}

const setUp = {
  title: 'run billing.set_up() in the database: extensions, jobs, triggers on auth.users',
  async apply(context: Context) {
    await context.change('select billing.set_up()');
    await forgetCalls(context);
  },
};

function describe({ finding, subject, remedy, cause }: Record<string, unknown>): Outcome {
  if (finding === 'missing_part') {
    // billing.set_up() can't create a Vault row: it does not know the value.
    const fix = String(subject).startsWith('Vault secret ') ? undefined : setUp;
    return fail(`missing: ${subject}`, String(remedy ?? 'Run "select billing.set_up();".'), fix);
  }
  const text = `${finding}: ${subject}${cause === null ? '' : ` (${cause})`}`;
  return fail(text, String(remedy ?? 'Read its row of billing.findings.'));
}
