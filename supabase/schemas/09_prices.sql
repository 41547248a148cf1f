-- What a user pays for, prices compared with it, and the plans on offer. Contract: GET /api/subscriptions/plans, "Scenarios".

create function billing.price_of(p_plan public.plans)
returns billing.price language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return row(p_plan.lookup_key, p_plan.price, p_plan.currency, billing.sold_months(p_plan.duration_months))::billing.price;
end $$;

create function billing.is_on_offer(p_plan public.plans)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_plan.is_active
    and billing.is_payable(p_plan.price, p_plan.currency)
    and (p_plan.lookup_key is null or p_plan.tier = any (billing.tiers_on_offer()));
end $$;

-- Finds a price by the tier, for its default price, by its lookup key, or by both.
create function billing.find_plan(p_tier text, p_price text)
returns public.plans -- all null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select p
    from public.plans p
    where p.lookup_key = coalesce(p_price, p_tier) or p.lookup_key is null and p.tier = coalesce(p_price, p_tier)
  );
end $$;

-- The interval of a price in answers. Contract: "Price".
create function billing.interval_answer(p_months integer)
returns jsonb language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object(
    'interval', case when p_months % 12 = 0 then 'year' when p_months is not null then 'month' end,
    'interval_count', case when p_months % 12 = 0 then p_months / 12 else p_months end
  );
end $$;

-- The sold price in answers. Contract: "Price".
create function billing.price_answer(p_tier text, p_sold billing.price)
returns jsonb -- null: nothing was sold by a price
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_sold.amount is not null then jsonb_build_object(
      'lookup_key', coalesce(p_sold.lookup_key, p_tier), 'amount', p_sold.amount, 'currency', p_sold.currency
    ) || billing.interval_answer(p_sold.months)
  end;
end $$;

-- The price on offer, or of a request, in answers. Contract: "Price".
create function billing.offer_answer(
  p_plan_id uuid, -- the row of public.plans
  p_tier text,
  p_price billing.price, -- as it is sold
  p_gateway_plan_id text
)
returns jsonb language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object('id', p_plan_id, 'gateway_plan_id', p_gateway_plan_id, 'is_default', p_price.lookup_key is null)
    || billing.price_answer(p_tier, p_price);
end $$;

-- A price with what orders it among others.
create type billing.ranked_price as (
  plan_id uuid, -- the row of public.plans. All null: the tier has no plan
  tier text,
  rank bigint,
  price billing.price
);

-- Ranks a price as it was sold. What was not sold by a price counts as the default price of its tier.
create function billing.rank_price(p_plan_id uuid, p_tier text, p_sold billing.price)
returns billing.ranked_price language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_own public.plans;
begin
  select * into v_own from public.plans p where p.tier = p_tier and p.lookup_key is null;
  if not found then return null; end if;
  return row(
    case when p_sold.amount is null then v_own.id else coalesce(p_plan_id, v_own.id) end, p_tier, billing.rank_of(v_own),
    case when p_sold.amount is null then billing.price_of(v_own) else p_sold end
  )::billing.ranked_price;
end $$;

create function billing.rank_price(p_plan public.plans)
returns billing.ranked_price language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return billing.rank_price(p_plan.id, p_plan.tier, billing.price_of(p_plan)); end $$;

create function billing.price_shown(p_shown public.subscriptions)
returns billing.price -- null: nothing was sold by a price
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_shown.price_amount is null then return null; end if;
  return row(p_shown.price_key, p_shown.price_amount, p_shown.currency, p_shown.duration_months)::billing.price;
end $$;

-- Returns what a change from one price to another is. Contract: "Scenarios".
create function billing.compare_prices(p_from billing.ranked_price, p_to billing.ranked_price)
returns text -- same | upgrade | downgrade | buy: the present tier has no plan
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_from.plan_id is null then 'buy'
    when p_from.plan_id = p_to.plan_id then 'same'
    when p_to.rank <> p_from.rank then case when p_to.rank > p_from.rank then 'upgrade' else 'downgrade' end
    when (p_to.price).months <> (p_from.price).months
      then case when (p_to.price).months > (p_from.price).months then 'upgrade' else 'downgrade' end
    when (p_to.price).currency = (p_from.price).currency and (p_to.price).amount > (p_from.price).amount then 'upgrade'
    else 'downgrade'
  end;
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
  next billing.subscription_orders, -- the authorised change that waits for its end. All null: none
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
      when o.replaces is not null then 'change'
      when o.payment_id is not null then 'renewal'
      else 'subscription'
    end,
    m.gateway_subscription_id, m.gateway_subscription_id, m.plan_id,
    (select p.tier from public.plans p where p.id = m.plan_id), m.sold,
    period.starts_at, period.ends_at, period.paid_by_kind, period.paid_by_id,
    billing.is_billed(m) and m.stops_at is null or next.is_there is true,
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
      when next.is_there and not billing.is_told(m.gateway_subscription_id) then (next.change).starts_at - interval '48 hours'
    end,
    m.stops_at, null::text
  from billing.gateway_subscriptions m
  left join billing.subscription_orders o
    on o.gateway_subscription_id = m.gateway_subscription_id
    and o.user_id = m.user_id
  left join public.payments renewed
    on renewed.id = o.payment_id
    and renewed.fulfilled_at is not null
    and o.replaces is null
  cross join lateral (
    select m.period_start, m.period_end, 'gateway_subscription', m.gateway_subscription_id
    where m.period_end is not null
    union all
    select renewed.period_start, renewed.period_end, 'payment', renewed.id::text
    where m.period_end is null and renewed.id is not null
    union all
    select coalesce(o.starts_at, m.charge_at), coalesce(o.starts_at, m.charge_at), null::text, null::text
    where m.period_end is null and renewed.id is null
  ) period (starts_at, ends_at, paid_by_kind, paid_by_id)
  left join lateral (
    select n as change, true as is_there
    from billing.find_successor(m.user_id, m.gateway_subscription_id) n
    where n.starts_at > billing.clock()
      and coalesce(n.stops_at > n.starts_at, true) -- else a purchase replaced it
      and exists (
        select from billing.subscription_orders w where w.user_id = m.user_id and w.replaces = m.gateway_subscription_id
      )
  ) next on true
  where m.user_id = p_user_id
    and m.gateway_subscription_id <> ''
    -- An imported one is billed, too, before its first event.
    and num_nonnulls(m.arrived_at, m.written_at) > 0
    and m.gateway_status is distinct from 'created'
    and (billing.is_billed(m) or next.is_there and period.ends_at > billing.clock());
