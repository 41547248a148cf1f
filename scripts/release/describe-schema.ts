import type pg from 'pg';

/**
 * Describes schemas public, private and the history of migrations, and our triggers on `auth.users`: one sorted line for
 * each column, constraint, index, function, trigger, view, policy, type, right and comment. Two databases with equal lines
 * have the same schema.
 */
export async function describeSchema(client: Pick<pg.Client, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(description);
  return rows.map(({ line }) => line);
}

const description = `
with schemas as (
  select n.oid, n.nspname, n.nspacl
  from pg_namespace n
  where n.nspname in ('public', 'private', 'supabase_migrations')
),
relations as (
  select c.oid, c.oid::regclass::text as name, c.relkind, c.relacl, c.relrowsecurity, c.reloptions
  from pg_class c
  join schemas s on s.oid = c.relnamespace
),
routines as (
  select p.oid, p.oid::regprocedure::text as name, p.proacl
  from pg_proc p
  join schemas s on s.oid = p.pronamespace
),
rights (name, acl) as (
  select 'schema ' || nspname, nspacl from schemas
  union all
  select name, relacl from relations
  union all
  select name, proacl from routines
  union all
  select format('column %s.%I', r.name, a.attname), a.attacl
  from relations r
  join pg_attribute a on a.attrelid = r.oid
  union all
  select format('default in %s of %s', s.nspname, d.defaclobjtype), d.defaclacl
  from pg_default_acl d
  join schemas s on s.oid = d.defaclnamespace
)
select line
from (
  select format(
    'column %s %s %I %s not null: %s identity: %s default: %s', r.name, a.attnum, a.attname,
    format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid)
  ) as line
  from relations r
  join pg_attribute a on a.attrelid = r.oid
  left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
  where r.relkind in ('r', 'p', 'v', 'c')
    and a.attnum > 0
    and not a.attisdropped
  union all
  select format('relation %s %s %s %s', r.name, r.relkind, r.relrowsecurity, r.reloptions)
  from relations r
  union all
  select format('constraint on %s: %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
  from pg_constraint k
  join schemas s on s.oid = k.connamespace
  union all
  select 'index: ' || pg_get_indexdef(r.oid)
  from relations r
  where r.relkind = 'i'
  union all
  select format('view %s: %s', r.name, pg_get_viewdef(r.oid))
  from relations r
  where r.relkind = 'v'
  union all
  select 'function: ' || pg_get_functiondef(oid)
  from routines
  union all
  select 'trigger: ' || pg_get_triggerdef(t.oid)
  from pg_trigger t
  where not t.tgisinternal
    and (t.tgrelid in (select oid from relations) or t.tgfoid in (select oid from routines))
  union all
  select format('policy %s on %s: %s %s %s', p.policyname, p.tablename, p.cmd, p.roles, concat_ws(' / ', p.qual, p.with_check))
  from pg_policies p
  join schemas s on s.nspname = p.schemaname
  union all
  select format('right on %s: %s', r.name, item)
  from rights r
  cross join lateral unnest(r.acl::text[]) item
  union all
  select format('comment on %s %s: %s', r.name, d.objsubid, d.description)
  from pg_description d
  join (
    select oid, name from relations
    union all
    select oid, name from routines
  ) r on r.oid = d.objoid
) lines
order by line`;
