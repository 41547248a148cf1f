-- Prices compared with what a user has, and the plans on offer. Contract: GET /api/subscriptions/plans, "Scenarios".

-- Returns the price that a user has: of the plan, in the currency and with the months that were sold.
create function billing.find_held(p_plan_id uuid, p_tier text, p_sold billing.price)
returns billing.offers -- all null: the tier has no plan
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_held billing.offers;
begin
  select * into v_held
  from billing.offers o
  where o.is_default and (o.plan_id = p_plan_id or p_plan_id is null and o.tier = p_tier);
  v_held.currency := coalesce(p_sold.currency, v_held.currency);
  v_held.months := coalesce(p_sold.months, v_held.months);
  return v_held;
end $$;

-- Returns the price that a subscription row shows.
create function billing.find_held_by(p_running public.subscriptions)
returns billing.offers language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return billing.find_held(
    p_running.plan_id, p_running.tier,
    row(p_running.price_key, null, p_running.currency, p_running.duration_months)::billing.price
  );
end $$;

-- Returns what a change from one price to another is. Contract: "Scenarios".
create function billing.compare_prices(p_from billing.offers, p_to billing.offers)
returns text -- same | upgrade | downgrade | longer | shorter | other_currency | buy: the present tier has no plan
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_from.plan_id is null then 'buy'
    when p_from.currency <> p_to.currency then 'other_currency'
    when p_from.tier <> p_to.tier then case when p_to.rank < p_from.rank then 'downgrade' else 'upgrade' end
    when p_from.months < p_to.months then 'longer'
    when p_from.months > p_to.months then 'shorter'
    else 'same'
  end;
end $$;

-- Returns what it would be for a user to buy a price now. Contract: "Scenarios".
create function billing.find_scenario(
  p_running public.subscriptions, -- active; all null: nothing runs
  p_held billing.offers, -- see billing.find_held
  p_offer billing.offers
)
returns text -- buy | current | renew | upgrade | downgrade | longer | shorter | other_currency
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_change constant text := case
    when p_running.tier = p_offer.tier and p_held.plan_id is null then 'same'
    else billing.compare_prices(p_held, p_offer)
  end;
begin
  return case
    when p_running.id is null then 'buy'
    when v_change <> 'same' then v_change
    -- The gateway renews it.
    when p_running.gateway_subscription_id is not null and not p_running.cancel_at_period_end then 'current'
    when p_running.current_period_end <= billing.clock() + interval '7 days' then 'renew'
    when p_running.current_period_end is not null and billing.early_renewal() = 'extend' then 'renew'
    else 'current'
  end;
end $$;

-- A plan with its prices.
create function billing.offered_plan(
  p_plan public.plans,
  p_running public.subscriptions, -- of the user, active; all null: none
  p_held billing.offers, -- see billing.find_held
  p_has_user boolean -- whether to add the scenarios
)
returns jsonb language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_answer jsonb := billing.plan_answer(p_plan);
  v_prices jsonb;
  v_scenario text;
begin
  select
    jsonb_agg(
      billing.price_answer(o.lookup_key, o.amount, o.currency, o.months)
        || jsonb_build_object('gateway_plan_id', o.gateway_plan_id)
        || case when p_has_user then jsonb_build_object('scenario', own.scenario) else '{}' end
      order by o.months, o.amount, o.lookup_key
    ),
    max(own.scenario) filter (where o.is_default)
  into v_prices, v_scenario
  from billing.offers o
  cross join lateral (
    select case when p_has_user then billing.find_scenario(p_running, p_held, o) end as scenario
  ) own
  where o.plan_id = p_plan.id and o.is_active;
  v_answer := v_answer || jsonb_build_object('prices', v_prices);
  return case when p_has_user then v_answer || jsonb_build_object('scenario', v_scenario) else v_answer end;
end $$;

create function public.list_plans()
returns jsonb -- {plans}: the answer's body, the lowest price first
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
begin
  return (
    select jsonb_build_object(
      'plans', coalesce(jsonb_agg(billing.offered_plan(p, null, null, false) order by p.price, p.tier), '[]')
    )
    from public.plans p
    where p.is_active
  );
end $$;
comment on function public.list_plans is 'Returns the plans on offer with their prices, the lowest default price first.';

-- Contract: GET /api/subscriptions/plans, "Scenarios".
create function public.list_plans_for_user(p_user_id uuid)
returns jsonb -- {plans}: the answer's body, the lowest price first
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
  v_running public.subscriptions;
  v_held billing.offers;
begin
  select * into v_running from public.subscriptions s where s.user_id = p_user_id and s.status = 'active';
  v_held := billing.find_held_by(v_running);
  return (
    select jsonb_build_object(
      'plans', coalesce(jsonb_agg(billing.offered_plan(p, v_running, v_held, true) order by p.price, p.tier), '[]')
    )
    from public.plans p
    where p.is_active
  );
end $$;
comment on function public.list_plans_for_user is 'Returns list_plans, each price with what it would be for a user to buy it.';

revoke execute on function public.list_plans, public.list_plans_for_user from public, anon, authenticated;
grant execute on function public.list_plans, public.list_plans_for_user to service_role;