end $$;

-- The one answer to what goes on, what waits and what was bought.
create function billing.commitments(p_user_id uuid)
returns setof billing.commitment language plpgsql stable rows 3 set search_path = pg_catalog, pg_temp as $$
declare
  v_billed billing.commitment[] := array(select b from billing.find_billed(p_user_id) b);
begin
  for v_each in 1 .. cardinality(v_billed) loop
    if v_billed[v_each].stops_at is not null then
      v_billed[v_each].stop_reason := (
        select (billing.find_stop(s, billing.newest_purchase(p_user_id))).reason
        from billing.stoppable s
        where s.user_id = p_user_id and s.gateway_subscription_id = v_billed[v_each].id
      );
    end if;
  end loop;
  return query
  select b.* from unnest(v_billed) b
  union all
  select
    s.user_id, case s.kind when 'payment' then 'purchase' else 'subscription' end,
    s.id, null, s.plan_id, s.tier, s.sold, s.starts_at, s.ends_at, s.kind, s.id, false, null::timestamptz, s.since,
    null::billing.subscription_orders, null::timestamptz, null::timestamptz, null::text
  from billing.sources s
  where s.user_id = p_user_id
    and s.kind in ('payment', 'gateway_subscription')
    and s.is_running
    and not exists (select from unnest(v_billed) b where b.id = s.id);
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
    -- What was not charged in time has lapsed, until it is charged.
    and (
      greatest(b.ends_at, b.charge_at) > v_now
      or exists (
        select from billing.sources s
        where s.user_id = p_user_id and s.kind = 'gateway_subscription' and s.id = b.id and s.is_running
      )
    )
  order by b.kind = 'change', b.since desc, b.id desc
  limit 1;
  if v_found.plan_id is not null then return v_found; end if;

  -- Without a plan of ours a subscription has that of the source to which it is attached.
  v_ruling := billing.find_shown(p_user_id);
  if v_found.id is null or v_found.id is distinct from (v_ruling.source).gateway_subscription_id then
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
  v_found.starts_at := v_source.starts_at;
  v_found.ends_at := v_source.ends_at;
  v_found.since := v_source.since;
  if v_source.kind in ('payment', 'gateway_subscription') then
    v_found.paid_by_kind := v_source.kind;
    v_found.paid_by_id := v_source.id;
  end if;
  return v_found;
end $$;

-- Finds what the gateway charges a user next.
create function billing.next_charge(p_user_id uuid)
returns billing.commitment -- all null: nothing
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select b
    from billing.find_billed(p_user_id) b
    where b.charge_at is not null and (b.sold).amount is not null
    order by b.charge_at, b.id
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

create function billing.rank_price(p_commitment billing.commitment)
returns billing.ranked_price language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return billing.rank_price(p_commitment.plan_id, p_commitment.tier, p_commitment.sold); end $$;

-- Returns what it would be for a user to buy a price now. Contract: "Scenarios".
create function billing.scenario(
  p_commitment billing.commitment, -- see billing.find_commitment
  p_held billing.ranked_price, -- its price
  p_wanted billing.ranked_price,
  p_waiting uuid[] -- the plans that begin when what runs ends
)
returns text -- buy | current | renew | scheduled | upgrade | downgrade
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_change constant text := billing.compare_prices(p_held, p_wanted);
begin
  return case
    when v_change = 'buy' then 'buy'
    when v_change <> 'same' then case when p_wanted.plan_id = any (p_waiting) then 'scheduled' else v_change end
    when p_commitment.goes_on then 'current'
    when p_commitment.ends_at <= billing.clock() + interval '7 days' then 'renew'
    when p_commitment.ends_at is not null and billing.early_renewal() = 'extend' then 'renew'
    else 'current'
  end;
