-- Prices compared with what a user has, and the plans on offer. Contract: GET /api/subscriptions/plans, "Scenarios".

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

-- A price that a user has or wants.
create type billing.held as (
  plan_id uuid, -- the row of public.plans. All null: the tier has no plan
  tier text,
  rank bigint,
  price billing.price
);

-- Returns the price that a user has, as it was sold. What was not sold by a price counts as the default price of its tier.
create function billing.find_held(p_plan_id uuid, p_tier text, p_sold billing.price)
returns billing.held language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_own public.plans;
begin
  select * into v_own from public.plans p where p.tier = p_tier and p.lookup_key is null;
  if not found then return null; end if;
  return row(
    case when p_sold.amount is null then v_own.id else coalesce(p_plan_id, v_own.id) end, p_tier, billing.rank_of(v_own),
    case when p_sold.amount is null then billing.price_of(v_own) else p_sold end
  )::billing.held;
end $$;

create function billing.find_wanted(p_plan public.plans)
returns billing.held language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return billing.find_held(p_plan.id, p_plan.tier, billing.price_of(p_plan)); end $$;

create function billing.price_shown(p_shown public.subscriptions)
returns billing.price -- null: nothing was sold by a price
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_shown.price_amount is null then return null; end if;
  return row(p_shown.price_key, p_shown.price_amount, p_shown.currency, p_shown.duration_months)::billing.price;
end $$;

-- Returns what a change from one price to another is. Contract: "Scenarios".
create function billing.compare_prices(p_from billing.held, p_to billing.held)
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

-- Returns the prices that wait for the end of what runs: changes of what the gateway bills, and later purchases.
create function billing.find_scheduled(p_user_id uuid)
returns uuid[] language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select o.plan_id
    from billing.gateway_subscriptions m
    cross join lateral billing.find_successor(m.user_id, m.gateway_subscription_id) o
    where m.user_id = p_user_id
      and billing.is_billed(m)
      and m.period_end > billing.clock()
      and coalesce(o.stops_at > o.starts_at, true) -- else a purchase replaced it
    union all
    select p.plan_id from public.payments p where p.user_id = p_user_id and p.ended_at is null and p.settle_at > billing.clock()
  );
end $$;

-- Returns what it would be for a user to buy a price now. Contract: "Scenarios".
create function billing.find_scenario(
  p_running public.subscriptions, -- active; all null: nothing runs
  p_held billing.held, -- see billing.find_held
  p_wanted billing.held,
  p_scheduled uuid[] -- see billing.find_scheduled
)
returns text -- buy | current | renew | scheduled | upgrade | downgrade
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_change constant text := case when p_running.id is null then 'buy' else billing.compare_prices(p_held, p_wanted) end;
begin
  return case
    when v_change = 'buy' then 'buy'
    when v_change <> 'same' then case when p_wanted.plan_id = any (p_scheduled) then 'scheduled' else v_change end
    -- The gateway renews it.
    when p_running.gateway_subscription_id is not null and not p_running.cancel_at_period_end then 'current'
    when p_running.current_period_end <= billing.clock() + interval '7 days' then 'renew'
    when p_running.current_period_end is not null and billing.early_renewal() = 'extend' then 'renew'
    else 'current'
  end;
end $$;

-- Returns a plan with its prices. Those that the gateway can't charge are left out, but not those of the plan "free".
create function billing.offered_plan(
  p_plan public.plans,
  p_running public.subscriptions, -- of the user, active; all null: none
  p_held billing.held, -- see billing.find_held
  p_scheduled uuid[] -- see billing.find_scheduled. Null: there is no user, and no scenario
)
returns jsonb -- null: it has no such price
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
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
      case when p_scheduled is not null then billing.find_scenario(p_running, p_held, w.wanted, p_scheduled) end as scenario
    from (select billing.find_wanted(p) as wanted) w
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
returns jsonb -- {plans}: the answer's body, the lowest price first
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set plan_cache_mode = force_generic_plan as $$
declare
  v_running public.subscriptions;
  v_held billing.held;
  v_scheduled uuid[];
begin
  if p_user_id is not null then
    select * into v_running from public.subscriptions s where s.user_id = p_user_id and s.status = 'active';
    v_held := billing.find_held(v_running.plan_id, v_running.tier, billing.price_shown(v_running));
    v_scheduled := billing.find_scheduled(p_user_id);
  end if;
  return (
    select jsonb_build_object('plans', coalesce(jsonb_agg(o.plan order by o.price, o.tier), '[]'))
    from (
      select p.price, p.tier, billing.offered_plan(p, v_running, v_held, v_scheduled) as plan
      from public.plans p
      where p.is_active and p.lookup_key is null
      offset 0
    ) o
    where o.plan is not null
  );
end $$;
comment on function public.list_plans_for_user is 'Returns list_plans, each price with what it would be for a user to buy it.';

revoke execute on function public.list_plans, public.list_plans_for_user from public, anon, authenticated;
grant execute on function public.list_plans, public.list_plans_for_user to service_role;
