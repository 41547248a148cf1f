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
    return outcomes.length > 0 ? outcomes : [pass('nothing is missing, failing or overdue')];
  },
};

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
