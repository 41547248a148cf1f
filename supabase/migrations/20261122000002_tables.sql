set local lock_timeout = '2s';

-- The tables of schema public with their rights, the functions for an app's policies, and the users. Contract: "Records",
-- "Price", "Entitlements".

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

select billing.lock_users();

-- The block below renames the table to public.profiles, unless the app has one. All other SQL uses billing.profiles.
create table public.subscription_profiles (
  user_id uuid primary key constraint profiles_user_id_fkey references auth.users (id) on delete cascade,
  subscription_tier text default 'free',
  display_name text constraint profiles_display_name_check check (char_length(display_name) <= 200),
  username text constraint profiles_username_check check (char_length(username) <= 200),
  created_at timestamptz not null default billing.clock()
) with (fillfactor = 90); -- for HOT updates: a change of the tier writes no index
comment on table public.subscription_profiles is 'One row for each user: the names that the app shows, and the tier.';
comment on column public.subscription_profiles.subscription_tier is 'Null means free.';
alter table public.subscription_profiles enable row level security;
revoke all on public.subscription_profiles from public, anon, authenticated, service_role;
grant select, update (display_name, username) on public.subscription_profiles to authenticated;
grant select, insert, update on public.subscription_profiles to service_role;

create policy "Users see their own profile" on public.subscription_profiles for select to authenticated
using ((select auth.uid()) = user_id);

create policy "Users edit their own profile" on public.subscription_profiles for update to authenticated
using ((select auth.uid()) = user_id)
with check ((select auth.uid()) = user_id);

create view billing.profiles with (security_invoker = true) as
select p.user_id, p.subscription_tier, p.display_name, p.username, p.created_at
from public.subscription_profiles p;
comment on view billing.profiles is
  'The table public.profiles, or public.subscription_profiles where the app has a table public.profiles of its own.';
-- For public.current_tier. A client cannot name the view: it may not use schema billing.
grant select on billing.profiles to authenticated;
grant select, insert, update on billing.profiles to service_role;

-- The function holds the table's id, which a new name does not change.
create function billing.profiles_table()
returns regclass language sql immutable set search_path = pg_catalog, pg_temp
return 'public.subscription_profiles'::regclass;

do $rename$
begin
  if to_regtype('public.profiles') is null
    and to_regclass('public.profiles') is null
    -- An index keeps its name when its table is renamed.
    and to_regclass('public.profiles_pkey') is null
    and to_regclass('public.profiles_names_idx') is null
  then
    alter table public.subscription_profiles rename to profiles;
    alter index public.subscription_profiles_pkey rename to profiles_pkey;
  end if;
end
$rename$;

-- The username of a new profile: the local part of the e-mail address.
create function billing.default_username(p_email text)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return left(coalesce(nullif(split_part(p_email, '@', 1), ''), 'user'), 60); end $$;

-- The display name of a new profile, from what a sign-up or a sign-in provider wrote. Null: it wrote no name.
create function billing.default_display_name(p_metadata jsonb)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return left(coalesce(
    nullif(btrim(billing.json_text(p_metadata -> 'full_name')), ''),
    nullif(btrim(billing.json_text(p_metadata -> 'name')), ''),
    nullif(btrim(billing.json_text(p_metadata -> 'display_name')), '')
  ), 200);
end $$;

-- Security definer: the auth server's role inserts users and has no rights on profiles.
create function billing.create_profile()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.profiles (user_id, display_name, username)
  values (new.id, billing.default_display_name(new.raw_user_meta_data), billing.default_username(new.email))
  on conflict (user_id) do nothing;
  return null;
exception
  -- A sign-up must not fail because of its profile. The next change of the tier creates a missing profile.
  when others then
    raise warning 'no profile for user %: %', new.id, sqlstate;
    return null;
end $$;

create trigger create_profile after insert on auth.users for each row execute function billing.create_profile();

-- Creates the profiles of the next 1,000 users who signed up before the installation. The migration does not: it would lock
-- auth.users for minutes. Security definer: service_role may not read auth.users.
create function billing.create_profiles()
returns integer -- the number of users; 0: no user is left
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_until uuid := (select j.profiled_until from billing.scheduled_jobs j where j.name = 'sweep');
  v_users uuid[];
