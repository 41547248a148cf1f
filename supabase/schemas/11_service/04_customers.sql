-- What an admin reads about customers: one row for each, why they have the tier, and the search. Operations: "Customers".

-- Formats an amount in minor units, such as 19800 of INR as 198.00 INR.
create function billing.amount_text(p_amount bigint, p_currency text)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_digits constant integer := billing.minor_units(p_currency);
begin
  return round(p_amount / 10::numeric ^ v_digits, v_digits) || ' ' || p_currency;
end $$;

-- Formats the day of a time for the seller, such as 1 Nov 2026.
create function billing.day_text(p_at timestamptz)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return to_char(p_at at time zone billing.time_zone(), 'FMDD Mon YYYY'); end $$;

create view billing.received with (security_invoker = true) as
select
  p.user_id, p.id, p.extra_of, p.gateway_payment_id, p.gateway_key_id, p.captured_at as received_at, p.tier, p.currency, p.amount,
  billing.kept(p) as paid,
  p.period_start, p.period_end
from public.payments p
where p.status = 'captured' and (p.extra_of is null or p.confirmed_at is not null);
comment on view billing.received is 'What was received, in minor units: captured payments, further payments on an order, cycles.';
comment on column billing.received.paid is 'The amount without refunds and without what was lost in disputes.';

-- Returns what the gateway does with the subscription of a source next.
create function billing.state_of_billing(p_source billing.sources)
returns text -- billed (a cycle follows), paused, halted or ending
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    (
      select case
        when m.gateway_status in ('paused', 'halted') then m.gateway_status
        -- All its cycles were charged.
        when m.gateway_status = 'active' and m.charge_at is null then 'ending'
        when m.stops_at is not null or not billing.is_billed(m) then 'ending'
      end
      from billing.gateway_subscriptions m
      where (m.user_id, m.gateway_subscription_id) = (p_source.user_id, p_source.gateway_subscription_id)
    ),
    'billed'
  );
end $$;

-- Returns in one sentence why a user has the tier: the source that rules.
create function billing.why_text(p_ruling billing.ruling)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_source constant billing.sources := p_ruling.source;
  v_until constant text := coalesce(' until ' || billing.day_text(v_source.ends_at), '');
  v_name text;
begin
  if v_source.kind is null then return 'No payment, subscription or grant gives a tier.'; end if;
  v_name := case v_source.kind
    when 'payment' then (
      select format('Payment %s of %s', coalesce(p.gateway_payment_id, p.id::text), billing.day_text(p.captured_at))
      from public.payments p
      where p.id = v_source.id::uuid
    )
    when 'gateway_subscription' then format('Subscription %s of %s', v_source.id, billing.day_text(v_source.since))
    when 'grant' then (
      select format('Grant %s of %s (%s)', g.id, billing.day_text(g.at), coalesce(g.reason, 'no reason'))
      from billing.grants g
      where g.id = v_source.id::bigint
    )
    else format('The subscription row that was written by hand on %s', billing.day_text(v_source.since))
  end;
  if p_ruling.is_live then
    return v_name || ' gives ' || v_source.tier || v_until || case
      when v_source.cancel_at_period_end then ' and was cancelled for that day.'
      when v_source.ends_at < billing.clock()
        then format(', and without a renewal days of grace until %s.', billing.day_text(billing.grace_end(v_source)))
      when v_source.gateway_subscription_id is not null then case billing.state_of_billing(v_source)
          when 'billed' then (
            select case
              when num_nonnulls(n.charge_at, v_source.ends_at) = 0 then '. When the gateway charges the next cycle is not known.'
              when n.charge_at is null or billing.day_text(n.charge_at) = billing.day_text(v_source.ends_at)
                then ', when the gateway charges the next cycle.'
              -- What arrives later ranks above a row that was written by hand.
              when v_source.kind = 'manual' and n.charge_at < v_source.ends_at
                then format(', or until the gateway charges the next cycle on %s.', billing.day_text(n.charge_at))
              else format('. The gateway charges the next cycle on %s.', billing.day_text(n.charge_at))
            end
            from billing.next_charge(v_source.user_id) n
          )
          when 'paused' then '. The gateway has paused it.'
          when 'halted' then '. The gateway tries no further charge.'
          else (
            select case
              when n is null then ', and is not charged again.'
              when v_source.kind = 'manual' and (n ->> 'starts_at')::timestamptz < v_source.ends_at
                then format(', or until %s begins on %s.', n ->> 'tier', billing.day_text((n ->> 'starts_at')::timestamptz))
              else format('. Then %s begins.', n ->> 'tier')
            end
            from billing.next_change(v_source.user_id) n
          )
        end
      else '.'
    end;
  end if;
  return v_name || ' gave ' || v_source.tier || case
    -- Access may have ended before what was cancelled then.
    when (p_ruling.shown).ended_reason is distinct from 'refunded'
      and (v_source.ended_at is null or (p_ruling.shown).cancelled_at < v_source.ended_at) then v_until || case
      when v_source.lapses_at > v_source.ends_at and v_source.lapses_at < 'infinity'
        then format(', and days of grace until %s.', billing.day_text(v_source.lapses_at))
      else '.'
    end
    else format(
      ' and ended on %s: %s.',
      -- As the row and the mail say, which are settled when the end becomes known.
      billing.day_text(coalesce((p_ruling.shown).cancelled_at, v_source.ended_at)), coalesce(replace(
        case (p_ruling.shown).ended_reason when 'refunded' then 'refunded' else v_source.ended_reason end, '_', ' '
      ), 'ended')
    )
  end;
