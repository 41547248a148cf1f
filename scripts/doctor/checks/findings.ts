import { type Check, pass, warn } from '../check.ts';
import { scheduleFindings } from './schedule.ts';

/** No finding about customers and money is open. */
export const findings: Check = {
  name: 'findings',
  needs: ['database'],

  async run({ query }) {
    const rows = await query(
      `select f.finding, count(*)::int as count
      from billing.findings f
      where f.finding <> all ($1)
      group by 1
      order by 1`,
      [scheduleFindings],
    );
    if (rows.length === 0) return [pass('billing.findings is empty')];
    const counts = rows.map(({ finding, count }) => `${count} ${finding}`).join(', ');
    return [
      warn(
        `open: ${counts}`,
        'Run "select * from billing.findings;". supabase/docs/operations.md, "Findings", explains them.',
      ),
    ];
  },
};
