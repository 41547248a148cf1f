import type pg from 'pg';

/** A table, column, function, view or composite type of schemas `public` and `billing`. */
export type SchemaObject = {
  readonly kind: 'table' | 'column' | 'function' | 'view' | 'type';
  /** With the types of the parameters. */
  readonly identity: string;
  /** Schema and name. */
  readonly name: string;
  /** What `create or replace` can't change: type, parameters and result, columns. */
  readonly header: string;
  readonly definition: string;
  /** Its place in `pg_depend`. */
  readonly address: readonly [classid: number, objid: number, objsubid: number];
};

export async function readObjects(client: Pick<pg.Client, 'query'>): Promise<SchemaObject[]> {
  return (await client.query<SchemaObject>(objects)).rows;
}

/** Whether the later object can take the place of the earlier one without a drop. */
export function fits(before: SchemaObject, after: SchemaObject | undefined): boolean {
  // Columns of views and types can be added at the end.
  return before.kind === 'view' || before.kind === 'type'
    ? after?.header.startsWith(before.header) ?? false
    : after?.header === before.header;
}

/** Drops functions, views and types, and all that depends on them or on columns that change. Tables stay, with their rows. */
export async function dropStatements(
  client: Pick<pg.Client, 'query'>,
  changed: readonly SchemaObject[],
): Promise<string[]> {
  const { rows } = await client.query<{ type: string; identity: string }>(dependants, [
    JSON.stringify(changed.map(({ address }) => address)),
  ]);
  return rows.flatMap(({ type, identity }) => {
    const [, name, table] = /^(.+) on (\S+)$/.exec(identity) ?? [];
    const [, owner, column] = /^for (.+)\.(.+)$/.exec(identity) ?? [];
    if (type === 'table constraint') return [`alter table ${table} drop constraint ${name};`];
    if (type === 'default value') return [`alter table ${owner} alter column ${column} drop default;`];
    return ['function', 'view', 'type', 'index', 'trigger', 'policy'].includes(type)
      ? [`drop ${type} ${identity};`]
      : [];
  });
}

const objects = `
select case when p.oid is not null then 'function' end as kind, i.identity, n.nspname || '.' || p.proname as name,
  concat(pg_get_function_arguments(p.oid), ' returns ', pg_get_function_result(p.oid)) as header,
  pg_get_functiondef(p.oid) as definition, json_build_array('pg_proc'::regclass::oid, p.oid, 0) as address
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
cross join lateral pg_identify_object('pg_proc'::regclass, p.oid, 0) i
where n.nspname in ('public', 'billing')
  and p.prokind = 'f'
union all
select case c.relkind when 'v' then 'view' when 'c' then 'type' else 'table' end, i.identity, n.nspname || '.' || c.relname,
  case
    when c.relkind in ('v', 'c') then (
      select string_agg(format('%I %s, ', a.attname, format_type(a.atttypid, a.atttypmod)), '' order by a.attnum)
      from pg_attribute a
      where a.attrelid = c.oid
        and a.attnum > 0
        and not a.attisdropped
    )
    else ''
  end,
  case when c.relkind = 'v' then concat(c.reloptions, pg_get_viewdef(c.oid)) else '' end,
  case
    when c.relkind = 'c' then json_build_array('pg_type'::regclass::oid, c.reltype, 0)
    else json_build_array('pg_class'::regclass::oid, c.oid, 0)
  end
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
cross join lateral pg_identify_object('pg_class'::regclass, c.oid, 0) i
where n.nspname in ('public', 'billing')
  and c.relkind in ('r', 'v', 'c')
union all
select 'column', i.identity, n.nspname || '.' || c.relname, format_type(a.atttypid, a.atttypmod), '',
  json_build_array('pg_class'::regclass::oid, c.oid, a.attnum)
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
cross join lateral pg_identify_object('pg_class'::regclass, c.oid, a.attnum) i
where n.nspname in ('public', 'billing')
  and c.relkind = 'r'`;

// A rule stands for its view, and the relation of a composite type for the type.
const dependants = `
with recursive edges as (
  select d.refclassid, d.refobjid, d.refobjsubid,
    case
      when r.oid is not null then 'pg_class'::regclass::oid
      when c.oid is not null then 'pg_type'::regclass::oid
      else d.classid
    end as classid,
    coalesce(r.ev_class, c.reltype, d.objid) as objid
  from pg_depend d
  left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
  left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid and c.relkind = 'c'
  where d.deptype in ('n', 'i')
),
dropped (classid, objid, objsubid) as (
  select (address ->> 0)::oid, (address ->> 1)::oid, (address ->> 2)::integer
  from json_array_elements($1) address
  union
  select e.classid, e.objid, 0
  from dropped x
  join edges e on e.refclassid = x.classid and e.refobjid = x.objid and (x.objsubid = 0 or e.refobjsubid = x.objsubid)
)
select case when i.type = 'composite type' then 'type' else i.type end as type, i.identity
from dropped d
cross join lateral pg_identify_object(d.classid, d.objid, 0) i
left join pg_type t on d.classid = 'pg_type'::regclass and t.oid = d.objid
left join pg_class c on c.oid = t.typrelid
left join pg_trigger g on d.classid = 'pg_trigger'::regclass and g.oid = d.objid
where d.objsubid = 0
  -- Row types and array types go with what they belong to, and the triggers of a foreign key with it.
  and (t.oid is null or c.relkind = 'c')
  and g.tgisinternal is not true`;