end $$;

-- Returns the findings about a user as they are now, not as the last pass found them. A function with one plan for all users,
-- because planning its statement takes longer than running it.
create function billing.findings_of(p_user_id uuid)
returns table (finding text, subject text, since timestamptz, detail jsonb, remedy text)
language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select c.finding, c.subject, c.since, c.detail - '{user_id, since, finding}'::text[], c.remedy
  from billing.customer_findings c
  where c.user_id = p_user_id
  union all
  select s.finding, s.subject, s.since, s.detail - '{user_id, since, finding}'::text[], s.remedy
  from billing.service_findings s
  where s.user_id = p_user_id
  union all
  select b.finding, b.subject, b.since, b.detail, b.remedy
  from public.payments p
  join billing.book_findings b on b.payment_id = p.id
  where p.user_id = p_user_id;
end $$;

create view billing.customers with (security_invoker = true) as
select
  u.user_id, u.email, u.name,
  coalesce(pr.subscription_tier, 'free') as tier,
  billing.why_text(found.ruling) as why,
  live.kind as source_kind, live.id as source_id, live.ends_at as until,
  case when live.ends_at <= billing.clock() then nullif(live.lapses_at, 'infinity') end as grace_until,
  case
    when exists (
      select from billing.find_billed(u.user_id) b where b.charge_at is not null and b.plan_id is not null
    ) then 'billed'
    when live.kind = 'grant' then 'complimentary'
    when live.gateway_subscription_id is not null then billing.state_of_billing((found.ruling).source)
    when live.kind = 'payment' then 'one-time'
  end as billing,
  billing.next_charge_answer(u.user_id) as next_charge,
  (select max(r.received_at) from billing.received r where r.user_id = u.user_id) as last_payment_at,
  (
    select coalesce(jsonb_object_agg(net.currency, net.amount), '{}')
    from (
      select r.currency, sum(r.paid) as amount
      from billing.received r
      where r.user_id = u.user_id
      group by r.currency
    ) net
  ) as lifetime_amounts,
  (select count(*) from billing.findings_of(u.user_id)) as open_findings,
  u.signed_up_at
from billing.users u
left join billing.profiles pr on pr.user_id = u.user_id
-- One call for each user, for the columns that read it.
left join lateral (select billing.find_shown(u.user_id) as ruling offset 0) found on true
left join lateral (select ((found.ruling).source).* where (found.ruling).is_live) live on true;
comment on view billing.customers is 'One row for each user: tier, why, and what was paid. Filter it by email or user_id.';
comment on column billing.customers.source_kind is 'payment, gateway_subscription, grant or manual (by hand). Null: none runs.';
comment on column billing.customers.until is 'End of the period, without the days of grace. Null: nothing runs, or no end.';
comment on column billing.customers.grace_until is 'After until: the end of the days of grace. Null: the gateway is asked for a charge first.';
comment on column billing.customers.billing is 'billed (a cycle follows), paused, halted, ending, one-time or complimentary. Null: none, or by hand.';
comment on column billing.customers.next_charge is 'What the gateway charges next: at, amount in minor units, currency. Null: nothing.';
comment on column billing.customers.lifetime_amounts is 'For each currency captured minus refunded and lost in disputes, minor units.';

create function billing.has_names_index()
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_catalog.pg_index i
    where i.indrelid = billing.profiles_table() and i.indexrelid::regclass::text like '%\_names\_idx'
  )
