-- Plans, subscriptions and payments. SPEC 2 and 3.
-- Depends on: auth.users.

-- Close first: what a migration does not open beside its definition stays shut.
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role;

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
revoke execute on function private.clock() from public;
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
revoke execute on function private.iso_time(timestamptz) from public;
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
  superseded_gateway_subscription_ids text[] not null default '{}',
  period_event_at timestamptz,
  status_event_at timestamptz,
  activated_event_at timestamptz,
  created_at timestamptz not null default private.clock(),
  updated_at timestamptz not null default private.clock()
);
create index subscriptions_plan_id_idx on public.subscriptions (plan_id);
comment on table public.subscriptions is 'The one subscription of a user: which tier, paid until when.';
comment on column public.subscriptions.superseded_gateway_subscription_ids is
  'Gateway subscriptions that a later purchase replaced: their events change nothing any more.';
comment on column public.subscriptions.period_event_at is
  'created_at of the newest gateway event that set the period. Purchases do not move it.';
comment on column public.subscriptions.status_event_at is
  'created_at of the newest gateway event that set the status. Purchases do not move it.';
comment on column public.subscriptions.activated_event_at is
  'created_at of the newest subscription.activated: it names the gateway subscription that counts.';

create function private.note_update()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.updated_at := private.clock();
  return new;
end
$$;
revoke execute on function private.note_update() from public;

create trigger note_update
before update on public.subscriptions
for each row execute function private.note_update();

create table public.payments (
  id uuid primary key default gen_random_uuid(),
  user_id uuid constraint payments_user_id_fkey references auth.users (id) on delete set null,
  subscription_id uuid constraint payments_subscription_id_fkey references public.subscriptions (id) on delete set null,
  amount bigint not null constraint payments_amount_check check (amount >= 0),
  currency text not null default 'INR' constraint payments_currency_check check (currency ~ '^[A-Z]{3}$'),
  status text not null default 'created'
    constraint payments_status_check check (status in ('created', 'captured', 'failed')),
  tier text,
  gateway_order_id text constraint payments_gateway_order_id_key unique,
  gateway_payment_id text constraint payments_gateway_payment_id_key unique,
  gateway_signature text,
  meta jsonb default '{}',
  captured_at timestamptz,
  confirmed_at timestamptz,
  fulfilled_at timestamptz,
  period_start timestamptz,
  period_end timestamptz,
  refunded_amount bigint not null default 0 constraint payments_refunded_amount_check check (refunded_amount >= 0),
  dispute_status text,
  uncaptured_at timestamptz,
  next_reconcile_at timestamptz default private.clock() + interval '15 minutes',
  created_at timestamptz not null default private.clock()
);
create index payments_user_id_created_at_idx on public.payments (user_id, created_at desc, id desc);
create index payments_subscription_id_idx on public.payments (subscription_id);
comment on table public.payments is 'One row an order: what was to be paid, and what became of it. Outlives its user.';
comment on column public.payments.amount is 'Minor currency units.';
comment on column public.payments.tier is 'What was bought; any text, so that an app can sell tiers of its own.';
comment on column public.payments.meta is 'tier on a new payment; the three error fields after a failed attempt.';
comment on column public.payments.confirmed_at is 'When the gateway itself said that the money was captured.';
comment on column public.payments.fulfilled_at is 'When this payment granted its tier; at most once.';
comment on column public.payments.period_end is 'End of the period that this payment bought, whatever the subscription''s is now.';
comment on column public.payments.refunded_amount is 'Minor currency units.';
comment on column public.payments.uncaptured_at is
  'When it turned out that the gateway never captured what a customer had brought back. A signature stays right for ever: since then only the gateway''s own word counts.';
comment on column public.payments.next_reconcile_at is 'When the gateway is asked about this payment next; null: it is settled, or given up.';
