-- What a user pays for and will be charged for next. Contract: "Commitments".

create function billing.price_shown(p_shown public.subscriptions)
returns billing.price -- null: nothing was sold by a price
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_shown.price_amount is null then return null; end if;
  return row(p_shown.price_key, p_shown.price_amount, p_shown.currency, p_shown.duration_months)::billing.price;
end $$;

-- What a user is committed to: what the gateway charges again, and what was bought. An act of the customer is about this, and
-- not about the source of access that rules, which may be a grant or a row that was written by hand.
create type billing.commitment as (
  user_id uuid,
  -- subscription: the gateway bills it, or its last paid cycle runs. renewal: one that was authorised and waits for the end of
  -- its purchase. change: one that waits for the end of another. purchase: an order that was paid. given: a grant or a row
  -- that was written by hand, where nothing else is there.
  kind text,
  id text, -- of the gateway subscription, or of the source
  gateway_subscription_id text, -- that the gateway may charge, or that a change follows. Null: none
  plan_id uuid,
  tier text,
  sold billing.price, -- null: nothing was sold by a price
  starts_at timestamptz, -- the period that runs: of a renewal that of its purchase. Of a change both are its start
  ends_at timestamptz,
  paid_by_kind text, -- what paid for that period: payment or gateway_subscription. Null: nothing
  paid_by_id text,
  goes_on boolean, -- the gateway charges it again, or the change that follows it
  charge_at timestamptz, -- when the gateway charges it next. Null: it does not
  since timestamptz, -- see billing.sources
  next billing.gateway_subscriptions, -- the authorised change that waits for its end. All null: none
  undo_until timestamptz, -- until when that can be undone. Null: it cannot
  stops_at timestamptz, -- when the gateway must stop billing it. Null: never
  stop_reason text -- see billing.stop; known to billing.commitments alone
);

-- Finds what the gateway may charge, and what it has cancelled for a change that follows.
create function billing.find_billed(p_user_id uuid)
returns setof billing.commitment language plpgsql stable rows 2 set search_path = pg_catalog, pg_temp as $$
begin
  -- Most users have none.
  if not exists (select from billing.gateway_subscriptions m where m.user_id = p_user_id) then return; end if;
  return query
  select
    m.user_id,
    case
      when m.period_end is not null then 'subscription'
      when m.replaces is not null then 'change'
      when m.payment_id is not null then 'renewal'
      else 'subscription'
    end,
    m.gateway_subscription_id, m.gateway_subscription_id, m.plan_id,
    (select p.tier from public.plans p where p.id = m.plan_id), m.sold,
    period.starts_at, period.ends_at, period.paid_by_kind, period.paid_by_id,
    billing.is_billed(m) and m.stops_at is null and billing.has_next_charge(m) or next.is_there is true,
    case
      when billing.is_billed(m)
        and m.stops_at is null
        -- Once halted, the gateway charges again only after the customer changed the method of payment.
        and coalesce(m.gateway_status, 'active') not in ('paused', 'halted')
        then case when m.gateway_status is null then m.period_end else m.charge_at end
    end,
    billing.since_of(m),
    next.change,
    case
      -- What the gateway has cancelled itself cannot go on.
      when next.is_there and billing.is_billed(m) and not billing.is_stop_sent(m.gateway_subscription_id)
        then (next.change).starts_at - interval '48 hours'
    end,
    m.stops_at, null::text
  from billing.gateway_subscriptions m
  left join public.payments renewed
    on renewed.id = m.payment_id
    and renewed.fulfilled_at is not null
    and m.replaces is null
  cross join lateral (
    select
      case when m.period_end is null then coalesce(renewed.period_start, m.starts_at, m.charge_at) else m.period_start end as starts_at,
      coalesce(m.period_end, renewed.period_end, m.starts_at, m.charge_at) as ends_at,
      case when m.period_end is not null then 'gateway_subscription' when renewed.id is not null then 'payment' end as paid_by_kind,
      case when m.period_end is null then renewed.id::text else m.gateway_subscription_id end as paid_by_id
  ) period
  left join lateral (
    select n as change, true as is_there
    from billing.find_successor(m.user_id, m.gateway_subscription_id) n
    where n.starts_at > billing.clock()
      and coalesce(n.stops_at > n.starts_at, true) -- else a purchase replaced it
  ) next on true
  where m.user_id = p_user_id
    and m.gateway_subscription_id <> ''
    -- An imported one is billed, too, before its first event.
    and billing.is_known(m)
    and m.gateway_status is distinct from 'created'
    and (billing.is_billed(m) or next.is_there and period.ends_at > billing.clock());
end $$;

-- The one answer to what goes on, what waits and what was bought.
create function billing.commitments(p_user_id uuid)
returns setof billing.commitment language plpgsql stable rows 3 set search_path = pg_catalog, pg_temp as $$
declare
  v_billed billing.commitment;
  v_ids text[] := '{}';
begin
  for v_billed in select b.* from billing.find_billed(p_user_id) b loop
    if v_billed.stops_at is not null then
      v_billed.stop_reason := (
        select (billing.find_stop(s)).reason
        from billing.stoppable s
        where s.user_id = p_user_id and s.gateway_subscription_id = v_billed.id
      );
    end if;
    v_ids := v_ids || v_billed.id;
    return next v_billed;
  end loop;
  return query
  select
    s.user_id, case s.kind when 'payment' then 'purchase' else 'subscription' end,
    s.id, null, s.plan_id, s.tier, s.sold, s.starts_at, s.ends_at, s.kind, s.id, false, null::timestamptz, s.since,
    null::billing.gateway_subscriptions, null::timestamptz, null::timestamptz, null::text
  from billing.sources s
  where s.user_id = p_user_id
    and s.kind in ('payment', 'gateway_subscription')
    and s.is_running
    and s.id <> all (v_ids);
