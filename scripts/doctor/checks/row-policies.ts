import { z } from 'zod';
import { type Check, pass, warn } from '../check.ts';

const policies = z.array(z.object({ name: z.string(), table: z.string(), condition: z.string() }));

/** The functions for policies. Contract: Entitlements. */
const call = /\b(has_feature|feature_limit|has_tier_at_least|has_tier|current_tiers?)\(/y;

/** Policies of the app ask for access once a statement, not for each row that is read. */
export const rowPolicies: Check = {
  name: 'row-policies',
  needs: ['database'],

  async run(context) {
    const rows = policies.parse(
      await context.query(`
        select p.policyname as name, format('%I.%I', p.schemaname, p.tablename) as table, p.qual as condition
        from pg_catalog.pg_policies p
        where p.qual ~ '(has_feature|feature_limit|has_tier|current_tier)'
        order by 2, 1`),
    );
    const slow = rows.flatMap(({ name, table, condition }) =>
      [...callsForEachRow(condition)].map((called) =>
        warn(
          `the policy "${name}" of ${table} calls ${called} for each row`,
          `Write (select public.${called}(…)) there; for a column with tiers ` +
            'required_tier = any ((select public.current_tiers())::text[]).',
        )
      )
    );
    return slow.length > 0 ? slow : [pass(`policies that ask for access once a statement: ${rows.length}`)];
  },
};

/** The functions that a condition, as Postgres prints it, calls outside of a subselect. */
function callsForEachRow(condition: string): Set<string> {
  const text = condition.replace(/'(?:[^']|'')*'/g, "''");
  const found = new Set<string>();
  const isSelect: boolean[] = [];
  for (let index = 0; index < text.length; index += 1) {
    call.lastIndex = index;
    const name = call.exec(text)?.[1];
    if (name !== undefined && !isSelect.includes(true)) found.add(name);
    if (text[index] === '(') isSelect.push(/^\(\s*select\b/i.test(text.slice(index)));
    else if (text[index] === ')') isSelect.pop();
  }
  return found;
}