begin
  if v_until is null then return 0; end if;
  v_users := array(select u.id from auth.users u where u.id > v_until order by u.id limit 1000 for key share);
  -- No page of the app changes, so none is revalidated.
  perform billing.begin_request('installation', null);
  insert into billing.profiles (user_id, display_name, username)
  select u.id, billing.default_display_name(u.raw_user_meta_data), billing.default_username(u.email)
  from auth.users u
  where u.id = any (v_users)
  on conflict (user_id) do nothing;
  update billing.scheduled_jobs j
  set profiled_until = v_users[cardinality(v_users)]
  where j.name = 'sweep';
  return cardinality(v_users);
end $$;
revoke execute on function billing.create_profiles() from service_role;

create table public.subscriptions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null
    constraint subscriptions_user_id_key unique
    constraint subscriptions_user_id_fkey references auth.users (id) on delete cascade,
  plan_id uuid constraint subscriptions_plan_id_fkey references public.plans (id),
  tier text not null,
  status text not null constraint subscriptions_status_check check (status in ('active', 'cancelled')),
  current_period_start timestamptz,
  current_period_end timestamptz,
  cancelled_at timestamptz,
  cancel_at_period_end boolean not null default false,
  ended_reason text,
  gateway_subscription_id text,
  price_key text,
  price_amount bigint,
  currency text,
  duration_months integer,
  entitlements jsonb
    constraint subscriptions_entitlements_check check (entitlements is null or billing.are_entitlements(entitlements)),
  revision bigint not null default 0,
  created_at timestamptz not null default billing.clock(),
  updated_at timestamptz not null default billing.clock(),
  due_at timestamptz default billing.clock()
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02); -- for HOT updates: a renewal writes no index
create index subscriptions_plan_id_idx on public.subscriptions (plan_id);
comment on table public.subscriptions is 'One row for each user: the ruling source, as billing.settle_access wrote it.';
comment on column public.subscriptions.price_key is
  'The lookup key of the price that was sold. Null: the default price, or without price_amount no price.';
comment on column public.subscriptions.price_amount is
  'The price that was sold, minor currency units, with its currency and its calendar months. Null: none, as of a grant.';
comment on column public.subscriptions.entitlements is 'Of the grant that rules, beside those of the plan. Null: none.';
comment on column public.subscriptions.revision is 'A write that does not change it was made by hand.';
comment on column public.subscriptions.due_at is 'When the sweep looks at it next, or earlier. A renewal does not write it.';
alter table public.subscriptions enable row level security;
create index subscriptions_due_at_idx on public.subscriptions (due_at) where status = 'active';

