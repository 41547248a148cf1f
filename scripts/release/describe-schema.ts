import type pg from 'pg';

/**
 * Describes schemas public, billing and the history of migrations, and our triggers on `auth.users`: one sorted line for
 * each column, constraint, index, function, trigger, view, policy, type, right, default privilege, extension and comment.
 * Two databases with equal lines have the same schema. The columns of a table may differ in their order: a migration adds
 * them at the end.
 */
export async function describeSchema(client: Pick<pg.Client, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(description);
  return rows.map(({ line }) => line);
}

const description = `
with schemas as (
  select n.oid, n.nspname, n.nspacl
  from pg_namespace n
  where n.nspname in ('public', 'billing', 'supabase_migrations')
),
relations as (
  select c.oid, c.oid::regclass::text as name, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.reloptions,
    coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's'::"char" else 'r' end, c.relowner)) as relacl
  from pg_class c
  join schemas s on s.oid = c.relnamespace
),
routines as (
  select p.oid, p.oid::regprocedure::text as name, coalesce(p.proacl, acldefault('f', p.proowner)) as proacl
  from pg_proc p
  join schemas s on s.oid = p.pronamespace
),
types as (
  select t.oid, t.oid::regtype::text as name, t.typtype, t.typbasetype, t.typacl, t.typowner
  from pg_type t
  join schemas s on s.oid = t.typnamespace
),
rights (name, acl) as (
  select 'schema ' || nspname, nspacl from schemas
  union all
  select name, relacl from relations where relkind in ('r', 'p', 'v', 'm', 'S')
  union all
  select name, coalesce(typacl, acldefault('T', typowner)) from types where typtype in ('e', 'd')
  union all
  select name, proacl from routines
  union all
  select format('column %s.%I', r.name, a.attname), a.attacl
  from relations r
  join pg_attribute a on a.attrelid = r.oid
  union all
  select format('default in %s of %s', coalesce(s.nspname, 'all schemas'), d.defaclobjtype), d.defaclacl
  from pg_default_acl d
  left join schemas s on s.oid = d.defaclnamespace
  where s.oid is not null or d.defaclnamespace = 0
)
select line
from (
  select format(
    'column %s %s%I %s not null: %s identity: %s generated: %s default: %s', r.name,
    case
      when r.relkind in ('v', 'c') then row_number() over (partition by r.oid order by a.attnum) || ' '
    end,
    a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
    pg_get_expr(d.adbin, d.adrelid)
  ) as line
  from relations r
  join pg_attribute a on a.attrelid = r.oid
  left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
  where r.relkind in ('r', 'p', 'v', 'c')
    and a.attnum > 0
    and not a.attisdropped
  union all
  select format('relation %s %s %s %s %s', r.name, r.relkind, r.relrowsecurity, r.relforcerowsecurity, r.reloptions)
  from relations r
  union all
  select format('type %s %s %s', t.name, t.typtype, nullif(t.typbasetype, 0)::regtype)
  from types t
  union all
  select format('values of %s: %s', t.name, string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder))
  from types t
  join pg_enum e on e.enumtypid = t.oid
  group by t.name
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
  select format('trigger, enabled %s: %s', t.tgenabled, pg_get_triggerdef(t.oid))
  from pg_trigger t
  where not t.tgisinternal
    and (t.tgrelid in (select oid from relations) or t.tgfoid in (select oid from routines))
  union all
  select format(
    'policy %s on %s.%s: %s %s %s using %s with check %s', p.policyname, p.schemaname, p.tablename, p.permissive, p.cmd,
    p.roles, p.qual, p.with_check
  )
  from pg_policies p
  join schemas s on s.nspname = p.schemaname
  union all
  select format('right on %s: %s', r.name, item)
  from rights r
  cross join lateral unnest(r.acl::text[]) item
  union all
  select 'extension ' || e.extname
  from pg_extension e
  union all
  -- A statement that makes the comment.
  select format(
    'comment on %s %s is %L',
    case when i.type like '% column' then 'column' else regexp_replace(i.type, '^(table|composite|domain) ', '') end,
    i.identity,
    d.description
  )
  from pg_description d
  cross join lateral pg_identify_object(d.classoid, d.objoid, d.objsubid) i
  left join pg_trigger t on d.classoid = 'pg_trigger'::regclass and t.oid = d.objoid
  where i.identity ~ '(^| on )(public|billing)[.]'
    or i.type = 'schema' and i.name in (select s.nspname from schemas s)
    or t.tgfoid in (select oid from routines)
) lines
order by line`;
