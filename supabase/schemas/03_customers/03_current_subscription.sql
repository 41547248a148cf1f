-- The subscription row of each user. Contract: "Records".

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
comment on column public.subscriptions.due_at is 'When the sweep settles it next, or earlier. A renewal does not write it.';
alter table public.subscriptions enable row level security;
create index subscriptions_due_at_idx on public.subscriptions (due_at) where due_at is not null;

revoke all on public.subscriptions from public, anon, authenticated, service_role;
grant select on public.subscriptions to authenticated;
-- The service deletes no rows.
grant select, insert, update on public.subscriptions to service_role;

create policy "Users see their own subscription" on public.subscriptions for select to authenticated
using ((select auth.uid()) = user_id);
