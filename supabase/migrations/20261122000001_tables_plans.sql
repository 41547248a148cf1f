-- Default privileges, schema private with its clock and settings, and the tables plans, subscriptions and payments.
-- Contract: "Records".

-- No role has rights by default. The grants of an object stand beside its definition.
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role;

-- Functions that write have `set enable_seqscan = off`. A session caches the plans of its statements. A plan that was made
-- for an empty table would use a sequential scan until the session ends.

create schema private;
comment on schema private is 'Ledger, outbox and internal functions. The API never exposes this schema.';
revoke all on schema private from public;
grant usage on schema private to service_role;

-- All rules read the time from this function, so that a test stack can replace it and shift time.
create function private.clock()
returns timestamptz
language plpgsql -- as all functions that a request calls: a session plans a function in sql again for each call
stable
set search_path = ''
as $$
begin
  return now();
end
$$;
comment on function private.clock() is 'The current time for all rules: the start of the transaction.';
grant execute on function private.clock() to service_role;

-- Formats a time as JavaScript does: YYYY-MM-DDTHH:MM:SS.sssZ.
create function private.iso_time(
  p_at timestamptz
)
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end
$$;
grant execute on function private.iso_time(timestamptz) to service_role;

create table public.plans (
  id uuid primary key default gen_random_uuid(),
  tier text not null constraint plans_tier_key unique,
  name text not null,
  price bigint not null constraint plans_price_check check (price >= 0),
  currency text not null default 'INR' constraint plans_currency_check check (currency ~ '^[A-Z]{3}$'),
  duration_months integer constraint plans_duration_months_check check (duration_months between 0 and 1200),
  features jsonb not null default '[]',
  is_active boolean not null default true,
  grace_days integer not null default 3 constraint plans_grace_days_check check (grace_days between 0 and 366),
  gateway_plan_id text constraint plans_gateway_plan_id_key unique,
  created_at timestamptz not null default private.clock()
);
comment on table public.plans is
  'The plans that customers can buy, one for each tier. Set is_active to false to retire a plan. Do not delete it: its paid '
  'orders remain.';
comment on column public.plans.price is 'Minor currency units.';
comment on column public.plans.duration_months is 'Calendar months that a payment buys; null or 0 counts as 12.';
comment on column public.plans.grace_days is 'Days of access after a period that ended unpaid.';
comment on column public.plans.gateway_plan_id is 'The plan''s id at the gateway, for subscriptions that the gateway bills.';

insert into public.plans (tier, name, price, duration_months, features)
values
  ('basic', 'Basic', 9900, 1, '["All core features", "E-mail support"]'),
  ('pro', 'Pro', 99900, 12, '["Everything in Basic", "Analytics", "Priority support"]'),
  ('premium', 'Premium', 199900, 12, '["Everything in Pro", "Unlimited projects", "A person to call"]');

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
  revision bigint not null default 0,
  created_at timestamptz not null default private.clock(),
  updated_at timestamptz not null default private.clock()
)
-- Space in each page for a new row version (HOT updates): an update that changes no indexed column writes no index.
with (fillfactor = 90);
create index subscriptions_plan_id_idx on public.subscriptions (plan_id);
comment on table public.subscriptions is
  'One row for each user: the ruling source of access. private.settle_access writes it.';
comment on column public.subscriptions.revision is
  'The number of writes by private.settle_access. A write that does not change it was made by hand.';

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
  duration_months integer constraint payments_duration_months_check check (duration_months between 1 and 1200),
  gateway_key_id text,
  gateway_order_id text constraint payments_gateway_order_id_key unique,
  gateway_payment_id text constraint payments_gateway_payment_id_key unique,
  gateway_signature text,
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
  dispute_status text,
  dispute_event_at timestamptz,
  uncaptured_at timestamptz,
  next_reconcile_at timestamptz default private.clock() + interval '15 minutes',
  created_at timestamptz not null default private.clock()
);
create index payments_user_id_created_at_idx on public.payments (user_id, created_at desc, id desc);
create index payments_subscription_id_idx on public.payments (subscription_id);
comment on table public.payments is
  'One row for each order, with its payment. The row remains when the user is deleted.';
comment on column public.payments.amount is 'Minor currency units.';
comment on column public.payments.gateway_key_id is
  'The API key id under which the order was made. The order does not exist under another key, such as live after test.';
comment on column public.payments.tier is 'The tier that was sold. Any text is valid: an app may sell tiers of its own.';
comment on column public.payments.plan_id is
  'The plan that was sold. No foreign key: it would need an index, and no request reads payments by plan. Null: the plan is '
  'found by the tier.';
comment on column public.payments.duration_months is
  'The calendar months that were sold. Null: those of the plan when the payment is fulfilled.';
comment on column public.payments.meta is 'tier of a new payment; also the three error fields after a failed attempt.';
comment on column public.payments.confirmed_at is 'When the gateway confirmed the capture.';
comment on column public.payments.verified_at is 'When the customer first verified a payment on this order.';
comment on column public.payments.fulfilled_at is 'When this payment granted its tier; at most once.';
comment on column public.payments.period_end is
  'End of the period that this payment bought. The period of the subscription may differ.';
comment on column public.payments.chain_id is
  'The first payment of the chain that this payment extends. Contract: Early renewals. Null: it extends no payment.';
comment on column public.payments.chain_start is
  'Start of the first period of the chain. Null: the payment is not part of a chain.';
comment on column public.payments.extends_from is
  'End of the source that this payment extends, if that source is not a payment. Null: there is no such source.';
comment on column public.payments.since is
  'Ranks the sources of access of a user. The time of the order, or of the customer''s first verification.';
comment on column public.payments.ended_at is 'When the access that this payment gives ended before its period was over.';
comment on column public.payments.ended_reason is 'refunded, cancelled or never_captured.';
comment on column public.payments.cancel_at_period_end is
  'The customer cancelled for the end of this period: no days of grace.';
comment on column public.payments.refunded_amount is 'The sum of the processed refunds, minor currency units.';
comment on column public.payments.dispute_event_at is 'created_at of the newest event about the dispute.';
comment on column public.payments.uncaptured_at is
  'When reconciliation found that the gateway did not capture a verified payment. A signature never expires, so from then '
  'on only a confirmation by the gateway counts.';
comment on column public.payments.next_reconcile_at is
  'When the payment is next reconciled with the gateway. Null: no reconciliation is needed.';

create table private.settings (
  is_only boolean primary key default true constraint settings_is_only_check check (is_only),
  early_renewal text not null default 'replace'
    constraint settings_early_renewal_check check (early_renewal in ('replace', 'extend'))
);
alter table private.settings enable row level security;
grant select on private.settings to service_role;
comment on table private.settings is 'The settings, in one row.';
comment on column private.settings.early_renewal is
  'The effect of a purchase of the running tier. replace: a new period starts now. extend: the new period follows the '
  'running one.';
insert into private.settings default values;

create function private.early_renewal()
returns text -- replace or extend
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce((select s.early_renewal from private.settings s where s.is_only), 'replace');
end
$$;
grant execute on function private.early_renewal() to service_role;
