-- What it would be for a user to buy a price, and the plans on offer. Contract: GET /api/subscriptions/plans, "Scenarios".

create function billing.rank_commitment(p_commitment billing.commitment)
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

-- Returns whether a user may try a plan: a trial is for a user who never paid.
create function billing.may_try(p_user_id uuid) -- null: there is no user yet
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return not exists (select from public.payments p where p.user_id = p_user_id and p.captured_at is not null)
    and not exists (
      select from billing.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.arrived_at is not null
        -- Else it was cancelled before its authorisation.
        and (
          m.status is distinct from 'cancelled'
          or num_nonnulls(m.authenticated_at, m.first_activated_at, m.first_charged_at, m.first_halted_at, m.period_end) > 0
        )
    );
end $$;

-- Returns a plan with its prices. Those that the gateway can't charge are left out, but not those of the plan "free".
create function billing.offered_plan(
  p_plan public.plans,
  p_user_id uuid, -- null: there is none
  p_commitment billing.commitment, -- of the user; all null: none
  p_waiting uuid[] -- see billing.scenario. Null: there is no user, and no scenario
)
returns jsonb -- null: it has no such price
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_held constant billing.ranked_price := billing.rank_commitment(p_commitment);
  v_prices jsonb;
  v_scenario text;
begin
  select
    jsonb_agg(
      billing.offer_answer(p.id, p.tier, (its.wanted).price, p.gateway_plan_id)
        || case when own.scenario is null then '{}' else jsonb_build_object('scenario', own.scenario) end
        || case
          when p.trial_days > 0 and p.gateway_plan_id is not null and billing.may_try(p_user_id)
            then jsonb_build_object('trial_days', p.trial_days)
          else '{}'
        end
      order by p.lookup_key is not null, ((its.wanted).price).months, p.price, p.lookup_key
    ) filter (where billing.is_payable(p.price, p.currency) or p.tier = 'free'),
    max(own.scenario) filter (where p.lookup_key is null)
  into v_prices, v_scenario
  from public.plans p
  cross join lateral (select billing.rank_plan(p) as wanted offset 0) its
  cross join lateral (
    select case when p_waiting is not null then billing.scenario(p_commitment, v_held, its.wanted, p_waiting) end as scenario
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
    where coalesce((s.subscription).plan_id, (s.subscription).asked_plan_id) = old.id
      and case
        when s.authorised_at is null then (s.subscription).expires_at > billing.clock()
        else s.is_open or coalesce((s.subscription).paid_until, (s.subscription).period_end) > billing.clock()
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
      select case when c.kind = 'purchase' then c.plan_id else coalesce((c.next).plan_id, (c.next).asked_plan_id) end
      from billing.commitments(p_user_id) c
      where c.kind <> 'purchase' or c.starts_at > billing.clock() or c.ends_at > v_commitment.ends_at
    );
  end if;
  return (
    select jsonb_build_object('plans', coalesce(jsonb_agg(o.plan order by o.price, o.tier), '[]'))
    from (
      select p.price, p.tier, billing.offered_plan(p, p_user_id, v_commitment, v_waiting) as plan
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
