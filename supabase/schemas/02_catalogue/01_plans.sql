-- The plans and their prices. Contract: "Plan", "Price", "Entitlements".

-- Returns whether these are entitlements: an object whose values are true, false, a whole number, or null (unlimited).
create function billing.are_entitlements(p_entitlements jsonb)
returns boolean -- null: p_entitlements is null
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_entitlements is null then return null; end if;
  if jsonb_typeof(p_entitlements) <> 'object' then return false; end if;
  return (
    select coalesce(bool_and(e.key ~ '^[a-z0-9_.-]{1,64}$' and case jsonb_typeof(e.value)
      when 'number' then coalesce(billing.json_integer(e.value) >= 0, false)
      else jsonb_typeof(e.value) in ('boolean', 'null')
    end), true)
    from jsonb_each(p_entitlements) e
  );
end $$;

create table public.plans (
  id uuid primary key default gen_random_uuid(),
  tier text not null,
  name text not null,
  price bigint not null constraint plans_price_check check (price >= 0),
  currency text not null default 'INR' constraint plans_currency_check check (currency ~ '^[A-Z]{3}$'),
  duration_months integer constraint plans_duration_months_check check (duration_months between 0 and 1200),
  features jsonb not null default '[]',
  is_active boolean not null default true,
  grace_days integer not null default 3 constraint plans_grace_days_check check (grace_days between 0 and 366),
  gateway_plan_id text constraint plans_gateway_plan_id_key unique,
  created_at timestamptz not null default billing.clock(),
  billing_cycles integer constraint plans_billing_cycles_check check (billing_cycles between 1 and 1200),
  trial_days integer not null default 0
    constraint plans_trial_days_check check (trial_days between 0 and 365),
  rank integer,
  entitlements jsonb not null default '{}'
    constraint plans_entitlements_check check (billing.are_entitlements(entitlements)),
  lookup_key text
    constraint plans_lookup_key_key unique
    constraint plans_lookup_key_check check (lookup_key ~ '^[a-z0-9_-]{1,64}$'),
  constraint plans_rank_check check ((rank is null) = (lookup_key is not null)),
  -- A further price of a tier has nothing of the tier.
  constraint plans_further_price_check check (
    lookup_key is null or price > 0 and features = '[]' and entitlements = '{}'
  )
);
create unique index plans_tier_key on public.plans (tier) where lookup_key is null;
comment on table public.plans is
  'The prices that customers can buy: the plan of each tier with its default price, and the further prices of the tier. To '
  'retire one, set is_active to false: orders need its row.';
comment on column public.plans.lookup_key is
  'The app''s name of a further price of the tier, for example pro_yearly. Null: the tier''s own plan.';
comment on column public.plans.price is 'Minor currency units.';
comment on column public.plans.duration_months is 'Calendar months that a payment buys; null or 0 counts as 12.';
comment on column public.plans.grace_days is 'Days of access after a period that ended unpaid.';
alter table public.plans enable row level security;
comment on column public.plans.billing_cycles is 'How often the gateway bills a subscription. Null: for ten years.';
comment on column public.plans.trial_days is 'Days of access before the first charge, for a user who never paid.';
comment on column public.plans.rank is
  'Orders the tiers: a change to a plan of a lower rank is a downgrade. Null: a further price, see billing.default_rank.';
comment on column public.plans.entitlements is
  'What the tier may do: {"reports": true, "projects": 10}. A missing key is no, null is unlimited.';

create function billing.sold_months(p_duration_months integer)
returns integer language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return coalesce(nullif(p_duration_months, 0), 12); end $$;

-- Returns the rank of a new plan: above all of its currency that are not dearer for a month. Contract: "Plan".
create function billing.default_rank(p_plan public.plans)
returns integer language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select coalesce(
      max(p.rank) filter (
        where p.currency = p_plan.currency
          and p.price::numeric * billing.sold_months(p_plan.duration_months)
            <= p_plan.price::numeric * billing.sold_months(p.duration_months)
      ) + 1,
      min(p.rank) filter (where p.currency = p_plan.currency) - 1,
      max(p.rank) + 1,
      1
    )
    from public.plans p
    where p.lookup_key is null
  );
end $$;

