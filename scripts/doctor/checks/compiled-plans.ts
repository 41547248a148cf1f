import { z } from 'zod';
import { type Check, pass, warn } from '../check.ts';

const answer = z.object({ is_available: z.boolean(), roles: z.array(z.string()), functions: z.number() });

/** No plan of the service is compiled: one that may not scan and must costs seconds of compilation. */
export const compiledPlans: Check = {
  name: 'compiled-plans',
  needs: ['database'],

  async run(context) {
    const [row] = await context.query(`
      select
        pg_jit_available() as is_available,
        array(
          select r.rolname::text
          from pg_catalog.pg_roles r
          where not coalesce(r.rolconfig, '{}') @> '{jit=off}'
            and (
              r.rolname like any ('{subscriptions\\_api%,subscriptions\\_support}')
              or exists (
                select from pg_catalog.pg_auth_members m
                where m.member = r.oid
                  and m.roleid = to_regrole('subscriptions_support')
                  and m.member <> (select n.nspowner from pg_catalog.pg_namespace n where n.nspname = 'billing')
              )
            )
          order by 1
        ) as roles,
        (
          select count(*)::int
          from pg_catalog.pg_proc p
          where p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)
            and p.proconfig @> '{enable_seqscan=off}'
            and not p.proconfig @> '{jit=off}'
        ) as functions`);
    const { is_available, roles, functions } = answer.parse(row);
    if (!is_available) return [pass('the server compiles no plans')];
    const outcomes = [
      ...roles.map((role) => warn(`the server compiles plans for ${role}`, `Run "alter role ${role} set jit = off;".`)),
      ...functions === 0 ? [] : [
        warn(
          `the server compiles plans of functions of the service, which take seconds then: ${functions}`,
          'Apply the newest migrations, or switch it off: "alter database postgres set jit = off;".',
        ),
      ],
    ];
    return outcomes.length > 0 ? outcomes : [pass('the server compiles plans, but none of the service')];
  },
};
