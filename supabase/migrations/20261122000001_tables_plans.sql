-- The schema, its clock and settings, and the tables that the app reads: plans, subscriptions, payments. Contract: "Records".

-- Plans, subscriptions and payments. Contract: "Records".

-- Closed by default: a later statement grants what is open, beside its definition.
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role;

-- Functions that write have `set enable_seqscan = off`: a session keeps the plans of its statements, and one that was made
-- while a table was empty would read the whole table for as long as the session lives.

create schema private;
comment on schema private is 'Ledger, outbox and inner rules. Never exposed by the API.';
revoke all on schema private from public;
grant usage on schema private to service_role;

-- The only clock of the schema, so that a test stack can replace it and shift time. UTC.
create function private.clock()
returns timestamptz
language plpgsql -- as all that is called for each request: a function in sql is planned anew each time
stable
set search_path = ''
as $$
begin
  return now();
end
$$;
comment on function private.clock() is 'The time by which every rule goes: the start of the transaction.';
grant execute on function private.clock() to service_role;

-- YYYY-MM-DDTHH:MM:SS.sssZ, as JavaScript writes it.
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
comment on table public.plans is 'What can be bought: one plan a tier. A paid order outlives its offer, so plans are retired, not deleted.';
comment on column public.plans.price is 'Minor currency units.';
comment on column public.plans.duration_months is 'Calendar months that a payment buys; null or 0 counts as 12.';
comment on column public.plans.grace_days is 'Days of access after a period ended unpaid.';
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
-- Space in each page for a new row version, so that updates can stay out of the indexes.
with (fillfactor = 90);
create index subscriptions_plan_id_idx on public.subscriptions (plan_id);
comment on table public.subscriptions is
  'The one subscription of a user: the source of access that rules, as private.settle_access wrote it.';
comment on column public.subscriptions.revision is
  'Counts the writes of private.settle_access. A write that leaves it unchanged was made by hand.';

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
comment on table public.payments is 'One row an order: what was to be paid, and what became of it. Outlives its user.';
comment on column public.payments.amount is 'Minor currency units.';
comment on column public.payments.gateway_key_id is
  'The API key id under which the order was made: another one, such as live after test, does not know it.';
comment on column public.payments.tier is 'What was bought; any text, so that an app can sell tiers of its own.';
comment on column public.payments.plan_id is
  'The plan as it was sold; no foreign key, since no request reads payments by it. Null: looked up by the tier.';
comment on column public.payments.duration_months is
  'Calendar months as they were sold. Null: the plan says it when the payment is fulfilled.';
comment on column public.payments.meta is 'tier on a new payment; the three error fields after a failed attempt.';
comment on column public.payments.confirmed_at is 'When the gateway confirmed that the money was captured.';
comment on column public.payments.verified_at is 'When the customer first verified a payment on this order.';
comment on column public.payments.fulfilled_at is 'When this payment granted its tier; at most once.';
comment on column public.payments.period_end is 'End of the period that this payment bought. The subscription''s own period may differ.';
comment on column public.payments.chain_id is
  'The first payment of the chain that this payment extends. Contract: Early renewals. Null: it extends no payment.';
comment on column public.payments.chain_start is 'Start of the first period of the chain. Null: not part of a chain.';
comment on column public.payments.extends_from is
  'End of the gateway period, grant or written row that this payment extends. Null: it extends none.';
comment on column public.payments.since is
  'Ranks the sources of access of a user: the order''s creation, or the first verification by the customer.';
comment on column public.payments.ended_at is 'When this payment stopped giving access before its period was over.';
comment on column public.payments.ended_reason is 'refunded, cancelled or never_captured.';
comment on column public.payments.cancel_at_period_end is 'The customer wants access to end with this period: no grace days.';
comment on column public.payments.refunded_amount is 'Minor currency units; the processed refunds, as private.refunds has them.';
comment on column public.payments.dispute_event_at is 'created_at of the newest event about the dispute.';
comment on column public.payments.uncaptured_at is
  'When it turned out that the gateway never captured a verified payment. A signature stays valid for ever, so from then '
  'on only a confirmation by the gateway counts.';
comment on column public.payments.next_reconcile_at is
  'When the payment is reconciled with the gateway next; null: nothing is left to ask.';

create table private.settings (
  is_only boolean primary key default true constraint settings_is_only_check check (is_only),
  early_renewal text not null default 'replace'
    constraint settings_early_renewal_check check (early_renewal in ('replace', 'extend'))
);
alter table private.settings enable row level security;
grant select on private.settings to service_role;
comment on table private.settings is 'Settings of the rules, in one row.';
comment on column private.settings.early_renewal is
  'What a purchase of the running tier does. replace: a new period starts now; extend: it adds to the running period.';
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