$$;

-- For parts of names. Cost: a few index entries at a sign-up and at a change of a name; a change of the tier writes none.
-- A server without the extension searches names by a scan.
create function billing.index_names()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_schema text;
begin
  if exists (select from pg_available_extensions e where e.name = 'pg_trgm' and e.installed_version is null) then
    create schema if not exists extensions;
    create extension pg_trgm with schema extensions;
  end if;
  select x.extnamespace::regnamespace into v_schema from pg_catalog.pg_extension x where x.extname = 'pg_trgm';
  if v_schema is not null and not billing.has_names_index() then
    execute format(
      $statement$
        create index %s_names_idx on %s
        using gin (lower(coalesce(display_name, '') || ' ' || coalesce(username, '')) %s.gin_trgm_ops)
      $statement$,
      (select c.relname from pg_catalog.pg_class c where c.oid = billing.profiles_table()),
      billing.profiles_table(),
      v_schema
    );
  end if;
end $$;
revoke execute on function billing.index_names() from service_role;

select billing.index_names();

-- On a small project also by any part of an address.
create function billing.search_customers(p_query text)
returns table (user_id uuid, email text, name text, tier text, found_by text) -- at most 20, the best match first
-- A part that most names have does not read the whole index.
set gin_fuzzy_search_limit = 20000
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_most constant integer := 20;
  v_query constant text := btrim(p_query);
  v_text constant text := lower(v_query);
  v_pattern constant text := replace(replace(replace(v_text, '\', '\\'), '%', '\%'), '_', '\_');
  -- The greatest text that begins with the query, in the order of the index.
  v_last constant text := greatest(v_text || repeat('z', 20), v_text || '~', v_text || chr(1114109));
  v_ids uuid[];
  v_ways text[];
begin
  if v_query = '' then return; end if;
  select array_agg(found.id order by found.rank), array_agg(found.way order by found.rank)
  into v_ids, v_ways
  from (
    select s.user_id as id, s.kind as way, 0 as rank
    from billing.subjects s
    where s.subject_id = v_query
    union all
    select paid.user_id, named.way, 0
    from (
      select f.gateway_payment_id, 'refund' as way from billing.refunds f where f.refund_id = v_query
      union all
      select d.gateway_payment_id, 'dispute' from billing.disputes d where d.dispute_id = v_query
    ) named
    cross join lateral (
      select s.user_id from billing.subjects s where s.subject_id = named.gateway_payment_id offset 0
    ) paid
    union all
    select p.user_id, 'payment', 0
    from public.payments p
    where p.id = billing.json_uuid(to_jsonb(v_text))
    union all
    select u.user_id, 'user', 0
    from billing.users u
    where u.user_id = billing.json_uuid(to_jsonb(v_text))
    union all
    (
      select u.user_id, 'email', case when u.email = v_text then 1 else 2 end
      from billing.users u
      where u.email >= v_text and u.email <= v_last and u.email like v_pattern || '%'
      order by u.email
      limit v_most
    )
    union all
    (
      -- Shorter parts have no trigram: only names that begin with them are found.
      select p.user_id, 'name', 3
      from billing.profiles p
      where lower(coalesce(p.display_name, '') || ' ' || coalesce(p.username, ''))
        like case when char_length(v_text) < 3 then '' else '%' end || v_pattern || '%'
      limit v_most
    )
  ) found
  where found.id is not null;

  -- Any part of an address has no index, so this reads all users.
  if v_ids is null
    and (select c.reltuples from pg_class c where c.relname = 'users' and c.relnamespace = 'auth'::regnamespace) < 200000
  then
    v_ids := array(select u.user_id from billing.users u where u.email like '%' || v_pattern || '%' limit v_most);
  end if;

  return query
  select u.user_id, u.email, u.name, coalesce(pr.subscription_tier, 'free'), coalesce(hit.way, 'email')
  from (
    select h.id, min(h.place) as place, (array_agg(h.way order by h.place))[1] as way
    from unnest(v_ids, v_ways) with ordinality h (id, way, place)
    group by h.id
  ) hit
  cross join lateral (select * from billing.users w where w.user_id = hit.id offset 0) u
  left join billing.profiles pr on pr.user_id = hit.id
  order by hit.place
  limit v_most;
end $$;
comment on function billing.search_customers is 
  'At most 20 customers by the beginning of an address, a part of a name, or an id of the user or of a gateway''s record.';