end $$;

-- Returns a plan with its prices. Those that the gateway can't charge are left out, but not those of the plan "free".
create function billing.offered_plan(
  p_plan public.plans,
  p_commitment billing.commitment, -- of the user; all null: none
  p_waiting uuid[] -- see billing.scenario. Null: there is no user, and no scenario
)
returns jsonb -- null: it has no such price
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_held constant billing.ranked_price := billing.rank_price(p_commitment);
  v_prices jsonb;
  v_scenario text;
begin
  select
    jsonb_agg(
      billing.offer_answer(p.id, p.tier, (own.wanted).price, p.gateway_plan_id)
        || case when own.scenario is null then '{}' else jsonb_build_object('scenario', own.scenario) end
      order by p.lookup_key is not null, ((own.wanted).price).months, p.price, p.lookup_key
    ) filter (where billing.is_payable(p.price, p.currency) or p.tier = 'free'),
    max(own.scenario) filter (where p.lookup_key is null)
  into v_prices, v_scenario
  from public.plans p
  cross join lateral (
    select
      w.wanted,
      case when p_waiting is not null then billing.scenario(p_commitment, v_held, w.wanted, p_waiting) end as scenario
    from (select billing.rank_price(p) as wanted) w
  ) own
  where p.tier = p_plan.tier and p.is_active;
  if v_prices is null then return null; end if;
  return to_jsonb(p_plan) || jsonb_build_object('prices', v_prices)
    || case when v_scenario is null then '{}' else jsonb_build_object('scenario', v_scenario) end;
end $$;

-- A plan stays, with its tier, while a user has it or waits for it, and while the gateway may charge a user for it: a charge
-- without a plan gives no access. Security definer: an admin may have no other right here.
create function billing.keep_used_plan()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from billing.stoppable s
    join auth.users u on u.id = s.user_id
    where coalesce((s.mirrored).plan_id, (s.asked).plan_id) = old.id
      and case
        when (s.mirrored).user_id is null then (s.asked).expires_at > billing.clock()
        else s.is_open or coalesce((s.mirrored).paid_until, (s.mirrored).period_end) > billing.clock()
      end
  ) or exists (
    select from public.payments p
    where p.plan_id = old.id
      and p.user_id is not null
      and p.fulfilled_at is not null
      and p.ended_at is null
      and p.period_end > billing.clock()
  ) or tg_op = 'DELETE' and exists (
    -- An order that may still be paid. It keeps its tier, but needs the row.
    select from public.payments p
    where p.plan_id = old.id
      and p.user_id is not null
      and p.status in ('created', 'failed')
      and p.gateway_order_id is not null
      and p.created_at > billing.clock() - interval '120 hours'
  ) then
    raise exception 'the plan "%" is in use: add another one, and set is_active = false of this one', old.tier
      using errcode = 'foreign_key_violation';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;

create trigger keep_used_plan
before delete on public.plans
for each row execute function billing.keep_used_plan();

create trigger keep_used_tier
before update of tier on public.plans
for each row when (new.tier <> old.tier)
execute function billing.keep_used_plan();

create function public.list_plans()
returns jsonb -- {plans}: the answer's body, the lowest price first
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$ begin return public.list_plans_for_user(null); end $$;
comment on function public.list_plans is 'Returns the plans on offer with their prices, the lowest default price first.';

-- Contract: GET /api/subscriptions/plans, "Scenarios".
create function public.list_plans_for_user(p_user_id uuid) -- null: without scenarios
returns jsonb -- {plans, needs_state: true, if documents need it}: the answer's body, the lowest price first
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set plan_cache_mode = force_generic_plan as $$
declare
  v_commitment billing.commitment;
  v_waiting uuid[];
begin
  if p_user_id is not null then
    v_commitment := billing.find_commitment(p_user_id);
    v_waiting := array(
      select case when c.kind = 'purchase' then c.plan_id else (c.next).plan_id end
      from billing.commitments(p_user_id) c
      where c.kind <> 'purchase' or c.starts_at > billing.clock()
    );
  end if;
  return (
    select jsonb_build_object('plans', coalesce(jsonb_agg(o.plan order by o.price, o.tier), '[]'))
    from (
      select p.price, p.tier, billing.offered_plan(p, v_commitment, v_waiting) as plan
      from public.plans p
      where p.is_active and p.lookup_key is null
      offset 0
    ) o
    where o.plan is not null
  ) || case
    when p_user_id is not null
      and exists (select from billing.settings s where s.seller_gstin is not null)
      and not exists (select from public.billing_details d where d.user_id = p_user_id and d.state is not null)
      then '{"needs_state": true}'
    else '{}'
  end::jsonb;
end $$;
comment on function public.list_plans_for_user is 'Returns list_plans, each price with what it would be for a user to buy it.';

revoke execute on function public.list_plans, public.list_plans_for_user from public, anon, authenticated;
grant execute on function public.list_plans, public.list_plans_for_user to service_role;
