-- Prices as they are sold and compared. Contract: "Price", "Scenarios".

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

-- Returns the name of a plan in mails: of the row that was sold, else of its tier.
create function billing.plan_name(p_plan_id uuid, p_tier text)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    (select p.name from public.plans p where p.id = p_plan_id),
    (select p.name from public.plans p where p.tier = p_tier and p.lookup_key is null),
    p_tier,
    'basic'
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

create function billing.rank_plan(p_plan public.plans)
returns billing.ranked_price language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return billing.rank_price(p_plan.id, p_plan.tier, billing.price_of(p_plan)); end $$;

-- Returns what a change from one price to another is. Contract: "Scenarios".
create function billing.compare_prices(p_from billing.ranked_price, p_to billing.ranked_price)
returns text -- same | upgrade | downgrade | buy: the present tier has no plan
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_from.plan_id is null then 'buy'
    when p_from.plan_id = p_to.plan_id then 'same'
    when (
      p_to.rank, (p_to.price).months,
      case when (p_to.price).currency = (p_from.price).currency then (p_to.price).amount end
    ) > (p_from.rank, (p_from.price).months, (p_from.price).amount) then 'upgrade'
    else 'downgrade'
  end;
end $$;
