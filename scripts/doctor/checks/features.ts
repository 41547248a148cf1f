import { z } from 'zod';
import { type Check, pass, warn } from '../check.ts';

const named = z.object({ feature: z.string(), tables: z.string(), is_known: z.boolean() });

/** Each feature that a policy of the app asks for is one of a plan. An unknown one is false for everybody. */
export const features: Check = {
  name: 'features',
  needs: ['database'],

  async run(context) {
    const rows = await context.query(`
      select
        replace(m.found[1], '''''', '''') as feature,
        string_agg(distinct format('%I.%I', p.schemaname, p.tablename), ', ') as tables,
        exists (select from public.plans n where n.entitlements ? replace(m.found[1], '''''', '''')) as is_known
      from pg_catalog.pg_policies p
      cross join lateral regexp_matches(
        concat_ws(' ', p.qual, p.with_check), '(?:has_feature|feature_limit)\\(''((?:[^'']|'''')+)''', 'g'
      ) m (found)
      group by 1, m.found
      order by 1`);
    const asked = z.array(named).parse(rows);
    if (asked.length === 0) return [pass('no policy asks for a feature')];
    const unknown = asked.filter(({ is_known }) => !is_known);
    if (unknown.length === 0) return [pass(`plans have each feature that policies ask for: ${asked.length}`)];
    return unknown.map(({ feature, tables }) =>
      warn(
        `no plan has the feature "${feature}", for which policies of ${tables} ask`,
        'Correct its name there, or add it to plans.entitlements: until then it is false for everybody.',
      )
    );
  },
};