-- Returns the decimals of a currency by ISO 4217, as the gateway has them. `npm run generate` copies them.
create function billing.minor_units(p_currency text)
returns integer language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_currency in (
      'BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'
    ) then 0
    when p_currency in ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then 3
    else 2
  end;
end $$;

-- Returns what the gateway's amounts in a currency are multiples of, in minor units: those with three decimals end in 0.
create function billing.amount_step(p_currency text)
returns integer language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return case billing.minor_units(p_currency) when 3 then 10 else 1 end; end $$;

-- Returns whether the gateway makes an order or a plan of an amount.
create function billing.is_payable(p_amount bigint, p_currency text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return p_amount >= 100 and p_amount % billing.amount_step(p_currency) = 0; end $$;

-- A key names one price, and a further price belongs to a plan. What is on sale can be paid, and what is free is not sold.
-- Security definer: an admin may have no other right here.
create function billing.check_plan()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Of two writers the second one sees the rows of the first.
  perform pg_advisory_xact_lock(hashtextextended('public.plans', 0));
  if exists (
    select from public.plans p
    where p.id <> new.id
      and case when new.lookup_key is null then p.lookup_key = new.tier else p.lookup_key is null and p.tier = new.lookup_key end
  ) then
    raise exception 'another price has the name "%"', coalesce(new.lookup_key, new.tier) using errcode = 'unique_violation';
  end if;
  if new.lookup_key is not null
    and not exists (select from public.plans p where p.tier = new.tier and p.lookup_key is null and p.id <> new.id)
  then
    raise exception 'the tier "%" has no plan of its own', new.tier using errcode = 'foreign_key_violation';
  end if;
  if new.is_active and new.price > 0 and not billing.is_payable(new.price, new.currency) then
    raise exception 'the gateway takes no payment of % %: at least 100 minor units, and a last digit 0 in a currency with three decimals',
      new.price, new.currency
      using errcode = 'check_violation';
  end if;
  if tg_op = 'INSERT' and new.lookup_key is null then
    new.rank := coalesce(new.rank, billing.default_rank(new));
  end if;
  return new;
end $$;

create trigger check_plan
before insert or update of tier, lookup_key, price, currency, is_active on public.plans
for each row execute function billing.check_plan();

create function billing.keep_own_plan()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('public.plans', 0));
  if old.lookup_key is null
    and exists (select from public.plans p where p.tier = old.tier and p.lookup_key is not null)
    and not exists (select from public.plans p where p.tier = old.tier and p.lookup_key is null)
  then
    raise exception 'the tier "%" has further prices', old.tier using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;

create trigger keep_own_plan
after delete or update of tier, lookup_key on public.plans
for each row execute function billing.keep_own_plan();

insert into public.plans (tier, name, price, duration_months, features, rank)
values
  ('basic', 'Basic', 4900, 1, '["All core features", "E-mail support"]', 100),
  ('pro', 'Pro', 99900, 12, '["Everything in Basic", "Analytics", "Priority support"]', 200),
  ('premium', 'Premium', 199900, 12, '["Everything in Pro", "Unlimited projects", "A person to call"]', 300);

-- A price as it was sold. All null: nothing was sold by a price, for example a grant.
create type billing.price as (
  lookup_key text, -- null: the default price of the tier
  amount bigint, -- minor currency units
  currency text,
  months integer
);

-- Orders the tiers. Contract: "Entitlements".
create function billing.rank_of(p_plan public.plans)
returns bigint language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return case p_plan.tier when 'free' then -9223372036854775808 else p_plan.rank end; end $$;

-- Returns the tiers whose own plans are on offer. Security definer: the policy of public.plans cannot read the table itself.
create function billing.tiers_on_offer()
returns text[] language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$ begin return array(select p.tier from public.plans p where p.lookup_key is null and p.is_active); end $$;
grant execute on function billing.tiers_on_offer to anon, authenticated;

revoke all on public.plans from public, anon, authenticated, service_role;
grant select on public.plans to anon, authenticated, service_role;

create policy "Everybody sees the plans on offer" on public.plans for select to anon, authenticated
using (is_active and (lookup_key is null or tier = any ((select billing.tiers_on_offer())::text[])));
