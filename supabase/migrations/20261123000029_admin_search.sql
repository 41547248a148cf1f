-- The search for a customer. Operations: "Customers".

-- For parts of names. Cost: a few index entries at a sign-up and at a change of a name; a change of the tier writes none.
-- A server without the extension searches names by a scan.
do $index$
declare
  v_schema text;
begin
  if exists (select from pg_available_extensions e where e.name = 'pg_trgm' and e.installed_version is null) then
    create schema if not exists extensions;
    create extension pg_trgm with schema extensions;
  end if;
  select x.extnamespace::regnamespace into v_schema from pg_catalog.pg_extension x where x.extname = 'pg_trgm';
  if v_schema is not null then
    execute format(
      $statement$
        create index profiles_names_idx on public.profiles
        using gin (lower(coalesce(display_name, '') || ' ' || coalesce(username, '')) %s.gin_trgm_ops)
      $statement$,
      v_schema
    );
  end if;
end
$index$;

-- Finds customers: by the beginning of an e-mail address, a part of a name, or a whole id (of the user, an order, payment,
-- refund or subscription). On a small project also by any part of an address.
create function private.search_customers(
  p_query text
)
returns table (user_id uuid, email text, name text, tier text, found_by text) -- at most 20, the best match first
language plpgsql
stable
set search_path = ''
set enable_seqscan = off
-- A part that most names have does not read the whole index.
set gin_fuzzy_search_limit = 20000
as $$
declare
  v_most constant integer := 20;
  v_query constant text := btrim(p_query);
  v_text constant text := lower(v_query);
  v_pattern constant text := replace(replace(replace(v_text, '\', '\\'), '%', '\%'), '_', '\_');
  -- The greatest text that begins with the query, in the order of the index.
  v_last constant text := greatest(v_text || repeat('z', 20), v_text || '~', v_text || chr(1114109));
  v_ids uuid[] := '{}';
  v_ways text[] := '{}';
  v_found record;
begin
  if v_query = '' then
    return;
  end if;
  for v_found in
    select found.id, found.way
    from (
      select s.user_id as id, s.kind as way, 0 as rank
      from private.subjects s
      where s.subject_id = v_query
      union all
      select paid.user_id, 'refund', 0
      from private.refunds f
      cross join lateral (
        select s.user_id from private.subjects s where s.subject_id = f.gateway_payment_id offset 0
      ) paid
      where f.refund_id = v_query
      union all
      select p.user_id, 'payment', 0
      from public.payments p
      where p.id = private.json_uuid(to_jsonb(v_text))
      union all
      select u.user_id, 'user', 0
      from private.users u
      where u.user_id = private.json_uuid(to_jsonb(v_text))
      union all
      (
        select u.user_id, 'email', case when u.email = v_text then 1 else 2 end
        from private.users u
        where u.email >= v_text
          and u.email <= v_last
          and u.email like v_pattern || '%'
        order by u.email
        limit v_most
      )
    ) found
    where found.id is not null
    order by found.rank
  loop
    v_ids := v_ids || v_found.id;
    v_ways := v_ways || v_found.way;
  end loop;

  -- Shorter parts have no trigram: only names that begin with them are found.
  if cardinality(v_ids) < v_most then
    for v_found in
      select p.user_id as id
      from public.profiles p
      where lower(coalesce(p.display_name, '') || ' ' || coalesce(p.username, ''))
        like case when char_length(v_text) < 3 then '' else '%' end || v_pattern || '%'
      limit v_most
    loop
      v_ids := v_ids || v_found.id;
      v_ways := v_ways || 'name'::text;
    end loop;
  end if;

  -- Any part of an address has no index, so this reads all users.
  if cardinality(v_ids) = 0
    and (
      select c.reltuples
      from pg_catalog.pg_class c
      where c.relname = 'users'
        and c.relnamespace = (select n.oid from pg_catalog.pg_namespace n where n.nspname = 'auth')
    ) < 200000
  then
    for v_found in
      select u.user_id as id from private.users u where u.email like '%' || v_pattern || '%' limit v_most
    loop
      v_ids := v_ids || v_found.id;
      v_ways := v_ways || 'email'::text;
    end loop;
  end if;

  return query
  select u.user_id, u.email, u.name, coalesce(pr.subscription_tier, 'free'), hit.way
  from (
    select h.id, min(h.place) as place, (array_agg(h.way order by h.place))[1] as way
    from unnest(v_ids, v_ways) with ordinality h (id, way, place)
    group by h.id
  ) hit
  cross join lateral (select * from private.users w where w.user_id = hit.id offset 0) u
  left join public.profiles pr on pr.user_id = hit.id
  order by hit.place
  limit v_most;
end
$$;
comment on function private.search_customers(text) is
  'At most 20 customers by the beginning of an e-mail address, a part of a name, or a whole id of the user, an order, a '
  'payment, a refund or a subscription.';

revoke execute on all functions in schema private from public;