end $$;

-- Finds the commitment that an act of the customer is about: what the gateway charges next; else what was bought last, and
-- runs; else what was given.
create function billing.find_commitment(p_user_id uuid)
returns billing.commitment -- all null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_billed constant billing.commitment[] := array(select b from billing.find_billed(p_user_id) b);
  v_ruling billing.ruling;
  v_source billing.sources;
  v_found billing.commitment;
begin
  select b.* into v_found
  from unnest(v_billed) b
  where b.goes_on
    -- Not the renewal of an order that is not paid yet.
    and (b.kind <> 'renewal' or b.paid_by_id is not null)
    -- What was not charged in time has lapsed with what it goes on from, until it is charged.
    and (
      greatest(b.ends_at, b.charge_at) > v_now
      or exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.is_running
          and (
            s.kind = 'manual' and s.gateway_subscription_id = b.id
            or s.kind = coalesce(b.paid_by_kind, 'gateway_subscription')
            and s.id = coalesce(b.paid_by_id, (
              select m.replaces from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (p_user_id, b.id)
            ))
          )
      )
    )
  order by b.kind = 'change', b.since desc, b.id desc
  limit 1;
  if v_found.plan_id is not null then return v_found; end if;

  -- Without a plan of ours a subscription has that of the source to which it is attached, or of the row by hand that names it.
  if v_found.id is not null then
    v_ruling := billing.find_shown(p_user_id);
    if v_found.id is distinct from (v_ruling.source).gateway_subscription_id then
      select s, true into v_ruling.source, v_ruling.is_live
      from billing.sources s
      where s.user_id = p_user_id and s.kind = 'manual' and s.gateway_subscription_id = v_found.id and s.is_running;
      v_ruling := billing.attach_gateway_subscription(v_ruling);
    end if;
  end if;
  if v_ruling.is_live is not true then
    v_ruling := billing.attach_gateway_subscription(billing.find_ruling(p_user_id, true));
    if v_ruling.is_live is not true then v_ruling := billing.find_shown(p_user_id); end if;
  end if;
  if v_ruling.is_live is not true then return null; end if;
  v_source := v_ruling.source;
  select b.* into v_found from unnest(v_billed) b where b.id = v_source.gateway_subscription_id;
  if not found then
    v_found.user_id := p_user_id;
    v_found.kind := case v_source.kind when 'payment' then 'purchase' when 'gateway_subscription' then 'subscription' else 'given' end;
    v_found.id := v_source.id;
    v_found.goes_on := false;
  end if;
  v_found.plan_id := v_source.plan_id;
  v_found.tier := v_source.tier;
  v_found.sold := v_source.sold;
  -- Before its first event the gateway charges the price that the row by hand names.
  if v_source.kind = 'manual' and v_found.goes_on then
    v_found.sold := (select billing.price_of(p) from public.plans p where p.id = v_source.plan_id and p.tier = v_source.tier);
  end if;
  v_found.starts_at := v_source.starts_at;
  v_found.ends_at := v_source.ends_at;
  v_found.since := v_source.since;
  if v_source.kind in ('payment', 'gateway_subscription') then
    v_found.paid_by_kind := v_source.kind;
    v_found.paid_by_id := v_source.id;
  end if;
  return v_found;
end $$;

-- Finds what the gateway charges a user next: not a charge that is under way, where another one follows.
create function billing.next_charge(p_user_id uuid)
returns billing.commitment -- all null: nothing
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select b
    from billing.find_billed(p_user_id) b
    where b.charge_at is not null and (b.sold).amount is not null
    order by b.charge_at > billing.clock() desc, b.charge_at, b.id
    limit 1
  );
end $$;

create function billing.next_charge_answer(p_user_id uuid)
returns jsonb -- {at, amount, currency}, in minor units; null: nothing is charged
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_next constant billing.commitment := billing.next_charge(p_user_id);
begin
  return case when v_next.id is not null then jsonb_build_object(
    'at', billing.iso_time(v_next.charge_at), 'amount', (v_next.sold).amount, 'currency', (v_next.sold).currency
  ) end;
end $$;

-- Returns what a mail says about the next charge.
create function billing.outlook(p_user_id uuid)
returns jsonb
-- {next_charge: see billing.next_charge_answer, is_open: true if there is none, and one may follow: the customer may authorise it,
-- or what is paused or halted goes on; next_charge_at: if the amount of that charge is not known}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_next constant jsonb := billing.next_charge_answer(p_user_id);
begin
  -- The customer may have authorised it, and the gateway's word is late.
  if v_next is null and exists (
    select from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and case
        when billing.is_known(m) then billing.is_billed(m) and m.gateway_status in ('paused', 'halted')
        else m.expires_at > billing.clock()
      end
      and num_nonnulls(m.undone_at, m.stops_at) = 0
  ) then
    return '{"next_charge": null, "is_open": true}';
  end if;
  return jsonb_build_object('next_charge', v_next) || case
    when v_next is null then jsonb_strip_nulls(jsonb_build_object(
      'next_charge_at', (select billing.iso_time(min(b.charge_at)) from billing.find_billed(p_user_id) b)
    ))
    else '{}'
  end;
end $$;
