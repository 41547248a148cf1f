/** A rule of the schema. The query returns the violations, each row with a text `detail`. */
export type HouseRule = { readonly name: string; readonly violations: string };

/** Rules that the linters of the platform do not check. */
export const houseRules: readonly HouseRule[] = [
  {
    name: 'row level security is on for every table',
    violations: `
      select format('table %I.%I', n.nspname, c.relname) as detail
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'billing')
        and c.relkind in ('r', 'p')
        and not c.relrowsecurity`,
  },
  {
    name: 'every table has a comment',
    violations: `
      select format('table %I.%I', n.nspname, c.relname) as detail
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'billing')
        and c.relkind in ('r', 'p')
        and obj_description(c.oid, 'pg_class') is null`,
  },
  {
    // billing.users shows four facts about auth.users to roles that have no right in schema auth.
    name: 'every view but billing.users has the rights of its caller',
    violations: `
      select format('view %I.%I', n.nspname, c.relname) as detail
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'billing')
        and c.relkind = 'v'
        and c.oid <> 'billing.users'::regclass
        and not coalesce(c.reloptions, '{}') @> array['security_invoker=true']`,
  },
  {
    name: 'every function of the API has a comment',
    violations: `
      select format('function %s', p.oid::regprocedure) as detail
      from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and obj_description(p.oid, 'pg_proc') is null`,
  },
  {
    // Without pg_temp at the end Postgres looks for types and relations in the caller's pg_temp first.
    name: 'every function has search_path = pg_catalog, pg_temp',
    violations: `
      select format('function %s', p.oid::regprocedure) as detail
      from pg_proc p
      where p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)
        and not coalesce(p.proconfig, '{}') @> array['search_path=pg_catalog, pg_temp']`,
  },
  {
    // Such a plan costs more than what Postgres compiles from.
    name: 'every function with enable_seqscan = off has jit = off',
    violations: `
      select format('function %s', p.oid::regprocedure) as detail
      from pg_proc p
      where p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)
        and p.proconfig @> array['enable_seqscan=off']
        and not p.proconfig @> array['jit=off']`,
  },
  {
    // These have no parameter: each caller's own access, and what everybody may see.
    name:
      'no security definer function but own_access and tiers_on_offer is in a schema of the API or callable by a client',
    violations: `
      select format('function %s', p.oid::regprocedure) as detail
      from pg_proc p
      where p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)
        and p.prosecdef
        and p.oid not in ('billing.own_access()'::regprocedure, 'billing.tiers_on_offer()'::regprocedure)
        and (
          p.pronamespace = 'public'::regnamespace
          or has_function_privilege('anon', p.oid, 'execute')
          or has_function_privilege('authenticated', p.oid, 'execute')
        )`,
  },
  {
    name: 'no function is executable by public',
    violations: `
      select format('function %s', p.oid::regprocedure) as detail
      from pg_proc p
      cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
      where p.pronamespace in ('public'::regnamespace, 'billing'::regnamespace)
        and a.grantee = 0`,
  },
  {
    name: 'every foreign key has an index that starts with its columns',
    violations: `
      select format('foreign key %I of %s', k.conname, k.conrelid::regclass) as detail
      from pg_constraint k
      where k.contype = 'f'
        and k.connamespace in ('public'::regnamespace, 'billing'::regnamespace)
        and not exists (
          select
          from pg_index i
          where i.indrelid = k.conrelid
            and coalesce(
              pg_get_expr(i.indpred, i.indrelid) = (
                select format('(%I IS NOT NULL)', a.attname)
                from pg_attribute a
                where a.attrelid = k.conrelid
                  and a.attnum = k.conkey[1]
              ),
              true
            )
            and (i.indkey::smallint[])[0:cardinality(k.conkey) - 1] @> k.conkey
        )`,
  },
];