create table public.payments (
  id uuid primary key default gen_random_uuid(),
  user_id uuid constraint payments_user_id_fkey references auth.users (id) on delete set null,
  subscription_id uuid constraint payments_subscription_id_fkey references public.subscriptions (id) on delete set null,
  amount bigint not null constraint payments_amount_check check (amount >= 0),
  currency text not null default 'INR' constraint payments_currency_check check (currency ~ '^[A-Z]{3}$'),
  status text not null default 'created'
    constraint payments_status_check check (status in ('created', 'captured', 'failed')),
  tier text,
  plan_id uuid,
  price_key text,
  price_amount bigint,
  duration_months integer constraint payments_duration_months_check check (duration_months between 1 and 1200),
  gateway_key_id text,
  gateway_order_id text constraint payments_gateway_order_id_key unique,
  gateway_payment_id text constraint payments_gateway_payment_id_key unique,
  gateway_signature text,
  gateway_subscription_id text,
  extra_of uuid constraint payments_extra_of_fkey references public.payments (id) on delete cascade,
  meta jsonb default '{}',
  captured_at timestamptz,
  confirmed_at timestamptz,
  verified_at timestamptz,
  fulfilled_at timestamptz,
  period_start timestamptz,
  period_end timestamptz,
  chain_id uuid,
  chain_start timestamptz,
  extends_from timestamptz,
  since timestamptz,
  ended_at timestamptz,
  ended_reason text,
  cancel_at_period_end boolean not null default false,
  refunded_amount bigint not null default 0 constraint payments_refunded_amount_check check (refunded_amount >= 0),
  base_amount bigint, -- what the gateway booked in INR, in paise. Null: it was paid in INR, or is not known
  paid_amount bigint, -- what the gateway captured: with its fee on top, or less by an offer. Null: it has not said so yet
  dispute_status text,
  dispute_event_at timestamptz,
  uncaptured_at timestamptz,
  next_reconcile_at timestamptz default billing.clock() + interval '15 minutes',
  created_at timestamptz not null default billing.clock(),
  user_deleted_at timestamptz,
  starts text constraint payments_starts_check check (starts in ('now', 'after_current')),
  credit bigint constraint payments_credit_check check (credit > 0),
  credited_kind text
    constraint payments_credited_kind_check check (credited_kind in ('payment', 'gateway_subscription')),
  credited_id text,
  credited_until timestamptz,
  credited_amount bigint,
  settle_at timestamptz,
  reads integer not null default 0 constraint payments_reads_check check (reads between 0 and 20),
  read_at timestamptz,
  read_attempts integer not null default 0,
  is_attempt_open boolean not null default false,
  idempotency_keys text[] not null default '{}'
    constraint payments_idempotency_keys_check check (cardinality(idempotency_keys) <= 20)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index payments_user_id_created_at_idx on public.payments (user_id, created_at desc, id desc);
create index payments_subscription_id_idx on public.payments (subscription_id) where subscription_id is not null;
create index payments_gateway_subscription_id_idx on public.payments (gateway_subscription_id)
where gateway_subscription_id is not null;
create index payments_extra_of_idx on public.payments (extra_of) where extra_of is not null;
create index payments_deleted_user_idx on public.payments (id) where user_id is null;
create index payments_user_deleted_at_idx on public.payments (user_deleted_at) where user_deleted_at is not null;
-- A condition that uses an index calls the clock directly, so that the planner can estimate the rows. Other conditions read
-- the clock in a subquery, once for each query: a call for each row of a large table would dominate the run time.
create index payments_next_reconcile_at_idx on public.payments (next_reconcile_at)
where next_reconcile_at is not null and gateway_order_id is not null;
create index payments_period_end_idx on public.payments (period_end) where fulfilled_at is not null;
-- Only payments with a problem are in this index, so it stays small.
create index payments_unsettled_idx on public.payments (captured_at)
where uncaptured_at is not null
  or dispute_status is not null
  or status = 'captured' and fulfilled_at is null and gateway_subscription_id is null and extra_of is null;
create index payments_credited_id_idx on public.payments (credited_id) where credited_id is not null;
create index payments_settle_at_idx on public.payments (settle_at) where settle_at is not null;
-- For the payments of a day or a month. Cost: one index entry for each capture and each charged cycle.
create index payments_captured_at_idx on public.payments (captured_at) where status = 'captured';
comment on table public.payments is
  'One row for each order, with its payment, for each further payment on an order, and for each charge of a gateway '
  'subscription. The last two give no access by themselves, so they are never fulfilled or reconciled. A row remains when '
  'its user is deleted. Amounts are in minor currency units.';
comment on column public.payments.gateway_key_id is 'The API key of the order: it does not exist under another key.';
comment on column public.payments.tier is 'The tier that was sold. Any text is valid: an app may sell tiers of its own.';
comment on column public.payments.plan_id is 'Null: the plan of the tier. No foreign key: it would need an index.';
comment on column public.payments.price_key is 'The lookup key of the price that was sold. Null: the default price.';
comment on column public.payments.price_amount is
  'The price that was sold, before its credit. Null: an order of the app''s own, or a charge of a gateway subscription.';
comment on column public.payments.duration_months is 'The calendar months that were sold. Null: those of the plan.';
comment on column public.payments.meta is 'tier of a new payment; also the three error fields after a failed attempt.';
comment on column public.payments.gateway_subscription_id is 'Of a charge; empty where its events have no id.';
comment on column public.payments.extra_of is 'The payment that counts for the same order: this one is to be refunded.';
comment on column public.payments.verified_at is 'When the customer first verified a payment on this order.';
comment on column public.payments.fulfilled_at is 'When this payment granted its tier; at most once.';
comment on column public.payments.chain_id is 'The first payment of the chain that this one extends.';
comment on column public.payments.extends_from is 'The end of what the first payment of the chain extends or follows.';
comment on column public.payments.since is 'Ranks the sources of a user: the time of the order or of the verification.';
comment on column public.payments.ended_at is 'When the access that this payment gives ended before its period was over.';
comment on column public.payments.ended_reason is 'refunded, cancelled or never_captured.';
comment on column public.payments.cancel_at_period_end is 'Cancelled for the end of this period: no days of grace.';
comment on column public.payments.dispute_status is 'Of the newest dispute: billing.disputes has each.';
comment on column public.payments.uncaptured_at is
  'When reconciliation found that the gateway did not capture a verified payment. From then on only a confirmation counts.';
comment on column public.payments.user_deleted_at is 'Null 90 days later, when the payloads of its events are deleted.';
comment on column public.payments.starts is 'now, or after_current: when what runs ends. Null: the order did not say it.';
comment on column public.payments.credit is 'For the unused time that this payment replaces: amount is the price minus it.';
comment on column public.payments.credited_id is 'The payment or gateway subscription whose unused time was credited.';
comment on column public.payments.credited_amount is 'What was paid for the period until credited_until.';
comment on column public.payments.settle_at is 'When this period begins, and the sweep settles the user''s access.';
comment on column public.payments.reads is 'How often the order was read at the gateway for its page: at most 20 times.';
comment on column public.payments.is_attempt_open is 'Whether the newest attempt was neither captured nor failed.';
comment on column public.payments.idempotency_keys is 'Each returns this order, for seven days. Erased with the user.';
alter table public.payments enable row level security;

revoke all on public.plans, public.subscriptions, public.payments from public, anon, authenticated, service_role;
grant select on public.plans to anon, authenticated;
grant select on public.subscriptions, public.payments to authenticated;
-- The service reads plans, writes the other tables and deletes no rows. The app inserts its own payments with the same role.
grant select on public.plans to service_role;
grant select, insert, update on public.subscriptions, public.payments to service_role;

create policy "Everybody sees the plans on offer" on public.plans for select to anon, authenticated
using (is_active and (lookup_key is null or tier = any ((select billing.tiers_on_offer())::text[])));

create policy "Users see their own subscription" on public.subscriptions for select to authenticated
using ((select auth.uid()) = user_id);

create policy "Users see their own payments" on public.payments for select to authenticated
using ((select auth.uid()) = user_id);

create table public.billing_details (
  user_id uuid primary key constraint billing_details_user_id_fkey references auth.users (id) on delete cascade,
  name text,
  gstin text,
  address text,
  state text,
  country text,
  updated_at timestamptz not null default billing.clock()
);
comment on table public.billing_details is
  'What documents say about the buyer. Written by PUT /api/billing-details alone, which checks it. Gone with the user.';
comment on column public.billing_details.country is 'ISO 3166, two letters. Null: India.';
alter table public.billing_details enable row level security;
revoke all on public.billing_details from public, anon, authenticated, service_role;
grant select on public.billing_details to authenticated;
grant select, insert, update on public.billing_details to service_role;
create policy "Users see their own billing details" on public.billing_details for select to authenticated
using ((select auth.uid()) = user_id);

create table public.receipts (
  id uuid primary key default gen_random_uuid(),
  kind text not null constraint receipts_kind_check check (kind in ('receipt', 'credit_note')),
  series text not null,
  number integer not null constraint receipts_number_check check (number > 0),
  document_number text not null constraint receipts_document_number_key unique,
  title text not null,
  issued_at timestamptz not null,
  document_date date not null,
  tax_period date not null,
  category text not null
    constraint receipts_category_check check (category in ('b2b', 'b2cl', 'b2cs', 'expwp', 'expwop', 'none')),
  receipt_id uuid constraint receipts_receipt_id_fkey references public.receipts (id),
  rupees jsonb,
  payment_id uuid not null,
  user_id uuid constraint receipts_user_id_fkey references auth.users (id) on delete set null,
  refund_id text constraint receipts_refund_id_key unique,
  dispute_id text constraint receipts_dispute_id_key unique,
  reissue_of uuid constraint receipts_reissue_of_key unique,
  place_of_supply text,
  currency text not null,
  seller jsonb not null,
  buyer jsonb not null,
  lines jsonb not null,
  totals jsonb not null,
  constraint receipts_series_number_key unique (series, number),
  constraint receipts_of_receipt_check check ((kind = 'credit_note') = (receipt_id is not null))
);
create unique index receipts_payment_id_key on public.receipts (payment_id) where kind = 'receipt' and reissue_of is null;
create index receipts_payment_id_idx on public.receipts (payment_id);
create index receipts_receipt_id_idx on public.receipts (receipt_id) where receipt_id is not null;
create index receipts_user_id_idx on public.receipts (user_id, issued_at desc);
create index receipts_tax_period_idx on public.receipts (tax_period, series, number);
comment on table public.receipts is
  'Receipts, tax invoices and credit notes, frozen as they were issued: what was wrong gets a credit note. Amounts are in '
  'minor units of the currency.';
comment on column public.receipts.receipt_id is 'Of a credit note: what it corrects.';
comment on column public.receipts.rupees is 'Of another currency than INR: rate, taxable, taxes and total in paise.';
comment on column public.receipts.reissue_of is 'The receipt that this one replaces.';
comment on column public.receipts.category is 'For the GST return: registered, large, small, export with or without tax, none.';
comment on column public.receipts.totals is '{taxable, taxes: [{name, rate (basis points), amount}], total}';
alter table public.receipts enable row level security;
revoke all on public.receipts from public, anon, authenticated, service_role;
grant select on public.receipts to authenticated;
grant select on public.receipts to service_role;
create policy "Users see their own documents" on public.receipts for select to authenticated
using ((select auth.uid()) = user_id);

-- For the app's policies and queries. The body has no quotes, so that the function holds the id of the view: its caller may
-- not use schema billing.
create function public.current_tier()
returns text language sql stable set search_path = pg_catalog, pg_temp
return coalesce((select p.subscription_tier from billing.profiles p where p.user_id = (select auth.uid())), 'free');
comment on function public.current_tier is 'The tier of the signed-in user, or free.';

create function public.has_tier(p_tier text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return public.current_tier() = p_tier; end $$;
comment on function public.has_tier is
  'Whether the signed-in user has exactly this tier. In a policy: using ((select public.has_tier(''pro''))).';
revoke execute on function public.current_tier(), public.has_tier(text) from public, anon, service_role;
grant execute on function public.current_tier(), public.has_tier(text) to authenticated;

create view billing.access with (security_invoker = true) as
select
  f.user_id, own.tier, billing.rank_of(p) as rank,
  coalesce(p.entitlements, '{}') || coalesce(s.entitlements, '{}') as entitlements
from billing.profiles f
cross join lateral (select coalesce(f.subscription_tier, 'free') as tier) own
left join public.plans p on p.tier = own.tier and p.lookup_key is null
left join public.subscriptions s on s.user_id = f.user_id and s.status = 'active' and s.tier = own.tier;
comment on view billing.access is
  'What each user may do: the entitlements of the tier''s plan, and over them those of the grant that rules.';
grant select on billing.access to service_role;

-- The access of the signed-in user; all null without a session. In plpgsql: a policy may ask for each row. Security definer:
-- the plan of the tier may be off sale, and policies hide it from the user then.
create function billing.own_access(
  out tier text,
  out entitlements jsonb,
  out tiers text[] -- its own, free, and those of the same rank or a lower one
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  select own.tier, own.entitlements, array(
    select p.tier from public.plans p where billing.rank_of(p) <= own.rank union values (own.tier), ('free')
  )
  into own_access.tier, own_access.entitlements, own_access.tiers
  from (select auth.uid()) me (user_id)
  left join billing.access a on a.user_id = me.user_id
  -- A user without a profile.
  left join public.plans free on free.tier = 'free' and free.lookup_key is null and a.user_id is null
  cross join lateral (
    select
      coalesce(a.tier, 'free') as tier,
      coalesce(a.entitlements, free.entitlements, '{}') as entitlements,
      coalesce(a.rank, billing.rank_of(free)) as rank
  ) own
  where me.user_id is not null;
end $$;
grant execute on function billing.own_access to anon, authenticated;

create function public.has_feature(p_feature text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp
return coalesce((
  select case jsonb_typeof(a.entitlements -> p_feature)
    when 'boolean' then (a.entitlements -> p_feature)::boolean
    when 'number' then (a.entitlements -> p_feature)::bigint > 0
    when 'null' then true
  end
  from billing.own_access() a
), false);
comment on function public.has_feature is
  'Whether the tier of the signed-in user has a feature: true, a number above 0, or unlimited. False for an unknown key. In a '
  'policy: using ((select public.has_feature(''reports''))).';

create function public.feature_limit(p_feature text)
returns bigint language sql stable set search_path = pg_catalog, pg_temp
return (
  select case
    when a.entitlements -> p_feature in ('true', 'null') then null
    when jsonb_typeof(a.entitlements -> p_feature) = 'number' then (a.entitlements -> p_feature)::bigint
    else 0
  end
  from billing.own_access() a
);
comment on function public.feature_limit is
  'The number that the tier of the signed-in user has of a feature: 0 where it has none, null where it is unlimited.';

create function public.current_tiers()
returns text[] language sql stable set search_path = pg_catalog, pg_temp
return coalesce((select a.tiers from billing.own_access() a), '{}');
comment on function public.current_tiers is
  'The tiers that the signed-in user has at least: the own one, those of no higher rank, and free. In a policy: using '
  '(required_tier = any ((select public.current_tiers())::text[])).';

create function public.has_tier_at_least(p_tier text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp
return coalesce((select p_tier = any (a.tiers) from billing.own_access() a), false);
comment on function public.has_tier_at_least is 'Whether the signed-in user has this tier or one of a higher rank.';
revoke execute on function public.has_feature, public.feature_limit, public.has_tier_at_least, public.current_tiers
from public, service_role;
grant execute on function public.has_feature, public.feature_limit, public.has_tier_at_least, public.current_tiers
to anon, authenticated;

-- Locks a user: no other transaction changes the user's access or deletes the user. supabase/README.md, "Lock order".
-- Security definer, here and below: service_role may not read auth.users.
create function billing.lock_user(p_user_id uuid)
returns text -- the e-mail address; empty: the user has none; null: the user does not exist
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$ begin return (select coalesce(u.email, '') from auth.users u where u.id = p_user_id for no key update); end $$;

-- Locks a gateway payment, then its user, as billing.lock_gateway_payment and billing.lock_user do, in one call.
create function billing.lock_charge(p_gateway_payment_id text, p_user_id uuid)
returns text -- as billing.lock_user
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(p_gateway_payment_id, 0));
  return (select coalesce(u.email, '') from auth.users u where u.id = p_user_id for no key update);
end $$;

-- Reads the e-mail address of a user without a lock. No row: the user does not exist.
create function billing.find_user(p_user_id uuid)
returns table (email text)
language plpgsql stable security definer rows 1 set search_path = pg_catalog, pg_temp
as $$ begin return query select u.email::text from auth.users u where u.id = p_user_id; end $$;

-- The admin's view of auth.users. It has the rights of its owner: a role that reads it needs no right on schema auth, where
-- the hashes of passwords and tokens are. The auth server's unique index on addresses leaves out the users of single
-- sign-on. These are read from their identity, whose address has an index.
create view billing.users
with (security_invoker = false)
as
select
  u.user_id,
  u.email,
  (select coalesce(nullif(p.display_name, ''), p.username) from billing.profiles p where p.user_id = u.user_id) as name,
  u.signed_up_at
from (
  select u.id as user_id, u.email::text as email, u.created_at as signed_up_at from auth.users u where not u.is_sso_user
  union all
  select i.user_id, i.email::text, i.created_at from auth.identities i where i.provider like 'sso:%'
) u;
comment on view billing.users is
  'All users, with the four facts that support needs. The only view with the rights of its owner.';

create function billing.user_id_of(p_user text)
returns uuid language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_user constant text := lower(btrim(p_user));
  v_found constant uuid[] := array(
    select u.user_id from billing.users u where u.email = v_user
    union all
    select u.user_id from billing.users u where u.user_id = billing.json_uuid(to_jsonb(v_user))
  );
begin
  if v_found = '{}' then
    raise exception 'no user with the e-mail address or id "%"', p_user using errcode = 'PS404';
  elsif cardinality(v_found) > 1 then
    raise exception '% users have the e-mail address "%": name one by its id', cardinality(v_found), p_user
      using errcode = 'PS409';
  end if;
  return v_found[1];
end $$;
comment on function billing.user_id_of is 'The user with this e-mail address or id. Raises PS404, or PS409 for several.';
