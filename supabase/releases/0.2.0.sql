-- Release 0.2.0: schema and sample. Written by `npm run release`, never edited.
-- Restores into a database that has the API's roles and schema auth, and no migration.

create schema if not exists supabase_migrations;
create table if not exists supabase_migrations.schema_migrations (
  version text not null primary key,
  statements text[],
  name text,
  created_by text,
  idempotency_key text unique,
  rollback text[]
);
create table if not exists supabase_migrations.seed_files (
  path text not null primary key,
  hash text not null
);

create function pg_temp.apply_migration(p_version text, p_name text, p_statements text[])
returns void
language plpgsql
as $$
declare
  v_statement text;
begin
  foreach v_statement in array p_statements loop
    execute v_statement;
  end loop;
  insert into supabase_migrations.schema_migrations (version, name, statements)
  values (p_version, p_name, p_statements);
end
$$;

-- migrations/20261122000001_tables_plans.sql
select pg_temp.apply_migration('20261122000001', 'tables_plans', array[
$_$-- Default privileges, schema private with its clock and settings, and the tables plans, subscriptions and payments.
-- Contract: "Records".

-- No role has rights by default. The grants of an object stand beside its definition.
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role$_$,
$_$alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role$_$,
$_$alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role$_$,
$_$-- Functions that write have `set enable_seqscan = off`. A session caches the plans of its statements. A plan that was made
-- for an empty table would use a sequential scan until the session ends.

create schema private$_$,
$_$comment on schema private is 'Ledger, outbox and internal functions. The API never exposes this schema.'$_$,
$_$revoke all on schema private from public$_$,
$_$grant usage on schema private to service_role$_$,
$_$-- All rules read the time from this function, so that a test stack can replace it and shift time.
create function private.clock()
returns timestamptz
language plpgsql -- as all functions that a request calls: a session plans a function in sql again for each call
stable
set search_path = ''
as $$
begin
  return now();
end
$$$_$,
$_$comment on function private.clock() is 'The current time for all rules: the start of the transaction.'$_$,
$_$grant execute on function private.clock() to service_role$_$,
$_$-- Formats a time as JavaScript does: YYYY-MM-DDTHH:MM:SS.sssZ.
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
$$$_$,
$_$grant execute on function private.iso_time(timestamptz) to service_role$_$,
$_$create table public.plans (
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
)$_$,
$_$comment on table public.plans is
  'The plans that customers can buy, one for each tier. Set is_active to false to retire a plan. Do not delete it: its paid '
  'orders remain.'$_$,
$_$comment on column public.plans.price is 'Minor currency units.'$_$,
$_$comment on column public.plans.duration_months is 'Calendar months that a payment buys; null or 0 counts as 12.'$_$,
$_$comment on column public.plans.grace_days is 'Days of access after a period that ended unpaid.'$_$,
$_$comment on column public.plans.gateway_plan_id is 'The plan''s id at the gateway, for subscriptions that the gateway bills.'$_$,
$_$insert into public.plans (tier, name, price, duration_months, features)
values
  ('basic', 'Basic', 9900, 1, '["All core features", "E-mail support"]'),
  ('pro', 'Pro', 99900, 12, '["Everything in Basic", "Analytics", "Priority support"]'),
  ('premium', 'Premium', 199900, 12, '["Everything in Pro", "Unlimited projects", "A person to call"]')$_$,
$_$create table public.subscriptions (
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
with (fillfactor = 90)$_$,
$_$create index subscriptions_plan_id_idx on public.subscriptions (plan_id)$_$,
$_$comment on table public.subscriptions is
  'One row for each user: the ruling source of access. private.settle_access writes it.'$_$,
$_$comment on column public.subscriptions.revision is
  'The number of writes by private.settle_access. A write that does not change it was made by hand.'$_$,
$_$create table public.payments (
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
)$_$,
$_$create index payments_user_id_created_at_idx on public.payments (user_id, created_at desc, id desc)$_$,
$_$create index payments_subscription_id_idx on public.payments (subscription_id)$_$,
$_$comment on table public.payments is
  'One row for each order, with its payment. The row remains when the user is deleted.'$_$,
$_$comment on column public.payments.amount is 'Minor currency units.'$_$,
$_$comment on column public.payments.gateway_key_id is
  'The API key id under which the order was made. The order does not exist under another key, such as live after test.'$_$,
$_$comment on column public.payments.tier is 'The tier that was sold. Any text is valid: an app may sell tiers of its own.'$_$,
$_$comment on column public.payments.plan_id is
  'The plan that was sold. No foreign key: it would need an index, and no request reads payments by plan. Null: the plan is '
  'found by the tier.'$_$,
$_$comment on column public.payments.duration_months is
  'The calendar months that were sold. Null: those of the plan when the payment is fulfilled.'$_$,
$_$comment on column public.payments.meta is 'tier of a new payment; also the three error fields after a failed attempt.'$_$,
$_$comment on column public.payments.confirmed_at is 'When the gateway confirmed the capture.'$_$,
$_$comment on column public.payments.verified_at is 'When the customer first verified a payment on this order.'$_$,
$_$comment on column public.payments.fulfilled_at is 'When this payment granted its tier; at most once.'$_$,
$_$comment on column public.payments.period_end is
  'End of the period that this payment bought. The period of the subscription may differ.'$_$,
$_$comment on column public.payments.chain_id is
  'The first payment of the chain that this payment extends. Contract: Early renewals. Null: it extends no payment.'$_$,
$_$comment on column public.payments.chain_start is
  'Start of the first period of the chain. Null: the payment is not part of a chain.'$_$,
$_$comment on column public.payments.extends_from is
  'End of the source that this payment extends, if that source is not a payment. Null: there is no such source.'$_$,
$_$comment on column public.payments.since is
  'Ranks the sources of access of a user. The time of the order, or of the customer''s first verification.'$_$,
$_$comment on column public.payments.ended_at is 'When the access that this payment gives ended before its period was over.'$_$,
$_$comment on column public.payments.ended_reason is 'refunded, cancelled or never_captured.'$_$,
$_$comment on column public.payments.cancel_at_period_end is
  'The customer cancelled for the end of this period: no days of grace.'$_$,
$_$comment on column public.payments.refunded_amount is 'The sum of the processed refunds, minor currency units.'$_$,
$_$comment on column public.payments.dispute_event_at is 'created_at of the newest event about the dispute.'$_$,
$_$comment on column public.payments.uncaptured_at is
  'When reconciliation found that the gateway did not capture a verified payment. A signature never expires, so from then '
  'on only a confirmation by the gateway counts.'$_$,
$_$comment on column public.payments.next_reconcile_at is
  'When the payment is next reconciled with the gateway. Null: no reconciliation is needed.'$_$,
$_$create table private.settings (
  is_only boolean primary key default true constraint settings_is_only_check check (is_only),
  early_renewal text not null default 'replace'
    constraint settings_early_renewal_check check (early_renewal in ('replace', 'extend'))
)$_$,
$_$alter table private.settings enable row level security$_$,
$_$grant select on private.settings to service_role$_$,
$_$comment on table private.settings is 'The settings, in one row.'$_$,
$_$comment on column private.settings.early_renewal is
  'The effect of a purchase of the running tier. replace: a new period starts now. extend: the new period follows the '
  'running one.'$_$,
$_$insert into private.settings default values$_$,
$_$create function private.early_renewal()
returns text -- replace or extend
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce((select s.early_renewal from private.settings s where s.is_only), 'replace');
end
$$$_$,
$_$grant execute on function private.early_renewal() to service_role$_$
]);

-- migrations/20261122000002_tables_profiles.sql
select pg_temp.apply_migration('20261122000002', 'tables_profiles', array[
$_$-- The table profiles, with each user's tier, and its trigger on auth.users. Contract: "Profile".
-- An app that already has public.profiles replaces this file: see supabase/docs/deployment.md, "Existing profiles".

create table public.profiles (
  user_id uuid primary key constraint profiles_user_id_fkey references auth.users (id) on delete cascade,
  subscription_tier text default 'free',
  display_name text constraint profiles_display_name_check check (char_length(display_name) <= 200),
  username text constraint profiles_username_check check (char_length(username) <= 200),
  created_at timestamptz not null default private.clock()
)
-- Space in each page for a new row version (HOT updates): a change of the tier writes no index.
with (fillfactor = 90)$_$,
$_$comment on table public.profiles is 'One row for each user: the names that the app shows, and the tier.'$_$,
$_$comment on column public.profiles.subscription_tier is 'free, or the tier of the active subscription. Null means free.'$_$,
$_$-- The username of a new profile: the local part of the e-mail address.
create function private.default_username(p_email text)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return left(coalesce(nullif(split_part(p_email, '@', 1), ''), 'user'), 60);
end
$$$_$,
$_$grant execute on function private.default_username(text) to service_role$_$,
$_$-- Security definer: the auth server's role inserts users and has no rights on profiles.
create function private.create_profile()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into public.profiles (user_id, username)
  values (new.id, private.default_username(new.email))
  on conflict (user_id) do nothing;
  return null;
exception
  -- A sign-up must not fail because of its profile. The next change of the tier creates a missing profile.
  when others then
    raise warning 'no profile for user %: %', new.id, sqlstate;
    return null;
end
$$$_$,
$_$create trigger create_profile
after insert on auth.users
for each row execute function private.create_profile()$_$,
$_$insert into public.profiles (user_id, username)
select u.id, private.default_username(u.email)
from auth.users u$_$
]);

-- migrations/20261122000003_tables_rights.sql
select pg_temp.apply_migration('20261122000003', 'tables_rights', array[
$_$-- Rights on the tables of schema public, the functions for an app's policies, and the lock on a user.
-- A client can only read its own records and the plans on offer, and edit its own names.

alter table public.plans enable row level security$_$,
$_$alter table public.profiles enable row level security$_$,
$_$alter table public.subscriptions enable row level security$_$,
$_$alter table public.payments enable row level security$_$,
$_$revoke all on public.plans, public.profiles, public.subscriptions, public.payments
from public, anon, authenticated, service_role$_$,
$_$grant select on public.plans to anon, authenticated$_$,
$_$grant select on public.profiles, public.subscriptions, public.payments to authenticated$_$,
$_$grant update (display_name, username) on public.profiles to authenticated$_$,
$_$-- The service reads plans, writes the other tables and deletes no rows. The app inserts its own payments with the same role.
grant select on public.plans to service_role$_$,
$_$grant select, insert, update on public.profiles, public.subscriptions, public.payments to service_role$_$,
$_$create policy "Everybody sees the plans on offer"
on public.plans for select
to anon, authenticated
using (is_active)$_$,
$_$create policy "Users see their own profile"
on public.profiles for select
to authenticated
using ((select auth.uid()) = user_id)$_$,
$_$create policy "Users edit their own profile"
on public.profiles for update
to authenticated
using ((select auth.uid()) = user_id)
with check ((select auth.uid()) = user_id)$_$,
$_$create policy "Users see their own subscription"
on public.subscriptions for select
to authenticated
using ((select auth.uid()) = user_id)$_$,
$_$create policy "Users see their own payments"
on public.payments for select
to authenticated
using ((select auth.uid()) = user_id)$_$,
$_$-- For the app's own policies and queries. Row level security limits it to the caller's profile.
create function public.current_tier()
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select coalesce(
    (select p.subscription_tier from public.profiles p where p.user_id = (select auth.uid())),
    'free'
  )
$$$_$,
$_$comment on function public.current_tier() is 'The tier of the signed-in user, or free.'$_$,
$_$revoke execute on function public.current_tier() from public, anon$_$,
$_$grant execute on function public.current_tier() to authenticated$_$,
$_$create function public.has_tier(
  p_tier text
)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select public.current_tier() = p_tier
$$$_$,
$_$comment on function public.has_tier(text) is
  'Whether the signed-in user has exactly this tier. In a policy: using ((select public.has_tier(''pro''))).'$_$,
$_$revoke execute on function public.has_tier(text) from public, anon$_$,
$_$grant execute on function public.has_tier(text) to authenticated$_$,
$_$-- Locks a user. Until the transaction ends, no other transaction changes the user's access or deletes the user.
-- A transaction that grants or ends access takes this lock before any other row lock: supabase/README.md, "Lock order".
-- Security definer: service_role may not read auth.users.
create function private.lock_user(
  p_user_id uuid
)
returns text -- the e-mail address; empty: the user has none; null: the user does not exist
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_email text;
begin
  select coalesce(u.email, '') into v_email from auth.users u where u.id = p_user_id for no key update;
  return v_email;
end
$$$_$,
$_$grant execute on function private.lock_user(uuid) to service_role$_$,
$_$-- Reads the e-mail address of a user without a lock. No row: the user does not exist.
-- Security definer: service_role may not read auth.users.
create function private.find_user(
  p_user_id uuid
)
returns table (email text)
language sql
stable
security definer
set search_path = ''
as $$
  select u.email::text from auth.users u where u.id = p_user_id
$$$_$,
$_$grant execute on function private.find_user(uuid) to service_role$_$
]);

-- migrations/20261122000004_outbox_rows.sql
select pg_temp.apply_migration('20261122000004', 'outbox_rows', array[
$_$-- The table outbox, with the functions and triggers that enqueue its rows, and the log of tier changes.
-- A side effect is enqueued in the transaction of its cause. Contract: "E-mails", "Cached pages".

create table private.outbox (
  id bigint generated always as identity primary key,
  key text not null constraint outbox_key_key unique,
  destination text not null
    constraint outbox_destination_check check (destination in ('email', 'notice', 'revalidation', 'gateway')),
  kind text not null,
  payload jsonb not null,
  created_at timestamptz not null default private.clock(),
  queued_at timestamptz not null default private.clock(),
  next_attempt_at timestamptz not null default private.clock(),
  attempts integer not null default 0,
  claims uuid[] not null default '{}',
  last_error text,
  delivered_at timestamptz,
  parked_at timestamptz
)$_$,
$_$alter table private.outbox enable row level security$_$,
$_$grant select, insert, update on private.outbox to service_role$_$,
$_$create index outbox_pending_idx on private.outbox (destination, next_attempt_at)
where delivered_at is null and parked_at is null$_$,
$_$create index outbox_delivered_at_idx on private.outbox (delivered_at)
where delivered_at is not null$_$,
$_$create index outbox_mails_created_at_idx on private.outbox (created_at)
where destination in ('email', 'notice')$_$,
$_$comment on table private.outbox is 'Side effects to deliver at least once, each with a unique key that names its cause.'$_$,
$_$comment on column private.outbox.key is
  'Names the cause, for example payment-success/<payment id>. The receiver gets it as idempotency key.'$_$,
$_$comment on column private.outbox.destination is
  'notice: mails to many users at once. They have their own queue, so that they do not delay mails about payments.'$_$,
$_$comment on column private.outbox.payload is
  'Recipient and data when the row was enqueued. Amounts in minor currency units, times in UTC.'$_$,
$_$comment on column private.outbox.queued_at is
  'Start of the 24 hours in which delivery is tried. private.requeue starts them again.'$_$,
$_$comment on column private.outbox.next_attempt_at is
  'When the row may be claimed. While the row is claimed: the end of the lease.'$_$,
$_$comment on column private.outbox.last_error is
  'Why the newest attempt failed. In a delivered row without a message: why no message was sent.'$_$,
$_$comment on column private.outbox.claims is
  'The tokens of the newest claims, the newest last. A null at the end means that the newest claim is over.'$_$,
$_$-- Enqueues a side effect. A second call with the same key changes nothing.
create function private.enqueue(
  p_key text,
  p_destination text,
  p_kind text,
  p_payload jsonb
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.outbox (key, destination, kind, payload)
  values (p_key, p_destination, p_kind, p_payload)
  on conflict (key) do nothing;
end
$$$_$,
$_$grant execute on function private.enqueue(text, text, text, jsonb) to service_role$_$,
$_$-- The key of a transaction's revalidation. Each write of a tier refreshes the app's cached pages, also a write by an admin.
-- One key for each transaction, since an upsert fires the insert trigger and the update trigger. The key has the time,
-- because transaction ids repeat in a restored database.
create function private.revalidation_key()
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return format('revalidation/%s-%s', extract(epoch from now()), pg_current_xact_id());
end
$$$_$,
$_$grant execute on function private.revalidation_key() to service_role$_$,
$_$-- Security definer: the role of an admin or of the app may write tiers but not the outbox.
create function private.enqueue_revalidation()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.enqueue(
    private.revalidation_key(),
    'revalidation',
    'revalidation',
    '{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]}'
  );
  return null;
end
$$$_$,
$_$-- Not for requests: there private.settle_access enqueues all side effects in one statement.
create trigger enqueue_revalidation
after insert or update of subscription_tier on public.profiles
for each statement
when (current_setting('subscriptions.request', true) is distinct from 'on')
execute function private.enqueue_revalidation()$_$,
$_$-- Enqueues a cancellation: the gateway stops billing a subscription, at once or at the end of its cycle. Another call may
-- replace a cancellation that is not delivered, or that was withdrawn. A delivered cancellation is final, except that an
-- immediate one may follow one for the end of the cycle.
create function private.enqueue_cancellation(
  p_gateway_subscription_id text,
  p_at_cycle_end boolean default false,
  p_at timestamptz default private.clock() -- when to send it
)
returns void
language sql
set search_path = ''
as $$
  insert into private.outbox as o (key, destination, kind, payload, queued_at, next_attempt_at)
  values (
    'cancel-subscription/' || p_gateway_subscription_id,
    'gateway',
    'cancel-subscription',
    jsonb_build_object('gateway_subscription_id', p_gateway_subscription_id, 'at_cycle_end', p_at_cycle_end),
    p_at,
    p_at
  )
  on conflict (key) do update
  set payload = excluded.payload,
    queued_at = excluded.queued_at,
    next_attempt_at = excluded.next_attempt_at,
    attempts = case when o.parked_at is null and o.delivered_at is null then o.attempts else 0 end,
    parked_at = null,
    delivered_at = null
  where o.delivered_at is null
    or o.payload @> '{"at_cycle_end": true}' and not p_at_cycle_end
$$$_$,
$_$grant execute on function private.enqueue_cancellation(text, boolean, timestamptz) to service_role$_$,
$_$-- Withdraws a cancellation, unless it was claimed: the gateway may then have received it.
create function private.withdraw_cancellation(
  p_gateway_subscription_id text,
  p_why text
)
returns boolean -- false: the gateway received the cancellation, or may have received it
language plpgsql
set search_path = ''
as $$
declare
  v_row private.outbox;
begin
  select * into v_row
  from private.outbox o
  where o.key = 'cancel-subscription/' || p_gateway_subscription_id
  for update;
  if v_row.attempts > 0 or v_row.delivered_at is not null then
    return false;
  end if;
  update private.outbox o
  set parked_at = private.clock(),
    last_error = 'withdrawn: ' || p_why
  where o.id = v_row.id
    and o.parked_at is null;
  return true;
end
$$$_$,
$_$grant execute on function private.withdraw_cancellation(text, text) to service_role$_$,
$_$create table private.tier_changes (
  id bigint generated always as identity primary key,
  user_id uuid not null,
  from_tier text,
  to_tier text,
  cause text not null,
  reference text,
  at timestamptz not null default private.clock()
)$_$,
$_$alter table private.tier_changes enable row level security$_$,
$_$create index tier_changes_user_id_idx on private.tier_changes (user_id)$_$,
$_$create index tier_changes_at_idx on private.tier_changes (at)$_$,
$_$comment on table private.tier_changes is
  'The changes of profiles'' tiers. Rows are kept for TIER_HISTORY_RETENTION_DAYS, those of a deleted user for 90 days.'$_$,
$_$comment on column private.tier_changes.cause is
  'payment, the name of the gateway event, or direct: an admin or the app wrote the profile.'$_$,
$_$comment on column private.tier_changes.reference is
  'The gateway''s id of the payment, order or subscription that caused the change.'$_$,
$_$-- Sets the cause of the tier changes that follow in this transaction.
create function private.note_cause(
  p_cause text,
  p_reference text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform
    set_config('subscriptions.cause', coalesce(p_cause, ''), true),
    set_config('subscriptions.reference', coalesce(p_reference, ''), true);
end
$$$_$,
$_$grant execute on function private.note_cause(text, text) to service_role$_$,
$_$-- Security definer: the role of an admin or of the app may write tiers but not this log.
create function private.note_tier_change()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.tier_changes (user_id, from_tier, to_tier, cause, reference)
  values (
    new.user_id,
    case when tg_op = 'UPDATE' then old.subscription_tier end,
    new.subscription_tier,
    coalesce(nullif(current_setting('subscriptions.cause', true), ''), 'direct'),
    nullif(current_setting('subscriptions.reference', true), '')
  );
  return null;
end
$$$_$,
$_$create trigger note_tier_change
after update of subscription_tier on public.profiles
for each row
when (coalesce(old.subscription_tier, 'free') <> coalesce(new.subscription_tier, 'free'))
execute function private.note_tier_change()$_$,
$_$create trigger note_first_tier
after insert on public.profiles
for each row
when (new.subscription_tier <> 'free')
execute function private.note_tier_change()$_$
]);

-- migrations/20261122000005_outbox_delivery.sql
select pg_temp.apply_migration('20261122000005', 'outbox_delivery', array[
$_$-- Delivery of the outbox: claim_outbox, next_outbox_attempt, complete_outbox and fail_outbox, which a dispatcher calls.
-- Several dispatchers may run at once, and each of them may crash.

create table private.outbox_pauses (
  destination text primary key,
  until timestamptz not null
)$_$,
$_$alter table private.outbox_pauses enable row level security$_$,
$_$grant select, insert, update on private.outbox_pauses to service_role$_$,
$_$comment on table private.outbox_pauses is 'Destinations that asked for a pause, such as with a Retry-After header.'$_$,
$_$-- Claims due rows of one destination for one dispatcher, under a lease of 60 seconds. After the lease, rows that were
-- neither completed nor failed may be claimed again. API: service_role only.
create function public.claim_outbox(
  p_destination text
)
returns jsonb -- {token, rows: [{id, key, kind, payload}], parked}: at most 20 rows, with the parked ones
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_token constant uuid := gen_random_uuid();
  v_result jsonb;
begin
  if exists (
    select
    from private.outbox_pauses p
    where p.destination = p_destination
      and p.until > private.clock()
  ) then
    return jsonb_build_object('token', v_token, 'rows', '[]'::jsonb, 'parked', 0);
  end if;

  with due as materialized (
    select
      o.id,
      -- Too old: tried for a day, or a mail that waited for a day. Then the provider no longer knows the idempotency key.
      o.queued_at <= private.clock() - interval '24 hours'
        and (o.attempts > 0 or o.destination in ('email', 'notice')) as is_over
    from private.outbox o
    where o.destination = p_destination
      and o.delivered_at is null
      and o.parked_at is null
      and o.next_attempt_at <= private.clock()
    order by o.next_attempt_at
    limit 20
    for update skip locked
  ),
  claimed as (
    update private.outbox o
    -- Keeps the newest 20 tokens: no older claim still runs, and repeated pauses of a destination must not grow the row.
    set claims = (o.claims || v_token)[greatest(cardinality(o.claims) - 18, 1):],
      next_attempt_at = private.clock() + interval '60 seconds',
      attempts = o.attempts + 1,
      parked_at = case when due.is_over then private.clock() end,
      last_error = case
        when due.is_over then coalesce(o.last_error, 'not delivered within 24 hours')
        else o.last_error
      end
    from due
    where o.id = due.id
    returning o.id, o.key, o.kind, o.payload, o.parked_at
  )
  select jsonb_build_object(
    'token', v_token,
    'rows', coalesce(
      jsonb_agg(
        jsonb_build_object('id', c.id, 'key', c.key, 'kind', c.kind, 'payload', c.payload)
        order by c.id
      ) filter (where c.parked_at is null),
      '[]'
    ),
    'parked', count(c.parked_at)
  )
  into v_result
  from claimed c;
  return v_result;
end
$$$_$,
$_$comment on function public.claim_outbox(text) is 'Claims up to 20 due side effects of one destination, for 60 seconds.'$_$,
$_$revoke execute on function public.claim_outbox(text) from public, anon, authenticated$_$,
$_$grant execute on function public.claim_outbox(text) to service_role$_$,
$_$-- Returns when the next row of these destinations may be claimed. API: service_role only.
create function public.next_outbox_attempt(
  p_destinations text -- comma-separated
)
returns jsonb -- {next_attempt_at}: ISO 8601 in UTC; null: no row waits
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'next_attempt_at',
    private.iso_time(min(greatest(first.next_attempt_at, p.until)))
  )
  from unnest(string_to_array(p_destinations, ',')) d (destination)
  cross join lateral (
    select o.next_attempt_at
    from private.outbox o
    where o.destination = d.destination
      and o.delivered_at is null
      and o.parked_at is null
    order by o.next_attempt_at
    limit 1
  ) first
  left join private.outbox_pauses p on p.destination = d.destination
$$$_$,
$_$comment on function public.next_outbox_attempt(text) is 'Returns when the next side effect of these destinations is due.'$_$,
$_$revoke execute on function public.next_outbox_attempt(text) from public, anon, authenticated$_$,
$_$grant execute on function public.next_outbox_attempt(text) to service_role$_$,
$_$-- Marks claimed rows as delivered. After the lease, or after another claim, too: the receiver has accepted them.
-- API: service_role only.
create function public.complete_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_note text default null -- why no message was sent
)
returns jsonb -- {completed}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_completed integer;
begin
  -- Here and in fail_outbox the rows are locked in the order of their ids, so that two dispatchers do not deadlock.
  with delivered as materialized (
    select o.id
    from private.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[])
      and p_token = any (o.claims)
      and o.delivered_at is null
    order by o.id
    for no key update
  )
  update private.outbox o
  set delivered_at = private.clock(),
    last_error = coalesce(p_note, o.last_error),
    parked_at = null
  from delivered
  where o.id = delivered.id;
  get diagnostics v_completed = row_count;
  return jsonb_build_object('completed', v_completed);
end
$$$_$,
$_$comment on function public.complete_outbox(uuid, text, text) is 'Marks claimed side effects as delivered.'$_$,
$_$revoke execute on function public.complete_outbox(uuid, text, text) from public, anon, authenticated$_$,
$_$grant execute on function public.complete_outbox(uuid, text, text) to service_role$_$,
$_$-- Returns the delay before the next attempt, by the number of failed attempts.
create function private.retry_delay(
  p_attempts integer
)
returns interval
language sql
immutable
set search_path = ''
return case p_attempts
  when 1 then interval '5 seconds'
  when 2 then interval '30 seconds'
  when 3 then interval '2 minutes'
  when 4 then interval '10 minutes'
  else interval '1 hour'
end$_$,
$_$grant execute on function private.retry_delay(integer) to service_role$_$,
$_$-- Marks claimed rows as failed. They are retried later, or parked where a retry is useless or 24 hours have passed.
-- A row is marked once, and only during its lease: afterwards it may belong to another claim. API: service_role only.
create function public.fail_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_error text,
  p_final boolean default false, -- a retry is useless
  p_pause_seconds integer default null -- the destination asked for this pause: the attempt does not count
)
returns jsonb -- {retried, parked}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_now constant timestamptz := private.clock();
  v_pause_until constant timestamptz := v_now + make_interval(secs => p_pause_seconds);
  v_result jsonb;
begin
  with leased as materialized (
    select o.id
    from private.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[])
      and o.claims[cardinality(o.claims)] = p_token
      and o.next_attempt_at > v_now
      and o.delivered_at is null
      and o.parked_at is null
    order by o.id
    for no key update
  ),
  failed as (
    update private.outbox o
    set last_error = p_error,
      claims = o.claims || null::uuid,
      attempts = o.attempts - case when v_pause_until is null then 0 else 1 end,
      next_attempt_at = coalesce(v_pause_until, v_now + private.retry_delay(o.attempts)),
      parked_at = case when p_final or o.queued_at <= v_now - interval '24 hours' then v_now end
    from leased
    where o.id = leased.id
    returning o.destination, o.parked_at
  ),
  paused as (
    insert into private.outbox_pauses as p (destination, until)
    select distinct f.destination, v_pause_until
    from failed f
    where v_pause_until is not null
    on conflict (destination) do update set until = greatest(p.until, excluded.until)
  )
  select jsonb_build_object(
    'retried', count(*) filter (where f.parked_at is null),
    'parked', count(*) filter (where f.parked_at is not null)
  )
  into v_result
  from failed f;
  -- A listening scheduler then reads the new time of the next attempt.
  perform pg_notify('outbox', '');
  return v_result;
end
$$$_$,
$_$comment on function public.fail_outbox(uuid, text, text, boolean, integer) is
  'Marks claimed side effects as failed: they are retried or parked.'$_$,
$_$revoke execute on function public.fail_outbox(uuid, text, text, boolean, integer) from public, anon, authenticated$_$,
$_$grant execute on function public.fail_outbox(uuid, text, text, boolean, integer) to service_role$_$
]);

-- migrations/20261122000006_outbox_wake.sql
select pg_temp.apply_migration('20261122000006', 'outbox_wake', array[
$_$-- Wakes the dispatcher when a row is enqueued outside of a request, such as by an admin's edit or a batch job: on a hosted
-- project with pg_net and Vault, on a local stack with NOTIFY, both after the commit. Also private.requeue, and the deletion
-- of old mails.

-- Marks the transaction as a request of the function, and sets the cause of its tier changes. A request does not wake the
-- dispatcher: the function dispatches after its answer.
create function private.begin_request(
  p_cause text,
  p_reference text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_set text;
begin
  -- Assignments instead of perform, which would start the executor each time.
  v_set := set_config('subscriptions.request', 'on', true);
  v_set := set_config('subscriptions.cause', coalesce(p_cause, ''), true);
  v_set := set_config('subscriptions.reference', coalesce(p_reference, ''), true);
end
$$$_$,
$_$grant execute on function private.begin_request(text, text) to service_role$_$,
$_$create table private.function_calls (
  id bigint generated always as identity primary key,
  path text not null,
  request_id bigint not null,
  called_at timestamptz not null default now(),
  answered_at timestamptz,
  status_code integer,
  error text
)$_$,
$_$alter table private.function_calls enable row level security$_$,
$_$create index function_calls_path_id_idx on private.function_calls (path, id desc)$_$,
$_$create index function_calls_unanswered_idx on private.function_calls (request_id)
where answered_at is null$_$,
$_$comment on table private.function_calls is
  'Calls of the function''s internal endpoints within the last day, with their answers. The times are those of now(), not '
  'of private.clock().'$_$,
$_$comment on column private.function_calls.request_id is 'The request id of pg_net. These ids start again after a restore.'$_$,
$_$comment on column private.function_calls.error is 'Why no answer arrived: the message of pg_net.'$_$,
$_$-- Calls an internal endpoint of the function over HTTP. Does nothing without the extension pg_net, or without the Vault
-- secrets `subscriptions_url` (the functions' address) and `subscriptions_internal_key`. Adds no call while one to the same
-- endpoint is queued; the queue has the calls that are committed but not sent. pg_net waits 5 s for an answer, and the work
-- may take longer, so the function answers at once. Never fails.
create function private.call_function(
  p_path text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if to_regclass('vault.decrypted_secrets') is null or to_regnamespace('net') is null then
    return;
  end if;
  execute $call$
    insert into private.function_calls (path, request_id)
    select $1, net.http_post(
      url := rtrim(btrim(url.decrypted_secret, E' \t\r\n'), '/') || $1,
      body := '{}'::jsonb,
      headers := jsonb_build_object(
        'content-type', 'application/json',
        'prefer', 'respond-async',
        'x-internal-key', btrim(key.decrypted_secret, E' \t\r\n')
      ),
      timeout_milliseconds := 5000
    )
    from vault.decrypted_secrets url
    join vault.decrypted_secrets key on key.name = 'subscriptions_internal_key'
    where url.name = 'subscriptions_url'
      and not exists (
        select
        from net.http_request_queue q
        where q.url = rtrim(btrim(url.decrypted_secret, E' \t\r\n'), '/') || $1
      )
  $call$
  using p_path;
exception
  -- A broken Vault secret must not stop a payment. The schedule calls again within minutes.
  when others then
    raise warning '% was not called: %', p_path, sqlerrm;
end
$$$_$,
$_$-- Stores the answers that pg_net received, and deletes calls that are older than a day. Never fails.
create function private.read_answers()
returns void
language plpgsql
set search_path = ''
as $$
begin
  if to_regclass('net._http_response') is not null then
    execute $read$
      update private.function_calls c
      set answered_at = r.created,
        status_code = r.status_code,
        error = case when r.timed_out then 'no answer within 5 s' else left(r.error_msg, 200) end
      from net._http_response r
      where r.id = c.request_id
        and r.created > c.called_at - interval '1 minute'
        and c.answered_at is null
    $read$;
  end if;
  delete from private.function_calls c where c.called_at < now() - interval '1 day';
exception
  when others then
    raise warning 'the answers of internal calls were not read: %', sqlerrm;
end
$$$_$,
$_$-- Wakes the dispatcher, at most once in a transaction. Never fails.
-- Security definer: a role that enqueues has no rights on Vault and pg_net.
create function private.wake()
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  if current_setting('subscriptions.request', true) = 'on' or current_setting('subscriptions.woken', true) = 'on' then
    return;
  end if;
  -- A rollback of the subtransaction undoes the setting together with the call.
  perform set_config('subscriptions.woken', 'on', true);
  perform pg_notify('outbox', '');
  perform private.call_function('/api/internal/outbox');
exception
  when others then
    raise warning 'the dispatcher was not woken: %', sqlerrm;
end
$$$_$,
$_$-- Security definer: service_role enqueues, but may not execute private.wake.
create function private.wake_dispatcher()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.wake();
  return null;
end
$$$_$,
$_$create trigger wake_dispatcher
after insert on private.outbox
for each statement
when (current_setting('subscriptions.request', true) is distinct from 'on')
execute function private.wake_dispatcher()$_$,
$_$-- For an admin who repaired the cause: retries a parked side effect for another 24 hours.
create function private.requeue(
  p_id bigint
)
returns boolean -- false: no such row, or it is delivered
language plpgsql
set search_path = ''
as $$
begin
  update private.outbox o
  set queued_at = private.clock(),
    next_attempt_at = private.clock(),
    -- A claim that is still running may complete the row, but not fail it.
    claims = o.claims || null::uuid,
    attempts = 0,
    parked_at = null
  where o.id = p_id
    and o.delivered_at is null;
  if not found then
    return false;
  end if;
  perform private.wake();
  return true;
end
$$$_$,
$_$-- Deletes up to 1,000 of the oldest rows of a table, without those that another transaction has locked.
create function private.delete_oldest(
  p_table regclass,
  p_time text, -- the column with the time of a row; indexed
  p_before timestamptz,
  p_condition text default 'true' -- a further condition on the row, whose alias is r
)
returns integer -- how many rows were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_deleted integer;
begin
  execute format(
    $delete$
      delete from %1$s
      where ctid = any (
        array(
          select r.ctid
          from %1$s r
          where r.%2$I < $1
            and %3$s
          order by r.%2$I
          limit 1000
          for update skip locked
        )
      )
    $delete$,
    p_table, p_time, p_condition
  )
  using p_before;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$$_$,
$_$-- Deletes a batch of the mails that were enqueued more than 90 days ago, delivered or not. A mail holds the name and the
-- address of a user who may be deleted by now. A mail that was not sent by then is useless.
create function private.delete_mails()
returns integer -- how many rows were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
begin
  return private.delete_oldest(
    'private.outbox', 'created_at', private.clock() - interval '90 days', 'r.destination in (''email'', ''notice'')'
  );
end
$$$_$
]);

-- migrations/20261122000007_facts_refunds.sql
select pg_temp.apply_migration('20261122000007', 'facts_refunds', array[
$_$-- Refunds, and extra payments on an order. Contract: "Refunds", "Second payment on an order".

-- Refunds are stored by their ids, and only processed refunds count. The gateway's total in the payment is not used: it
-- includes pending refunds, and a refund that fails returns no money.

create table private.refunds (
  refund_id text primary key,
  gateway_payment_id text not null,
  amount bigint not null,
  status text not null constraint refunds_status_check check (status in ('pending', 'processed', 'failed')),
  created_at timestamptz not null default private.clock()
)$_$,
$_$create index refunds_gateway_payment_id_idx on private.refunds (gateway_payment_id)$_$,
$_$alter table private.refunds enable row level security$_$,
$_$grant select, insert, update on private.refunds to service_role$_$,
$_$comment on table private.refunds is 'The refunds at the gateway. A refund may arrive before its payment.'$_$,
$_$comment on column private.refunds.amount is 'Minor currency units.'$_$,
$_$-- Returns the sum of the processed refunds of a gateway payment.
create function private.refunded_amount(
  p_gateway_payment_id text
)
returns bigint -- minor currency units
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_gateway_payment_id is null then
    return 0;
  end if;
  return (
    select coalesce(sum(r.amount), 0)
    from private.refunds r
    where r.gateway_payment_id = p_gateway_payment_id
      and r.status = 'processed'
  );
end
$$$_$,
$_$grant execute on function private.refunded_amount(text) to service_role$_$,
$_$-- Returns whether a payment was refunded in full.
create function private.is_refunded(
  p_payment public.payments
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_payment.amount > 0 and p_payment.refunded_amount >= p_payment.amount;
end
$$$_$,
$_$grant execute on function private.is_refunded(public.payments) to service_role$_$,
$_$-- Serializes the transactions about a gateway payment. A refund and its charge may arrive at the same time, and without the
-- lock neither transaction would see the other's row. The lock comes before the user's lock, because a refund does not name
-- its user. Use it once for each event, not for each row of a bulk insert: the server's lock table has a fixed size.
create function private.lock_gateway_payment(
  p_gateway_payment_id text -- null: nothing to lock
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_gateway_payment_id is not null then
    perform pg_advisory_xact_lock(hashtextextended(p_gateway_payment_id, 0));
  end if;
end
$$$_$,
$_$grant execute on function private.lock_gateway_payment(text) to service_role$_$,
$_$-- Stores a refund, or its new status. A pending refund becomes processed or failed. A processed refund may still fail.
create function private.merge_refund(
  p_refund_id text,
  p_gateway_payment_id text,
  p_amount bigint,
  p_status text -- pending, processed or failed
)
returns boolean -- whether the refund or its status is new
language plpgsql
set search_path = ''
as $$
begin
  insert into private.refunds as r (refund_id, gateway_payment_id, amount, status)
  values (p_refund_id, p_gateway_payment_id, p_amount, p_status)
  on conflict (refund_id) do update
  set status = excluded.status
  where array_position(array['pending', 'processed', 'failed'], r.status)
    < array_position(array['pending', 'processed', 'failed'], excluded.status);
  return found;
end
$$$_$,
$_$grant execute on function private.merge_refund(text, text, bigint, text) to service_role$_$,
$_$-- Extra payments on an order. One payment of an order counts, and the others are to be refunded. A captured payment counts
-- before one that is only verified.

create table private.extra_payments (
  payment_id uuid not null
    constraint extra_payments_payment_id_fkey references public.payments (id) on delete cascade,
  gateway_payment_id text not null,
  paid_at timestamptz not null,
  confirmed_at timestamptz,
  refunded_amount bigint not null default 0
    constraint extra_payments_refunded_amount_check check (refunded_amount >= 0),
  created_at timestamptz not null default private.clock(),
  primary key (payment_id, gateway_payment_id)
)$_$,
$_$create index extra_payments_gateway_payment_id_idx on private.extra_payments (gateway_payment_id)$_$,
$_$alter table private.extra_payments enable row level security$_$,
$_$grant select, insert, update, delete on private.extra_payments to service_role$_$,
$_$comment on table private.extra_payments is 'Payments on orders that another payment has paid. They are to be refunded.'$_$,
$_$comment on column private.extra_payments.paid_at is
  'When the customer verified the payment, or the gateway announced its capture.'$_$,
$_$comment on column private.extra_payments.confirmed_at is 'When the gateway confirmed the capture.'$_$,
$_$comment on column private.extra_payments.refunded_amount is 'The sum of the processed refunds, minor currency units.'$_$,
$_$-- Stores an extra payment on an order. The caller holds the lock on the payment that counts.
create function private.note_extra_payment(
  p_payment_id uuid,
  p_gateway_payment_id text,
  p_paid_at timestamptz,
  p_confirmed_at timestamptz -- null: not confirmed by the gateway
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.extra_payments as x (payment_id, gateway_payment_id, paid_at, confirmed_at, refunded_amount)
  values (
    p_payment_id,
    p_gateway_payment_id,
    p_paid_at,
    p_confirmed_at,
    private.refunded_amount(p_gateway_payment_id)
  )
  on conflict (payment_id, gateway_payment_id) do update
  set confirmed_at = coalesce(x.confirmed_at, excluded.confirmed_at)
  where x.confirmed_at is null
    and excluded.confirmed_at is not null;
end
$$$_$,
$_$grant execute on function private.note_extra_payment(uuid, text, timestamptz, timestamptz) to service_role$_$,
$_$-- Chooses the payment that counts for an order. A payment that was not refunded in full comes before one that was, then a
-- captured payment before one that is only verified, then the payment that counts already. The caller holds its lock.
create function private.count_best_payment(
  p_payment public.payments
)
returns public.payments -- the row after the choice
language plpgsql
set search_path = ''
as $$
declare
  v_extra private.extra_payments;
begin
  select * into v_extra
  from private.extra_payments x
  where x.payment_id = p_payment.id
    and (p_payment.amount = 0 or x.refunded_amount < p_payment.amount)
    and (private.is_refunded(p_payment) or p_payment.confirmed_at is null and x.confirmed_at is not null)
  order by x.confirmed_at is null, x.paid_at, x.gateway_payment_id
  limit 1;
  if not found then
    return p_payment;
  end if;

  delete from private.extra_payments x
  where x.payment_id = p_payment.id
    and x.gateway_payment_id = v_extra.gateway_payment_id;
  perform private.note_extra_payment(
    p_payment.id, p_payment.gateway_payment_id, p_payment.captured_at, p_payment.confirmed_at
  );
  update public.payments p
  set gateway_payment_id = v_extra.gateway_payment_id,
    gateway_signature = null,
    captured_at = v_extra.paid_at,
    confirmed_at = v_extra.confirmed_at,
    refunded_amount = v_extra.refunded_amount,
    -- A payment that is only verified needs a confirmation by the gateway.
    next_reconcile_at = case
      when v_extra.confirmed_at is null then private.clock() + interval '15 minutes'
      else p.next_reconcile_at
    end
  where p.id = p_payment.id
  returning p.* into p_payment;
  return p_payment;
end
$$$_$,
$_$grant execute on function private.count_best_payment(public.payments) to service_role$_$
]);

-- migrations/20261122000008_facts_subscriptions.sql
select pg_temp.apply_migration('20261122000008', 'facts_subscriptions', array[
$_$-- The mirror of the gateway's subscriptions, the users' immediate cancellations, and the charged cycles.

-- The mirror has one row for each gateway subscription, merged from webhooks and reconciliation. Each field has its own
-- event time, so that the same facts give the same row in every order of arrival, repeats included.

create table private.gateway_subscriptions (
  user_id uuid not null,
  gateway_subscription_id text not null,
  gateway_plan_id text,
  plan_id uuid,
  plan_event_at timestamptz,
  status text constraint gateway_subscriptions_status_check check (status in ('active', 'cancelled')),
  status_event_at timestamptz,
  cancelled_at timestamptz,
  cancelled_arrived_at timestamptz,
  activated_event_at timestamptz,
  activated_at timestamptz,
  first_activated_at timestamptz,
  first_charged_at timestamptz,
  period_start timestamptz,
  period_end timestamptz,
  period_event_at timestamptz,
  has_refunds boolean not null default false,
  paid_until timestamptz,
  cancel_at_period_end boolean not null default false,
  is_replaced boolean not null default false,
  user_cancelled_at timestamptz,
  ended_at timestamptz,
  ended_reason text,
  arrived_at timestamptz,
  is_waiting boolean not null default false,
  next_check_at timestamptz,
  checked_at timestamptz,
  gateway_status text,
  constraint gateway_subscriptions_pkey primary key (user_id, gateway_subscription_id)
)
-- Space in each page for a new row version (HOT updates): the usual merge writes no index.
with (fillfactor = 80)$_$,
$_$alter table private.gateway_subscriptions enable row level security$_$,
$_$grant select, insert, update on private.gateway_subscriptions to service_role$_$,
$_$create index gateway_subscriptions_gateway_subscription_id_idx
on private.gateway_subscriptions (gateway_subscription_id)$_$,
$_$create index gateway_subscriptions_next_check_at_idx on private.gateway_subscriptions (next_check_at)
where next_check_at is not null$_$,
$_$create index gateway_subscriptions_plan_waiting_idx on private.gateway_subscriptions (gateway_plan_id)
where plan_id is null and gateway_plan_id is not null$_$,
$_$create index gateway_subscriptions_user_waiting_idx on private.gateway_subscriptions (user_id)
where is_waiting$_$,
$_$comment on table private.gateway_subscriptions is
  'The mirror: the facts about each gateway subscription. No foreign key to the user, because an event may arrive before '
  'its user exists.'$_$,
$_$comment on column private.gateway_subscriptions.gateway_subscription_id is 'Empty where the events have no id.'$_$,
$_$comment on column private.gateway_subscriptions.gateway_plan_id is 'The gateway''s plan id in the newest event.'$_$,
$_$comment on column private.gateway_subscriptions.plan_id is
  'The plan with this gateway plan id, which makes the subscription a source of access. Null: the subscription attaches to '
  'the ruling source.'$_$,
$_$comment on column private.gateway_subscriptions.plan_event_at is 'created_at of the event that set the plan.'$_$,
$_$comment on column private.gateway_subscriptions.status_event_at is 'created_at of the event that set the status.'$_$,
$_$comment on column private.gateway_subscriptions.activated_event_at is 'created_at of the newest activation.'$_$,
$_$comment on column private.gateway_subscriptions.period_event_at is 'created_at of the event that set the period.'$_$,
$_$comment on column private.gateway_subscriptions.activated_at is
  'The time of the newest activation, by private.happened_at. Ranks the sources of access of a user.'$_$,
$_$comment on column private.gateway_subscriptions.first_activated_at is
  'The time of the first activation, by private.happened_at. The findings compare it with the times of payments.'$_$,
$_$comment on column private.gateway_subscriptions.first_charged_at is
  'The time of the first charge. Ranks the sources of access of a user while no activation is known.'$_$,
$_$comment on column private.gateway_subscriptions.has_refunds is
  'Whether a payment of one of its cycles was refunded, at least in part.'$_$,
$_$comment on column private.gateway_subscriptions.paid_until is
  'The end of the paid time after a full refund of the newest cycle. Null: the newest cycle is paid.'$_$,
$_$comment on column private.gateway_subscriptions.is_replaced is
  'Whether another source rules. Then the outbox cancels the subscription at the gateway for the end of its cycle.'$_$,
$_$comment on column private.gateway_subscriptions.user_cancelled_at is
  'When the user cancelled the subscription, at once or for the end of the cycle. A later charge is unexpected.'$_$,
$_$comment on column private.gateway_subscriptions.ended_at is 'When the user ended the subscription at once.'$_$,
$_$comment on column private.gateway_subscriptions.arrived_at is
  'When the newest fact arrived. Null: only a subscription row that was written by hand names the subscription.'$_$,
$_$comment on column private.gateway_subscriptions.is_waiting is 'Whether an event arrived before its user existed.'$_$,
$_$comment on column private.gateway_subscriptions.next_check_at is
  'When the subscription is next reconciled with the gateway. During a reconciliation: the end of the lease.'$_$,
$_$create table private.user_cancellations (
  user_id uuid primary key constraint user_cancellations_user_id_fkey references auth.users (id) on delete cascade,
  at timestamptz not null
)$_$,
$_$alter table private.user_cancellations enable row level security$_$,
$_$grant select, insert, update on private.user_cancellations to service_role$_$,
$_$comment on table private.user_cancellations is
  'When a user last ended all access at once. A gateway subscription that was activated before that time has ended, too, '
  'even if its event arrives later.'$_$,
$_$create table private.gateway_charges (
  user_id uuid not null,
  gateway_subscription_id text not null,
  period_end timestamptz not null,
  period_start timestamptz not null,
  gateway_payment_id text not null,
  amount bigint,
  refunded_amount bigint not null default 0,
  dispute_status text,
  dispute_event_at timestamptz,
  charged_at timestamptz not null,
  constraint gateway_charges_pkey
    primary key (user_id, gateway_subscription_id, period_end, period_start, gateway_payment_id)
)$_$,
$_$alter table private.gateway_charges enable row level security$_$,
$_$grant select, insert, update on private.gateway_charges to service_role$_$,
$_$create index gateway_charges_gateway_payment_id_idx on private.gateway_charges (gateway_payment_id)
where gateway_payment_id <> ''$_$,
$_$comment on table private.gateway_charges is 'The charged cycles of gateway subscriptions, with their payments.'$_$,
$_$comment on column private.gateway_charges.gateway_payment_id is 'Empty where the gateway named no payment.'$_$,
$_$comment on column private.gateway_charges.amount is 'Minor currency units. Null where the gateway named no payment.'$_$,
$_$comment on column private.gateway_charges.dispute_event_at is 'created_at of the newest event about the dispute.'$_$,
$_$comment on column private.gateway_charges.refunded_amount is 'The sum of the processed refunds, minor currency units.'$_$,
$_$-- Returns when an event happened, to rank it among the customer's acts. The gateway's times have whole seconds, so an event
-- counts from the end of its second. An event without a time, or with a time more than 14 days ago, counts from its
-- arrival: the gateway does not retry for so long.
create function private.happened_at(
  p_created_at timestamptz, -- of the event; null: it has none
  p_arrived_at timestamptz
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when p_created_at > p_arrived_at - interval '14 days'
      then least(p_created_at + interval '999999 microseconds', p_arrived_at)
    else p_arrived_at
  end;
end
$$$_$,
$_$grant execute on function private.happened_at(timestamptz, timestamptz) to service_role$_$,
$_$-- Returns the end of the paid time of a gateway subscription whose newest cycle was refunded in full: the end of the newest
-- paid cycle before it, else the start of the first refunded cycle.
create function private.paid_until(
  p_subscription private.gateway_subscriptions
)
returns timestamptz -- null: the newest cycle is paid
language plpgsql
stable
set search_path = ''
as $$
declare
  v_is_unpaid boolean;
  v_until timestamptz;
begin
  with cycles as (
    select
      c.period_start,
      c.period_end,
      -- A cycle may have several payments. It is refunded when all of them are refunded in full.
      bool_and(c.amount > 0 and c.refunded_amount >= c.amount) is true as is_refunded
    from private.gateway_charges c
    where c.user_id = p_subscription.user_id
      and c.gateway_subscription_id = p_subscription.gateway_subscription_id
      and c.gateway_payment_id <> ''
    group by c.period_start, c.period_end
  )
  select
    coalesce(bool_or(c.is_refunded and c.period_end = p_subscription.period_end), false),
    coalesce(
      max(c.period_end) filter (where not c.is_refunded and c.period_end < p_subscription.period_end),
      min(c.period_start) filter (where c.is_refunded)
    )
  into v_is_unpaid, v_until
  from cycles c;
  return case when v_is_unpaid then v_until end;
end
$$$_$,
$_$grant execute on function private.paid_until(private.gateway_subscriptions) to service_role$_$,
$_$-- Stores the charge of a cycle, once for each payment.
create function private.record_charge(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_period_start timestamptz,
  p_period_end timestamptz,
  p_gateway_payment_id text, -- null: the gateway named none
  p_amount bigint, -- minor currency units
  p_charged_at timestamptz
)
returns bigint -- refunded so far, minor currency units
language plpgsql
set search_path = ''
as $$
declare
  v_refunded bigint;
begin
  insert into private.gateway_charges as c (
    user_id, gateway_subscription_id, period_end, period_start, gateway_payment_id, amount, charged_at, refunded_amount
  )
  values (
    p_user_id, p_gateway_subscription_id, p_period_end, p_period_start,
    coalesce(p_gateway_payment_id, ''),
    p_amount,
    p_charged_at,
    -- Same as private.refunded_amount, without the call.
    coalesce(
      (
        select sum(r.amount)
        from private.refunds r
        where r.gateway_payment_id = p_gateway_payment_id
          and r.status = 'processed'
      ),
      0
    )
  )
  on conflict on constraint gateway_charges_pkey do update
  set charged_at = least(c.charged_at, excluded.charged_at)
  where excluded.charged_at < c.charged_at
  returning refunded_amount into v_refunded;
  return coalesce(v_refunded, 0);
end
$$$_$,
$_$grant execute on function
  private.record_charge(uuid, text, timestamptz, timestamptz, text, bigint, timestamptz) to service_role$_$
]);

-- migrations/20261122000009_facts_merge.sql
select pg_temp.apply_migration('20261122000009', 'facts_merge', array[
$_$-- Merges an event into the mirror of the gateway's subscriptions. Contract: "Gateway subscriptions", "Order of events".

-- Merges one event into the mirror. The caller holds the lock on the user, if the user exists.
create function private.merge_gateway_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_event text, -- subscription.activated, subscription.charged or subscription.cancelled
  p_gateway_plan_id text,
  p_start timestamptz, -- of the cycle; null, here and below: the event has none
  p_end timestamptz,
  p_gateway_payment_id text, -- of the cycle
  p_amount bigint, -- of that payment, minor currency units
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns private.gateway_subscriptions -- the row after the merge; all null: the event changed nothing
language plpgsql
set search_path = ''
as $$
declare
  v_activated constant boolean := p_event = 'subscription.activated';
  v_charged constant boolean := p_event = 'subscription.charged';
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_gateway_plan_id constant text := left(p_gateway_plan_id, 200);
  v_happened_at constant timestamptz := private.happened_at(p_created_at, p_arrived_at);
  -- A charge that arrives late, such as from reconciliation, keeps the gateway's time.
  v_charged_at constant timestamptz := least(p_created_at + interval '999999 microseconds', p_arrived_at);
  v_plan_id uuid;
  v_refunded bigint;
  v_before private.gateway_subscriptions;
  v_after private.gateway_subscriptions;
begin
  select * into v_before
  from private.gateway_subscriptions m
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id
  for update;
  if not found then
    insert into private.gateway_subscriptions (user_id, gateway_subscription_id, ended_at, ended_reason, user_cancelled_at)
    select p_user_id, p_gateway_subscription_id, c.at, case when c.at is not null then 'cancelled' end, c.at
    from (select) new
    left join private.user_cancellations c
      on c.user_id = p_user_id
      and c.at > case when v_charged then v_charged_at else v_happened_at end
    on conflict do nothing;
    if not v_cancelled and exists (
      select
      from private.user_cancellations c
      where c.user_id = p_user_id
        and c.at > case when v_charged then v_charged_at else v_happened_at end
    ) then
      perform private.enqueue_cancellation(p_gateway_subscription_id);
    end if;
    select * into v_before
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.gateway_subscription_id = p_gateway_subscription_id
    for update;
  end if;
  v_after := v_before;

  if v_gateway_plan_id is not null and (
    p_created_at is null
    or v_before.plan_event_at is null
    or (p_created_at, v_gateway_plan_id) > (v_before.plan_event_at, v_before.gateway_plan_id)
  ) then
    if v_before.plan_id is not null and v_gateway_plan_id = v_before.gateway_plan_id then
      v_plan_id := v_before.plan_id;
    else
      select p.id into v_plan_id from public.plans p where p.gateway_plan_id = v_gateway_plan_id;
    end if;
    -- After an event named a plan of ours, the subscription remains a source. A cancellation does not change that plan.
    if v_plan_id is not null and (not v_cancelled or v_before.plan_id is null) then
      v_after.plan_id := v_plan_id;
      v_after.gateway_plan_id := v_gateway_plan_id;
      v_after.plan_event_at := case
        when v_cancelled then v_before.plan_event_at
        else coalesce(p_created_at, v_before.plan_event_at)
      end;
    elsif v_before.plan_id is null then
      v_after.gateway_plan_id := v_gateway_plan_id;
    end if;
  end if;

  -- Of two events in the same second the longer period wins. In the next statement the cancellation wins. So the order of
  -- arrival does not matter.
  if p_end is not null and (
    p_created_at is null
    or v_before.period_event_at is null
    or p_created_at > v_before.period_event_at
    or p_created_at = v_before.period_event_at and (p_end, p_start) > (v_before.period_end, v_before.period_start)
  ) then
    v_after.period_start := p_start;
    v_after.period_end := p_end;
    v_after.period_event_at := coalesce(p_created_at, v_before.period_event_at);
    v_after.next_check_at := least(v_before.next_check_at, p_end - interval '1 day');
  end if;

  if not v_charged and (
    p_created_at is null
    or v_before.status_event_at is null
    or p_created_at > v_before.status_event_at
    or p_created_at = v_before.status_event_at and v_cancelled and v_before.status <> 'cancelled'
  ) then
    v_after.status := case when v_cancelled then 'cancelled' else 'active' end;
    v_after.status_event_at := coalesce(p_created_at, v_before.status_event_at);
    if v_cancelled then
      v_after.cancelled_at := v_happened_at;
      v_after.cancelled_arrived_at := p_arrived_at;
    end if;
  end if;

  if v_activated and (
    p_created_at is null
    or v_before.activated_event_at is null
    or p_created_at > v_before.activated_event_at
  ) then
    v_after.activated_at := case
      when v_before.activated_event_at is null or p_created_at is null
        then greatest(v_before.activated_at, v_happened_at)
      else v_happened_at
    end;
    v_after.activated_event_at := coalesce(p_created_at, v_before.activated_event_at);
  end if;

  if v_activated then
    v_after.first_activated_at := least(v_before.first_activated_at, v_happened_at);
    if v_happened_at < v_before.first_activated_at then
      -- An older activation that arrives late changes only this field.
      update private.gateway_subscriptions m
      set first_activated_at = v_happened_at
      where m.user_id = p_user_id
        and m.gateway_subscription_id = p_gateway_subscription_id;
      v_before.first_activated_at := v_happened_at;
    end if;
  end if;
  if v_charged then
    v_after.first_charged_at := least(v_before.first_charged_at, v_happened_at);
    v_refunded := private.record_charge(
      p_user_id, p_gateway_subscription_id, p_start, p_end, p_gateway_payment_id, p_amount, v_charged_at
    );
  end if;
  v_after.has_refunds := v_before.has_refunds or coalesce(v_refunded > 0, false);
  if v_after.has_refunds then
    v_after.paid_until := private.paid_until(v_after);
  end if;
  -- The gateway bills the subscription again after the user ended it. A repeated activation counts once, however late it
  -- arrives.
  if v_activated
      and v_happened_at > v_before.ended_at
      and coalesce(p_created_at > v_before.activated_event_at, true)
    or v_charged and v_charged_at > v_before.ended_at then
    v_after.ended_at := null;
    v_after.ended_reason := null;
  end if;

  if v_after is not distinct from v_before then
    return null;
  end if;
  update private.gateway_subscriptions m
  set gateway_plan_id = v_after.gateway_plan_id,
    plan_id = v_after.plan_id,
    plan_event_at = v_after.plan_event_at,
    status = v_after.status,
    status_event_at = v_after.status_event_at,
    cancelled_at = v_after.cancelled_at,
    cancelled_arrived_at = v_after.cancelled_arrived_at,
    activated_event_at = v_after.activated_event_at,
    activated_at = v_after.activated_at,
    first_activated_at = v_after.first_activated_at,
    first_charged_at = v_after.first_charged_at,
    period_start = v_after.period_start,
    period_end = v_after.period_end,
    period_event_at = v_after.period_event_at,
    has_refunds = v_after.has_refunds,
    paid_until = v_after.paid_until,
    ended_at = v_after.ended_at,
    ended_reason = v_after.ended_reason,
    arrived_at = p_arrived_at,
    next_check_at = v_after.next_check_at
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id
  returning m.* into v_after;
  return v_after;
end
$$$_$,
$_$grant execute on function
  private.merge_gateway_subscription(
    uuid, text, text, text, timestamptz, timestamptz, text, bigint, timestamptz, timestamptz
  ) to service_role$_$
]);

-- migrations/20261122000010_access_sources.sql
select pg_temp.apply_migration('20261122000010', 'access_sources', array[
$_$-- Grants, subscription rows written by hand, and the view of all sources of access. A source gives a user a tier from a
-- start to an end. private.settle_access decides which source rules.

create table private.grants (
  id bigint generated always as identity primary key,
  user_id uuid not null constraint grants_user_id_fkey references auth.users (id) on delete cascade,
  tier text not null,
  until timestamptz not null,
  reason text,
  at timestamptz not null default private.clock(),
  cancel_at_period_end boolean not null default false,
  ended_at timestamptz,
  ended_reason text
)$_$,
$_$alter table private.grants enable row level security$_$,
$_$grant select, update on private.grants to service_role$_$,
$_$create index grants_user_id_idx on private.grants (user_id)$_$,
$_$comment on table private.grants is 'Complimentary tiers: access that was granted without a payment.'$_$,
$_$comment on column private.grants.ended_reason is 'revoked: by an admin. cancelled: by the user.'$_$,
$_$create table private.manual_subscriptions (
  user_id uuid primary key constraint manual_subscriptions_user_id_fkey references auth.users (id) on delete cascade,
  plan_id uuid,
  tier text not null,
  status text not null,
  period_start timestamptz,
  period_end timestamptz,
  gateway_subscription_id text,
  cancel_at_period_end boolean not null,
  ended_at timestamptz,
  ended_reason text,
  at timestamptz not null
)$_$,
$_$alter table private.manual_subscriptions enable row level security$_$,
$_$grant select, update on private.manual_subscriptions to service_role$_$,
$_$comment on table private.manual_subscriptions is
  'The rows of public.subscriptions as they were last written by hand: in Studio, by an import or by the app. A fact that '
  'arrives later ranks above such a row.'$_$,
$_$-- Records a row that was written by hand, so that private.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create function private.record_manual_subscription()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' and new.updated_at is not distinct from old.updated_at then
    new.updated_at := private.clock();
  end if;
  -- A purchase ranks after updated_at. A time in the future would rank the next purchase above acts that follow it.
  new.updated_at := least(new.updated_at, private.clock());
  insert into private.manual_subscriptions as m (
    user_id, plan_id, tier, status, period_start, period_end, gateway_subscription_id, cancel_at_period_end,
    ended_at, ended_reason, at
  )
  values (
    new.user_id, new.plan_id, new.tier, new.status, new.current_period_start, new.current_period_end,
    new.gateway_subscription_id, new.cancel_at_period_end,
    case when new.status = 'cancelled' then coalesce(new.cancelled_at, private.clock()) end,
    new.ended_reason, private.clock()
  )
  on conflict (user_id) do update
  set plan_id = excluded.plan_id,
    tier = excluded.tier,
    status = excluded.status,
    period_start = excluded.period_start,
    period_end = excluded.period_end,
    gateway_subscription_id = excluded.gateway_subscription_id,
    cancel_at_period_end = excluded.cancel_at_period_end,
    ended_at = excluded.ended_at,
    ended_reason = excluded.ended_reason,
    at = excluded.at;
  -- A subscription in the mirror is reconciled, and is cancelled at the gateway when another source replaces it.
  if new.gateway_subscription_id is not null then
    insert into private.gateway_subscriptions as g (
      user_id, gateway_subscription_id, period_start, period_end, next_check_at
    )
    values (
      new.user_id, new.gateway_subscription_id, new.current_period_start, new.current_period_end,
      new.current_period_end - interval '1 day'
    )
    on conflict (user_id, gateway_subscription_id) do update
    set period_start = excluded.period_start,
      period_end = excluded.period_end,
      next_check_at = excluded.next_check_at
    where g.arrived_at is null;
  end if;
  return new;
end
$$$_$,
$_$create trigger record_manual_subscription
before update on public.subscriptions
for each row
when (new.revision = old.revision)
execute function private.record_manual_subscription()$_$,
$_$create trigger record_manual_subscription_insert
before insert on public.subscriptions
for each row
when (new.revision = 0)
execute function private.record_manual_subscription()$_$,
$_$create view private.sources
with (security_invoker = true)
as
select
  p.user_id,
  'payment' as kind,
  p.id::text as id,
  p.plan_id,
  p.tier,
  coalesce(p.chain_start, p.period_start) as starts_at,
  p.period_end as ends_at,
  p.period_end + make_interval(days => case when p.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end)
    as lapses_at,
  -- An import by the app may leave since empty.
  coalesce(p.since, p.fulfilled_at) as since,
  greatest(p.fulfilled_at, p.verified_at) as arrived_at,
  p.ended_at,
  p.ended_reason,
  p.cancel_at_period_end,
  null::text as gateway_subscription_id
from public.payments p
left join public.plans pl on pl.id = p.plan_id
where p.fulfilled_at is not null
union all
select
  m.user_id,
  'gateway_subscription',
  m.gateway_subscription_id,
  m.plan_id,
  pl.tier,
  least(m.period_start, m.paid_until),
  coalesce(m.paid_until, m.period_end),
  case
    -- A refunded cycle ends at once.
    when m.paid_until is not null then m.paid_until
    -- A subscription that the gateway bills runs until a reconciliation after its period finds no further cycle.
    when m.checked_at > m.period_end + make_interval(days => greatest(grace.days - 1, 0))
      then m.period_end + make_interval(days => grace.days)
    else 'infinity'
  end,
  coalesce(m.activated_at, m.first_charged_at, m.arrived_at),
  m.arrived_at,
  case when m.status = 'cancelled' then m.cancelled_at else m.ended_at end,
  case when m.status = 'cancelled' then 'cancelled' when m.paid_until is not null then 'refunded' else m.ended_reason end,
  m.cancel_at_period_end,
  nullif(m.gateway_subscription_id, '')
from private.gateway_subscriptions m
join public.plans pl on pl.id = m.plan_id
cross join lateral (select case when m.cancel_at_period_end then 0 else pl.grace_days end as days) grace
where m.period_end is not null
union all
select
  g.user_id,
  'grant',
  g.id::text,
  pl.id,
  g.tier,
  g.at,
  g.until,
  g.until + make_interval(days => case when g.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end),
  g.at,
  g.at,
  g.ended_at,
  g.ended_reason,
  g.cancel_at_period_end,
  null
from private.grants g
left join public.plans pl on pl.tier = g.tier
union all
select
  w.user_id,
  'manual',
  w.user_id::text,
  w.plan_id,
  w.tier,
  w.period_start,
  w.period_end,
  case
    when w.gateway_subscription_id is not null
      and (m.checked_at > w.period_end + make_interval(days => greatest(grace.days - 1, 0))) is not true
      then 'infinity'
    else coalesce(w.period_end + make_interval(days => grace.days), 'infinity')
  end,
  w.at,
  w.at,
  case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then m.cancelled_at else w.ended_at end,
  case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then 'cancelled' else w.ended_reason end,
  w.cancel_at_period_end,
  w.gateway_subscription_id
from private.manual_subscriptions w
left join public.plans pl on pl.id = w.plan_id
cross join lateral (
  select case when w.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end as days
) grace
left join private.gateway_subscriptions m
  on m.user_id = w.user_id
  and m.gateway_subscription_id = w.gateway_subscription_id
-- Skips rows whose gateway subscription is itself a source with newer facts.
where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true$_$,
$_$grant select on private.sources to service_role$_$,
$_$comment on view private.sources is
  'All sources of access, also those that have ended. A source runs until ended_at or lapses_at. The running source with '
  'the greatest since rules. lapses_at is ends_at plus the days of grace, or infinity until the gateway was read.'$_$
]);

-- migrations/20261122000011_access_ruling.sql
select pg_temp.apply_migration('20261122000011', 'access_ruling', array[
$_$-- Finds the ruling source of access, attaches gateway subscriptions that are no sources, and writes the profile's tier.

create view private.mirrored
with (security_invoker = true)
as
select
  m.user_id,
  count(*) filter (where m.status is distinct from 'cancelled' and m.ended_at is null)::integer as billing,
  count(*) filter (where m.is_replaced)::integer as replaced,
  count(*) filter (where m.plan_id is null or m.period_end is null)::integer as attaching,
  max(m.arrived_at) as newest_at
from private.gateway_subscriptions m
group by m.user_id$_$,
$_$grant select on private.mirrored to service_role$_$,
$_$comment on view private.mirrored is
  'For each user the number of gateway subscriptions that the gateway still bills (billing), that it is to cancel '
  '(replaced) and that are no sources of access (attaching), and when their newest fact arrived.'$_$,
$_$-- The ruling source, with the user's numbers of gateway subscriptions for private.settle_access.
create type private.ruling as (
  source private.sources,
  is_live boolean,
  is_ended_by_gateway boolean, -- ended by the cancellation of a gateway subscription that was attached to it
  billing integer, -- gateway subscriptions that the gateway still bills
  replaced integer, -- gateway subscriptions that the gateway is to cancel
  attaching integer -- gateway subscriptions that are no sources
)$_$,
$_$-- Finds the ruling source: the running source with the greatest since. If no source is running, the one that ended last.
create function private.find_ruling(
  p_user_id uuid
)
returns private.ruling -- source is null: the user has no source
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ruling private.ruling;
begin
  with mirrored as materialized (
    select
      count(*) filter (where m.plan_id is null or m.period_end is null) as attaching,
      count(*) filter (where m.status is distinct from 'cancelled' and m.ended_at is null) as billing,
      count(*) filter (where m.is_replaced) as replaced,
      -- The cancellation of a gateway subscription without a plan of ours ends the source to which the subscription was
      -- attached. That source began before the activation or, where no activation is known, before the cancellation. A
      -- later purchase continues.
      max(least(m.activated_at, m.cancelled_at))
        filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cancelled_activated,
      max(m.cancelled_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is null)
        as cancelled_unactivated,
      max(m.activated_at) filter (where m.plan_id is null) as attached,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cancellation_arrived,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled') as any_cancellation_arrived
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
  )
  select s, live.is_live, coalesce(rank.is_ended_by_gateway, false), g.billing, g.replaced, g.attaching
  into v_ruling
  from mirrored g
  left join private.manual_subscriptions w on w.user_id = p_user_id
  left join private.sources s on s.user_id = p_user_id
  cross join lateral (
    select
      case s.kind
        when 'manual' then s.since <= case
          when s.gateway_subscription_id is null then g.any_cancellation_arrived
          else g.cancellation_arrived
        end
        when 'gateway_subscription' then g.cancelled_activated >= s.since
        else
          coalesce(g.cancelled_activated >= s.since, false)
          or g.cancelled_unactivated >= s.since and (g.attached between s.since and g.cancelled_unactivated) is not true
      end as is_ended_by_gateway,
      -- A row written by hand ranks above the facts that arrived before it, and below those that arrived after it.
      case when w.at is null or s.kind = 'manual' then 1 when s.arrived_at >= w.at then 2 else 0 end as generation
  ) rank
  cross join lateral (
    select
      s.ended_at is null
      and s.lapses_at > v_now
      and rank.is_ended_by_gateway is not true
      and (rank.generation = 0 and w.status = 'cancelled') is not true as is_live
  ) live
  order by
    live.is_live desc,
    rank.generation desc,
    case when live.is_live then s.since else least(s.ended_at, s.lapses_at) end desc,
    s.since desc,
    s.id desc
  limit 1;
  return v_ruling;
end
$$$_$,
$_$grant execute on function private.find_ruling(uuid) to service_role$_$,
$_$-- Attaches a gateway subscription that is no source to the ruling source. Such a subscription has no plan of ours, or its
-- first cycle has not begun. subscription.activated sets the status, the id and the period, subscription.charged sets the
-- period alone. Contract: "Gateway subscriptions".
create function private.attach_gateway_subscription(
  p_ruling private.ruling
)
returns private.ruling
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_source private.sources := p_ruling.source;
  v_grace constant integer := coalesce((select p.grace_days from public.plans p where p.id = (p_ruling.source).plan_id), 3);
  v_attached private.gateway_subscriptions;
  v_days integer := v_grace;
  v_end timestamptz;
  v_lapses_at timestamptz;
begin
  select * into v_attached
  from private.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and (m.plan_id is null or m.period_end is null)
    and case when v_source.kind = 'manual' then m.arrived_at else m.activated_at end >= v_source.since
    and m.activated_at is not null
  order by m.activated_at desc, m.gateway_subscription_id desc
  limit 1;
  if found then
    -- Before its first cycle the subscription has no period: the paid period of the source continues.
    v_end := coalesce(
      v_attached.period_end,
      case when v_source.ended_reason = 'refunded' then least(v_source.ends_at, v_source.ended_at) else v_source.ends_at end
    );
    if v_attached.cancel_at_period_end or v_source.cancel_at_period_end then
      v_days := 0;
    end if;
    v_lapses_at := case
      when v_end is null then 'infinity'
      -- Before its first cycle no further time is paid. The row is active for an hour after the activation arrived.
      when v_attached.period_end is null
        then greatest(v_end + make_interval(days => v_days), v_attached.arrived_at + interval '1 hour')
      -- A subscription without an id cannot be reconciled.
      when v_attached.gateway_subscription_id = ''
        then greatest(v_end + make_interval(days => v_days), v_attached.arrived_at + interval '1 hour')
      when v_attached.checked_at > v_end + make_interval(days => greatest(v_days - 1, 0))
        then v_end + make_interval(days => v_days)
      else 'infinity'
    end;
    if v_attached.status = 'active' and v_attached.ended_at is null and v_lapses_at > v_now then
      p_ruling.is_live := true;
    elsif p_ruling.is_live then
      return p_ruling;
    end if;
    v_source.gateway_subscription_id := nullif(v_attached.gateway_subscription_id, '');
    v_source.cancel_at_period_end := v_source.cancel_at_period_end or v_attached.cancel_at_period_end;
    if v_attached.period_end is not null then
      v_source.starts_at := v_attached.period_start;
    end if;
    v_source.ends_at := v_end;
    v_source.lapses_at := v_lapses_at;
    p_ruling.source := v_source;
    return p_ruling;
  end if;

  if v_source.kind = 'gateway_subscription' then
    return p_ruling;
  end if;
  select * into v_attached
  from private.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and m.plan_id is null
    and m.activated_at is null
    and m.period_end is not null
    and (v_source.gateway_subscription_id is null or v_source.gateway_subscription_id = m.gateway_subscription_id)
    and case when v_source.kind = 'manual' then m.arrived_at else m.first_charged_at end >= v_source.since
  order by m.first_charged_at desc, m.gateway_subscription_id desc
  limit 1;
  if not found then
    return p_ruling;
  end if;
  v_lapses_at := v_attached.period_end + make_interval(days => v_grace);
  if v_lapses_at <= v_now then
    -- The charged period is over. The row shows that period, but access does not change: a running source shows it for an
    -- hour after the charge arrived, an ended source shows it unless its own period ended later.
    if p_ruling.is_live and v_attached.arrived_at <= v_now - interval '1 hour'
      or not p_ruling.is_live and v_source.ends_at > v_attached.period_end
    then
      return p_ruling;
    end if;
    v_lapses_at := v_source.lapses_at;
  elsif v_source.ended_at is null and not p_ruling.is_ended_by_gateway then
    -- A charge makes a lapsed source run again, but not a source that ended for another reason.
    p_ruling.is_live := true;
  end if;
  v_source.starts_at := v_attached.period_start;
  v_source.ends_at := v_attached.period_end;
  v_source.lapses_at := v_lapses_at;
  p_ruling.source := v_source;
  return p_ruling;
end
$$$_$,
$_$grant execute on function private.attach_gateway_subscription(private.ruling) to service_role$_$,
$_$-- Writes a tier to the user's profile where it differs, and creates a missing profile.
create function private.set_tier(
  p_user_id uuid,
  p_tier text, -- null: writes nothing
  p_email text -- of the user, for the username of a new profile
)
returns text -- the name for the greeting of a mail; null: the user had no profile
language plpgsql
set search_path = ''
as $$
declare
  v_known_tier text;
  v_display_name text;
begin
  select p.subscription_tier, coalesce(nullif(p.display_name, ''), p.username, '')
  into v_known_tier, v_display_name
  from public.profiles p
  where p.user_id = p_user_id;
  if p_tier is null or v_known_tier = p_tier then
    return v_display_name;
  end if;
  if v_display_name is null then
    insert into public.profiles (user_id, subscription_tier, username)
    values (p_user_id, p_tier, private.default_username(p_email))
    on conflict (user_id) do update set subscription_tier = excluded.subscription_tier;
  else
    update public.profiles p set subscription_tier = p_tier where p.user_id = p_user_id;
  end if;
  return v_display_name;
end
$$$_$,
$_$grant execute on function private.set_tier(uuid, text, text) to service_role$_$
]);

-- migrations/20261122000012_access_settle.sql
select pg_temp.apply_migration('20261122000012', 'access_settle', array[
$_$-- Writes the ruling source to the subscription row and the profile's tier, and enqueues the side effects.
-- private.settle_access is the only function that decides them.

-- Returns when to send the cancellation for the end of a cycle: 48 hours before that end. The gateway debits the next cycle
-- up to 36 hours before it begins.
create function private.cancellation_time(
  p_period_end timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = ''
as $$
begin
  return greatest(p_period_end - interval '48 hours', private.clock());
end
$$$_$,
$_$grant execute on function private.cancellation_time(timestamptz) to service_role$_$,
$_$-- Enqueues cancellations of the replaced gateway subscriptions for the end of their cycle: the paid time remains, and no
-- further cycle is billed. Withdraws the cancellation of a subscription that is no longer replaced.
create function private.settle_cancellations(
  p_ruling private.ruling
)
returns boolean -- whether the ruling gateway subscription ends with its cycle, because its cancellation was already sent
language plpgsql
set search_path = ''
as $$
declare
  v_ruling constant private.sources := p_ruling.source;
  v_newest private.sources := v_ruling;
  v_has_no_activation boolean;
  v_is_replaced boolean;
  v_other private.gateway_subscriptions;
  v_ends boolean := false;
begin
  if not (p_ruling.is_live or p_ruling.is_ended_by_gateway) then
    v_newest := null;
  elsif v_ruling.kind in ('grant', 'manual') and v_ruling.gateway_subscription_id is null then
    -- A grant does not stop the billing. The newest running purchase below the grant does.
    v_newest := null;
    select s.* into v_newest
    from private.sources s
    where s.user_id = v_ruling.user_id
      and s.kind in ('payment', 'gateway_subscription')
      and s.ended_at is null
      and s.lapses_at > private.clock()
    order by s.since desc, s.id desc
    limit 1;
  end if;
  select m.activated_at is null into v_has_no_activation
  from private.gateway_subscriptions m
  where m.user_id = v_newest.user_id
    and m.gateway_subscription_id = v_newest.gateway_subscription_id;

  for v_other in
    select m.*
    from private.gateway_subscriptions m
    where m.user_id = v_ruling.user_id
      and m.gateway_subscription_id <> ''
      and m.status is distinct from 'cancelled'
      and m.ended_at is null
      -- Skips a subscription that only a row written by hand names, while that row rules.
      and (m.arrived_at is not null or v_ruling.kind <> 'manual')
    order by m.gateway_subscription_id
  loop
    v_is_replaced := v_newest.id is not null
      and v_other.gateway_subscription_id is distinct from v_newest.gateway_subscription_id
      and (
        v_newest.id = v_ruling.id
        or coalesce(v_other.activated_at, v_other.first_charged_at, v_other.arrived_at) < v_newest.since
      );
    continue when v_is_replaced = v_other.is_replaced
      -- While only charges of a subscription are known, its activation may still arrive and change the order of the two.
      or v_has_no_activation is true and v_other.gateway_subscription_id <> v_newest.gateway_subscription_id
      or v_has_no_activation is not null and v_other.activated_at is null;

    if v_is_replaced then
      perform private.enqueue_cancellation(
        v_other.gateway_subscription_id,
        coalesce(v_other.period_end > private.clock(), false)
      );
    elsif not private.withdraw_cancellation(v_other.gateway_subscription_id, 'it rules again') then
      v_other.cancel_at_period_end := true;
      v_ends := v_ends or v_other.gateway_subscription_id is not distinct from v_ruling.gateway_subscription_id;
    elsif v_other.cancel_at_period_end then
      perform private.enqueue_cancellation(
        v_other.gateway_subscription_id,
        true,
        private.cancellation_time(v_other.period_end)
      );
    end if;
    update private.gateway_subscriptions m
    set is_replaced = v_is_replaced,
      cancel_at_period_end = v_other.cancel_at_period_end
    where m.user_id = v_other.user_id
      and m.gateway_subscription_id = v_other.gateway_subscription_id;
  end loop;
  return v_ends;
end
$$$_$,
$_$grant execute on function private.settle_cancellations(private.ruling) to service_role$_$,
$_$-- Writes the ruling source to the subscription row and the profile's tier, and enqueues the side effects. Writes only values
-- that differ. The caller holds the lock on the user.
create function private.settle_access(
  p_user_id uuid,
  p_email text, -- of the user; null: sends no mail, and a new profile gets the default username
  p_new_source_id text default null, -- a source that was just created: if it rules, its tier is written in any case
  p_is_cancelled boolean default false, -- subscription.cancelled: without a running source the tier becomes free
  p_subscription_id uuid default null, -- the id for a new subscription row
  p_mail jsonb default null, -- payload of the success mail for the new source; sent to a user who has a profile
  p_ruling private.ruling default null, -- the ruling source, if the caller knows it
  p_before public.subscriptions default null -- the subscription row, if the caller locked it
)
returns boolean -- whether the subscription row changed; null: the user has no source
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ruling private.ruling := p_ruling;
  v_source private.sources;
  v_before public.subscriptions := p_before;
  v_reason text; -- why access ended
  v_cancelled_at timestamptz;
  v_has_access boolean;
  v_tier text;
  v_display_name text;
  v_is_changed boolean := false;
  v_ended_at text;
begin
  if v_ruling.is_live is null then
    v_ruling := private.find_ruling(p_user_id);
  end if;
  if (v_ruling.source).id is not null then
    if v_ruling.attaching > 0 then
      v_ruling := private.attach_gateway_subscription(v_ruling);
    end if;
    v_source := v_ruling.source;
    if (
        v_ruling.replaced > 0
        or (v_ruling.is_live or v_ruling.is_ended_by_gateway)
          and v_ruling.billing > (v_ruling.is_live and v_source.gateway_subscription_id is not null)::integer
      )
      and private.settle_cancellations(v_ruling)
    then
      v_source.cancel_at_period_end := true;
    end if;

    if v_before.id is null then
      select * into v_before from public.subscriptions s where s.user_id = p_user_id for update;
    end if;
    if not v_ruling.is_live then
      v_reason := case
        when v_ruling.is_ended_by_gateway then 'cancelled'
        when v_source.ended_at is not null then v_source.ended_reason
        else coalesce(v_source.ended_reason, 'lapsed')
      end;
      v_cancelled_at := case
        when v_before.status = 'cancelled' and v_before.cancelled_at is not null then v_before.cancelled_at
        when v_reason = 'lapsed' then v_source.ends_at
        else v_now
      end;
    end if;

    if v_before.id is null then
      insert into public.subscriptions (
        id, user_id, plan_id, tier, status, current_period_start, current_period_end, cancelled_at,
        cancel_at_period_end, ended_reason, gateway_subscription_id, revision, created_at, updated_at
      )
      values (
        coalesce(p_subscription_id, gen_random_uuid()), p_user_id, v_source.plan_id, v_source.tier,
        case when v_ruling.is_live then 'active' else 'cancelled' end,
        v_source.starts_at, v_source.ends_at, v_cancelled_at, v_source.cancel_at_period_end, v_reason,
        v_source.gateway_subscription_id, 1, v_now, greatest(v_now, v_source.since)
      );
      v_is_changed := true;
    else
      update public.subscriptions s
      set plan_id = v_source.plan_id,
        tier = v_source.tier,
        status = case when v_ruling.is_live then 'active' else 'cancelled' end,
        current_period_start = v_source.starts_at,
        current_period_end = v_source.ends_at,
        cancelled_at = v_cancelled_at,
        cancel_at_period_end = v_source.cancel_at_period_end,
        ended_reason = v_reason,
        gateway_subscription_id = v_source.gateway_subscription_id,
        revision = s.revision + 1,
        updated_at = greatest(v_now, v_source.since)
      where s.id = v_before.id
        and (
          -- updated_at is never before a known since, so private.fulfil_payment finds the newest act by updated_at.
          s.updated_at < v_source.since
          or (
            s.plan_id, s.tier, s.status = 'active', s.current_period_start, s.current_period_end,
            s.cancelled_at, s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id
          ) is distinct from (
            v_source.plan_id, v_source.tier, v_ruling.is_live, v_source.starts_at, v_source.ends_at,
            v_cancelled_at, v_source.cancel_at_period_end, v_reason, v_source.gateway_subscription_id
          )
        );
      v_is_changed := found;
    end if;
  end if;

  -- The tier is written only when access begins, ends or gets another tier. So a charge does not overwrite a tier that an
  -- admin edited.
  v_has_access := v_ruling.is_live;
  if v_has_access and v_source.ends_at <= v_now then
    -- The period is over, but the source still runs: the gateway was not read yet, or a late event shows it for an hour.
    -- Such a source keeps the tier, and restores it after a failed refund. After the days of grace it gives no new tier.
    v_has_access := v_source.ended_at is null
      and v_source.ends_at
        + make_interval(days => coalesce((select p.grace_days from public.plans p where p.id = v_source.plan_id), 3)) > v_now
      or v_source.kind = 'gateway_subscription' and exists (
        select
        from private.gateway_subscriptions m
        where m.user_id = p_user_id
          and m.gateway_subscription_id = v_source.gateway_subscription_id
          and m.has_refunds
      );
  end if;
  if v_ruling.is_live then
    if v_source.id = p_new_source_id
      or v_has_access and (v_before.status = 'active' and v_before.current_period_end > v_now) is not true
      or v_before.status = 'active' and v_before.tier <> v_source.tier
    then
      v_tier := v_source.tier;
    elsif not v_has_access and v_source.ended_reason = 'refunded' and v_before.current_period_end > v_now then
      v_tier := 'free';
    end if;
  elsif p_is_cancelled or v_source.id is not null and v_before.id is null or v_before.status = 'active' then
    v_tier := 'free';
  end if;
  if v_before.status = 'active' and not v_ruling.is_live then
    v_ended_at := private.iso_time(case when v_reason = 'lapsed' then v_source.ends_at else v_now end);
  end if;
  if v_tier is null and p_mail is null and v_ended_at is null then
    return case when v_source.id is not null then v_is_changed end;
  end if;

  v_display_name := private.set_tier(p_user_id, v_tier, p_email);
  insert into private.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
  select effect.key, effect.destination, effect.kind, effect.payload, v_now, v_now, v_now
  from (
    select private.revalidation_key(), 'revalidation', 'revalidation',
      '{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]}'::jsonb
    where v_tier is not null
      and current_setting('subscriptions.request', true) = 'on'
    union all
    select 'payment-success/' || p_new_source_id, 'email', 'payment-success',
      p_mail || jsonb_build_object('to', p_email, 'display_name', v_display_name)
    where p_mail is not null
      and v_display_name is not null
      and p_email <> ''
  ) effect (key, destination, kind, payload)
  on conflict (key) do nothing;
  if v_ended_at is not null and v_display_name is not null and p_email <> '' then
    perform private.enqueue(
      format('subscription-ended/%s/%s', v_before.id, v_ended_at),
      'notice',
      'subscription-ended',
      jsonb_build_object(
        'to', p_email,
        'display_name', v_display_name,
        'plan_name', coalesce((select p.name from public.plans p where p.id = v_source.plan_id), v_source.tier),
        'ends_at', v_ended_at
      )
    );
  end if;
  return case when v_source.id is not null then v_is_changed end;
end
$$$_$,
$_$grant execute on function
  private.settle_access(uuid, text, text, boolean, uuid, jsonb, private.ruling, public.subscriptions) to service_role$_$
]);

-- migrations/20261122000013_requests_subscription.sql
select pg_temp.apply_migration('20261122000013', 'requests_subscription', array[
$_$-- The requests for the subscription, the plans, cancellation and resumption.

-- Returns the subscription, the tier and the newest payments of a user. Contract: GET /api/subscriptions.
-- API: service_role only.
create function public.get_subscription(
  p_user_id uuid
)
returns json -- {subscription, currentTier, payments}: the answer's body; not jsonb, since the function only sends it
language plpgsql -- a session caches its plan
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
begin
  return row_to_json(answer)
  from (
    select
      (
        select record
        from (
          select
            s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
            s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
            row_to_json(p) as plan
          from public.subscriptions s
          left join public.plans p on p.id = s.plan_id
          where s.user_id = p_user_id
        ) record
      ) as subscription,
      coalesce(
        (select p.subscription_tier from public.profiles p where p.user_id = p_user_id),
        'free'
      ) as "currentTier",
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.gateway_order_id,
            p.gateway_payment_id, p.gateway_signature, p.meta, p.captured_at, p.confirmed_at, p.fulfilled_at,
            p.period_start, p.period_end, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments
  ) answer;
end
$$$_$,
$_$comment on function public.get_subscription(uuid) is
  'Returns a user''s subscription with its plan, the current tier and the ten newest payments.'$_$,
$_$revoke execute on function public.get_subscription(uuid) from public, anon, authenticated$_$,
$_$grant execute on function public.get_subscription(uuid) to service_role$_$,
$_$-- Returns the plans on offer. Contract: GET /api/subscriptions/plans.
-- API: service_role only.
create function public.list_plans()
returns jsonb -- {plans}: the answer's body, the lowest price first
language sql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
  select jsonb_build_object('plans', coalesce(jsonb_agg(to_jsonb(p) order by p.price, p.tier), '[]'))
  from public.plans p
  where p.is_active
$$$_$,
$_$comment on function public.list_plans() is 'Returns the plans on offer, the lowest price first.'$_$,
$_$revoke execute on function public.list_plans() from public, anon, authenticated$_$,
$_$grant execute on function public.list_plans() to service_role$_$,
$_$-- Cancellation and resumption by the user. A cancellation is stored first, and the outbox then delivers it to the gateway.

-- Sets or clears cancel_at_period_end of the ruling source and of the gateway subscription attached to it.
-- The caller holds the lock on the user.
create function private.mark_ruling_source(
  p_user_id uuid,
  p_gateway_subscription_id text, -- of the subscription row
  p_cancel_at_period_end boolean
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_source constant private.sources := (private.find_ruling(p_user_id)).source;
begin
  update public.payments p
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'payment'
    and p.id = case when v_source.kind = 'payment' then v_source.id::uuid end;
  update private.grants g
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'grant'
    and g.id = case when v_source.kind = 'grant' then v_source.id::bigint end;
  update private.manual_subscriptions w
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'manual'
    and w.user_id = p_user_id;
  update private.gateway_subscriptions m
  set cancel_at_period_end = p_cancel_at_period_end,
    user_cancelled_at = case when p_cancel_at_period_end then private.clock() end
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
end
$$$_$,
$_$grant execute on function private.mark_ruling_source(uuid, text, boolean) to service_role$_$,
$_$-- Ends every running source of a user at once. The caller holds the lock on the user.
create function private.end_sources(
  p_user_id uuid,
  p_reason text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_source private.sources;
begin
  for v_source in
    select s.*
    from private.sources s
    where s.user_id = p_user_id
      and s.ended_at is null
      and s.lapses_at > v_now
    order by s.kind, s.id
  loop
    case v_source.kind
      when 'payment' then
        update public.payments p
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where p.id = v_source.id::uuid;
      when 'grant' then
        update private.grants g
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where g.id = v_source.id::bigint;
      when 'manual' then
        update private.manual_subscriptions w
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where w.user_id = p_user_id;
      else
        null; -- ended below, together with the gateway subscriptions that are no sources
    end case;
  end loop;
  insert into private.user_cancellations as c (user_id, at)
  values (p_user_id, v_now)
  on conflict (user_id) do update set at = excluded.at;
  update private.gateway_subscriptions m
  set ended_at = v_now,
    ended_reason = p_reason,
    cancel_at_period_end = false,
    user_cancelled_at = least(m.user_cancelled_at, v_now)
  where m.user_id = p_user_id
    and m.ended_at is null
    and m.status is distinct from 'cancelled';
end
$$$_$,
$_$grant execute on function private.end_sources(uuid, text) to service_role$_$,
$_$-- Ends a user's subscription. Contract: POST /api/subscriptions/cancel. API: service_role only.
create function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- true: the tier stays until the paid period ends; false: access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_subscription public.subscriptions;
begin
  perform private.begin_request('cancellation', null);
  v_email := private.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found or v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;

  -- A repeated cancellation for the period's end writes nothing.
  if not (p_at_period_end and v_subscription.cancel_at_period_end) then
    if p_at_period_end then
      perform private.mark_ruling_source(p_user_id, v_subscription.gateway_subscription_id, true);
      if v_subscription.gateway_subscription_id is not null then
        perform private.enqueue_cancellation(
          v_subscription.gateway_subscription_id,
          true,
          private.cancellation_time(v_subscription.current_period_end)
        );
      end if;
    else
      perform private.enqueue_cancellation(m.gateway_subscription_id)
      from private.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.gateway_subscription_id <> ''
        and m.status is distinct from 'cancelled'
        and m.ended_at is null;
      perform private.end_sources(p_user_id, 'cancelled');
    end if;
    perform private.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'cancelled',
    'subscription', public.get_subscription(p_user_id) -> 'subscription'
  );
end
$$$_$,
$_$comment on function public.cancel_subscription(uuid, boolean) is
  'Ends a user''s subscription, now or when the paid period ends.'$_$,
$_$revoke execute on function public.cancel_subscription(uuid, boolean) from public, anon, authenticated$_$,
$_$grant execute on function public.cancel_subscription(uuid, boolean) to service_role$_$,
$_$-- Withdraws a cancellation for the period's end, unless the gateway may have received it: there it is final.
-- Contract: POST /api/subscriptions/resume. API: service_role only.
create function public.resume_subscription(
  p_user_id uuid
)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_subscription public.subscriptions;
begin
  perform private.begin_request('resumption', null);
  v_email := private.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  if v_subscription.cancel_at_period_end then
    if v_subscription.gateway_subscription_id is not null
      and not private.withdraw_cancellation(v_subscription.gateway_subscription_id, 'by the user')
    then
      return jsonb_build_object('outcome', 'cannot_be_resumed');
    end if;
    perform private.mark_ruling_source(p_user_id, v_subscription.gateway_subscription_id, false);
    perform private.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'resumed',
    'subscription', public.get_subscription(p_user_id) -> 'subscription'
  );
end
$$$_$,
$_$comment on function public.resume_subscription(uuid) is
  'Withdraws a user''s cancellation for the period''s end, unless it was sent to the gateway.'$_$,
$_$revoke execute on function public.resume_subscription(uuid) from public, anon, authenticated$_$,
$_$grant execute on function public.resume_subscription(uuid) to service_role$_$
]);

-- migrations/20261122000014_requests_order.sql
select pg_temp.apply_migration('20261122000014', 'requests_order', array[
$_$-- Orders and their idempotency keys. The payment is inserted before the gateway is called, and gets the order's id
-- afterwards. Contract: POST /api/payments/orders.

create table private.order_keys (
  user_id uuid not null constraint order_keys_user_id_fkey references auth.users (id) on delete cascade,
  key text not null constraint order_keys_key_check check (char_length(key) <= 255),
  payment_id uuid not null constraint order_keys_payment_id_fkey references public.payments (id) on delete cascade,
  tier text not null,
  created_at timestamptz not null default private.clock(),
  primary key (user_id, key)
)$_$,
$_$create index order_keys_payment_id_idx on private.order_keys (payment_id)$_$,
$_$create index order_keys_user_id_created_at_idx on private.order_keys (user_id, created_at desc)$_$,
$_$create index order_keys_created_at_idx on private.order_keys (created_at)$_$,
$_$alter table private.order_keys enable row level security$_$,
$_$grant select, insert, update on private.order_keys to service_role$_$,
$_$comment on table private.order_keys is
  'Idempotency keys of order requests: the same key returns the same order. Kept for 7 days. A user may add 20 an hour.'$_$,
$_$-- Deletes a batch of the idempotency keys that are older than 7 days.
create function private.delete_order_keys()
returns integer -- how many rows were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
begin
  return private.delete_oldest('private.order_keys', 'created_at', private.clock() - interval '7 days');
end
$$$_$,
$_$-- Returns the user's open order for a tier, else stores a new payment, for which the caller creates an order at the gateway.
-- API: service_role only.
create function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null -- the API key of the order; null: an open order of any key is returned
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan, running: {tier, until, early_renewal} | null},
-- {outcome: plan_not_found | user_not_found | in_flight | key_conflict}, {outcome: rate_limited, retry_after}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_plan public.plans;
  v_months integer;
  v_key private.order_keys;
  v_payment public.payments;
  v_retry_after integer;
begin
  perform private.begin_request('order', p_idempotency_key);
  -- Of two requests at once, the second waits here and then finds the first one's payment.
  if private.lock_user(p_user_id) is null then
    return jsonb_build_object('outcome', 'user_not_found');
  end if;
  select * into v_key from private.order_keys k where k.user_id = p_user_id and k.key = p_idempotency_key;
  if v_key.tier <> p_tier then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if p_idempotency_key is not null and v_key.user_id is null then
    select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
    from (
      select k.created_at
      from private.order_keys k
      where k.user_id = p_user_id
        and k.created_at > v_now - interval '1 hour'
      order by k.created_at desc
      limit 20
    ) recent
    having count(*) = 20;
    if found then
      return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
    end if;
  end if;
  select * into v_plan from public.plans p where p.tier = p_tier and (p.is_active or v_key.payment_id is not null);
  if not found then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  v_months := coalesce(nullif(v_plan.duration_months, 0), 12);

  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
    and coalesce(p.gateway_key_id = p_gateway_key_id, true)
    and (
      p.id = v_key.payment_id
      or p.tier = p_tier
        and p.amount = v_plan.price
        and p.currency = v_plan.currency
        and coalesce(p.plan_id = v_plan.id and p.duration_months = v_months, true)
        and p.status in ('created', 'failed')
        -- The gateway accepts no payment on an order that was paid and refunded.
        and p.refunded_amount = 0
        and not exists (
          select
          from private.gateway_events e
          where e.subject_id = p.gateway_order_id
            and e.event in ('refund.created', 'refund.processed', 'refund.failed')
        )
        and p.created_at > v_now - interval '30 minutes'
    )
    -- After 30 seconds the request of a payment without an order has ended, so no order will follow.
    and (p.gateway_order_id is not null or p.created_at > v_now - interval '30 seconds')
  order by p.id = v_key.payment_id desc nulls last, p.gateway_order_id is not null desc, p.created_at desc
  limit 1;

  if not found then
    select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
    from (
      select p.created_at
      from public.payments p
      where p.user_id = p_user_id
        and p.created_at > v_now - interval '1 hour'
      order by p.created_at desc
      limit 10
    ) recent
    having count(*) = 10;
    if found then
      return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
    end if;

    -- The payment stores the terms of the sale. A later change of the plan does not change them.
    insert into public.payments (user_id, amount, currency, tier, plan_id, duration_months, gateway_key_id, meta)
    values (
      p_user_id, v_plan.price, v_plan.currency, p_tier, v_plan.id, v_months, p_gateway_key_id,
      jsonb_build_object('tier', p_tier)
    )
    returning * into v_payment;
  elsif v_payment.gateway_order_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  end if;

  if p_idempotency_key is not null then
    insert into private.order_keys (user_id, key, payment_id, tier)
    values (p_user_id, p_idempotency_key, v_payment.id, p_tier)
    on conflict (user_id, key) do update set payment_id = excluded.payment_id;
  end if;
  return jsonb_build_object(
    'outcome', case when v_payment.gateway_order_id is null then 'created' else 'existing' end,
    'payment_id', v_payment.id,
    'order_id', v_payment.gateway_order_id,
    'amount', v_payment.amount,
    'currency', v_payment.currency,
    'plan', to_jsonb(v_plan),
    'running', (
      select jsonb_build_object(
        'tier', s.tier,
        'until', private.iso_time(s.current_period_end),
        'early_renewal', private.early_renewal()
      )
      from public.subscriptions s
      where s.user_id = p_user_id
        and s.status = 'active'
        and s.current_period_end > v_now
    )
  );
end
$$$_$,
$_$comment on function public.create_order(uuid, text, text, text) is
  'Returns a user''s open order for a tier, or a new payment, for which the caller creates an order at the gateway.'$_$,
$_$revoke execute on function public.create_order(uuid, text, text, text) from public, anon, authenticated$_$,
$_$grant execute on function public.create_order(uuid, text, text, text) to service_role$_$,
$_$-- Stores the id of the gateway's order. API: service_role only.
create function public.store_order(
  p_payment_id uuid,
  p_order_id text
)
returns jsonb -- {outcome: stored | payment_not_found}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  perform private.begin_request('order', p_order_id);
  -- The update applies the events that waited for this order. They need the user's lock, which comes before the payment's.
  perform private.lock_user(p.user_id) from public.payments p where p.id = p_payment_id;
  update public.payments p
  set gateway_order_id = p_order_id
  where p.id = p_payment_id
    and (p.gateway_order_id is null or p.gateway_order_id = p_order_id);
  return jsonb_build_object('outcome', case when found then 'stored' else 'payment_not_found' end);
end
$$$_$,
$_$comment on function public.store_order(uuid, text) is 'Stores the gateway''s order id of a payment.'$_$,
$_$revoke execute on function public.store_order(uuid, text) from public, anon, authenticated$_$,
$_$grant execute on function public.store_order(uuid, text) to service_role$_$,
$_$-- Deletes a payment that has no order. Security definer: service_role has no right to delete payments.
create function private.delete_unordered(
  p_payment_id uuid
)
returns void
language sql
security definer
set search_path = ''
as $$
  delete from public.payments p
  where p.id = p_payment_id
    and p.status = 'created'
    and p.gateway_order_id is null
    and p.gateway_payment_id is null
$$$_$,
$_$grant execute on function private.delete_unordered(uuid) to service_role$_$,
$_$-- Deletes a payment for which the gateway created no order. API: service_role only.
create function public.discard_order(
  p_payment_id uuid
)
returns jsonb -- {outcome: discarded}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  perform private.delete_unordered(p_payment_id);
  return jsonb_build_object('outcome', 'discarded');
end
$$$_$,
$_$comment on function public.discard_order(uuid) is 'Deletes a payment for which the gateway created no order.'$_$,
$_$revoke execute on function public.discard_order(uuid) from public, anon, authenticated$_$,
$_$grant execute on function public.discard_order(uuid) to service_role$_$
]);

-- migrations/20261122000015_purchases_fulfil.sql
select pg_temp.apply_migration('20261122000015', 'purchases_fulfil', array[
$_$-- Fulfils a captured payment: makes it a source of access with a period, once. Also the view of fulfilled payments without
-- a mail. Contract: POST /api/payments/verify, "Effect".

-- Adds calendar months in UTC, in every time zone of the session. The result is at most the last day of its month.
create function private.add_months(
  p_from timestamptz,
  p_months integer
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return (p_from at time zone 'UTC' + make_interval(months => p_months)) at time zone 'UTC';
end
$$$_$,
$_$grant execute on function private.add_months(timestamptz, integer) to service_role$_$,
$_$-- Returns the tier that a payment buys. Contract: "What an order sells".
create function private.tier_bought(
  p_payment public.payments
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return coalesce(nullif(p_payment.meta ->> 'tier', ''), nullif(p_payment.tier, ''), 'basic');
end
$$$_$,
$_$grant execute on function private.tier_bought(public.payments) to service_role$_$,
$_$-- Returns the plan that a payment buys: the plan that was sold, else the present plan of its tier, on offer or not.
create function private.plan_bought(
  p_payment public.payments
)
returns public.plans -- all null: no such plan
language plpgsql
stable
set search_path = ''
as $$
declare
  v_plan public.plans;
begin
  if p_payment.plan_id is null then
    select * into v_plan from public.plans p where p.tier = private.tier_bought(p_payment);
  else
    select * into v_plan from public.plans p where p.id = p_payment.plan_id;
  end if;
  return v_plan;
end
$$$_$,
$_$grant execute on function private.plan_bought(public.payments) to service_role$_$,
$_$-- Captures a payment and makes it a source of access. The caller holds the locks on the user and on the payment.
-- A payment is captured but not fulfilled if its tier has no plan, its user is deleted, or it was refunded in full.
create function private.fulfil_payment(
  p_payment public.payments, -- with the gateway's payment id to store
  p_email text,
  p_signature text, -- null: not verified by the customer
  p_is_confirmed boolean -- the gateway confirms the capture
)
returns jsonb -- {outcome: applied | plan_not_found | refunded | user_gone, tier, valid_until}
language plpgsql
set search_path = ''
as $$
declare
  v_clock constant timestamptz := private.clock();
  v_now constant timestamptz := date_trunc('milliseconds', v_clock);
  v_tier constant text := private.tier_bought(p_payment);
  v_is_refunded constant boolean := p_payment.amount > 0 and p_payment.refunded_amount >= p_payment.amount;
  v_plan public.plans;
  v_grants boolean;
  v_months integer;
  v_mail jsonb; -- payload of the mail payment-success, without the fields of the profile
  v_valid_until text;
  v_locked record;
  v_newest_at timestamptz; -- the time of the user's newest known fact
  v_before public.subscriptions;
  v_found private.ruling;
  v_extended private.sources;
  v_ruling private.ruling := row(null, null, null, 0, 0, 0);
  v_subscription_id uuid;
begin
  -- Same as private.plan_bought, without the call.
  if p_payment.plan_id is null then
    select * into v_plan from public.plans p where p.tier = v_tier;
  else
    select * into v_plan from public.plans p where p.id = p_payment.plan_id;
  end if;
  v_grants := v_plan.id is not null and p_payment.user_id is not null and not v_is_refunded;
  v_months := coalesce(p_payment.duration_months, nullif(v_plan.duration_months, 0), 12);
  p_payment.since := greatest(p_payment.since, p_payment.created_at, p_payment.verified_at);
  if v_grants then
    select s as subscription,
      exists (select from private.gateway_subscriptions m where m.user_id = p_payment.user_id) as is_mirrored
    into v_locked
    from public.subscriptions s
    where s.user_id = p_payment.user_id
    for update of s;
    v_before := v_locked.subscription;
    v_newest_at := v_before.updated_at;
    if v_locked.is_mirrored is not false then
      select coalesce(max(m.billing), 0), coalesce(max(m.replaced), 0), coalesce(max(m.attaching), 0),
        greatest(v_newest_at, max(m.newest_at))
      into v_ruling.billing, v_ruling.replaced, v_ruling.attaching, v_newest_at
      from private.mirrored m
      where m.user_id = p_payment.user_id;
    end if;
    v_subscription_id := coalesce(v_before.id, gen_random_uuid());
    p_payment.period_start := v_now;
    p_payment.period_end := private.add_months(v_now, v_months);
    p_payment.chain_id := null;
    p_payment.chain_start := null;
    p_payment.extends_from := null;
    if v_before.status = 'active' and private.early_renewal() = 'extend' then
      v_found := private.find_ruling(p_payment.user_id);
      v_extended := v_found.source;
      if v_before.current_period_end > v_now then
        v_extended.tier := v_before.tier;
        v_extended.starts_at := v_before.current_period_start;
        v_extended.ends_at := v_before.current_period_end;
      elsif not v_found.is_live then
        -- No source runs, so there is nothing to extend. If a source runs, the subscription row is stale: its own source
        -- lapsed, the sweep did not expire it yet, and the source that was found rules.
        v_extended.tier := null;
      end if;
    end if;
    if v_extended.tier = v_tier and v_extended.ends_at > v_now then
      if v_extended.kind = 'payment' then
        -- A payment rules over the payment that it extends, even if its order is older.
        p_payment.since := greatest(p_payment.since, v_extended.since + interval '1 microsecond');
        select coalesce(p.chain_id, p.id) into p_payment.chain_id
        from public.payments p
        where p.id = v_extended.id::uuid;
      else
        p_payment.extends_from := date_trunc('milliseconds', v_extended.ends_at);
        p_payment.period_start := p_payment.extends_from;
        p_payment.period_end := private.add_months(p_payment.extends_from, v_months);
        p_payment.chain_start := v_extended.starts_at;
      end if;
    end if;
  end if;
  -- A verification ranks after every earlier act of the customer. The clock alone is not enough: it is the start of the
  -- transaction, and another transaction may have held the lock since then.
  if p_signature is not null then
    p_payment.since := greatest(v_clock, v_newest_at + interval '1 microsecond');
  end if;

  -- No newer fact is known, so this payment ranks above every other source. The ranking query is not needed.
  if v_grants
    and p_payment.since > coalesce(v_newest_at, '-infinity')
    and p_payment.chain_id is null
    and v_ruling.attaching = 0
  then
    -- The same row as in private.sources after the commit.
    v_ruling := row(
      row(
        p_payment.user_id, 'payment', p_payment.id::text, v_plan.id, v_tier,
        coalesce(p_payment.chain_start, p_payment.period_start), p_payment.period_end, p_payment.period_end,
        p_payment.since, v_clock, null, null, p_payment.cancel_at_period_end, null
      )::private.sources,
      true, false, v_ruling.billing, v_ruling.replaced, 0
    )::private.ruling;
  end if;
  if v_before.id is null and v_grants and v_ruling.is_live is null then
    -- payments.subscription_id needs a row. private.settle_access writes its values below.
    insert into public.subscriptions (id, user_id, plan_id, tier, status, revision, created_at, updated_at)
    values (v_subscription_id, p_payment.user_id, v_plan.id, v_tier, 'cancelled', 1, v_clock, p_payment.since);
  end if;
  v_mail := jsonb_build_object(
    'plan_name', v_plan.name,
    'amount', p_payment.amount,
    'currency', p_payment.currency,
    'transaction_id', p_payment.gateway_payment_id
  );
  if v_ruling.is_live then
    v_valid_until := private.iso_time(p_payment.period_end);
    perform private.settle_access(
      p_payment.user_id, p_email, p_payment.id::text,
      p_subscription_id => v_subscription_id,
      p_mail => v_mail || jsonb_build_object('valid_until', v_valid_until),
      p_ruling => v_ruling,
      p_before => v_before
    );
  end if;

  update public.payments p
  set status = 'captured',
    gateway_payment_id = p_payment.gateway_payment_id,
    gateway_signature = coalesce(p_signature, p.gateway_signature),
    refunded_amount = p_payment.refunded_amount,
    captured_at = coalesce(p.captured_at, v_clock),
    confirmed_at = case when p_is_confirmed then coalesce(p.confirmed_at, v_clock) else p.confirmed_at end,
    -- A verification of a refunded payment is refused and does not count.
    verified_at = coalesce(p.verified_at, case when p_signature is not null and not v_is_refunded then v_clock end),
    uncaptured_at = null,
    tier = v_tier,
    plan_id = coalesce(v_plan.id, p.plan_id),
    duration_months = case when v_grants then v_months else p.duration_months end,
    subscription_id = v_subscription_id,
    fulfilled_at = case when v_grants then v_clock end,
    period_start = p_payment.period_start,
    period_end = p_payment.period_end,
    chain_id = p_payment.chain_id,
    chain_start = p_payment.chain_start,
    extends_from = p_payment.extends_from,
    since = p_payment.since,
    ended_at = null,
    ended_reason = null,
    -- A payment that is only verified needs a confirmation by the gateway, however old its order is.
    next_reconcile_at = case when p_is_confirmed then p.next_reconcile_at else v_clock + interval '15 minutes' end
  where p.id = p_payment.id;

  if not v_grants then
    return jsonb_build_object(
      'outcome', case
        when v_is_refunded then 'refunded'
        when p_payment.user_id is null then 'user_gone'
        else 'plan_not_found'
      end,
      'tier', v_tier
    );
  end if;
  if v_ruling.is_live is not true then
    if p_payment.chain_id is not null then
      perform private.lay_out_chain(p_payment.chain_id);
      select p.period_end into p_payment.period_end from public.payments p where p.id = p_payment.id;
    end if;
    v_valid_until := private.iso_time(p_payment.period_end);
    perform private.settle_access(
      p_payment.user_id, p_email, p_payment.id::text,
      p_mail => v_mail || jsonb_build_object('valid_until', v_valid_until)
    );
  end if;
  return jsonb_build_object('outcome', 'applied', 'tier', v_tier, 'valid_until', v_valid_until);
end
$$$_$,
$_$grant execute on function private.fulfil_payment(public.payments, text, text, boolean) to service_role$_$,
$_$create view private.unmailed_payments
with (security_invoker = true)
as
select p.id as payment_id, p.user_id, u.email, p.gateway_payment_id, p.fulfilled_at
from public.payments p
cross join lateral private.find_user(p.user_id) u
-- Older payments are not listed: mail rows are kept for at least 30 days after their delivery.
where p.fulfilled_at > private.clock() - interval '30 days'
  and u.email <> ''
  and not exists (select from private.outbox o where o.key = 'payment-success/' || p.id)$_$,
$_$comment on view private.unmailed_payments is
  'Payments that were fulfilled within the last 30 days without a success mail, although the user has an e-mail address. '
  'The user had no profile at that time.'$_$
]);

-- migrations/20261122000016_purchases_verify.sql
select pg_temp.apply_migration('20261122000016', 'purchases_verify', array[
$_$-- Chains of early renewals, and the verification of a payment by the customer.

-- Computes the periods of a chain of early renewals. Each period begins at the end of the previous one. If a payment is
-- refunded, the later periods move up. The ends of an unbroken run are counted from its first start, so that a short month
-- does not shorten the later periods. The caller holds the lock on the user.
create function private.lay_out_chain(
  p_first_payment_id uuid
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_link public.payments;
  v_run_start timestamptz;
  v_shown_start timestamptz;
  v_months integer;
  v_start timestamptz;
  v_end timestamptz;
  v_since timestamptz;
begin
  for v_link in
    select p.*
    from public.payments p
    where (p.id = p_first_payment_id or p.chain_id = p_first_payment_id)
      and p.fulfilled_at is not null
      and p.ended_at is null
    order by p.fulfilled_at, p.since, p.id
  loop
    v_start := greatest(date_trunc('milliseconds', v_link.fulfilled_at), v_link.extends_from);
    if v_end >= v_start then
      v_months := v_months + v_link.duration_months;
      v_start := v_end;
    else
      v_run_start := v_start;
      v_shown_start := case when v_link.extends_from is null then v_start else v_link.chain_start end;
      v_months := v_link.duration_months;
    end if;
    v_end := private.add_months(v_run_start, v_months);
    -- A payment rules over the payment that it extends, even if the latter is verified later.
    v_since := greatest(v_link.since, v_since + interval '1 microsecond');
    update public.payments p
    set period_start = v_start,
      period_end = v_end,
      chain_start = v_shown_start,
      since = v_since
    where p.id = v_link.id
      and (p.period_start, p.period_end, p.chain_start, p.since)
        is distinct from (v_start, v_end, v_shown_start, v_since);
  end loop;
end
$$$_$,
$_$grant execute on function private.lay_out_chain(uuid) to service_role$_$,
$_$-- Settles a user's access after a payment became or stopped being a running source: computes its chain of early renewals,
-- then ranks the user's sources. The caller holds the lock on the user.
create function private.settle_payment(
  p_payment public.payments,
  p_email text -- of the user
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_payment.chain_id is not null or p_payment.chain_start is not null then
    perform private.lay_out_chain(coalesce(p_payment.chain_id, p_payment.id));
  end if;
  perform private.settle_access(p_payment.user_id, p_email);
end
$$$_$,
$_$grant execute on function private.settle_payment(public.payments, text) to service_role$_$,
$_$-- Captures a payment that a customer verifies after the checkout, and grants its tier.
-- Contract: POST /api/payments/verify.
-- API: service_role only.
create function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb
-- {outcome: applied | already_applied | payment_not_found | plan_not_found | refunded | never_captured, tier, valid_until}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_locked record;
  v_payment public.payments;
begin
  perform private.begin_request('payment', p_payment_id);
  v_email := private.lock_user(p_user_id);

  -- Also reads the sum of the refunds of this gateway payment, which may arrive before the payment.
  select p as payment, coalesce(
    (
      select sum(r.amount)
      from private.refunds r
      where r.gateway_payment_id = p_payment_id
        and r.status = 'processed'
    ),
    0
  ) as refunded_amount
  into v_locked
  from public.payments p
  where p.gateway_order_id = p_order_id
    and p.user_id = p_user_id
  for update;
  if not found then
    return jsonb_build_object('outcome', 'payment_not_found');
  end if;
  v_payment := v_locked.payment;

  if v_payment.uncaptured_at is not null then
    -- A signature never expires, so it must not grant the tier again. The payment is reconciled at once. If the gateway
    -- captured it after all, its confirmation fulfils the payment.
    update public.payments p set next_reconcile_at = private.clock() where p.id = v_payment.id;
    return jsonb_build_object('outcome', 'never_captured');
  end if;
  if v_payment.status <> 'captured' then
    if v_payment.gateway_payment_id is distinct from p_payment_id then
      v_payment.gateway_payment_id := p_payment_id;
      v_payment.refunded_amount := v_locked.refunded_amount;
    end if;
  elsif v_payment.gateway_payment_id <> p_payment_id then
    perform private.note_extra_payment(v_payment.id, p_payment_id, private.clock(), null);
    v_payment := private.count_best_payment(v_payment);
  end if;

  if v_payment.status = 'captured' and private.is_refunded(v_payment) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  if v_payment.fulfilled_at is null or v_payment.ended_reason = 'refunded' then
    return private.fulfil_payment(
      v_payment,
      v_email,
      case when v_payment.gateway_payment_id = p_payment_id then p_signature end,
      false
    );
  end if;

  if v_payment.verified_at is null and v_payment.gateway_payment_id = p_payment_id then
    -- The webhook fulfilled the payment first. The verification is the customer's newest act.
    update public.payments p
    set gateway_signature = p_signature,
      verified_at = private.clock(),
      since = greatest(
        private.clock(),
        (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
      )
    where p.id = v_payment.id;
    if v_payment.chain_start is not null and v_payment.period_end > private.clock() then
      perform private.lay_out_chain(coalesce(v_payment.chain_id, v_payment.id));
    end if;
    perform private.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'already_applied',
    'tier', v_payment.tier,
    'valid_until', private.iso_time(v_payment.period_end)
  );
end
$$$_$,
$_$comment on function public.verify_payment(uuid, text, text, text) is
  'Captures a user''s payment and grants its tier, once. A repeat returns the tier and the period that the payment bought.'$_$,
$_$revoke execute on function public.verify_payment(uuid, text, text, text) from public, anon, authenticated$_$,
$_$grant execute on function public.verify_payment(uuid, text, text, text) to service_role$_$
]);

-- migrations/20261122000017_events_ledger.sql
select pg_temp.apply_migration('20261122000017', 'events_ledger', array[
$_$-- The ledger of webhook deliveries, readers for the gateway's irregular JSON, and private.find_payment. Contract: "Events".

create table private.gateway_events (
  body_sha256 bytea primary key constraint gateway_events_body_sha256_check check (octet_length(body_sha256) = 32),
  event_id text,
  event text,
  subject_id text,
  event_at timestamptz,
  reduce_at timestamptz,
  payload jsonb,
  outcome text,
  error text,
  deliveries integer not null default 1,
  attempts integer not null default 0,
  received_at timestamptz not null default private.clock()
)
-- Space in each page for a new row version (HOT updates): an update of the outcome writes no index.
with (fillfactor = 90)$_$,
$_$alter table private.gateway_events enable row level security$_$,
$_$grant select, insert, update on private.gateway_events to service_role$_$,
$_$create index gateway_events_received_at_idx on private.gateway_events (received_at)$_$,
$_$create index gateway_events_reduce_at_idx on private.gateway_events (reduce_at)
where reduce_at is not null$_$,
$_$-- For the job that deletes payloads: without this index it would scan all older rows.
create index gateway_events_with_payload_idx on private.gateway_events (received_at)
where payload is not null$_$,
$_$create index gateway_events_subject_id_idx on private.gateway_events (subject_id)$_$,
$_$comment on table private.gateway_events is
  'The ledger: one row for each signed body that the gateway delivered. The hash of the body is the key, because the '
  'gateway signs nothing else. Rows are kept for LEDGER_RETENTION_DAYS.'$_$,
$_$comment on column private.gateway_events.event_id is
  'The id in the delivery''s header. It is not signed, so no rule reads it.'$_$,
$_$comment on column private.gateway_events.subject_id is
  'The id of the event''s subscription or order, or of its payment if it names no order. Cut to 200 characters, so that it '
  'fits into the index.'$_$,
$_$comment on column private.gateway_events.reduce_at is
  'When private.stored_payload reduces the payload, because the event names no known user. Null: not planned.'$_$,
$_$comment on column private.gateway_events.event_at is
  'created_at of a subscription event, by private.event_time. Null: the event has none, or is no subscription event.'$_$,
$_$comment on column private.gateway_events.payload is
  'The event''s body. private.stored_payload reduces it if the user is deleted, and after a day if no user is known. Null '
  'after 90 days, unless the event still waits.'$_$,
$_$comment on column private.gateway_events.outcome is
  'applied, already, stale, mismatch, unmatched, plan_not_found, parked, ignored: <why>, or failed: <SQLSTATE>.'$_$,
$_$-- A separate table instead of an index on outcome: an update of an indexed column writes every index.
create table private.unsettled_events (
  body_sha256 bytea primary key
    constraint unsettled_events_body_sha256_fkey references private.gateway_events (body_sha256) on delete cascade
)$_$,
$_$alter table private.unsettled_events enable row level security$_$,
$_$grant select, insert, delete on private.unsettled_events to service_role$_$,
$_$comment on table private.unsettled_events is
  'Events that had no effect but may have one later: when their plan exists, or when an admin applies them again.'$_$,
$_$-- Returns a JSON object. Any other value gives null.
create function private.json_object(
  p_value jsonb
)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when jsonb_typeof(p_value) = 'object' then p_value end;
end
$$$_$,
$_$grant execute on function private.json_object(jsonb) to service_role$_$,
$_$-- Returns the text of a JSON string. Any other value gives null.
create function private.json_text(
  p_value jsonb
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when jsonb_typeof(p_value) = 'string' then p_value #>> '{}' end;
end
$$$_$,
$_$grant execute on function private.json_text(jsonb) to service_role$_$,
$_$-- Returns the UUID in a JSON string. Any other value gives null.
create function private.json_uuid(
  p_value jsonb
)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'string' and p_value #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then (p_value #>> '{}')::uuid
  end;
end
$$$_$,
$_$grant execute on function private.json_uuid(jsonb) to service_role$_$,
$_$-- Returns the time of Unix seconds, a JSON integer of the years 1970 to 9999. Any other value gives null.
create function private.json_time(
  p_value jsonb
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'number' then
      case
        when p_value::numeric between 0 and 253402300799 and p_value::numeric = trunc(p_value::numeric)
          then to_timestamp(p_value::numeric)
      end
  end;
end
$$$_$,
$_$grant execute on function private.json_time(jsonb) to service_role$_$,
$_$-- Returns a JSON integer, such as an amount in minor currency units. Any other value gives null.
create function private.json_integer(
  p_value jsonb
)
returns bigint
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'number' then
      case
        when abs(p_value::numeric) <= 9007199254740991 and p_value::numeric = trunc(p_value::numeric) then p_value::bigint
      end
  end;
end
$$$_$,
$_$grant execute on function private.json_integer(jsonb) to service_role$_$,
$_$-- Returns the created_at of an event. Some events have it inside the payload. Null: the event has none.
create function private.event_time(
  p_body jsonb
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return coalesce(private.json_time(p_body -> 'created_at'), private.json_time(p_body -> 'payload' -> 'created_at'));
end
$$$_$,
$_$grant execute on function private.event_time(jsonb) to service_role$_$,
$_$-- Finds the payment of a gateway's payment entity: by the payment's id, which may be that of an extra payment, else by the
-- order's id, else by the order's receipt. The receipt is our payment id without dashes, and is known before the order's
-- id. The notes are not used, because the browser sets them. A test account may reuse ids, so a payment on the entity's own
-- order comes first.
create function private.find_payment(
  p_entity jsonb,
  p_order jsonb -- the order's entity, if the event has one
)
returns public.payments -- all null: not found. The row is not locked: read it again under its lock
language plpgsql -- a session caches its plans
stable
set search_path = ''
as $$
declare
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    private.json_text(p_entity -> 'order_id'),
    private.json_text(p_order -> 'id')
  );
  v_of_order public.payments;
  v_payment public.payments;
begin
  -- The usual case: the order is known and has no other payment.
  if v_gateway_order_id is not null then
    select * into v_of_order from public.payments p where p.gateway_order_id = v_gateway_order_id;
    if found and (v_of_order.gateway_payment_id is null or v_of_order.gateway_payment_id = v_gateway_payment_id) then
      return v_of_order;
    end if;
  end if;
  select * into v_payment from public.payments p where p.gateway_payment_id = v_gateway_payment_id;
  if found then
    return v_payment;
  end if;
  select p.* into v_payment
  from private.extra_payments x
  join public.payments p on p.id = x.payment_id
  where x.gateway_payment_id = v_gateway_payment_id
  order by p.gateway_order_id = v_gateway_order_id desc nulls last, x.payment_id
  limit 1;
  if found then
    return v_payment;
  end if;
  if v_of_order.id is not null then
    return v_of_order;
  end if;
  if private.json_text(p_order -> 'receipt') ~ '^[0-9a-f]{32}$' then
    select * into v_payment
    from public.payments p
    where p.id = private.json_text(p_order -> 'receipt')::uuid
      and p.gateway_order_id is null;
  end if;
  return v_payment;
end
$$$_$,
$_$grant execute on function private.find_payment(jsonb, jsonb) to service_role$_$
]);

-- migrations/20261122000018_events_payment.sql
select pg_temp.apply_migration('20261122000018', 'events_payment', array[
$_$-- The events payment.captured, order.paid and payment.failed. Contract: "Events".

-- Applies payment.captured or order.paid: fulfils the payment as verify would, whichever comes first. The event must have
-- exactly the amount of the order. Contract: "Closed browser".
create function private.apply_payment_captured(
  p_entity jsonb,
  p_order jsonb
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    private.json_text(p_entity -> 'order_id'),
    private.json_text(p_order -> 'id')
  );
  v_amount constant bigint := private.json_integer(p_entity -> 'amount');
  v_payment public.payments := private.find_payment(p_entity, p_order);
  v_locked record;
  v_is_same boolean;
  v_is_exact boolean;
  v_counts_now boolean := false;
  v_email text;
  v_outcome text;
begin
  if v_gateway_payment_id is null then
    return 'ignored: payment.entity.id';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  if v_payment.id is null or v_payment.gateway_payment_id is distinct from v_gateway_payment_id and v_amount is null then
    return 'unmatched';
  end if;

  -- If this gateway payment already fulfilled the payment, access does not change, and the user's lock is not needed.
  if v_payment.fulfilled_at is null
    or v_payment.ended_at is not null
    or v_payment.gateway_payment_id is distinct from v_gateway_payment_id
  then
    v_email := private.lock_user(v_payment.user_id);
  end if;
  -- Also reads the sum of the refunds of this gateway payment, which may arrive before the capture.
  select p as payment, coalesce(
    (
      select sum(r.amount)
      from private.refunds r
      where r.gateway_payment_id = v_gateway_payment_id
        and r.status = 'processed'
    ),
    0
  ) as refunded_amount
  into v_locked
  from public.payments p
  where p.id = v_payment.id
  for update;
  v_payment := v_locked.payment;

  v_is_same := v_payment.gateway_payment_id is not distinct from v_gateway_payment_id;
  v_is_exact := coalesce(
    v_amount = v_payment.amount
      and coalesce(private.json_text(p_entity -> 'currency'), v_payment.currency) = v_payment.currency
      and coalesce(private.json_text(p_entity -> 'status'), 'captured') = 'captured',
    false
  );
  if not v_is_same and not v_is_exact then
    return 'mismatch';
  end if;

  if v_payment.status <> 'captured' then
    if not v_is_same then
      v_payment.gateway_payment_id := v_gateway_payment_id;
      v_payment.refunded_amount := v_locked.refunded_amount;
    end if;
  elsif not v_is_same and v_payment.gateway_payment_id is not null then
    perform private.note_extra_payment(v_payment.id, v_gateway_payment_id, private.clock(), private.clock());
    v_payment := private.count_best_payment(v_payment);
    v_counts_now := v_payment.gateway_payment_id = v_gateway_payment_id;
  end if;

  if v_is_exact
    and (v_payment.fulfilled_at is null or v_payment.uncaptured_at is not null or v_payment.ended_reason = 'refunded')
    and (v_payment.status <> 'captured' or not private.is_refunded(v_payment))
  then
    v_outcome := private.fulfil_payment(
      v_payment,
      v_email,
      null,
      v_payment.gateway_payment_id = v_gateway_payment_id
    ) ->> 'outcome';
    if v_payment.gateway_order_id is null then
      -- The update applies the events that wait for the order.
      update public.payments p set gateway_order_id = v_gateway_order_id where p.id = v_payment.id;
    end if;
    return case v_outcome when 'plan_not_found' then 'plan_not_found' else 'applied' end;
  end if;

  if v_counts_now then
    return 'applied';
  end if;
  if v_payment.gateway_payment_id is distinct from v_gateway_payment_id
    or v_payment.status = 'captured' and v_payment.confirmed_at is not null
  then
    return 'already';
  end if;
  update public.payments p
  set status = 'captured',
    captured_at = coalesce(p.captured_at, private.clock()),
    confirmed_at = coalesce(p.confirmed_at, private.clock())
  where p.id = v_payment.id;
  return 'applied';
end
$$$_$,
$_$grant execute on function private.apply_payment_captured(jsonb, jsonb) to service_role$_$,
$_$-- Applies payment.failed, a failed attempt on an order, and enqueues its mail. A payment that another attempt captured
-- remains captured. Contract: "Failed attempts".
create function private.apply_payment_failed(
  p_entity jsonb,
  p_body_sha256 bytea -- for the mail's key, if the entity has no id of at most 200 characters
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_gateway_order_id constant text := private.json_text(p_entity -> 'order_id');
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_payment public.payments;
  v_tier text;
  v_to text;
  v_display_name text;
begin
  if v_gateway_order_id is null then
    return 'ignored: payment.entity.order_id';
  end if;

  select * into v_payment from public.payments p where p.gateway_order_id = v_gateway_order_id for update;
  if not found then
    return 'unmatched';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  if v_payment.status = 'captured' then
    return 'stale';
  end if;
  -- By now the ledger may have purged the event. A repeat must not replace newer error texts or send a second mail.
  if v_payment.status = 'failed' and v_payment.created_at < private.clock() - interval '90 days' then
    return 'stale';
  end if;

  v_tier := coalesce(v_payment.tier, v_payment.meta ->> 'tier');
  update public.payments p
  set status = 'failed',
    tier = v_tier,
    -- The bank's texts may hold personal data, so they are not stored for a payment without a user.
    meta = case
      when p.user_id is null then p.meta
      else jsonb_build_object(
        'error_code', p_entity -> 'error_code',
        'error_description', p_entity -> 'error_description',
        'error_reason', p_entity -> 'error_reason'
      )
    end
  where p.id = v_payment.id;

  select u.email, coalesce(nullif(pr.display_name, ''), pr.username, '')
  into v_to, v_display_name
  from private.find_user(v_payment.user_id) u
  join public.profiles pr on pr.user_id = v_payment.user_id;
  if v_to <> '' then
    perform private.enqueue(
      'payment-failed/' || case
        when char_length(v_gateway_payment_id) <= 200 then v_gateway_payment_id
        else encode(p_body_sha256, 'hex')
      end,
      'email',
      'payment-failed',
      jsonb_build_object(
        'to', v_to,
        'display_name', v_display_name,
        'tier', coalesce(nullif(v_tier, ''), 'basic'),
        'amount', v_payment.amount,
        'currency', v_payment.currency,
        'reason', private.json_text(p_entity -> 'error_description')
      )
    );
  end if;
  return 'applied';
end
$$$_$,
$_$grant execute on function private.apply_payment_failed(jsonb, bytea) to service_role$_$
]);

-- migrations/20261122000019_events_refund.sql
select pg_temp.apply_migration('20261122000019', 'events_refund', array[
$_$-- The events of refunds and disputes. A payment that was refunded in full gives no access. A partial refund or a dispute
-- does not change access. Contract: "Refunds", "Disputes".

-- Applies a payment's refunds to its access. A full refund ends the source. If the refund fails later, the source runs
-- again. The caller holds the locks on the user and on the payment.
create function private.settle_refunds(
  p_payment public.payments,
  p_email text
)
returns boolean -- whether a refunded amount changed
language plpgsql
set search_path = ''
as $$
declare
  v_payment public.payments := p_payment;
  v_is_changed boolean;
  v_is_refunded boolean;
begin
  update private.extra_payments x
  set refunded_amount = private.refunded_amount(x.gateway_payment_id)
  where x.payment_id = p_payment.id
    and x.refunded_amount <> private.refunded_amount(x.gateway_payment_id);
  v_is_changed := found;
  v_payment.refunded_amount := private.refunded_amount(p_payment.gateway_payment_id);
  if v_payment.refunded_amount <> p_payment.refunded_amount then
    v_is_changed := true;
    update public.payments p set refunded_amount = v_payment.refunded_amount where p.id = p_payment.id;
  end if;
  if not v_is_changed then
    return false;
  end if;
  if v_payment.status = 'captured' then
    v_payment := private.count_best_payment(v_payment);
  end if;
  v_is_refunded := private.is_refunded(v_payment);

  -- The capture arrived while the payment was refunded in full. If the refund failed since, the payment is fulfilled now.
  if v_payment.fulfilled_at is null then
    if v_payment.status = 'captured' and private.is_refunded(p_payment) and not v_is_refunded then
      perform private.fulfil_payment(v_payment, p_email, null, v_payment.confirmed_at is not null);
    end if;
    return true;
  end if;

  update public.payments p
  set ended_at = case when v_is_refunded then private.clock() end,
    ended_reason = case when v_is_refunded then 'refunded' end
  where p.id = v_payment.id
    and case when v_is_refunded then p.ended_at is null else p.ended_reason = 'refunded' end;
  if found then
    perform private.settle_payment(v_payment, p_email);
  end if;
  return true;
end
$$$_$,
$_$grant execute on function private.settle_refunds(public.payments, text) to service_role$_$,
$_$-- Applies the refunds of a cycle's payment to its gateway subscription.
create function private.settle_charge_refunds(
  p_gateway_payment_id text
)
returns boolean -- whether a refunded amount changed; null: the payment paid no cycle
language plpgsql
set search_path = ''
as $$
declare
  v_subscription private.gateway_subscriptions;
  v_email text;
  v_is_changed boolean;
begin
  for v_subscription in
    select m.*
    from private.gateway_charges c
    join private.gateway_subscriptions m
      on m.user_id = c.user_id
      and m.gateway_subscription_id = c.gateway_subscription_id
    where c.gateway_payment_id = p_gateway_payment_id
      and c.gateway_payment_id <> ''
    order by m.user_id
  loop
    v_email := private.lock_user(v_subscription.user_id);
    update private.gateway_charges c
    set refunded_amount = private.refunded_amount(p_gateway_payment_id)
    where c.user_id = v_subscription.user_id
      and c.gateway_subscription_id = v_subscription.gateway_subscription_id
      and c.gateway_payment_id = p_gateway_payment_id
      and c.refunded_amount <> private.refunded_amount(p_gateway_payment_id);
    v_is_changed := coalesce(v_is_changed, false) or found;
    select * into v_subscription
    from private.gateway_subscriptions m
    where m.user_id = v_subscription.user_id
      and m.gateway_subscription_id = v_subscription.gateway_subscription_id
    for update;
    update private.gateway_subscriptions m
    set has_refunds = true,
      paid_until = private.paid_until(v_subscription)
    where m.user_id = v_subscription.user_id
      and m.gateway_subscription_id = v_subscription.gateway_subscription_id
      and (not m.has_refunds or m.paid_until is distinct from private.paid_until(v_subscription));
    if found and v_email is not null then
      perform private.settle_access(v_subscription.user_id, v_email);
    end if;
  end loop;
  return v_is_changed;
end
$$$_$,
$_$grant execute on function private.settle_charge_refunds(text) to service_role$_$,
$_$-- Applies refund.created, refund.processed or refund.failed, in any order, before or after their payment arrives.
-- Contract: "Refunds".
create function private.apply_refund(
  p_refund jsonb,
  p_payment jsonb -- the payment's entity, if the event has one
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_refund_id constant text := private.json_text(p_refund -> 'id');
  v_gateway_payment_id constant text := coalesce(
    private.json_text(p_refund -> 'payment_id'),
    private.json_text(p_payment -> 'id')
  );
  v_amount constant bigint := private.json_integer(p_refund -> 'amount');
  v_status constant text := private.json_text(p_refund -> 'status');
  v_payment public.payments;
  v_email text;
  v_is_news boolean;
  v_changes_charge boolean;
begin
  if v_refund_id is null or v_gateway_payment_id is null or v_amount is null or v_amount < 0
    or (v_status in ('pending', 'processed', 'failed')) is not true
  then
    return 'ignored: refund.entity';
  end if;
  perform private.lock_gateway_payment(v_gateway_payment_id);
  v_payment := private.find_payment(
    coalesce(p_payment, '{}') || jsonb_build_object('id', v_gateway_payment_id),
    null
  );
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  v_email := private.lock_user(v_payment.user_id);
  select * into v_payment from public.payments p where p.id = v_payment.id for update;
  -- The refund is stored even without its payment, which reads its refunds when it arrives.
  v_is_news := private.merge_refund(v_refund_id, v_gateway_payment_id, v_amount, v_status);
  v_changes_charge := private.settle_charge_refunds(v_gateway_payment_id);
  if v_payment.id is not null and private.settle_refunds(v_payment, v_email) then
    return 'applied';
  end if;
  return case
    when v_payment.id is null and v_changes_charge is null then 'unmatched'
    when v_is_news or v_changes_charge then 'applied'
    else 'already'
  end;
end
$$$_$,
$_$grant execute on function private.apply_refund(jsonb, jsonb) to service_role$_$,
$_$-- Returns whether an event changes the known status of a dispute. A decided dispute does not change any more. An event
-- without a time counts only if it is the first one or has the decision: it may be a repeat of an old event.
create function private.is_dispute_news(
  p_known_status text, -- null: no dispute is known
  p_known_at timestamptz,
  p_status text,
  p_created_at timestamptz -- of the event; null: it has none
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_known_status is null
    or p_status <> p_known_status
      and p_known_status not in ('won', 'lost', 'closed')
      and (
        p_status in ('won', 'lost', 'closed')
        or coalesce(p_created_at >= p_known_at, p_created_at is not null)
      );
end
$$$_$,
$_$grant execute on function private.is_dispute_news(text, timestamptz, text, timestamptz) to service_role$_$,
$_$-- Stores the status of a dispute.
create function private.apply_dispute(
  p_dispute jsonb,
  p_entity jsonb, -- the payment's entity, if the event has one
  p_created_at timestamptz -- of the event; null: it has none
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_status constant text := left(private.json_text(p_dispute -> 'status'), 100);
  v_payment public.payments := private.find_payment(
    coalesce(p_entity, '{}') || jsonb_build_object('id', coalesce(p_dispute -> 'payment_id', p_entity -> 'id')),
    null
  );
begin
  if v_status is null then
    return 'ignored: dispute.entity.status';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(
      v_payment.id,
      private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id'))
    );
  end if;
  if v_payment.id is null then
    -- The payment may have paid a cycle.
    update private.gateway_charges c
    set dispute_status = v_status,
      dispute_event_at = greatest(c.dispute_event_at, p_created_at)
    where c.gateway_payment_id = private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id'))
      and c.gateway_payment_id <> ''
      and private.is_dispute_news(c.dispute_status, c.dispute_event_at, v_status, p_created_at);
    if found then
      return 'applied';
    end if;
    return 'unmatched';
  end if;
  -- The dispute is about an extra payment on the order.
  if v_payment.gateway_payment_id <> private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id')) then
    return 'mismatch';
  end if;
  update public.payments p
  set dispute_status = v_status,
    dispute_event_at = greatest(p.dispute_event_at, p_created_at)
  where p.id = v_payment.id
    and private.is_dispute_news(p.dispute_status, p.dispute_event_at, v_status, p_created_at);
  return case when found then 'applied' else 'stale' end;
end
$$$_$,
$_$grant execute on function private.apply_dispute(jsonb, jsonb, timestamptz) to service_role$_$
]);

-- migrations/20261122000020_events_deleted_user.sql
select pg_temp.apply_migration('20261122000020', 'events_deleted_user', array[
$_$-- Deleted users, and gateway subscriptions that wait for their user or plan. Contract: "Deleted users".

-- When a user is deleted, the service cancels the user's gateway subscriptions, also if their events arrive after the
-- deletion. 90 days later the user's data is erased. An unknown user may belong to another app with the same gateway
-- account, so the service does not cancel the subscriptions of unknown users.

create table private.deleted_users (
  user_id uuid primary key,
  deleted_at timestamptz not null default private.clock(),
  erased_at timestamptz
)$_$,
$_$create index deleted_users_deleted_at_idx on private.deleted_users (deleted_at)
where erased_at is null$_$,
$_$alter table private.deleted_users enable row level security$_$,
$_$grant select on private.deleted_users to service_role$_$,
$_$comment on table private.deleted_users is
  'The deleted users. Rows are kept without a limit: a mandate at the gateway may charge for decades. An unknown user who '
  'is not in this table counts as a user of another app, whose subscriptions the service does not cancel.'$_$,
$_$comment on column private.deleted_users.user_id is
  'The id of the user. After 90 days its hash by private.hash_user_id: then no other table has the id.'$_$,
$_$comment on column private.deleted_users.erased_at is 'When the other data of the user was erased.'$_$,
$_$-- Returns a hash from which the user's id cannot be computed: the first 16 bytes of its SHA-256.
create function private.hash_user_id(
  p_user_id uuid
)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return encode(substr(sha256(uuid_send(p_user_id)), 1, 16), 'hex')::uuid;
end
$$$_$,
$_$grant execute on function private.hash_user_id(uuid) to service_role$_$,
$_$create function private.is_deleted(
  p_user_id uuid
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select
    from private.deleted_users d
    where d.user_id in (p_user_id, private.hash_user_id(p_user_id))
  );
end
$$$_$,
$_$grant execute on function private.is_deleted(uuid) to service_role$_$,
$_$-- Security definer: the role that deletes a user has no rights on the mirror and the outbox.
create function private.note_deleted_user()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.deleted_users (user_id)
  values (old.id)
  on conflict (user_id) do nothing;
  perform private.enqueue_cancellation(m.gateway_subscription_id)
  from private.gateway_subscriptions m
  where m.user_id = old.id
    and m.gateway_subscription_id <> ''
    and m.status is distinct from 'cancelled';
  return null;
end
$$$_$,
$_$create trigger note_deleted_user
after delete on auth.users
for each row execute function private.note_deleted_user()$_$,
$_$alter table public.payments add column user_deleted_at timestamptz$_$,
$_$create index payments_user_deleted_at_idx on public.payments (user_deleted_at)
where user_deleted_at is not null$_$,
$_$comment on column public.payments.user_deleted_at is
  'When the user of the payment was deleted. Null after 90 days, when the payloads of its events are deleted.'$_$,
$_$-- When its user is deleted, a payment keeps the data for accounting. The texts of the bank and the data of the app are
-- erased at once.
create function private.erase_payment_meta()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.meta := case
    when new.meta ? 'tier' then jsonb_build_object('tier', new.meta -> 'tier')
    else '{}'
  end;
  new.user_deleted_at := private.clock();
  return new;
end
$$$_$,
$_$create trigger erase_payment_meta
before update of user_id on public.payments
for each row
when (old.user_id is not null and new.user_id is null)
execute function private.erase_payment_meta()$_$,
$_$-- Marks this transaction if its event is about a deleted user. private.apply_delivery then stores no personal data of the
-- event.
create function private.note_missing_user(
  p_payment_id uuid, -- a payment without a user; null: the event is about no payment of ours
  p_gateway_payment_id text -- may have paid a cycle
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_payment_id is not null or exists (
    select
    from private.gateway_charges c
    join private.deleted_users d on d.user_id = c.user_id
    where c.gateway_payment_id = p_gateway_payment_id
      and c.gateway_payment_id <> ''
  ) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
end
$$$_$,
$_$grant execute on function private.note_missing_user(uuid, text) to service_role$_$,
$_$-- Serializes an event about a user that does not exist with private.erase_deleted_users. An advisory lock, because such a
-- user has no row to lock.
create function private.lock_missing_user(
  p_user_id uuid
)
returns boolean -- true: the user was erased, and nothing may be stored about the user
language plpgsql
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('missing user ' || p_user_id, 0));
  -- A separate statement: after the lock it sees all rows that were committed before.
  return exists (
    select
    from private.deleted_users d
    where d.user_id = private.hash_user_id(p_user_id)
  );
end
$$$_$,
$_$grant execute on function private.lock_missing_user(uuid) to service_role$_$,
$_$-- Applies an activation or a charge for a user that does not exist: cancels the subscription if the user was deleted.
create function private.apply_event_for_missing_user(
  p_user_id uuid,
  p_gateway_subscription_id text
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
begin
  if p_gateway_subscription_id = '' or not private.is_deleted(p_user_id) then
    return 'unmatched';
  end if;
  perform private.enqueue_cancellation(p_gateway_subscription_id);
  return 'applied';
end
$$$_$,
$_$grant execute on function private.apply_event_for_missing_user(uuid, text) to service_role$_$,
$_$-- Settles the access of a new user, because events may arrive before their user exists.
-- Security definer: the auth server's role inserts users and has no rights on the mirror.
create function private.settle_new_user()
returns trigger
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- A backup or an import may restore a deleted user.
  delete from private.deleted_users d where d.user_id in (new.id, private.hash_user_id(new.id));
  if exists (select from private.gateway_subscriptions m where m.user_id = new.id) then
    perform private.note_cause('subscription of a new user', null);
    perform private.settle_access(new.id, new.email);
    update private.gateway_subscriptions m
    set is_waiting = false,
      next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
    where m.user_id = new.id;
  end if;
  return null;
exception
  -- A sign-up must not fail because of its gateway subscription. The sweep settles the user later.
  when others then
    raise warning 'access of user % was not settled: %', new.id, sqlstate;
    return null;
end
$$$_$,
$_$create trigger settle_new_user
after insert on auth.users
for each row execute function private.settle_new_user()$_$,
$_$-- Settles users whose gateway subscriptions waited for a plan or for the user, and the plan or the user now exists.
create function private.settle_waiting_subscriptions()
returns integer -- how many subscriptions were settled; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_waiting record;
  v_settled integer := 0;
begin
  for v_waiting in
    select m.user_id, m.gateway_subscription_id, coalesce(m.plan_id, waiting.plan_id) as plan_id, u.email
    from (
      select w.user_id, w.gateway_subscription_id, p.id as plan_id
      from private.gateway_subscriptions w
      join public.plans p on p.gateway_plan_id = w.gateway_plan_id
      where w.plan_id is null
      union
      select w.user_id, w.gateway_subscription_id, null
      from private.gateway_subscriptions w
      where w.is_waiting
    ) waiting
    join private.gateway_subscriptions m
      on m.user_id = waiting.user_id
      and m.gateway_subscription_id = waiting.gateway_subscription_id
    join auth.users u on u.id = m.user_id
    where not exists (
      select
      from private.settle_failures f
      where f.user_id = m.user_id
        and f.failed_at > private.clock() - interval '1 hour'
    )
    order by m.user_id
    limit 100
    for no key update of u skip locked
  loop
    begin
      perform private.note_cause('plan', v_waiting.gateway_subscription_id);
      update private.gateway_subscriptions m
      set plan_id = v_waiting.plan_id,
        is_waiting = false,
        next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
      where m.user_id = v_waiting.user_id
        and m.gateway_subscription_id = v_waiting.gateway_subscription_id;
      perform private.settle_access(v_waiting.user_id, v_waiting.email);
      v_settled := v_settled + 1;
    exception
      -- The error may come from an app's trigger on the profile. It must not stop the other users.
      when others then
        perform private.note_settle_failure(v_waiting.user_id, sqlstate);
    end;
  end loop;
  return v_settled;
end
$$$_$
]);

-- migrations/20261122000021_events_subscription.sql
select pg_temp.apply_migration('20261122000021', 'events_subscription', array[
$_$-- The events subscription.activated, subscription.charged and subscription.cancelled, in any order. Each event is merged
-- into the mirror, then the user's access is settled. Contract: "Gateway subscriptions".

-- Applies the usual charge: the next cycle, in order, of the ruling gateway subscription. One statement replaces the merge
-- of the event and the ranking of the sources.
create function private.apply_next_charge(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_gateway_plan_id text,
  p_start timestamptz,
  p_end timestamptz,
  p_gateway_payment_id text, -- null: the gateway named none
  p_amount bigint, -- of that payment, minor currency units
  p_created_at timestamptz, -- of the event; null: not the usual charge
  p_arrived_at timestamptz,
  out merged private.gateway_subscriptions, -- the row after the merge; all null: not the usual charge, nothing was written
  out ruling private.ruling, -- all null: the sources must be ranked
  out subscription public.subscriptions -- the subscription row, locked
)
language plpgsql
set search_path = ''
as $$
declare
  -- Same as in private.merge_gateway_subscription.
  v_charged_at constant timestamptz := least(p_created_at + interval '999999 microseconds', p_arrived_at);
  v_next record;
begin
  with next as (
    update private.gateway_subscriptions m
    set period_start = p_start,
      period_end = p_end,
      period_event_at = p_created_at,
      plan_event_at = p_created_at,
      arrived_at = p_arrived_at
    where m.user_id = p_user_id
      and m.gateway_subscription_id = p_gateway_subscription_id
      and m.plan_id is not null
      and m.gateway_plan_id = p_gateway_plan_id
      and m.plan_event_at < p_created_at
      and m.period_event_at < p_created_at
      and m.first_charged_at <= v_charged_at
      and m.next_check_at <= p_end - interval '1 day'
      and m.ended_at is null
      and not m.has_refunds
      and not exists (
        select
        from private.refunds r
        where r.gateway_payment_id = p_gateway_payment_id
          and r.status = 'processed'
      )
    returning m.*
  ),
  charge as (
    insert into private.gateway_charges (
      user_id, gateway_subscription_id, period_end, period_start, gateway_payment_id, amount, charged_at
    )
    select p_user_id, p_gateway_subscription_id, p_end, p_start, coalesce(p_gateway_payment_id, ''), p_amount, v_charged_at
    from next n
    on conflict do nothing
  )
  select n as merged, ruled.subscription, ruled.tier
  into v_next
  from next n
  left join lateral (
    select s as subscription, p.tier
    from public.subscriptions s
    join public.plans p on p.id = n.plan_id
    where s.user_id = n.user_id
      and s.gateway_subscription_id = n.gateway_subscription_id
      and s.status = 'active'
      and s.revision > 0
      and n.status = 'active'
      and n.period_end > private.clock()
      and not n.is_replaced
      and not exists (
        select
        from private.gateway_subscriptions o
        where o.user_id = n.user_id
          and o.gateway_subscription_id <> n.gateway_subscription_id
      )
    for update of s
  ) ruled on true;
  merged := v_next.merged;
  if v_next.tier is null then
    return;
  end if;
  subscription := v_next.subscription;
  -- The same values as in private.sources and private.mirrored after the commit.
  ruling := row(
    row(
      p_user_id, 'gateway_subscription', p_gateway_subscription_id, merged.plan_id, v_next.tier, p_start, p_end, p_end,
      coalesce(merged.activated_at, merged.first_charged_at), p_arrived_at, null, null, merged.cancel_at_period_end,
      p_gateway_subscription_id
    )::private.sources,
    true, false, 1, 0, 0
  )::private.ruling;
end
$$$_$,
$_$grant execute on function
  private.apply_next_charge(uuid, text, text, timestamptz, timestamptz, text, bigint, timestamptz, timestamptz)
  to service_role$_$,
$_$-- Applies a subscription event. Contract: "Fields that an event needs", "Gateway subscriptions".
create function private.apply_subscription_event(
  p_event text, -- subscription.activated, subscription.charged or subscription.cancelled
  p_entity jsonb,
  p_payment jsonb, -- of the cycle, if the event has it
  p_created_at timestamptz, -- of the event; null: it has none
  p_arrived_at timestamptz
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_id text := coalesce(private.json_text(p_entity -> 'id'), '');
  v_user_id constant uuid := private.json_uuid(p_entity -> 'notes' -> 'user_id');
  v_start constant timestamptz := case when not v_cancelled then private.json_time(p_entity -> 'current_start') end;
  v_end constant timestamptz := case when not v_cancelled then private.json_time(p_entity -> 'current_end') end;
  v_payment_id constant text := case when p_event = 'subscription.charged' then private.json_text(p_payment -> 'id') end;
  v_amount constant bigint := private.json_integer(p_payment -> 'amount');
  v_gateway_plan_id constant text := private.json_text(p_entity -> 'plan_id');
  v_email text;
  v_merged private.gateway_subscriptions;
  v_next record;
  v_is_changed boolean;
begin
  if char_length(v_id) > 200 then
    -- No real id is that long, and the index cannot hold it.
    v_id := '';
  end if;
  if v_user_id is null then
    return 'ignored: subscription.entity.notes.user_id';
  end if;
  if not v_cancelled
    and (v_start is null or v_end is null)
    -- An activation before the first cycle has no period.
    and (
      p_event = 'subscription.activated'
      and p_entity -> 'current_start' = 'null'
      and p_entity -> 'current_end' = 'null'
    ) is not true
  then
    return 'ignored: subscription.entity.current_start, current_end';
  end if;

  if v_payment_id is not null then
    perform private.lock_gateway_payment(v_payment_id);
  end if;
  v_email := private.lock_user(v_user_id);
  if v_email is null and private.is_deleted(v_user_id) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
  if v_email is null and private.lock_missing_user(v_user_id) then
    -- Nothing is stored about an erased user, but the subscription is cancelled at the gateway.
    return case when v_cancelled then 'unmatched' else private.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if p_event = 'subscription.charged' then
    v_next := private.apply_next_charge(
      v_user_id, v_id, v_gateway_plan_id, v_start, v_end, v_payment_id, v_amount, p_created_at, p_arrived_at
    );
    v_merged := v_next.merged;
  end if;
  if v_merged.user_id is null then
    v_merged := private.merge_gateway_subscription(
      v_user_id, v_id, p_event, v_gateway_plan_id, v_start, v_end, v_payment_id, v_amount, p_created_at, p_arrived_at
    );
  end if;
  if v_email is null then
    update private.gateway_subscriptions m
    set is_waiting = true
    where m.user_id = v_user_id
      and m.gateway_subscription_id = v_id
      and not m.is_waiting;
    return case when v_cancelled then 'unmatched' else private.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if v_merged.user_id is null then
    return 'stale';
  end if;
  if v_cancelled and v_merged.status = 'cancelled' then
    -- The gateway has cancelled the subscription, so a planned cancellation is not needed any more.
    perform private.withdraw_cancellation(v_id, 'cancelled at the gateway');
    update private.gateway_subscriptions m
    set is_replaced = false
    where m.user_id = v_user_id
      and m.gateway_subscription_id = v_id
      and m.is_replaced;
  end if;
  if p_event = 'subscription.charged' then
    v_is_changed := private.settle_access(
      v_user_id, v_email, p_ruling => v_next.ruling, p_before => v_next.subscription
    );
  else
    v_is_changed := private.settle_access(v_user_id, v_email, p_is_cancelled => v_cancelled);
  end if;
  return case
    -- The subscription waits for a plan of ours, for a cycle, or for a source to attach to.
    when v_is_changed is null then 'unmatched'
    -- A newer fact is known.
    when not v_is_changed
      and p_created_at < greatest(v_merged.period_event_at, v_merged.status_event_at)
      and v_merged.plan_id is null
      then 'stale'
    -- The event is about a gateway subscription that is not the attached one.
    when not v_is_changed and v_merged.plan_id is null and v_merged.activated_at is null then 'mismatch'
    else 'applied'
  end;
end
$$$_$,
$_$grant execute on function
  private.apply_subscription_event(text, jsonb, jsonb, timestamptz, timestamptz) to service_role$_$
]);

-- migrations/20261122000022_events_apply.sql
select pg_temp.apply_migration('20261122000022', 'events_apply', array[
$_$-- Applies an event by its name, and applies events of the ledger again. Contract: "Events", "Failing events".

-- Applies one event, by its name.
create function private.apply_event(
  p_body jsonb,
  p_body_sha256 bytea,
  p_arrived_at timestamptz -- the time of the first delivery
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := private.json_text(p_body -> 'event');
  v_payment constant jsonb := private.json_object(p_body #> '{payload,payment,entity}');
  v_order jsonb;
  v_other jsonb;
begin
  if p_body is null then
    return 'ignored: nested too deep';
  end if;
  if jsonb_typeof(p_body) <> 'object' then
    return 'ignored: not an object';
  end if;
  if v_event is null then
    return 'ignored: event';
  end if;

  if v_event in ('subscription.activated', 'subscription.charged', 'subscription.cancelled') then
    v_other := private.json_object(p_body #> '{payload,subscription,entity}');
    if v_other is null then
      return 'ignored: subscription.entity';
    end if;
    return private.apply_subscription_event(v_event, v_other, v_payment, private.event_time(p_body), p_arrived_at);
  end if;
  if v_event in ('refund.created', 'refund.processed', 'refund.failed') then
    v_other := private.json_object(p_body #> '{payload,refund,entity}');
    if v_other is null then
      return 'ignored: refund.entity';
    end if;
    -- If the entity has no status, the name of the event gives it.
    return private.apply_refund(
      jsonb_build_object('status', case v_event
        when 'refund.created' then 'pending'
        when 'refund.failed' then 'failed'
        else 'processed'
      end) || v_other,
      v_payment
    );
  end if;
  if v_event like 'payment.dispute.%' then
    v_other := private.json_object(p_body #> '{payload,dispute,entity}');
    if v_other is null then
      return 'ignored: dispute.entity';
    end if;
    return private.apply_dispute(v_other, v_payment, private.event_time(p_body));
  end if;
  if v_event not in ('payment.captured', 'order.paid', 'payment.failed') then
    return 'ignored: not handled';
  end if;
  if v_payment is null then
    return 'ignored: payment.entity';
  end if;
  if v_event = 'payment.failed' then
    return private.apply_payment_failed(v_payment, p_body_sha256);
  end if;
  return private.apply_payment_captured(v_payment, private.json_object(p_body #> '{payload,order,entity}'));
end
$$$_$,
$_$grant execute on function private.apply_event(jsonb, bytea, timestamptz) to service_role$_$,
$_$-- Returns whether the event's data, or an app's trigger, caused an error. Any other error (connection, conflict, resources,
-- lock time-out, shutdown, system) may not occur again when the gateway retries.
create function private.is_error_of_event(
  p_sqlstate text
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return left(p_sqlstate, 2) not in ('08', '40', '53', '57', '58') and p_sqlstate <> '55P03';
end
$$$_$,
$_$grant execute on function private.is_error_of_event(text) to service_role$_$,
$_$-- Returns whether an event belongs in private.unsettled_events: it had no effect and may have one later. An unmatched event
-- about an order does not belong there, since storing the order applies it. A dispute does, since it names no order.
create function private.can_be_reapplied(
  p_event text,
  p_outcome text
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_outcome in ('plan_not_found', 'mismatch', 'parked')
    or p_outcome like 'failed: %'
    or p_outcome = 'unmatched' and p_event like 'payment.dispute.%';
end
$$$_$,
$_$grant execute on function private.can_be_reapplied(text, text) to service_role$_$,
$_$-- Returns whether an event still waits for its effect and needs its payload. An unmatched subscription event does not need
-- it: its facts are in the mirror.
create function private.is_waiting(
  p_event text,
  p_outcome text
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_outcome in ('plan_not_found', 'parked')
    or p_outcome like 'failed: %'
    or p_outcome = 'unmatched' and (p_event like 'subscription.%') is not true;
end
$$$_$,
$_$grant execute on function private.is_waiting(text, text) to service_role$_$,
$_$-- Adds an event to private.unsettled_events, or removes it.
create function private.note_unsettled(
  p_body_sha256 bytea,
  p_is_unsettled boolean
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_is_unsettled then
    insert into private.unsettled_events (body_sha256)
    values (p_body_sha256)
    on conflict (body_sha256) do nothing;
  else
    delete from private.unsettled_events u where u.body_sha256 = p_body_sha256;
  end if;
end
$$$_$,
$_$grant execute on function private.note_unsettled(bytea, boolean) to service_role$_$,
$_$-- Applies an event of the ledger again. Stores the outcome, unless another transaction that does the same has locked the
-- ledger row.
create function private.apply_recorded_event(
  p_event private.gateway_events
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_outcome text;
  v_error text;
begin
  perform private.note_cause(p_event.event, coalesce(p_event.subject_id, encode(p_event.body_sha256, 'hex')));
  begin
    v_outcome := private.apply_event(p_event.payload, p_event.body_sha256, p_event.received_at);
  exception
    when others then
      if not private.is_error_of_event(sqlstate) then
        raise;
      end if;
      -- Only the effect of this event is undone. After six hours the event is parked, so that the gateway does not switch
      -- the endpoint off.
      v_error := sqlstate;
      v_outcome := case
        when p_event.received_at > private.clock() - interval '6 hours' then 'failed: ' || v_error
        else 'parked'
      end;
  end;

  update private.gateway_events e
  set outcome = v_outcome,
    error = v_error,
    attempts = e.attempts + 1
  where e.body_sha256 = (
    select l.body_sha256
    from private.gateway_events l
    where l.body_sha256 = p_event.body_sha256
    for update skip locked
  );
  if found then
    perform private.note_unsettled(p_event.body_sha256, private.can_be_reapplied(p_event.event, v_outcome));
  end if;
  return v_outcome;
end
$$$_$,
$_$grant execute on function private.apply_recorded_event(private.gateway_events) to service_role$_$
]);

-- migrations/20261122000023_ledger_deliver.sql
select pg_temp.apply_migration('20261122000023', 'ledger_deliver', array[
$_$-- Applies a delivery of the gateway once, repeats included, and reduces payloads. Contract: POST /api/webhooks/gateway.

-- Reduces an event's body to the fields that the rules read, without the customer's e-mail address, phone number, VPA and
-- name. The ledger keeps only these of an event about a deleted user, and after 90 days of an event that still waits.
create function private.stored_payload(
  p_body jsonb,
  p_outcome text
)
returns jsonb -- null: the ledger keeps no field
language plpgsql
stable
set search_path = ''
as $$
declare
  v_event constant text := private.json_text(p_body -> 'event');
  v_payload constant jsonb := private.json_object(p_body -> 'payload');
  v_fields text[] := array[
    'id', 'order_id', 'payment_id', 'receipt', 'plan_id', 'amount', 'currency', 'status', 'current_start', 'current_end',
    'error_code', 'error_reason'
  ];
  v_is_waiting constant boolean := private.is_waiting(v_event, p_outcome);
  v_entities jsonb;
begin
  if jsonb_typeof(p_body) is distinct from 'object' then
    return null;
  end if;
  -- An event that waits is kept, also for a deleted user: it cancels the subscription at the gateway.
  if v_event like 'subscription.%'
    and not v_is_waiting
    and private.is_deleted(private.json_uuid(v_payload #> '{subscription,entity,notes,user_id}'))
  then
    return null;
  end if;
  -- The bank's text is kept until the event has its effect, but not for a payment without a user.
  if v_event = 'payment.failed'
    and v_is_waiting
    and not exists (
      select
      from public.payments p
      where p.gateway_order_id = v_payload #>> '{payment,entity,order_id}'
        and p.user_id is null
    )
  then
    v_fields := v_fields || 'error_description'::text;
  end if;

  select jsonb_object_agg(entity.name, jsonb_build_object('entity', entity.kept))
  into v_entities
  from (
    select
      e.key as name,
      coalesce(
        (
          select jsonb_object_agg(f.key, f.value)
          from jsonb_each(private.json_object(e.value -> 'entity')) f
          where f.key = any (v_fields)
            and jsonb_typeof(f.value) not in ('object', 'array')
        ),
        '{}'
      )
      || case
        when e.key = 'subscription' and e.value #> '{entity,notes,user_id}' is not null
          then jsonb_build_object('notes', jsonb_build_object('user_id', e.value #> '{entity,notes,user_id}'))
        else '{}'
      end as kept
    from jsonb_each(v_payload) e
    where e.key = any (array['payment', 'order', 'refund', 'dispute', 'subscription'])
      and jsonb_typeof(e.value -> 'entity') = 'object'
  ) entity;
  return jsonb_build_object('reduced', true, 'event', v_event, 'payload', coalesce(v_entities, '{}'))
    || case
      when private.event_time(p_body) is null then '{}'
      else jsonb_build_object('created_at', extract(epoch from private.event_time(p_body)))
    end;
end
$$$_$,
$_$grant execute on function private.stored_payload(jsonb, text) to service_role$_$,
$_$-- Returns whether an event is about a deleted user. For failed events: their rollback undoes private.note_missing_user.
create function private.is_about_deleted_user(
  p_body jsonb,
  p_subject_id text
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.is_deleted(private.json_uuid(p_body #> '{payload,subscription,entity,notes,user_id}'))
    or exists (
      select
      from public.payments p
      where p.user_id is null
        and p.gateway_order_id = p_subject_id
    )
    or exists (
      select
      from public.payments p
      where p.user_id is null
        and p.gateway_payment_id = p_subject_id
    );
end
$$$_$,
$_$grant execute on function private.is_about_deleted_user(jsonb, text) to service_role$_$,
$_$create type private.delivery as (
  outcome text, -- as in the ledger
  is_applied boolean -- true: this call applied the event; false: an earlier call did
)$_$,
$_$-- Applies an event and writes its ledger row, once. Effect and row commit together. Of two deliveries at once, the second
-- waits for the first. Then its effect is undone, and it returns the stored outcome.
create function private.apply_delivery(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, not signed
  p_body jsonb, -- null: nested too deep to read
  p_deliveries integer -- 0: the event comes from reconciliation, not from the gateway
)
returns private.delivery
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_subject_id text;
  v_event private.gateway_events;
  v_error text;
  v_set text;
  v_delivery private.delivery;
begin
  v_delivery.is_applied := true;
  select * into v_event from private.gateway_events e where e.body_sha256 = p_body_sha256;
  if found and p_deliveries > 0 then
    update private.gateway_events e
    set deliveries = e.deliveries + p_deliveries
    where e.body_sha256 = p_body_sha256
    returning * into v_event;
  end if;

  if v_event.body_sha256 is null then
    v_subject_id := left(
      coalesce(
        p_body #>> '{payload,subscription,entity,id}',
        p_body #>> '{payload,payment,entity,order_id}',
        p_body #>> '{payload,order,entity,id}',
        p_body #>> '{payload,dispute,entity,payment_id}',
        p_body #>> '{payload,payment,entity,id}',
        p_body #>> '{payload,refund,entity,payment_id}'
      ),
      200
    );
    v_set := set_config('subscriptions.cause', coalesce(p_body ->> 'event', ''), true);
    v_set := set_config('subscriptions.reference', coalesce(v_subject_id, encode(p_body_sha256, 'hex')), true);
    v_set := set_config('subscriptions.user_deleted', '', true);
    begin
      v_delivery.outcome := private.apply_event(p_body, p_body_sha256, v_now);
      insert into private.gateway_events (
        body_sha256, event_id, event, subject_id, event_at, payload, reduce_at, outcome, deliveries, attempts, received_at
      )
      values (
        p_body_sha256, p_event_id, private.json_text(p_body -> 'event'), v_subject_id,
        case when p_body ->> 'event' like 'subscription.%' then private.event_time(p_body) end,
        case
          when current_setting('subscriptions.user_deleted') = 'on' then private.stored_payload(p_body, v_delivery.outcome)
          else p_body
        end,
        case
          when v_delivery.outcome = 'unmatched' or v_delivery.outcome like 'ignored: %' then v_now + interval '1 day'
        end,
        v_delivery.outcome, p_deliveries, 1, v_now
      )
      on conflict (body_sha256) do nothing;
      if not found then
        raise exception 'delivered twice at once' using errcode = 'PS409';
      end if;
      if v_delivery.outcome <> 'applied' and private.can_be_reapplied(p_body ->> 'event', v_delivery.outcome) then
        perform private.note_unsettled(p_body_sha256, true);
      end if;
      return v_delivery;
    exception
      when others then
        if not private.is_error_of_event(sqlstate) then
          raise;
        end if;
        v_error := nullif(sqlstate, 'PS409');
    end;

    -- The effect was undone: the event failed, or another delivery of the same body committed first.
    insert into private.gateway_events as e (
      body_sha256, event_id, event, subject_id, event_at, payload, outcome, error, deliveries, attempts, received_at
    )
    values (
      p_body_sha256, p_event_id, private.json_text(p_body -> 'event'), v_subject_id, private.event_time(p_body),
      case
        when private.is_about_deleted_user(p_body, v_subject_id) then private.stored_payload(p_body, 'failed: ' || v_error)
        else p_body
      end,
      'failed: ' || v_error, v_error, p_deliveries, 1, v_now
    )
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning * into v_event;
    if v_error is not null and v_event.error is not distinct from v_error then
      perform private.note_unsettled(p_body_sha256, true);
      v_delivery.outcome := v_event.outcome;
      return v_delivery;
    end if;
  end if;

  -- A repeated event that had no effect is applied again. An unmatched subscription event waits in the mirror instead.
  if v_event.outcome like 'failed: %'
    or v_event.outcome = 'plan_not_found'
    or v_event.outcome = 'unmatched' and v_event.event not like 'subscription.%'
  then
    -- The payload in the ledger may be deleted by now.
    v_event.payload := coalesce(v_event.payload, p_body);
    v_delivery.outcome := private.apply_recorded_event(v_event);
  else
    v_delivery.outcome := v_event.outcome;
    v_delivery.is_applied := false;
  end if;
  return v_delivery;
end
$$$_$,
$_$grant execute on function private.apply_delivery(bytea, text, jsonb, integer) to service_role$_$,
$_$-- Applies a signed webhook. API: service_role only.
create function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, not signed
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to read
  p_account_id text default null -- the gateway account whose events are applied; null: all accounts
)
returns jsonb -- {outcome}: see private.gateway_events.outcome; for "failed: …" the gateway must retry
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_body constant jsonb := p_body::jsonb;
  v_set text;
  v_outcome text;
begin
  if v_body ->> 'account_id' <> p_account_id then
    -- The payload is not stored: it holds personal data of another business's customers.
    insert into private.gateway_events as e (body_sha256, event_id, event, outcome, attempts)
    values (decode(p_body_sha256, 'hex'), p_event_id, private.json_text(v_body -> 'event'), 'ignored: account', 1)
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning e.outcome into v_outcome;
    return jsonb_build_object('outcome', v_outcome);
  end if;
  -- Same as private.begin_request, but private.apply_delivery sets the cause.
  v_set := set_config('subscriptions.request', 'on', true);
  v_outcome := (private.apply_delivery(decode(p_body_sha256, 'hex'), p_event_id, v_body, 1)).outcome;
  return jsonb_build_object('outcome', v_outcome);
end
$$$_$,
$_$comment on function public.apply_gateway_event(text, text, text, text) is
  'Applies the event of a signed delivery and records it in the ledger. A repeat returns the stored outcome.'$_$,
$_$revoke execute on function public.apply_gateway_event(text, text, text, text) from public, anon, authenticated$_$,
$_$grant execute on function public.apply_gateway_event(text, text, text, text) to service_role$_$
]);

-- migrations/20261122000024_ledger_replay.sql
select pg_temp.apply_migration('20261122000024', 'ledger_replay', array[
$_$-- Applies events of the ledger again: when their order or payment is stored, when their plan exists, or when an admin
-- requests it.

-- Applies the events that wait for an order, when the order is stored.
-- Security definer: the role with which an app inserts its own payments has no rights on the ledger.
create function private.replay_order_events()
returns trigger
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_subject_id constant text := left(new.gateway_order_id, 200);
  v_event private.gateway_events;
begin
  -- Usually no event waits, and this test costs a third of what the loop costs.
  if not exists (
    select
    from private.gateway_events e
    where e.subject_id = v_subject_id
      and e.outcome = 'unmatched'
  ) then
    return null;
  end if;
  for v_event in
    select e.*
    from private.gateway_events e
    where e.subject_id = v_subject_id
      and e.outcome = 'unmatched'
      and e.event not like 'subscription.%'
      and e.payload is not null
    order by e.received_at
    -- A transaction that has locked an event waits for this payment and then finds it.
    for update skip locked
  loop
    perform private.apply_recorded_event(v_event);
  end loop;
  return null;
end
$$$_$,
$_$create trigger replay_order_events
after insert on public.payments
for each row
when (new.gateway_order_id is not null)
execute function private.replay_order_events()$_$,
$_$create trigger replay_events_of_new_order
after update of gateway_order_id on public.payments
for each row
when (new.gateway_order_id is distinct from old.gateway_order_id and new.gateway_order_id is not null)
execute function private.replay_order_events()$_$,
$_$-- Applies events that arrived while their order was being stored. Neither transaction saw the other's row, so the trigger
-- did not find these events. None of them is older than a day. Also applies events that waited for their plan or, like
-- disputes, for their payment.
create function private.replay_missed_events()
returns integer -- how many events were applied
language plpgsql
set search_path = ''
as $$
declare
  v_missed record;
  v_applied integer := 0;
begin
  for v_missed in
    select e as event, missed.user_id
    from (
      select u.body_sha256, p.user_id
      from private.gateway_events u
      join public.payments p on u.subject_id in (p.gateway_order_id, p.gateway_payment_id)
      where u.received_at > private.clock() - interval '1 day'
        and u.payload is not null
        and u.outcome = 'unmatched'
        and u.event not like 'subscription.%'
        and u.attempts < 3
      union
      select w.body_sha256, p.user_id
      from private.unsettled_events t
      join private.gateway_events w on w.body_sha256 = t.body_sha256
      join public.payments p on w.subject_id in (p.gateway_order_id, p.gateway_payment_id)
      where w.payload is not null
        and (
          w.outcome = 'plan_not_found'
          and p.fulfilled_at is null
          and (private.plan_bought(p)).id is not null
          or w.outcome = 'unmatched'
        )
    ) missed
    join private.gateway_events e on e.body_sha256 = missed.body_sha256
    order by missed.user_id, e.received_at
    limit 100
    for update of e skip locked
  loop
    begin
      perform from auth.users u where u.id = v_missed.user_id for no key update nowait;
      perform private.apply_recorded_event(v_missed.event);
      v_applied := v_applied + 1;
    exception
      -- Another transaction has locked the user: the next run applies the event.
      when lock_not_available then
        null;
    end;
  end loop;
  return v_applied;
end
$$$_$,
$_$-- For an admin who repaired the cause: applies an event of the ledger again.
create function private.replay_event(
  p_body_sha256 bytea
)
returns text -- the outcome; null: no such event
language plpgsql
set search_path = ''
as $$
declare
  v_event private.gateway_events;
begin
  select * into v_event from private.gateway_events e where e.body_sha256 = p_body_sha256 for update;
  if not found then
    return null;
  end if;
  -- A subscription event that had its effect is not applied again: without a time it would count as the newest event.
  if v_event.payload is null or v_event.event like 'subscription.%' and v_event.outcome in ('applied', 'stale') then
    return v_event.outcome;
  end if;
  return private.apply_recorded_event(v_event);
end
$$$_$
]);

-- migrations/20261122000025_ledger_retention.sql
select pg_temp.apply_migration('20261122000025', 'ledger_retention', array[
$_$-- Retention: deletes old payloads, ledger rows, side effects and tier changes, and erases the data of deleted users.
-- supabase/docs/operations.md, "Data retention".

-- Returns the final outcome of an event that is older than 90 days.
create function private.final_outcome(
  p_event private.gateway_events
)
returns text -- null: the event still waits
language plpgsql
stable
set search_path = ''
as $$
begin
  return case
    when not private.is_waiting(p_event.event, p_event.outcome) then p_event.outcome
    when private.is_deleted(private.json_uuid(p_event.payload #> '{payload,subscription,entity,notes,user_id}'))
      then 'ignored: user deleted'
    -- The payment of a known charge has no order to wait for.
    when p_event.event = 'payment.captured' and p_event.outcome = 'unmatched' and exists (
      select
      from private.gateway_charges c
      where c.gateway_payment_id = p_event.payload #>> '{payload,payment,entity,id}'
        and c.gateway_payment_id <> ''
    ) then 'already'
  end;
end
$$$_$,
$_$-- Reduces a batch of the payloads of events that name no known user, a day after they arrived. Such an event may be about a
-- customer of another app, or about a deleted user: for example the capture of a cycle that was charged after the deletion.
create function private.reduce_payloads()
returns integer -- how many payloads were reduced; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_reduced integer;
begin
  with unlinked as materialized (
    select e.body_sha256, private.stored_payload(e.payload, e.outcome) as payload
    from private.gateway_events e
    where e.reduce_at < private.clock()
    order by e.reduce_at
    limit 1000
    for update skip locked
  )
  update private.gateway_events e
  set payload = u.payload,
    reduce_at = null
  from unlinked u
  where e.body_sha256 = u.body_sha256;
  get diagnostics v_reduced = row_count;
  return v_reduced;
end
$$$_$,
$_$-- Deletes a batch of the ledger's payloads that are older than 90 days. The hash, the ids and the outcome remain, because
-- the rules need them. An event that still waits keeps the fields that it needs.
create function private.empty_payloads()
returns integer -- how many payloads were deleted or reduced; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_emptied integer;
begin
  with old as materialized (
    select
      e.body_sha256,
      final.outcome,
      case
        when final.outcome is null
          then private.stored_payload(e.payload, e.outcome) #- '{payload,payment,entity,error_description}'
      end as payload
    from private.gateway_events e
    cross join lateral (select private.final_outcome(e) as outcome) final
    where e.received_at < private.clock() - interval '90 days'
      and e.payload is not null
      and (
        final.outcome is not null
        or not e.payload ? 'reduced'
        or e.payload #> '{payload,payment,entity,error_description}' is not null
      )
    order by e.received_at
    limit 1000
    for update of e skip locked
  ),
  settled as (
    delete from private.unsettled_events u
    using old
    where u.body_sha256 = old.body_sha256
      and old.outcome is not null
  )
  update private.gateway_events e
  set payload = old.payload,
    outcome = coalesce(old.outcome, e.outcome)
  from old
  where e.body_sha256 = old.body_sha256;
  get diagnostics v_emptied = row_count;
  return v_emptied;
end
$$$_$,
$_$-- Deletes the payloads of events about payments whose user was deleted more than 90 days ago. Some of these events arrived
-- after the deletion, so private.empty_payloads would keep them for longer.
create function private.empty_payloads_of_deleted()
returns integer -- for how many payments
language plpgsql
set search_path = ''
as $$
declare
  v_done integer;
begin
  with gone as materialized (
    select p.id, p.gateway_order_id, p.gateway_payment_id
    from public.payments p
    where p.user_deleted_at < private.clock() - interval '90 days'
    order by p.user_deleted_at
    limit 1000
    for no key update skip locked
  ),
  emptied as (
    update private.gateway_events e
    set payload = null,
      outcome = case when private.is_waiting(e.event, e.outcome) then 'ignored: user deleted' else e.outcome end
    from gone
    cross join lateral (
      values (gone.gateway_order_id), (gone.gateway_payment_id)
    ) subject (id)
    where e.subject_id = left(subject.id, 200)
      and e.payload is not null
    returning e.body_sha256
  ),
  settled as (
    delete from private.unsettled_events u
    using emptied
    where u.body_sha256 = emptied.body_sha256
  )
  update public.payments p
  set user_deleted_at = null
  from gone
  where p.id = gone.id;
  get diagnostics v_done = row_count;
  return v_done;
end
$$$_$,
$_$-- Erases the remaining data of users who were deleted more than 90 days ago: the mirror, tier changes, events that still
-- wait, and the id. Other data needs no job. Foreign keys delete the rows that belong to the user alone, a payment loses
-- its meta with its user, and private.empty_payloads and private.delete_mails keep no data from before the deletion for
-- more than 90 days. Payments remain for accounting, with amounts, times and the gateway's ids.
create function private.erase_deleted_users()
returns integer -- how many users and payments were processed; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_deleted record;
  v_done integer;
begin
  v_done := private.empty_payloads_of_deleted();
  for v_deleted in
    select d.user_id, d.deleted_at
    from private.deleted_users d
    where d.erased_at is null
      and d.deleted_at < private.clock() - interval '90 days'
    order by d.deleted_at
    limit 100
    for update skip locked
  loop
    v_done := v_done + 1;
    perform private.lock_missing_user(v_deleted.user_id);
    delete from private.deleted_users d where d.user_id = v_deleted.user_id;
    -- A user who was restored, from a backup or by an import, is not erased.
    continue when exists (select from auth.users u where u.id = v_deleted.user_id);

    with emptied as (
      update private.gateway_events e
      set payload = null,
        outcome = case when private.is_waiting(e.event, e.outcome) then 'ignored: user deleted' else e.outcome end
      from private.gateway_subscriptions m
      where m.user_id = v_deleted.user_id
        and m.gateway_subscription_id <> ''
        and e.subject_id = left(m.gateway_subscription_id, 200)
        and e.payload is not null
      returning e.body_sha256
    )
    delete from private.unsettled_events u
    using emptied
    where u.body_sha256 = emptied.body_sha256;
    -- Refunds, charges, mirror: private.apply_refund locks them in the same order.
    delete from private.refunds r
    using private.gateway_charges c
    where c.user_id = v_deleted.user_id
      and c.gateway_payment_id <> ''
      and r.gateway_payment_id = c.gateway_payment_id;
    delete from private.gateway_charges c where c.user_id = v_deleted.user_id;
    delete from private.gateway_subscriptions m where m.user_id = v_deleted.user_id;
    delete from private.tier_changes c where c.user_id = v_deleted.user_id;

    insert into private.deleted_users (user_id, deleted_at, erased_at)
    values (private.hash_user_id(v_deleted.user_id), v_deleted.deleted_at, private.clock())
    on conflict (user_id) do nothing;
  end loop;
  return v_done;
end
$$$_$,
$_$-- Deletes a batch of old records. Security definer: service_role has no right to delete from these tables.
create function private.purge_batch(
  p_ledger_days integer,
  p_outbox_days integer,
  p_tier_history_days integer
)
returns integer -- how many rows were deleted
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_outbox_until constant timestamptz := v_now - make_interval(days => p_outbox_days);
begin
  -- Payloads are kept for 90 days, and private.unmailed_payments reads the mails of 30 days.
  if (p_ledger_days >= 90 and p_outbox_days >= 30 and p_tier_history_days >= 30) is not true then
    raise exception 'ledger for at least 90 days, outbox and history of tiers for at least 30' using errcode = 'PS400';
  end if;
  return private.delete_oldest(
    'private.gateway_events', 'received_at', v_now - make_interval(days => p_ledger_days),
    -- An event that waits for a plan or an admin keeps its payload, and so its row. If the order of an unmatched event did
    -- not appear by then, it is an order of another app. A repeat of a purged event changes nothing, because facts are
    -- merged. But a subscription event without a time would count as the newest event, so its row is kept.
    $condition$
      (r.payload is null or r.outcome = 'unmatched')
      and (r.event like 'subscription.%' and r.event_at is null) is not true
    $condition$
  ) + private.delete_oldest(
    'private.outbox', 'delivered_at', v_outbox_until,
    -- A cancellation is kept until the mirror shows its subscription as cancelled. As long as the gateway may bill the
    -- subscription, the row proves that the cancellation was delivered.
    $condition$
      (
        r.kind <> 'cancel-subscription'
        or not exists (
          select
          from private.gateway_subscriptions m
          where m.gateway_subscription_id = r.payload ->> 'gateway_subscription_id'
            and m.status is distinct from 'cancelled'
        )
      )
    $condition$
  ) + private.delete_oldest(
    -- A parked row without a claim was withdrawn. Any other parked row is kept: it is a finding until an admin requeues it.
    'private.outbox', 'parked_at', v_outbox_until, 'r.delivered_at is null and r.claims = ''{}'''
  ) + private.delete_oldest(
    'private.tier_changes', 'at', v_now - make_interval(days => p_tier_history_days)
  );
end
$$$_$,
$_$grant execute on function private.purge_batch(integer, integer, integer) to service_role$_$,
$_$-- Deletes a batch of old records after the function's retention settings. Contract: POST /api/internal/outbox.
-- API: service_role only.
create function public.purge_records(
  p_ledger_days integer, -- LEDGER_RETENTION_DAYS
  p_outbox_days integer, -- OUTBOX_RETENTION_DAYS
  p_tier_history_days integer -- TIER_HISTORY_RETENTION_DAYS
)
returns jsonb -- {purged}: how many rows were deleted, a batch of each table; call again until it is 0
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  return jsonb_build_object('purged', private.purge_batch(p_ledger_days, p_outbox_days, p_tier_history_days));
end
$$$_$,
$_$comment on function public.purge_records(integer, integer, integer) is
  'Deletes a batch of the rows of the ledger, the outbox and the tier changes that are older than the given days.'$_$,
$_$revoke execute on function public.purge_records(integer, integer, integer) from public, anon, authenticated$_$,
$_$grant execute on function public.purge_records(integer, integer, integer) to service_role$_$
]);

-- migrations/20261122000026_periods_announce.sql
select pg_temp.apply_migration('20261122000026', 'periods_announce', array[
$_$-- The mail subscription-ending, seven days before a paid period ends. private.settle_access enqueues subscription-ended.
-- Contract: "E-mails".

-- Returns how long before the end of a paid period its mail is sent.
create function private.end_notice()
returns interval
language sql
immutable
set search_path = ''
return interval '7 days'$_$,
$_$-- Enqueues a mail for each of the subscriptions whose access ends soon, if its user has an address and a profile. Each end
-- of a period gets one mail.
create function private.announce_subscription_ends(
  p_subscription_ids uuid[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_notice constant interval := private.end_notice();
  v_early_renewal constant text := private.early_renewal();
  v_ending uuid[];
begin
  select array_agg(s.id)
  into v_ending
  from public.subscriptions s
  where s.id = any (p_subscription_ids)
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + v_notice
    -- No mail if the gateway renews the subscription.
    and (s.gateway_subscription_id is null or s.cancel_at_period_end)
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= v_notice)
    -- No mail if another source takes over.
    and not exists (
      select
      from private.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        -- An expression keeps the planner off the index on period_end: it reads only the payments of the user.
        and o.ends_at - s.current_period_end > interval '0'
      offset 0
    );
  -- An insert without rows would still fire the trigger that wakes the dispatcher.
  if v_ending is null then
    return;
  end if;
  insert into private.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
  select
    format('subscription-ending/%s/%s', s.id, period.ends_at),
    'notice',
    'subscription-ending',
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', coalesce(pl.name, s.tier),
      'ends_at', period.ends_at,
      'early_renewal', v_early_renewal
    ),
    -- Same as the defaults, which would call the clock three times for each row.
    v_now,
    v_now,
    v_now
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join public.profiles p on p.user_id = s.user_id
  left join public.plans pl on pl.id = s.plan_id
  cross join lateral (select private.iso_time(s.current_period_end) as ends_at offset 0) period
  where s.id = any (v_ending)
    and u.email <> ''
  on conflict (key) do nothing;
end
$$$_$,
$_$create table private.announced_ends (
  is_only boolean primary key default true constraint announced_ends_is_only_check check (is_only),
  until timestamptz not null
)$_$,
$_$alter table private.announced_ends enable row level security$_$,
$_$insert into private.announced_ends (until) values ('-infinity')$_$,
$_$comment on table private.announced_ends is
  'A time in one row. The mails for all periods that end before this time were enqueued, so each period is processed once.'$_$,
$_$-- Announces the next batch of periods that end soon. Locks only the row of private.announced_ends. A second run at the same
-- time does nothing.
create function private.announce_ends()
returns integer -- how many periods were processed; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_until constant timestamptz := v_now + private.end_notice();
  v_mark timestamptz;
  v_ids uuid[];
  v_last timestamptz;
begin
  select a.until into v_mark from private.announced_ends a for update skip locked;
  if not found then
    return 0;
  end if;

  with due as materialized (
    select s.id, s.current_period_end
    from public.subscriptions s
    where s.status = 'active'
      and s.current_period_end > greatest(v_mark, v_now)
      and s.current_period_end <= v_until
    order by s.current_period_end
    -- Periods that end at the same time belong to one batch, because the next batch starts after that time.
    fetch first 1000 rows with ties
  )
  select coalesce(array_agg(d.id), '{}'), max(d.current_period_end) into v_ids, v_last from due d;

  perform private.announce_subscription_ends(v_ids);
  update private.announced_ends a
  set until = case when cardinality(v_ids) < 1000 then v_until else v_last end
  where true;
  return cardinality(v_ids);
end
$$$_$
]);

-- migrations/20261122000027_periods_expire.sql
select pg_temp.apply_migration('20261122000027', 'periods_expire', array[
$_$-- Expiry: access ends after the paid period and the plan's days of grace, unless another source takes over.
-- Contract: "End of a period".

create table private.settle_failures (
  user_id uuid primary key constraint settle_failures_user_id_fkey references auth.users (id) on delete cascade,
  error text not null,
  failed_at timestamptz not null
)$_$,
$_$alter table private.settle_failures enable row level security$_$,
$_$comment on table private.settle_failures is
  'Users whose access a scheduled job could not settle. The job retries each of them after an hour, so that they do not '
  'delay other users.'$_$,
$_$comment on column private.settle_failures.error is
  'The SQLSTATE, for example from an app''s trigger on the profile. PS500: the subscription is still running.'$_$,
$_$create function private.note_settle_failure(
  p_user_id uuid,
  p_sqlstate text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.settle_failures as f (user_id, error, failed_at)
  values (p_user_id, p_sqlstate, private.clock())
  on conflict (user_id) do update
  set error = excluded.error,
    failed_at = excluded.failed_at;
  raise warning 'the access of user % was not settled: %', p_user_id, p_sqlstate;
end
$$$_$,
$_$create index subscriptions_current_period_end_idx on public.subscriptions (current_period_end)
where status = 'active'$_$,
$_$-- Locks a batch of users whose subscription lapsed. Skips users that are locked: the next run takes them. The batch is
-- small, because a request of one of these users waits for the whole batch.
create function private.lock_lapsed_subscriptions()
returns uuid[] -- the ids of the users; null: none
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_users uuid[];
begin
  with lapsed as materialized (
    select s.id, s.user_id
    from public.subscriptions s
    join auth.users u on u.id = s.user_id
    left join public.plans p on p.id = s.plan_id
    left join private.gateway_subscriptions m
      on m.user_id = s.user_id
      and m.gateway_subscription_id = s.gateway_subscription_id
    cross join lateral (
      select case when s.cancel_at_period_end then 0 else coalesce(p.grace_days, 3) end as days
    ) grace
    where s.status = 'active'
      and s.current_period_end < v_now
      -- A refunded cycle has no days of grace.
      and (m.paid_until is not null or s.current_period_end + make_interval(days => grace.days) < v_now)
      -- A subscription that the gateway bills ends only after a reconciliation that found no further cycle.
      and (
        s.gateway_subscription_id is null
        -- Before its first cycle there is no period to reconcile.
        or m.user_id is not null and m.period_end is null
        or m.paid_until <= v_now
        or m.checked_at > s.current_period_end + make_interval(days => greatest(grace.days - 1, 0))
      )
      and not exists (
        select
        from private.settle_failures f
        where f.user_id = s.user_id
          and f.failed_at > v_now - interval '1 hour'
      )
    order by s.current_period_end
    limit 100
    for no key update of u skip locked
  ),
  held as materialized (
    select s.user_id
    from public.subscriptions s
    join lapsed l on l.id = s.id
    for no key update of s skip locked
  ),
  profiled as materialized (
    select p.user_id
    from public.profiles p
    join held h on h.user_id = p.user_id
    for no key update of p skip locked
  )
  select array_agg(h.user_id)
  into v_users
  from held h
  where exists (select from profiled p where p.user_id = h.user_id)
    -- The user has no profile. A scalar subquery, because for "not exists" the planner may hash all profiles.
    or (select p.user_id from public.profiles p where p.user_id = h.user_id) is null;
  return v_users;
end
$$$_$,
$_$-- Settles the access of locked users whose subscription lapsed. A separate statement after the locks sees all payments and
-- refunds that were committed before.
create function private.settle_lapsed(
  p_user_ids uuid[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_user record;
begin
  -- Each user's side effects are enqueued in one statement, as in a request.
  perform private.begin_request('expiry', null);
  for v_user in
    select u.id, u.email, s as subscription
    from auth.users u
    join public.subscriptions s on s.user_id = u.id
    where u.id = any (p_user_ids)
      -- Skips subscriptions that were renewed before the lock.
      and s.status = 'active'
      and s.current_period_end < private.clock()
    order by u.id
  loop
    if private.settle_access(v_user.id, v_user.email, p_before => v_user.subscription) is not true then
      raise exception 'a lapsed subscription did not end' using errcode = 'PS500';
    end if;
  end loop;
  -- Another source may have taken over. If its end is less than seven days away, private.announce_ends has passed it.
  perform private.announce_subscription_ends(array_agg(s.id))
  from public.subscriptions s
  where s.user_id = any (p_user_ids)
    and s.status = 'active'
  having count(*) > 0;
  perform set_config('subscriptions.request', '', true);
  perform private.wake();
end
$$$_$,
$_$-- Ends a batch of lapsed subscriptions. Repeated or concurrent runs end each subscription once, and a concurrent renewal
-- wins. An error for one user, such as in an app's trigger on the profile, does not delay the other users.
create function private.expire_subscriptions()
returns integer -- how many subscriptions had lapsed; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_lapsed constant uuid[] := private.lock_lapsed_subscriptions();
  v_user_id uuid;
begin
  if v_lapsed is null then
    return 0;
  end if;
  begin
    perform private.settle_lapsed(v_lapsed);
    return cardinality(v_lapsed);
  exception
    when others then
      if not private.is_error_of_event(sqlstate) and sqlstate <> '55P03' then
        raise;
      end if;
  end;

  foreach v_user_id in array v_lapsed loop
    begin
      perform private.settle_lapsed(array[v_user_id]);
    exception
      when others then
        perform private.note_settle_failure(v_user_id, sqlstate);
    end;
  end loop;
  return cardinality(v_lapsed);
end
$$$_$
]);

-- migrations/20261122000028_reconciliation_payments.sql
select pg_temp.apply_migration('20261122000028', 'reconciliation_payments', array[
$_$-- Reconciliation of payments: the function reads from the gateway what no webhook announced, and applies it here.
-- Contract: POST /api/internal/reconcile, "Reconciliation".

create index payments_next_reconcile_at_idx on public.payments (next_reconcile_at)
where next_reconcile_at is not null and gateway_order_id is not null$_$,
$_$create table private.alerts (
  kind text not null,
  subject_id text not null,
  message text not null,
  raised_at timestamptz not null default private.clock(),
  primary key (kind, subject_id)
)$_$,
$_$alter table private.alerts enable row level security$_$,
$_$grant select, insert on private.alerts to service_role$_$,
$_$comment on table private.alerts is 'Alerts for an admin. Reconciliation raises each alert once for each subject.'$_$,
$_$comment on column private.alerts.kind is 'missed_webhook.'$_$,
$_$comment on column private.alerts.subject_id is 'The gateway''s id of the order or the subscription.'$_$,
$_$-- Returns whether a payment needs no further reconciliation.
create function private.is_settled(
  p_payment public.payments
)
returns boolean
language sql
immutable
set search_path = ''
return coalesce(
  p_payment.confirmed_at is not null and (p_payment.fulfilled_at is not null or p_payment.user_id is null)
    or p_payment.amount > 0 and p_payment.refunded_amount >= p_payment.amount,
  false
)$_$,
$_$grant execute on function private.is_settled(public.payments) to service_role$_$,
$_$-- Returns when to reconcile a payment again, counted from its order or its verification. After five days the result is
-- final: the gateway refunds a payment that is only authorised by then.
create function private.next_reconciliation(
  p_payment public.payments
)
returns timestamptz -- null: no further reconciliation
language sql
stable
set search_path = ''
as $$
  select min(due.at)
  from unnest(array[15, 60, 6 * 60, 24 * 60, 72 * 60, 120 * 60]) minutes
  cross join lateral (
    select greatest(p_payment.created_at, p_payment.captured_at) + make_interval(mins => minutes) as at
  ) due
  where due.at > private.clock()
$$$_$,
$_$grant execute on function private.next_reconciliation(public.payments) to service_role$_$,
$_$-- Claims payments to reconcile, under a lease of five minutes. If the caller crashes or gets no answer, a later call claims
-- them again. API: service_role only.
create function public.claim_payments_to_reconcile()
returns jsonb
-- {settled, payments: [{id, order_id}]}; settled: how many payments need no reconciliation. 0 and []: nothing is due
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_settled integer;
  v_payments jsonb;
begin
  with due as materialized (
    select p.id, private.is_settled(p) as is_settled
    from public.payments p
    where p.next_reconcile_at <= private.clock()
      and p.gateway_order_id is not null
    order by p.next_reconcile_at
    limit 1000
    for no key update skip locked
  ),
  asked as materialized (
    select due.id from due where not due.is_settled limit 20
  ),
  settled as (
    update public.payments p
    set next_reconcile_at = null
    from due
    where p.id = due.id
      and due.is_settled
    returning p.id
  ),
  leased as (
    update public.payments p
    set next_reconcile_at = private.clock() + interval '5 minutes'
    from asked
    where p.id = asked.id
    returning p.id, p.gateway_order_id
  )
  select
    (select count(*) from settled),
    coalesce(
      (select jsonb_agg(jsonb_build_object('id', l.id, 'order_id', l.gateway_order_id)) from leased l),
      '[]'
    )
  into v_settled, v_payments;
  return jsonb_build_object('settled', v_settled, 'payments', v_payments);
end
$$$_$,
$_$comment on function public.claim_payments_to_reconcile() is 'Claims up to 20 payments to reconcile, for five minutes.'$_$,
$_$revoke execute on function public.claim_payments_to_reconcile() from public, anon, authenticated$_$,
$_$grant execute on function public.claim_payments_to_reconcile() to service_role$_$,
$_$-- Applies an answer of the gateway as if a webhook had delivered it. Raises an alert if no webhook announced it.
create function private.apply_answer(
  p_key text, -- reconcile:<id>:<status>
  p_body jsonb,
  p_since timestamptz -- webhooks that arrived before this time announced something else
)
returns boolean -- whether the answer changed anything
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := p_body ->> 'event';
  v_key constant bytea := sha256(convert_to(p_key, 'UTF8'));
  v_delivery constant private.delivery := private.apply_delivery(v_key, p_key, p_body, 0);
begin
  if not v_delivery.is_applied or v_delivery.outcome <> 'applied' then
    return false;
  end if;
  insert into private.alerts (kind, subject_id, message)
  select
    'missed_webhook',
    answer.subject_id,
    format('No webhook announced %s: your webhook endpoint is probably switched off at the gateway.', v_event)
  from private.gateway_events answer
  where answer.body_sha256 = v_key
    and not exists (
      select
      from private.gateway_events e
      where e.subject_id = answer.subject_id
        and e.deliveries > 0
        and e.received_at >= p_since
        and (e.event = v_event or e.event = 'order.paid' and v_event = 'payment.captured')
    )
  on conflict do nothing;
  return true;
end
$$$_$,
$_$grant execute on function private.apply_answer(text, jsonb, timestamptz) to service_role$_$,
$_$-- Ends the access of a payment that was verified with a valid signature but never captured. verified_at remains, but from
-- now on only a confirmation by the gateway counts. The caller holds the locks on the user and on the payment.
create function private.end_uncaptured_access(
  p_payment public.payments,
  p_email text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.note_cause('never captured', p_payment.gateway_payment_id);
  update public.payments p
  set status = 'failed',
    captured_at = null,
    uncaptured_at = private.clock(),
    ended_at = private.clock(),
    ended_reason = 'never_captured'
  where p.id = p_payment.id;
  if p_payment.fulfilled_at is not null and p_payment.ended_at is null then
    perform private.settle_payment(p_payment, p_email);
  end if;
end
$$$_$,
$_$grant execute on function private.end_uncaptured_access(public.payments, text) to service_role$_$,
$_$-- Returns the events, with their keys, that would have announced a gateway's payment and its refunds. A payment that is
-- neither captured nor failed has no event yet. The refunds are read from their own list, because the payment's total
-- includes pending refunds.
create function private.events_of(
  p_entity jsonb -- the payment, with its list of refunds if it has any
)
returns table (key text, event text, payload jsonb)
language sql
immutable
set search_path = ''
as $$
  select
    'reconcile:' || (p_entity ->> 'id') || ':' || (p_entity ->> 'status'),
    'payment.' || (p_entity ->> 'status'),
    jsonb_build_object('payment', jsonb_build_object('entity', p_entity - 'refunds'))
  where p_entity ->> 'status' in ('captured', 'failed')
    and private.json_text(p_entity -> 'id') is not null
  union all
  select
    'reconcile:' || (r.refund ->> 'id') || ':' || (r.refund ->> 'status'),
    'refund.' || (r.refund ->> 'status'),
    jsonb_build_object(
      'payment', jsonb_build_object('entity', p_entity - 'refunds'),
      'refund', jsonb_build_object('entity', r.refund || jsonb_build_object('payment_id', p_entity -> 'id'))
    )
  from jsonb_array_elements(case when jsonb_typeof(p_entity -> 'refunds') = 'array' then p_entity -> 'refunds' else '[]' end)
    r (refund)
  where jsonb_typeof(r.refund) = 'object'
    and r.refund ->> 'status' in ('processed', 'failed')
    and private.json_text(r.refund -> 'id') is not null
    and private.json_text(p_entity -> 'id') is not null
$$$_$,
$_$grant execute on function private.events_of(jsonb) to service_role$_$,
$_$-- Applies the gateway's payments on an order, and ends access if no payment was captured in time. API: service_role only.
create function public.apply_order_payments(
  p_payment_id uuid,
  p_items text default null -- the gateway's payments on the order with their refunds, a JSON array; null: no such order
)
returns jsonb -- {applied, ended}: how many answers changed something; whether access ended, as no payment was captured
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_payment public.payments;
  v_email text;
  v_answer record;
  v_applied integer := 0;
  v_is_over boolean;
begin
  perform private.begin_request('reconciliation', null);
  perform private.lock_gateway_payment(refunded.id)
  from (
    select private.json_text(item -> 'id') as id
    from jsonb_array_elements(p_items::jsonb) item
    where jsonb_typeof(item -> 'refunds') = 'array'
    order by 1
  ) refunded;
  select * into v_payment from public.payments p where p.id = p_payment_id;
  v_email := private.lock_user(v_payment.user_id);
  -- Locks the payment until the end of the transaction. The rollback of a failed event releases the locks of its effect but
  -- not the lock on its ledger row, which comes after the payment in the lock order.
  select * into v_payment from public.payments p where p.id = p_payment_id for update;

  for v_answer in
    select e.key, e.event, e.payload
    from jsonb_array_elements(p_items::jsonb) item
    cross join lateral private.events_of(item || jsonb_build_object('order_id', v_payment.gateway_order_id)) e
    where jsonb_typeof(item) = 'object'
    -- Captures come before failures, so that no mail about a failed attempt is sent for a paid order.
    order by
      array_position(array['payment.captured', 'refund.processed', 'refund.failed', 'payment.failed'], e.event),
      e.key
  loop
    v_applied := v_applied + private.apply_answer(
      v_answer.key,
      jsonb_build_object('event', v_answer.event, 'payload', v_answer.payload),
      v_payment.created_at
    )::integer;
  end loop;

  select * into v_payment from public.payments p where p.id = p_payment_id for update;
  v_is_over := v_payment.status = 'captured'
    and not private.is_settled(v_payment)
    and v_payment.confirmed_at is null
    and private.next_reconciliation(v_payment) is null
    and (p_items::jsonb @> '[{"status": "captured"}]') is not true;
  if v_is_over then
    perform private.end_uncaptured_access(v_payment, v_email);
  end if;
  update public.payments p
  set next_reconcile_at = case
      when not private.is_settled(v_payment) then private.next_reconciliation(v_payment)
    end
  where p.id = p_payment_id;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end
$$$_$,
$_$comment on function public.apply_order_payments(uuid, text) is
  'Applies the gateway''s answer about the payments on an order, and plans the next reconciliation.'$_$,
$_$revoke execute on function public.apply_order_payments(uuid, text) from public, anon, authenticated$_$,
$_$grant execute on function public.apply_order_payments(uuid, text) to service_role$_$
]);

-- migrations/20261122000029_reconciliation_subscriptions.sql
select pg_temp.apply_migration('20261122000029', 'reconciliation_subscriptions', array[
$_$-- Reconciliation of gateway subscriptions: the function reads each from the gateway before its access may lapse.
-- Contract: POST /api/internal/reconcile, "Reconciliation".

-- Claims gateway subscriptions whose period ends within a day, under a lease of five minutes. Each is reconciled every six
-- hours until it is renewed or cancelled. API: service_role only.
create function public.claim_subscriptions_to_reconcile()
returns jsonb -- {subscriptions: [{id, gateway_subscription_id}]}: at most 20; id: of the user's subscription row
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_subscriptions jsonb;
begin
  with due as materialized (
    select
      m.user_id, m.gateway_subscription_id, s.id, m.status, m.period_end, m.checked_at, m.arrived_at,
      coalesce(p.grace_days, 3) as grace_days
    from private.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now
    order by m.next_check_at
    limit 1000
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- A cancelled subscription has ended, and one without an id cannot be read.
        when d.status = 'cancelled' or d.gateway_subscription_id = '' then 'never'
        -- The user may still sign up. The subscription may also belong to another app with the same gateway account.
        when d.id is null then case when d.arrived_at > v_now - interval '30 days' then 'tomorrow' else 'never' end
        -- So long after the last access no further cycle is expected.
        when d.checked_at > d.period_end + make_interval(days => d.grace_days + 14) then 'never'
        -- The subscription was renewed. A charge does not change next_check_at, so that it writes no index.
        when d.period_end > v_now + interval '1 day' then 'later'
        else 'now'
      end as turn
    from due d
  ),
  asked as (
    select p.* from planned p where p.turn = 'now' order by p.period_end limit 20
  ),
  leased as (
    update private.gateway_subscriptions m
    set next_check_at = case
        when p.turn = 'tomorrow' then v_now + interval '1 day'
        when p.turn = 'later' then p.period_end - interval '1 day'
        when p.turn = 'now' then v_now + interval '5 minutes'
      end
    from planned p
    where m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
      and (
        p.turn <> 'now'
        or exists (
          select
          from asked a
          where a.user_id = p.user_id
            and a.gateway_subscription_id = p.gateway_subscription_id
        )
      )
    returning p.id, m.gateway_subscription_id, p.turn
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id)),
    '[]'
  )
  into v_subscriptions
  from leased l
  where l.turn = 'now';
  return jsonb_build_object('subscriptions', v_subscriptions);
end
$$$_$,
$_$comment on function public.claim_subscriptions_to_reconcile() is
  'Claims up to 20 gateway subscriptions to reconcile before their period ends, for five minutes.'$_$,
$_$revoke execute on function public.claim_subscriptions_to_reconcile() from public, anon, authenticated$_$,
$_$grant execute on function public.claim_subscriptions_to_reconcile() to service_role$_$,
$_$-- Applies the gateway's answer about a subscription. API: service_role only.
create function public.apply_gateway_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text,
  p_entity text default null -- the subscription at the gateway, JSON; null: the gateway has no such subscription
)
returns jsonb -- {applied}: whether the answer changed anything
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_user_id uuid;
  v_email text;
  v_mirrored private.gateway_subscriptions;
  v_entity jsonb := p_entity::jsonb;
  v_status constant text := private.json_text(v_entity -> 'status');
  v_event text;
  v_applied boolean := false;
begin
  perform private.begin_request('reconciliation', p_gateway_subscription_id);
  select s.user_id into v_user_id from public.subscriptions s where s.id = p_subscription_id;
  v_email := private.lock_user(v_user_id);
  select * into v_mirrored
  from private.gateway_subscriptions m
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id
  for update;
  if not found then
    return jsonb_build_object('applied', false);
  end if;
  v_event := case
    when v_status = 'active' and private.json_time(v_entity -> 'current_end') > v_mirrored.period_end
      then 'subscription.charged'
    when v_status in ('cancelled', 'expired') and v_mirrored.status is distinct from 'cancelled'
      then 'subscription.cancelled'
  end;

  if v_event is not null then
    -- The user is known, so the notes in the answer are not used.
    v_entity := v_entity || jsonb_build_object(
      'id', p_gateway_subscription_id,
      'notes', jsonb_build_object('user_id', v_user_id)
    );
    v_applied := private.apply_answer(
      concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, case
        when v_event = 'subscription.charged' then v_entity ->> 'current_end'
      end),
      jsonb_build_object(
        'event', v_event,
        'payload', jsonb_build_object('subscription', jsonb_build_object('entity', v_entity)),
        -- A charge happens when its period begins. So its webhook changes nothing if it still arrives.
        'created_at', v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end
      ),
      v_mirrored.period_end - interval '1 day'
    );
  end if;

  update private.gateway_subscriptions m
  set checked_at = private.clock(),
    next_check_at = case when m.status is distinct from 'cancelled' then private.clock() + interval '6 hours' end,
    gateway_status = coalesce(v_status, 'unknown')
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
  return jsonb_build_object('applied', v_applied);
end
$$$_$,
$_$comment on function public.apply_gateway_subscription(uuid, text, text) is
  'Applies the gateway''s answer about a subscription that it bills.'$_$,
$_$revoke execute on function public.apply_gateway_subscription(uuid, text, text) from public, anon, authenticated$_$,
$_$grant execute on function public.apply_gateway_subscription(uuid, text, text) to service_role$_$
]);

-- migrations/20261122000030_schedule_sweep.sql
select pg_temp.apply_migration('20261122000030', 'schedule_sweep', array[
$_$-- The scheduled jobs (the sweep each minute, reconciliation every five minutes), and private.set_up for the parts that the
-- service needs outside of its schema.

create table private.scheduled_jobs (
  name text primary key,
  since timestamptz not null default now(),
  done_at timestamptz,
  error text
)$_$,
$_$alter table private.scheduled_jobs enable row level security$_$,
$_$grant select, update on private.scheduled_jobs to service_role$_$,
$_$comment on table private.scheduled_jobs is
  'The sweep and the reconciliation, and the jobs of the sweep that fail. The times are those of now(), not of '
  'private.clock(), which tests shift.'$_$,
$_$comment on column private.scheduled_jobs.since is
  'When the sweep or the reconciliation was set up. For a job of the sweep: when it began to fail.'$_$,
$_$comment on column private.scheduled_jobs.done_at is 'When the newest complete run left nothing to do.'$_$,
$_$comment on column private.scheduled_jobs.error is 'SQLSTATE and message of the newest failure.'$_$,
$_$insert into private.scheduled_jobs (name)
values ('reconciliation'), ('sweep')$_$,
$_$-- The jobs of the sweep, in their order: functions of this schema without arguments, which return how much they did.
create function private.sweep_jobs()
returns text[]
language sql
immutable
set search_path = ''
return array[
  'replay_missed_events', 'settle_waiting_subscriptions', 'expire_subscriptions', 'announce_ends', 'reduce_payloads',
  'empty_payloads', 'delete_order_keys', 'delete_mails', 'erase_deleted_users'
]$_$,
$_$-- Runs one batch of the first job that has work. The schedule calls it until no work is left, each time in a separate
-- transaction. So a request that waits for a lock of the sweep waits for one batch at most.
create function private.sweep()
returns integer -- what the job returned, such as its number of rows; 0: no work is left
language plpgsql
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_job text;
  v_done integer;
begin
  foreach v_job in array private.sweep_jobs() loop
    -- A failed job must not stop the other jobs.
    begin
      execute format('select private.%I()', v_job) into v_done;
      delete from private.scheduled_jobs j where j.name = v_job;
      if v_done > 0 then
        return v_done;
      end if;
    exception
      when others then
        raise warning 'sweep: % failed: %', v_job, sqlerrm;
        insert into private.scheduled_jobs (name, error)
        values (v_job, left(format('%s: %s', sqlstate, sqlerrm), 200))
        on conflict (name) do update
        set error = excluded.error;
    end;
  end loop;
  perform private.read_answers();
  perform pg_notify('outbox', '');
  perform private.call_function('/api/internal/outbox');
  begin
    update private.scheduled_jobs j
    set done_at = now()
    where j.name = 'sweep';
  exception
    when lock_not_available then
      raise warning 'sweep: its end was not recorded: %', sqlerrm;
  end;
  return 0;
end
$$$_$,
$_$-- Stores that reconciliation left nothing to do. API: service_role only.
create function public.finish_reconciliation()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
begin
  update private.scheduled_jobs j
  set done_at = now()
  where j.name = 'reconciliation';
end
$$$_$,
$_$comment on function public.finish_reconciliation() is 'Stores the time when a reconciliation left nothing to do.'$_$,
$_$revoke execute on function public.finish_reconciliation() from public, anon, authenticated$_$,
$_$grant execute on function public.finish_reconciliation() to service_role$_$,
$_$create view private.expected_triggers
with (security_invoker = true)
as
select
  e.name,
  e.timing,
  exists (
    select
    from pg_catalog.pg_trigger t
    where t.tgrelid = 'auth.users'::regclass
      and t.tgname = e.name
  ) as is_there
from (
  values ('create_profile', 'insert'), ('note_deleted_user', 'delete'), ('settle_new_user', 'insert')
) e (name, timing)
-- An app with its own table of profiles has no private.create_profile.
where to_regprocedure(format('private.%I()', e.name)) is not null$_$,
$_$comment on view private.expected_triggers is
  'The service''s triggers on auth.users. That table belongs to Supabase Auth, so a restore of a dump into a new project '
  'loses the triggers.'$_$,
$_$-- Returns whether a login role for direct connections exists that acts as service_role: subscriptions_api, or the second
-- role that a rotation of the password creates.
create function private.has_pool_role()
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select
    from pg_catalog.pg_roles r
    where r.rolname like 'subscriptions\_api%'
      and r.rolcanlogin
      and r.rolconfig @> array['role=service_role', 'statement_timeout=4s']
      and pg_has_role(r.oid, 'service_role', 'member')
  )
$$$_$,
$_$-- Returns the parts outside of the schema that the service needs and that are missing, each with its remedy.
create function private.missing_parts()
returns table (part text, remedy text)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_name text;
  v_is_there boolean;
begin
  return query
  select
    'extension ' || e.name,
    'Run "select private.set_up();". If it warns, enable the extension in the dashboard and run it again.'
  from pg_available_extensions e
  where e.name in ('pg_net', 'pg_cron')
    and e.installed_version is null;

  return query
  select 'trigger ' || e.name || ' on auth.users', 'Run "select private.set_up();".'
  from private.expected_triggers e
  where not e.is_there;

  if not private.has_pool_role() then
    part := 'role subscriptions_api';
    remedy := 'Run "select private.set_up();". If the function connects as this role, set its password again.';
    return next;
  end if;

  if to_regclass('cron.job') is not null then
    foreach v_name in array array['subscriptions-sweep', 'subscriptions-reconcile'] loop
      execute 'select exists (select from cron.job j where j.jobname = $1)' into v_is_there using v_name;
      if not v_is_there then
        part := 'job ' || v_name;
        remedy := 'Run "select private.set_up();".';
        return next;
      end if;
    end loop;
  end if;

  if to_regnamespace('net') is not null and to_regclass('vault.decrypted_secrets') is not null then
    foreach v_name in array array['subscriptions_url', 'subscriptions_internal_key'] loop
      begin
        execute $vault$
          select exists (select from vault.decrypted_secrets s where s.name = $1 and s.decrypted_secret ~ $2)
        $vault$
        into v_is_there
        using v_name, case v_name when 'subscriptions_url' then '^\s*https?://\S+\s*$' else '\S' end;
      exception
        -- After a restore, Vault may not be able to decrypt a secret of another project.
        when others then
          v_is_there := false;
      end;
      if not v_is_there then
        part := 'Vault secret ' || v_name;
        remedy := format('Run "select vault.create_secret(''...'', ''%s'');" with its value.', v_name);
        return next;
      end if;
    end loop;
  end if;
end
$$$_$,
$_$-- Sets up the parts that a toggle in the dashboard, or a restore into a new project, may remove: the extensions, the
-- scheduled jobs, the triggers on auth.users and the role for direct connections. It may run again at any time. A part that
-- cannot be set up is a row of private.findings, not an error. Hosted projects have both extensions. A plain Postgres has
-- none of them, and a scheduler outside of the database calls the sweep.
create function private.set_up()
returns integer -- how many parts are still missing
language plpgsql
set search_path = ''
as $$
declare
  v_trigger record;
begin
  begin
    if exists (select from pg_available_extensions e where e.name = 'pg_net' and e.installed_version is null) then
      create schema if not exists extensions;
      create extension pg_net with schema extensions;
    end if;
  exception
    when others then
      raise warning 'pg_net was not set up: %', sqlerrm;
  end;

  begin
    if exists (select from pg_available_extensions e where e.name = 'pg_cron' and e.installed_version is null) then
      create extension pg_cron;
    end if;
    if to_regclass('cron.job') is not null then
      -- The command is one statement, because only then it can commit between the batches. 10,000 batches are enough for any
      -- load.
      perform cron.schedule(
        'subscriptions-sweep',
        '* * * * *',
        'do $sweep$ begin for n in 1..10000 loop exit when private.sweep() = 0; commit; end loop; end $sweep$'
      );
      perform cron.schedule(
        'subscriptions-reconcile',
        '*/5 * * * *',
        'select private.call_function(''/api/internal/reconcile'')'
      );
      perform cron.schedule(
        'subscriptions-purge-runs',
        '17 3 * * *',
        -- Only the runs of these jobs: an app decides how long it keeps its own runs.
        $job$delete from cron.job_run_details d
        using cron.job j
        where j.jobid = d.jobid
          and j.jobname like 'subscriptions-%'
          and d.end_time < now() - interval '7 days'$job$
      );
    end if;
  exception
    when others then
      raise warning 'pg_cron was not set up: %', sqlerrm;
  end;

  begin
    if not private.has_pool_role() then
      if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_api') then
        -- No login as this role is possible until it has a password.
        create role subscriptions_api login noinherit;
      end if;
      grant service_role to subscriptions_api;
      alter role subscriptions_api login;
      alter role subscriptions_api set role = 'service_role';
      alter role subscriptions_api set statement_timeout = '4s';
    end if;
  exception
    when others then
      raise warning 'role subscriptions_api was not set up: %', sqlerrm;
  end;

  for v_trigger in
    select e.name, e.timing
    from private.expected_triggers e
    where not e.is_there
  loop
    execute format(
      'create trigger %I after %s on auth.users for each row execute function private.%I()',
      v_trigger.name, v_trigger.timing, v_trigger.name
    );
  end loop;
  return (select count(*) from private.missing_parts());
end
$$$_$,
$_$select private.set_up()$_$
]);

-- migrations/20261122000031_schedule_health.sql
select pg_temp.apply_migration('20261122000031', 'schedule_health', array[
$_$-- For monitors and the function: the faults of the schedule, the health, and the version of the schema.

-- Returns the faults of the schedule: jobs that fail or are overdue, and internal calls that failed or got no answer.
create function private.schedule_faults()
returns table (finding text, subject text, since timestamptz, detail jsonb)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
  select
    'sweep_overdue',
    j.name,
    coalesce(j.done_at, j.since),
    jsonb_build_object(
      'remedy',
      'Run "select private.set_up();". Then check in cron.job_run_details that the job subscriptions-sweep runs each minute.'
    )
  from private.scheduled_jobs j
  where j.name = 'sweep'
    and coalesce(j.done_at, j.since) < now() - interval '10 minutes';

  return query
  select
    'reconciliation_overdue',
    j.name,
    coalesce(j.done_at, j.since),
    jsonb_build_object(
      'remedy',
      'Check that the schedule calls /api/internal/reconcile, that GATEWAY_API_URL and the API key are set, and that the '
        'gateway answers.'
    )
  from private.scheduled_jobs j
  where j.name = 'reconciliation'
    and coalesce(j.done_at, j.since) < now() - interval '15 minutes'
    -- Reconciliations that are due, and those that are leased by a run that got no answer.
    and (
      exists (
        select
        from public.payments p
        where p.next_reconcile_at < private.clock() + interval '5 minutes'
          and p.gateway_order_id is not null
      )
      or exists (
        select
        from private.gateway_subscriptions m
        where m.next_check_at < private.clock() + interval '5 minutes'
      )
    );

  -- Only failures that last for ten minutes: another transaction may hold a lock for a moment.
  return query
  select
    'job_failing',
    j.name,
    j.since,
    jsonb_build_object('error', j.error, 'remedy', 'Repair the cause of the error. The job is retried each minute.')
  from private.scheduled_jobs j
  where j.error is not null
    and j.since < now() - interval '10 minutes';

  if to_regclass('cron.job_run_details') is not null then
    return query execute $runs$
      select
        'job_failing',
        j.jobname::text,
        run.start_time,
        jsonb_build_object(
          'error', left(run.return_message, 200),
          'remedy', 'Repair the cause of the error. The schedule runs the job again.'
        )
      from cron.job j
      cross join lateral (
        select d.status, d.start_time, d.return_message
        from cron.job_run_details d
        where d.jobid = j.jobid
          and d.end_time is not null
        order by d.runid desc
        limit 1
      ) run
      where j.jobname like 'subscriptions-%'
        and run.status = 'failed'
    $runs$;
  end if;

  return query
  select
    'call_failed',
    last.path,
    last.called_at,
    jsonb_strip_nulls(
      jsonb_build_object(
        'status_code', last.status_code,
        'error', coalesce(last.error, case when last.answered_at is null then 'not answered' end),
        'remedy', case
          when last.answered_at is null
            then 'Check that the worker of pg_net runs. "select net.worker_restart();" starts it again.'
          when last.status_code = 401
            then 'The Vault secret subscriptions_internal_key is not the function''s INTERNAL_KEY.'
          when last.status_code in (404, 405)
            then 'The Vault secret subscriptions_url is not the functions'' address, or the function api is not deployed.'
          when last.status_code = 503
            then 'A variable of the function is not set. The function logs the names of these variables at each start.'
          when last.status_code is null
            then 'The address in the Vault secret subscriptions_url does not answer. Check that it is '
              'https://<ref>.supabase.co/functions/v1.'
          else 'Read the function''s log of that time.'
        end
      )
    )
  from (select distinct c.path from private.function_calls c) paths
  cross join lateral (
    select c.*
    from private.function_calls c
    where c.path = paths.path
      -- A call counts as unanswered after five minutes: pg_net waits for the answer, and the sweep stores it.
      and (c.answered_at is not null or c.called_at < now() - interval '5 minutes')
    order by c.id desc
    limit 1
  ) last
  where last.status_code is null
    or last.status_code not between 200 and 299;
end
$$$_$,
$_$-- Returns what a monitor checks. Contract: GET /api/health.
-- API: service_role only.
create function public.get_health(
  p_destinations text default null -- the configured destinations, comma-separated; null: all
)
returns jsonb -- {oldest_undelivered_at, last_webhook_at, last_sweep_at}: ISO 8601 or null
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'oldest_undelivered_at', (
      -- queued_at is the time from which the row is due: a cancellation may be planned for next year.
      select private.iso_time(min(o.queued_at))
      from private.outbox o
      where o.delivered_at is null
        and o.parked_at is null
        and o.queued_at <= private.clock()
        and (p_destinations is null or o.destination = any (string_to_array(p_destinations, ',')))
    ),
    'last_webhook_at', (select private.iso_time(max(e.received_at)) from private.gateway_events e where e.deliveries > 0),
    'last_sweep_at', (select private.iso_time(j.done_at) from private.scheduled_jobs j where j.name = 'sweep')
  )
$$$_$,
$_$comment on function public.get_health(text) is
  'Returns the times of the oldest undelivered side effect, the newest webhook and the newest sweep. No customer data.'$_$,
$_$revoke execute on function public.get_health(text) from public, anon, authenticated$_$,
$_$grant execute on function public.get_health(text) to service_role$_$,
$_$-- Returns the newest applied migration up to a version.
-- Security definer: service_role has no rights on the CLI's table of migrations.
create function private.applied_version(
  p_until text
)
returns text -- null: no such migration, or the migrations were applied without the CLI
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_version text;
begin
  if to_regclass('supabase_migrations.schema_migrations') is null then
    return null;
  end if;
  execute 'select max(m.version) from supabase_migrations.schema_migrations m where m.version <= $1'
  into v_version
  using p_until;
  return v_version;
end
$$$_$,
$_$grant execute on function private.applied_version(text) to service_role$_$,
$_$-- Returns the newest applied migration, up to the one that the function is made for. An app may add newer migrations, so the
-- newest of all would not show that one of the function's migrations is missing.
-- API: service_role only.
create function public.get_schema_version(
  p_function_version text -- the newest migration that the function is made for
)
returns jsonb -- {version}: p_function_version if it is applied, else an older version; null: not known
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object('version', private.applied_version(p_function_version))
$$$_$,
$_$comment on function public.get_schema_version(text) is
  'Returns the newest applied migration that is not newer than the given one.'$_$,
$_$revoke execute on function public.get_schema_version(text) from public, anon, authenticated$_$,
$_$grant execute on function public.get_schema_version(text) to service_role$_$
]);

-- migrations/20261122000032_admin_support.sql
select pg_temp.apply_migration('20261122000032', 'admin_support', array[
$_$-- For an admin: complimentary tiers, the end of a payment's access, and the history of a user's tier.

-- Grants a tier without a payment, until a given time. Paid access continues below the grant.
create function private.grant_tier(
  p_user_id uuid,
  p_tier text,
  p_until timestamptz,
  p_reason text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_email text;
begin
  v_email := private.lock_user(p_user_id);
  if v_email is null then
    raise exception 'no such user' using errcode = 'PS404';
  end if;
  if p_until is null or p_until <= private.clock() then
    raise exception 'the end of a grant lies in the future' using errcode = 'PS400';
  end if;
  perform private.note_cause('grant', p_reason);
  insert into private.grants (user_id, tier, until, reason, at)
  values (
    p_user_id, p_tier, date_trunc('milliseconds', p_until), p_reason,
    greatest(
      private.clock(),
      (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
    )
  );
  perform private.settle_access(p_user_id, v_email);
end
$$$_$,
$_$-- Ends a grant at once. The next running source takes over, if the user has one.
create function private.revoke_grant(
  p_grant_id bigint
)
returns boolean -- false: no such grant, or it ended before
language plpgsql
set search_path = ''
as $$
declare
  v_user_id uuid;
  v_email text;
begin
  select g.user_id into v_user_id from private.grants g where g.id = p_grant_id;
  v_email := private.lock_user(v_user_id);
  update private.grants g
  set ended_at = private.clock(),
    ended_reason = 'revoked'
  where g.id = p_grant_id
    and g.ended_at is null;
  if not found then
    return false;
  end if;
  perform private.note_cause('grant revoked', p_grant_id::text);
  perform private.settle_access(v_user_id, v_email);
  return true;
end
$$$_$,
$_$-- Ends the access that a payment gives, such as after a lost dispute. The next running source takes over, if the user has
-- one.
create function private.end_payment_access(
  p_payment_id uuid,
  p_reason text -- such as dispute_lost
)
returns boolean -- false: the payment gave no access, or its access ended before
language plpgsql
set search_path = ''
as $$
declare
  v_payment public.payments;
  v_email text;
begin
  select * into v_payment from public.payments p where p.id = p_payment_id;
  v_email := private.lock_user(v_payment.user_id);
  update public.payments p
  set ended_at = private.clock(),
    ended_reason = p_reason
  where p.id = p_payment_id
    and p.fulfilled_at is not null
    and p.ended_at is null;
  if not found then
    return false;
  end if;
  perform private.note_cause(p_reason, v_payment.gateway_payment_id);
  perform private.settle_payment(v_payment, v_email);
  return true;
end
$$$_$,
$_$-- Returns the payments, events, grants, tier changes and sources of a user, oldest first.
create function private.explain_user(
  p_user_id uuid
)
returns table (at timestamptz, what text, reference text, detail jsonb)
language sql
stable
set search_path = ''
as $$
  select line.at, line.what, line.reference, line.detail
  from (
    select
      1 as rank,
      0 as id,
      p.created_at as at,
      'payment created' as what,
      p.gateway_order_id as reference,
      jsonb_build_object('amount', p.amount, 'tier', private.tier_bought(p)) as detail
    from public.payments p
    where p.user_id = p_user_id
    union all
    select
      2,
      0,
      e.received_at,
      e.event,
      e.subject_id,
      jsonb_build_object('outcome', e.outcome, 'deliveries', e.deliveries, 'created_at', e.event_at)
    from private.gateway_events e
    where e.subject_id in (
      select p.gateway_order_id from public.payments p where p.user_id = p_user_id
      union all
      select m.gateway_subscription_id from private.gateway_subscriptions m where m.user_id = p_user_id
    )
    union all
    select
      3,
      0,
      p.fulfilled_at,
      'payment fulfilled',
      p.gateway_payment_id,
      jsonb_build_object('tier', p.tier, 'period_end', p.period_end, 'refunded_amount', p.refunded_amount)
    from public.payments p
    where p.user_id = p_user_id
      and p.fulfilled_at is not null
    union all
    select
      4,
      g.id,
      g.at,
      'tier granted',
      g.reason,
      jsonb_build_object('tier', g.tier, 'until', g.until)
    from private.grants g
    where g.user_id = p_user_id
    union all
    select
      5,
      c.id,
      c.at,
      'tier ' || coalesce(c.from_tier, 'none') || ' to ' || coalesce(c.to_tier, 'none'),
      c.reference,
      jsonb_build_object('cause', c.cause)
    from private.tier_changes c
    where c.user_id = p_user_id
    union all
    -- The present state of each source.
    select
      6,
      0,
      coalesce(s.ended_at, s.starts_at, s.since),
      'source: ' || s.kind,
      coalesce(s.gateway_subscription_id, s.id),
      jsonb_build_object(
        'tier', s.tier,
        'starts_at', s.starts_at,
        'ends_at', s.ends_at,
        'since', s.since,
        'ended_at', s.ended_at,
        'reason', s.ended_reason,
        'cancel_at_period_end', s.cancel_at_period_end,
        'live', s.ended_at is null and s.lapses_at > private.clock(),
        'rules', s.kind = (ruling.source).kind and s.id = (ruling.source).id and ruling.is_live
      )
    from private.sources s
    cross join (select (r).source, (r).is_live from (select private.find_ruling(p_user_id) as r offset 0) found) ruling
    where s.user_id = p_user_id
  ) line
  -- All rows of one transaction have the same time. The rank puts a cause before its effect.
  order by line.at, line.rank, line.id, line.reference
$$$_$
]);

-- migrations/20261122000033_admin_entitlement.sql
select pg_temp.apply_migration('20261122000033', 'admin_entitlement', array[
$_$-- Findings about the match of payments and tiers: paid without a tier, a tier without a payment, captured without effect,
-- and paid twice. An admin reads them in private.findings.

-- A condition that uses an index calls the clock directly, so that the planner can estimate the rows. Other conditions read
-- the clock in a subquery, once for each query: a call for each row of a large table would dominate the run time.

create index payments_period_end_idx on public.payments (period_end)
where fulfilled_at is not null$_$,
$_$create view private.paid_not_entitled
with (security_invoker = true)
as
select
  paid.user_id,
  paid.since,
  paid.payment_id,
  paid.tier,
  paid.reference as gateway_payment_id,
  paid.period_end,
  s.status as subscription_status,
  s.ended_reason
from (
  select
    p.user_id, p.fulfilled_at as since, p.id::text as payment_id, p.tier, p.gateway_payment_id as reference, p.period_end
  from public.payments p
  where p.fulfilled_at is not null
    and p.period_end > private.clock()
    and p.ended_at is null
    and p.user_id is not null
  union all
  select
    g.user_id, g.arrived_at, g.gateway_subscription_id, g.tier, g.gateway_subscription_id, g.ends_at
  from private.sources g
  where g.kind = 'gateway_subscription'
    and g.ends_at > (select private.clock())
    and g.ended_at is null
) paid
left join public.subscriptions s on s.user_id = paid.user_id
where s.status is distinct from 'active'
  and exists (select from private.find_user(paid.user_id))$_$,
$_$comment on view private.paid_not_entitled is
  'Users with a running paid period and without an active subscription, although they did not cancel it. Look at '
  'private.explain_user(user_id). Then call private.grant_tier until period_end, or refund the payment at the gateway: '
  'either ends the finding. The view reads the payments whose period runs.'$_$,
$_$create view private.entitled_not_paid
with (security_invoker = true)
as
select
  holder.user_id,
  coalesce(
    case when s.is_over then s.ends_at end,
    (select max(c.at) from private.tier_changes c where c.user_id = holder.user_id),
    s.updated_at
  ) as since,
  case when s.is_over then 'its period is over' else 'nothing pays for it' end as reason,
  pr.subscription_tier as profile_tier,
  s.tier as subscription_tier,
  s.current_period_end,
  s.gateway_subscription_id
from (
  select p.user_id, p.subscription_tier
  from public.profiles p
  where p.subscription_tier <> 'free'
) pr
full join (
  select
    a.*,
    -- The sweep runs each minute. The reconciliation of a subscription that the gateway bills may take a day.
    ends.at as ends_at,
    ends.at < (select private.clock()) as is_over
  from public.subscriptions a
  left join public.plans pl on pl.id = a.plan_id
  cross join lateral (
    select a.current_period_end
      + make_interval(
        days => coalesce(pl.grace_days, 3) + case when a.gateway_subscription_id is null then 0 else 1 end,
        hours => 1
      ) as at
  ) ends
  where a.status = 'active'
) s on s.user_id = pr.user_id
cross join lateral (
  select coalesce(s.user_id, pr.user_id) as user_id, coalesce(s.tier, pr.subscription_tier) as tier
) holder
where s.is_over
  or s.gateway_subscription_id is null
  and not exists (
    select
    from private.sources o
    where o.user_id = holder.user_id
      and o.kind <> 'manual'
      and o.tier = holder.tier
      and o.ended_at is null
      and o.lapses_at + interval '1 hour' > (select private.clock())
  )$_$,
$_$comment on view private.entitled_not_paid is
  'Users with a tier or an active subscription but without a running payment, gateway subscription or grant for it, and '
  'users whose period is long over. Look at private.explain_user(user_id). To keep the tier as a complimentary one, call '
  'private.grant_tier. To end it, set the subscription to cancelled and the profile to free. A report: the view reads every '
  'active subscription and every profile.'$_$,
$_$create view private.tier_mismatch
with (security_invoker = true)
as
select
  s.user_id,
  coalesce((select max(c.at) from private.tier_changes c where c.user_id = s.user_id), s.updated_at) as since,
  pr.subscription_tier as profile_tier,
  s.tier as subscription_tier,
  s.status as subscription_status,
  s.ended_reason
from public.subscriptions s
left join public.profiles pr on pr.user_id = s.user_id
where coalesce(pr.subscription_tier, 'free') <> case when s.status = 'active' then s.tier else 'free' end
  -- A subscription that was activated for a past period gives no access until it is charged.
  and (
    s.status = 'active'
    and s.current_period_end <= (select private.clock())
    and coalesce(pr.subscription_tier, 'free') = 'free'
  ) is not true$_$,
$_$comment on view private.tier_mismatch is
  'Profiles whose tier differs from the tier of the active subscription, and profiles with a tier although the subscription '
  'has ended. private.explain_user(user_id) shows the cause of each tier change. Then set the tier of the profile. A '
  'report: the view reads every subscription and its profile.'$_$,
$_$-- Only payments and side effects with a problem are in these indexes, so they stay small.
create index payments_unsettled_idx on public.payments (captured_at)
where uncaptured_at is not null or dispute_status = 'lost' or status = 'captured' and fulfilled_at is null$_$,
$_$create index outbox_parked_at_idx on private.outbox (parked_at)
where parked_at is not null and delivered_at is null$_$,
$_$create view private.captured_not_fulfilled
with (security_invoker = true)
as
select
  p.user_id,
  p.captured_at as since,
  p.id as payment_id,
  p.tier,
  p.amount,
  p.gateway_payment_id,
  case
    when p.user_id is null then 'paid, user gone'
    when (private.plan_bought(p)).id is null then 'no plan of this tier'
    else 'not confirmed with its amount'
  end as reason
from public.payments p
where p.status = 'captured'
  and p.fulfilled_at is null
  and (p.amount = 0 or p.refunded_amount < p.amount)$_$,
$_$comment on view private.captured_not_fulfilled is
  'Captured payments that granted no tier, with the reason. "no plan of this tier": add the plan, then call '
  'private.replay_event or verify the payment again. "not confirmed with its amount": look the payment up at the gateway. '
  '"paid, user gone": refund the payment at the gateway.'$_$,
$_$create view private.paid_twice
with (security_invoker = true)
as
select
  p.user_id,
  x.created_at as since,
  p.id as payment_id,
  x.gateway_payment_id,
  'a further payment on the order' as reason
from private.extra_payments x
join public.payments p on p.id = x.payment_id
where x.refunded_amount < p.amount
  -- The gateway refunds a payment that was verified but not captured within five days.
  and (x.confirmed_at is not null or x.paid_at > (select private.clock()) - interval '5 days')
union all
select
  p.user_id,
  p.fulfilled_at,
  p.id,
  p.gateway_payment_id,
  case
    when exists (
      select
      from public.payments other
      where other.user_id = p.user_id
        and other.tier = p.tier
        and other.fulfilled_at is not null
        and other.ended_at is null
        and other.period_end > private.clock()
        and (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id)
        and other.period_start < p.period_end
        and other.period_end > p.period_start
    ) then 'another payment for the same time'
    when exists (
      select
      from private.sources billed
      where billed.user_id = p.user_id
        and billed.kind = 'gateway_subscription'
        and billed.tier = p.tier
        and billed.ended_at is null
        and billed.ends_at > private.clock()
        and billed.starts_at < p.period_end
        and billed.ends_at > p.period_start
    ) then 'the gateway bills the same time'
    else 'captured after a newer purchase'
  end
from public.payments p
where p.fulfilled_at is not null
  and p.ended_at is null
  and p.period_end > private.clock()
  and (
    exists (
      select
      from public.payments other
      where other.user_id = p.user_id
        and other.id <> p.id
        and other.fulfilled_at is not null
        and other.ended_at is null
        and other.period_end > private.clock()
        and other.period_start < p.period_end
        and other.period_end > p.period_start
        and (
          other.tier = p.tier and (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id)
          -- Only a webhook announced this older order, after a newer purchase.
          or p.verified_at is null and other.since > p.since and other.fulfilled_at < p.fulfilled_at
        )
    )
    or exists (
      select
      from private.sources billed
      where billed.user_id = p.user_id
        and billed.kind = 'gateway_subscription'
        and billed.ended_at is null
        and billed.ends_at > private.clock()
        and billed.starts_at < p.period_end
        and billed.ends_at > p.period_start
        and (
          billed.tier = p.tier
          -- Only the first activation counts. A later one, after the payment, changes nothing.
          or p.verified_at is null and exists (
            select
            from private.gateway_subscriptions m
            where m.user_id = p.user_id
              and m.gateway_subscription_id = billed.id
              and least(m.first_activated_at, m.first_charged_at) > p.since
              and least(m.first_activated_at, m.first_charged_at) < p.fulfilled_at
          )
        )
    )
  )$_$,
$_$comment on view private.paid_twice is
  'Payments for something that was already paid. "a further payment on the order": refund it at the gateway. The event '
  'refund.processed ends the finding. The other reasons name a payment whose period overlaps another paid period that still '
  'runs: refund the payment, or extend the access with private.grant_tier. The setting early_renewal = extend prevents '
  'overlapping renewals. The view reads the payments whose period runs.'$_$
]);

-- migrations/20261122000034_admin_findings.sql
select pg_temp.apply_migration('20261122000034', 'admin_findings', array[
$_$-- The other findings, one view for each kind, and private.findings with all of them. Operations: "Findings".

create view private.unexpected_charges
with (security_invoker = true)
as
select
  m.user_id,
  c.charged_at as since,
  case
    when m.user_cancelled_at < c.charged_at or m.status = 'cancelled' and m.cancelled_at < c.charged_at
      then 'charged_after_cancellation'
    else 'charged_after_replacement'
  end as finding,
  m.gateway_subscription_id,
  c.gateway_payment_id,
  c.amount,
  c.period_start,
  c.period_end
from private.gateway_subscriptions m
join private.gateway_charges c
  on c.user_id = m.user_id
  and c.gateway_subscription_id = m.gateway_subscription_id
where (c.amount is null or c.refunded_amount < c.amount)
  and (
    m.user_cancelled_at < c.charged_at
    or m.status = 'cancelled' and m.cancelled_at < c.charged_at
    or exists (
      select
      from private.sources newer
      left join private.gateway_subscriptions s
        on s.user_id = newer.user_id
        and s.gateway_subscription_id = newer.id
        and newer.kind = 'gateway_subscription'
      -- Checks the first activation, too, because a later activation moves newer.since past the charge.
      cross join lateral (
        values (newer.since), (least(s.first_activated_at, s.first_charged_at))
      ) there (since)
      where newer.user_id = m.user_id
        and newer.kind in ('payment', 'gateway_subscription')
        and newer.id <> m.gateway_subscription_id
        and there.since > coalesce(m.activated_at, m.first_charged_at)
        and there.since < c.charged_at
        and coalesce(newer.ended_at > c.charged_at, true)
    )
  )$_$,
$_$comment on view private.unexpected_charges is
  'Charges of a gateway subscription after its user cancelled it, or after a newer purchase replaced it. The paid cycle '
  'gives access. Cancel the subscription at the gateway. If the customer asks for it, refund the charge at the gateway, '
  'which ends the finding.'$_$,
$_$create view private.never_captured
with (security_invoker = true)
as
select p.user_id, p.uncaptured_at as since, p.id as payment_id, p.tier, p.amount, p.gateway_payment_id
from public.payments p
where p.uncaptured_at is not null$_$,
$_$comment on view private.never_captured is
  'Payments that a customer verified but the gateway did not capture. Their access has ended. Look the payment up at the '
  'gateway. A later capture fulfils the payment and ends the finding.'$_$,
$_$create view private.dispute_lost
with (security_invoker = true)
as
select p.user_id, p.captured_at as since, p.id as payment_id, p.tier, p.amount, p.gateway_payment_id
from public.payments p
where p.dispute_status = 'lost'
  and p.fulfilled_at is not null
  and p.ended_at is null
union all
select c.user_id, c.charged_at, null, m.tier, c.amount, c.gateway_payment_id
from private.gateway_charges c
join private.sources m
  on m.user_id = c.user_id
  and m.kind = 'gateway_subscription'
  and m.id = c.gateway_subscription_id
where c.dispute_status = 'lost'
  and m.ended_at is null
  and m.lapses_at > (select private.clock())$_$,
$_$comment on view private.dispute_lost is
  'Payments whose dispute was lost. The user keeps access until you call private.end_payment_access(payment_id, '
  '''dispute_lost''), which also ends the finding. The payment of a cycle has no payment_id: cancel the subscription at the '
  'gateway.'$_$,
$_$create view private.expiry_failed
with (security_invoker = true)
as
select f.user_id, f.failed_at as since, f.error
from private.settle_failures f
left join public.subscriptions s on s.user_id = f.user_id
where f.error <> 'PS500'
  and (
    s.status = 'active' and s.current_period_end < (select private.clock())
    or exists (select from private.gateway_subscriptions m where m.user_id = f.user_id and m.is_waiting)
  )$_$,
$_$comment on view private.expiry_failed is
  'Users whose lapsed subscription could not be ended, or whose waiting gateway subscription could not be settled. error is '
  'the SQLSTATE, usually from an app''s trigger on the profile. Repair the cause. The job retries the user each hour.'$_$,
$_$create view private.outbox_stuck
with (security_invoker = true)
as
select
  null::uuid as user_id,
  coalesce(o.parked_at, o.next_attempt_at) as since,
  o.id,
  o.key,
  o.destination,
  case when o.parked_at is null then 'due' else 'parked' end as state,
  o.attempts,
  o.last_error,
  p.until as paused_until
from private.outbox o
left join private.outbox_pauses p on p.destination = o.destination
where o.delivered_at is null
  and o.parked_at is null
  and o.next_attempt_at < (select private.clock()) - interval '15 minutes'
  or o.delivered_at is null
  and o.parked_at is not null
  -- Skips withdrawn cancellations, which are parked without a claim.
  and o.claims <> '{}'$_$,
$_$comment on view private.outbox_stuck is
  'Side effects that were not delivered: due for more than 15 minutes, or parked. Due: check that the schedule runs, that '
  'the destination is configured (RESEND_API_KEY, GATEWAY_API_URL), and that it did not ask for a pause (paused_until). '
  'Parked: repair the cause in last_error, then call private.requeue(id).'$_$,
$_$create view private.failed_events
with (security_invoker = true)
as
select
  coalesce(p.user_id, private.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')) as user_id,
  e.received_at as since,
  e.body_sha256,
  e.event,
  e.subject_id,
  e.outcome,
  e.attempts,
  p.id as payment_id
from private.unsettled_events u
join private.gateway_events e on e.body_sha256 = u.body_sha256
left join public.payments p on p.gateway_order_id = e.subject_id
where (
    e.outcome like 'failed: %'
    or e.outcome in ('parked', 'plan_not_found', 'mismatch')
  )
  -- An event without its payload cannot be applied again.
  and e.payload is not null
  and case e.outcome
    -- Until the payment is fulfilled or refunded.
    when 'plan_not_found' then p.fulfilled_at is null and (p.amount = 0 or p.refunded_amount < p.amount)
    when 'mismatch' then
      -- A mismatch is normal for refunds and disputes of an extra payment, and for cancellations of a gateway subscription
      -- that is not attached. After a charge the activation may still arrive within 15 minutes.
      case e.event
        when 'subscription.charged' then e.received_at < (select private.clock()) - interval '15 minutes'
        else e.event in ('payment.captured', 'order.paid')
      end
      and (
        p.gateway_payment_id = private.json_text(e.payload #> '{payload,payment,entity,id}')
        and (
          p.fulfilled_at is not null
          or p.refunded_amount >= private.json_integer(e.payload #> '{payload,payment,entity,amount}')
        )
      ) is not true
      and (
        private.json_integer(e.payload #> '{payload,payment,entity,amount}') > 0
        and private.refunded_amount(private.json_text(e.payload #> '{payload,payment,entity,id}'))
          >= private.json_integer(e.payload #> '{payload,payment,entity,amount}')
      ) is not true
      and not exists (
        select
        from private.extra_payments x
        where x.payment_id = p.id
          and x.gateway_payment_id = private.json_text(e.payload #> '{payload,payment,entity,id}')
          and x.refunded_amount >= private.json_integer(e.payload #> '{payload,payment,entity,amount}')
      )
    else true
  end$_$,
$_$comment on view private.failed_events is
  'Webhooks that should have had an effect but had none. failed, parked: repair the cause of the error in the ledger. '
  'plan_not_found: add the plan. Then call private.replay_event(body_sha256). mismatch: the payment has another amount or '
  'currency than its order. Refund it at the gateway. The finding ends after 90 days, when the payload is deleted.'$_$,
$_$-- Postgres lets PUBLIC execute each new function. The migrations keep this default, because a revoke would close functions
-- of the app, too.
create view private.open_functions
with (security_invoker = true)
as
select
  signature.text as name,
  format(
    'Run "revoke execute on function %s from public, anon;", or mark it as meant: '
    '"comment on function %1$s is ''Open to everybody: why'';"',
    signature.text
  ) as remedy
from pg_catalog.pg_proc p
cross join lateral (
  select format('public.%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid)) as text
) signature
where p.pronamespace = 'public'::regnamespace
  and p.prosecdef
  and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  and has_function_privilege('anon', p.oid, 'execute')
  and coalesce(obj_description(p.oid, 'pg_proc'), '') not like 'Open to everybody%'
  and not exists (
    select
    from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_proc'::regclass
      and d.objid = p.oid
      and d.deptype = 'e'
  )$_$,
$_$comment on view private.open_functions is
  'Functions of schema public that run with the rights of their owner (security definer) and that anon may execute. Revoke '
  'that right, or state in a comment that it is intended: remedy has the statements.'$_$,
$_$create view private.findings
with (security_invoker = true)
as
select
  'paid_not_entitled' as finding,
  v.payment_id::text as subject,
  v.user_id,
  v.since,
  to_jsonb(v) - '{user_id, since}'::text[] as detail
from private.paid_not_entitled v
union all
select 'entitled_not_paid', v.user_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.entitled_not_paid v
union all
select 'captured_not_fulfilled', v.payment_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.captured_not_fulfilled v
union all
select 'tier_mismatch', v.user_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.tier_mismatch v
union all
select 'paid_twice', v.gateway_payment_id, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.paid_twice v
union all
select v.finding, coalesce(nullif(v.gateway_payment_id, ''), v.gateway_subscription_id), v.user_id, v.since,
  to_jsonb(v) - '{user_id, since, finding}'::text[]
from private.unexpected_charges v
union all
select 'never_captured', v.payment_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.never_captured v
union all
select 'dispute_lost', coalesce(v.payment_id::text, v.gateway_payment_id), v.user_id, v.since,
  to_jsonb(v) - '{user_id, since}'::text[]
from private.dispute_lost v
union all
select 'expiry_failed', v.user_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.expiry_failed v
union all
select 'outbox_stuck', v.key, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.outbox_stuck v
union all
select 'failed_events', encode(v.body_sha256, 'hex'), v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.failed_events v
union all
select 'missing_part', m.part, null, null, jsonb_build_object('remedy', m.remedy)
from private.missing_parts() m
union all
select f.finding, f.subject, null, f.since, f.detail
from private.schedule_faults() f
union all
select 'open_function', o.name, null, null, to_jsonb(o) - 'name'
from private.open_functions o$_$,
$_$comment on view private.findings is
  'All findings, each with its kind, subject, user, start and details. The view of that kind has a comment with the remedy. '
  'No rows: nothing needs an admin''s attention.'$_$,
$_$-- Postgres lets PUBLIC execute each new function. Before this statement only the rights on the schema close them.
revoke execute on all functions in schema private from public$_$
]);

-- Sample

-- The rows are complete: no trigger may add others.
set session_replication_role = replica;
truncate public.payments, public.plans, public.profiles, public.subscriptions, private.alerts, private.announced_ends, private.deleted_users, private.extra_payments, private.function_calls, private.gateway_charges, private.gateway_events, private.gateway_subscriptions, private.grants, private.manual_subscriptions, private.order_keys, private.outbox, private.outbox_pauses, private.refunds, private.scheduled_jobs, private.settings, private.settle_failures, private.tier_changes, private.unsettled_events, private.user_cancellations;

insert into auth.users (id, aud, role, email, created_at, updated_at)
select id, aud, role, email, created_at, updated_at
from jsonb_populate_recordset(null::auth.users, $_$[
{"id":"aaaaaaaa-0000-4000-8000-000000000001","aud":"authenticated","role":"authenticated","email":"asha@example.com","created_at":"2026-10-26T09:00:00+00:00","updated_at":"2026-10-26T09:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000002","aud":"authenticated","role":"authenticated","email":"bela@example.com","created_at":"2026-08-12T08:00:00+00:00","updated_at":"2026-08-12T08:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000003","aud":"authenticated","role":"authenticated","email":"chand@example.com","created_at":"2026-08-01T10:00:00+00:00","updated_at":"2026-08-01T10:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000004","aud":"authenticated","role":"authenticated","email":"dev@example.com","created_at":"2026-09-10T10:00:00+00:00","updated_at":"2026-09-10T10:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000005","aud":"authenticated","role":"authenticated","email":"esha@example.com","created_at":"2026-10-31T09:00:00+00:00","updated_at":"2026-10-31T09:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000006","aud":"authenticated","role":"authenticated","email":"farid@example.com","created_at":"2026-08-15T00:00:00+00:00","updated_at":"2026-08-15T00:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000007","aud":"authenticated","role":"authenticated","email":"gita@example.com","created_at":"2026-09-05T09:00:00+00:00","updated_at":"2026-09-05T09:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000008","aud":"authenticated","role":"authenticated","email":"hari@example.com","created_at":"2026-10-01T00:00:00+00:00","updated_at":"2026-10-01T00:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000009","aud":"authenticated","role":"authenticated","email":"isha@example.com","created_at":"2026-09-10T00:00:00+00:00","updated_at":"2026-09-10T00:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000010","aud":"authenticated","role":"authenticated","email":"jaya@example.com","created_at":"2026-10-03T12:00:00+00:00","updated_at":"2026-10-03T12:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000011","aud":"authenticated","role":"authenticated","email":"kiran@example.com","created_at":"2026-09-04T12:00:00+00:00","updated_at":"2026-09-04T12:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000012","aud":"authenticated","role":"authenticated","email":"lata@example.com","created_at":"2026-09-14T10:00:00+00:00","updated_at":"2026-09-14T10:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000013","aud":"authenticated","role":"authenticated","email":"mohan@example.com","created_at":"2026-07-20T00:00:00+00:00","updated_at":"2026-07-20T00:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000014","aud":"authenticated","role":"authenticated","email":"nora@example.com","created_at":"2026-09-15T09:00:00+00:00","updated_at":"2026-09-15T09:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000015","aud":"authenticated","role":"authenticated","email":"omar@example.com","created_at":"2026-09-07T09:00:00+00:00","updated_at":"2026-09-07T09:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000016","aud":"authenticated","role":"authenticated","email":"pia@example.com","created_at":"2026-09-08T09:00:00+00:00","updated_at":"2026-09-08T09:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000017","aud":"authenticated","role":"authenticated","email":"qadir@example.com","created_at":"2026-09-11T09:00:00+00:00","updated_at":"2026-09-11T09:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000018","aud":"authenticated","role":"authenticated","email":"rhea@example.com","created_at":"2026-10-21T09:00:00+00:00","updated_at":"2026-10-21T09:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000019","aud":"authenticated","role":"authenticated","email":"sara@example.com","created_at":"2026-10-28T10:00:00+00:00","updated_at":"2026-10-28T10:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000020","aud":"authenticated","role":"authenticated","email":"tara@example.com","created_at":"2026-10-31T11:50:00+00:00","updated_at":"2026-10-31T11:50:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000021","aud":"authenticated","role":"authenticated","email":"uma@example.com","created_at":"2026-09-01T07:00:00+00:00","updated_at":"2026-09-01T07:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000022","aud":"authenticated","role":"authenticated","email":"vani@example.com","created_at":"2026-09-05T07:00:00+00:00","updated_at":"2026-09-05T07:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000025","aud":"authenticated","role":"authenticated","email":"yash@example.com","created_at":"2026-09-17T10:00:00+00:00","updated_at":"2026-09-17T10:00:00+00:00"},
{"id":"aaaaaaaa-0000-4000-8000-000000000026","aud":"authenticated","role":"authenticated","email":"zara@example.com","created_at":"2026-09-16T10:00:00+00:00","updated_at":"2026-09-16T10:00:00+00:00"}
]$_$);

insert into public.payments overriding system value
select *
from jsonb_populate_recordset(null::public.payments, $_$[
{"id":"bbbbbbbb-0000-4000-8000-000000000001","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_wali","gateway_payment_id":"pay_wali","meta":{"tier": "pro"},"captured_at":"2026-07-05T10:06:01+00:00","confirmed_at":"2026-07-05T10:06:01+00:00","fulfilled_at":"2026-07-05T10:06:01+00:00","period_start":"2026-07-05T10:06:01+00:00","period_end":"2027-07-05T10:06:01+00:00","since":"2026-07-05T10:05:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"created_at":"2026-07-05T10:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000003","user_id":"aaaaaaaa-0000-4000-8000-000000000001","subscription_id":"bbbbbbbb-0000-4000-8000-000000000004","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_asha","gateway_payment_id":"pay_asha","gateway_signature":"d43dcf3aaf396a42bef55646d9207c8e00f715b9991ca709ad7a77f9ddf6f0a8","meta":{"tier": "pro"},"captured_at":"2026-10-26T09:06:01+00:00","confirmed_at":"2026-10-26T09:06:06+00:00","verified_at":"2026-10-26T09:06:01+00:00","fulfilled_at":"2026-10-26T09:06:01+00:00","period_start":"2026-10-26T09:06:01+00:00","period_end":"2027-10-26T09:06:01+00:00","since":"2026-10-26T09:06:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-10-26T09:21:01+00:00","created_at":"2026-10-26T09:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000005","user_id":"aaaaaaaa-0000-4000-8000-000000000002","subscription_id":"bbbbbbbb-0000-4000-8000-000000000006","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_bela","gateway_payment_id":"pay_bela","meta":{"tier": "pro"},"captured_at":"2026-08-12T08:25:02+00:00","confirmed_at":"2026-08-12T08:25:02+00:00","fulfilled_at":"2026-08-12T08:25:02+00:00","period_start":"2026-08-12T08:25:02+00:00","period_end":"2027-08-12T08:25:02+00:00","since":"2026-08-12T08:05:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"created_at":"2026-08-12T08:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000007","user_id":"aaaaaaaa-0000-4000-8000-000000000003","subscription_id":"bbbbbbbb-0000-4000-8000-000000000008","amount":9900,"currency":"INR","status":"captured","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_chand_1","gateway_payment_id":"pay_chand_1","gateway_signature":"ecbf67536a989f5ac0672ea86a735149a85570c745a055e94f15fbc1d040fea6","meta":{"tier": "basic"},"captured_at":"2026-08-01T10:06:01+00:00","confirmed_at":"2026-08-01T10:06:06+00:00","verified_at":"2026-08-01T10:06:01+00:00","fulfilled_at":"2026-08-01T10:06:01+00:00","period_start":"2026-08-01T10:06:01+00:00","period_end":"2026-09-01T10:06:01+00:00","chain_start":"2026-08-01T10:06:01+00:00","since":"2026-08-01T10:06:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"created_at":"2026-08-01T10:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000010","user_id":"aaaaaaaa-0000-4000-8000-000000000003","subscription_id":"bbbbbbbb-0000-4000-8000-000000000008","amount":9900,"currency":"INR","status":"captured","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_chand_2","gateway_payment_id":"pay_chand_2","gateway_signature":"4622931c0b0930bb9e8c34da2d9fd5031697b59f3690e1793861065d606dcad3","meta":{"tier": "basic"},"captured_at":"2026-08-28T10:01:01+00:00","confirmed_at":"2026-08-28T10:01:06+00:00","verified_at":"2026-08-28T10:01:01+00:00","fulfilled_at":"2026-08-28T10:01:01+00:00","period_start":"2026-09-01T10:06:01+00:00","period_end":"2026-10-01T10:06:01+00:00","chain_id":"bbbbbbbb-0000-4000-8000-000000000007","chain_start":"2026-08-01T10:06:01+00:00","since":"2026-08-28T10:01:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"created_at":"2026-08-28T10:00:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000011","user_id":"aaaaaaaa-0000-4000-8000-000000000003","subscription_id":"bbbbbbbb-0000-4000-8000-000000000008","amount":9900,"currency":"INR","status":"captured","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_chand_3","gateway_payment_id":"pay_chand_3","gateway_signature":"28bb06609093ae6fa501b1b32439dc7c1870834b6bbac8d51a00f4bf72a21333","meta":{"tier": "basic"},"captured_at":"2026-09-29T10:00:51+00:00","confirmed_at":"2026-09-29T10:00:51+00:00","verified_at":"2026-09-29T10:01:01+00:00","fulfilled_at":"2026-09-29T10:00:51+00:00","period_start":"2026-10-01T10:06:01+00:00","period_end":"2026-11-01T10:06:01+00:00","chain_id":"bbbbbbbb-0000-4000-8000-000000000007","chain_start":"2026-08-01T10:06:01+00:00","since":"2026-09-29T10:01:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-09-29T10:15:01+00:00","created_at":"2026-09-29T10:00:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000012","user_id":"aaaaaaaa-0000-4000-8000-000000000004","subscription_id":"bbbbbbbb-0000-4000-8000-000000000013","amount":199900,"currency":"INR","status":"captured","tier":"premium","plan_id":"bbbbbbbb-0000-4000-8000-000000000014","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_dev","gateway_payment_id":"pay_dev","meta":{"error_code": "BAD_REQUEST_ERROR", "error_reason": "payment_failed", "error_description": "Your payment was declined by the bank"},"captured_at":"2026-09-10T10:09:01+00:00","confirmed_at":"2026-09-10T10:09:01+00:00","fulfilled_at":"2026-09-10T10:09:01+00:00","period_start":"2026-09-10T10:09:01+00:00","period_end":"2027-09-10T10:09:01+00:00","since":"2026-09-10T10:05:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"created_at":"2026-09-10T10:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000015","user_id":"aaaaaaaa-0000-4000-8000-000000000005","amount":9900,"currency":"INR","status":"created","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_esha_2","meta":{"tier": "basic"},"cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-10-31T10:05:01+00:00","created_at":"2026-10-31T09:50:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000016","user_id":"aaaaaaaa-0000-4000-8000-000000000005","amount":99900,"currency":"INR","status":"failed","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_esha_1","meta":{"error_code": "BAD_REQUEST_ERROR", "error_reason": "payment_failed", "error_description": "Your payment was declined by the bank"},"cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-10-31T09:20:01+00:00","created_at":"2026-10-31T09:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000017","user_id":"aaaaaaaa-0000-4000-8000-000000000007","subscription_id":"bbbbbbbb-0000-4000-8000-000000000018","amount":199900,"currency":"INR","status":"captured","tier":"premium","plan_id":"bbbbbbbb-0000-4000-8000-000000000014","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_gita","gateway_payment_id":"pay_gita","gateway_signature":"066fc6a7bb8d0778b6d6b781bb00433bd1b12a80b07873f08e23515376983b78","meta":{"tier": "premium"},"captured_at":"2026-09-05T09:06:01+00:00","confirmed_at":"2026-09-05T09:06:06+00:00","verified_at":"2026-09-05T09:06:01+00:00","fulfilled_at":"2026-09-05T09:06:01+00:00","period_start":"2026-09-05T09:06:01+00:00","period_end":"2027-09-05T09:06:01+00:00","since":"2026-09-05T09:06:01+00:00","ended_at":"2026-09-09T15:00:01+00:00","ended_reason":"refunded","cancel_at_period_end":false,"refunded_amount":199900,"created_at":"2026-09-05T09:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000019","user_id":"aaaaaaaa-0000-4000-8000-000000000010","subscription_id":"bbbbbbbb-0000-4000-8000-000000000020","amount":9900,"currency":"INR","status":"captured","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_jaya","gateway_payment_id":"pay_jaya","gateway_signature":"5f538c6d74220243b8790bca244f57e3b996f9143ff3d0fa451c8f289bb8d57f","meta":{"tier": "basic"},"captured_at":"2026-10-03T12:06:01+00:00","confirmed_at":"2026-10-03T12:06:06+00:00","verified_at":"2026-10-03T12:06:01+00:00","fulfilled_at":"2026-10-03T12:06:01+00:00","period_start":"2026-10-03T12:06:01+00:00","period_end":"2026-11-03T12:06:01+00:00","since":"2026-10-03T12:06:01+00:00","cancel_at_period_end":true,"refunded_amount":0,"next_reconcile_at":"2026-10-03T12:21:01+00:00","created_at":"2026-10-03T12:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000021","user_id":"aaaaaaaa-0000-4000-8000-000000000011","subscription_id":"bbbbbbbb-0000-4000-8000-000000000022","amount":199900,"currency":"INR","status":"captured","tier":"premium","plan_id":"bbbbbbbb-0000-4000-8000-000000000014","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_kiran","gateway_payment_id":"pay_kiran","gateway_signature":"2ac43f77e04ef1659f1f5ca26ca3f77972e1631d1b769f90cdedafcb9fc1354f","meta":{"tier": "premium"},"captured_at":"2026-09-04T12:06:01+00:00","confirmed_at":"2026-09-04T12:06:06+00:00","verified_at":"2026-09-04T12:06:01+00:00","fulfilled_at":"2026-09-04T12:06:01+00:00","period_start":"2026-09-04T12:06:01+00:00","period_end":"2027-09-04T12:06:01+00:00","since":"2026-09-04T12:06:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"created_at":"2026-09-04T12:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000023","user_id":"aaaaaaaa-0000-4000-8000-000000000014","subscription_id":"bbbbbbbb-0000-4000-8000-000000000024","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_nora","gateway_payment_id":"pay_nora","meta":{"tier": "pro"},"captured_at":"2026-09-15T09:06:01+00:00","confirmed_at":"2026-09-15T09:06:01+00:00","fulfilled_at":"2026-09-15T09:06:01+00:00","period_start":"2026-09-15T09:06:01+00:00","period_end":"2027-09-15T09:06:01+00:00","since":"2026-09-15T09:05:01+00:00","cancel_at_period_end":false,"refunded_amount":20000,"dispute_status":"open","dispute_event_at":"2026-10-20T09:00:00+00:00","next_reconcile_at":"2026-09-15T09:20:01+00:00","created_at":"2026-09-15T09:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000025","user_id":"aaaaaaaa-0000-4000-8000-000000000015","subscription_id":"bbbbbbbb-0000-4000-8000-000000000026","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_omar","gateway_payment_id":"pay_omar","gateway_signature":"5d929e89160173bfd594d0d42b8f29d1bb09699a7478e0747e99b2b3c2d11a41","meta":{"tier": "pro"},"captured_at":"2026-09-07T09:06:01+00:00","confirmed_at":"2026-09-07T09:06:06+00:00","verified_at":"2026-09-07T09:06:01+00:00","fulfilled_at":"2026-09-07T09:06:01+00:00","period_start":"2026-09-07T09:06:01+00:00","period_end":"2027-09-07T09:06:01+00:00","since":"2026-09-07T09:06:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"dispute_status":"lost","dispute_event_at":"2026-10-25T09:00:00+00:00","created_at":"2026-09-07T09:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000027","user_id":"aaaaaaaa-0000-4000-8000-000000000016","subscription_id":"bbbbbbbb-0000-4000-8000-000000000028","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_pia","gateway_payment_id":"pay_pia","gateway_signature":"d5127138535d8fdea90ef6e0557e4a52db49784aa167f472693b5db8da1f6cc5","meta":{"tier": "pro"},"captured_at":"2026-09-08T09:06:01+00:00","confirmed_at":"2026-09-08T09:06:06+00:00","verified_at":"2026-09-08T09:06:01+00:00","fulfilled_at":"2026-09-08T09:06:01+00:00","period_start":"2026-09-08T09:06:01+00:00","period_end":"2027-09-08T09:06:01+00:00","since":"2026-09-08T09:06:01+00:00","ended_at":"2026-10-27T09:00:00+00:00","ended_reason":"dispute_lost","cancel_at_period_end":false,"refunded_amount":0,"dispute_status":"lost","dispute_event_at":"2026-10-26T09:30:00+00:00","created_at":"2026-09-08T09:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000029","user_id":"aaaaaaaa-0000-4000-8000-000000000017","subscription_id":"bbbbbbbb-0000-4000-8000-000000000030","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_qadir","gateway_payment_id":"pay_qadir","gateway_signature":"1c0e6576d2264f82ddfa14c654c38d4039309024ba0fa791be0a56ceadd4e6cd","meta":{"tier": "pro"},"captured_at":"2026-09-11T09:06:01+00:00","confirmed_at":"2026-09-11T09:06:06+00:00","verified_at":"2026-09-11T09:06:01+00:00","fulfilled_at":"2026-09-11T09:06:01+00:00","period_start":"2026-09-11T09:06:01+00:00","period_end":"2027-09-11T09:06:01+00:00","since":"2026-09-11T09:06:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-09-11T09:21:01+00:00","created_at":"2026-09-11T09:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000031","user_id":"aaaaaaaa-0000-4000-8000-000000000018","subscription_id":"bbbbbbbb-0000-4000-8000-000000000032","amount":9900,"currency":"INR","status":"captured","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_rhea","gateway_payment_id":"pay_rhea","gateway_signature":"85239f8cad4376ade7d3b02532cf46af9d211cd66ca342bd822b9980bc18198e","meta":{"tier": "basic"},"captured_at":"2026-10-21T09:06:01+00:00","confirmed_at":"2026-10-21T09:06:06+00:00","verified_at":"2026-10-21T09:06:01+00:00","fulfilled_at":"2026-10-21T09:06:01+00:00","period_start":"2026-10-21T09:06:01+00:00","period_end":"2026-11-21T09:06:01+00:00","since":"2026-10-21T09:06:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-10-21T09:21:01+00:00","created_at":"2026-10-21T09:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000033","user_id":"aaaaaaaa-0000-4000-8000-000000000019","subscription_id":"bbbbbbbb-0000-4000-8000-000000000034","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_sara","gateway_payment_id":"pay_sara","gateway_signature":"34cce8e819613927cbaf62387724d3b02bfb8fae53cb020341d303e5a6fb4de2","meta":{"tier": "pro"},"captured_at":"2026-10-28T10:06:01+00:00","confirmed_at":"2026-10-28T10:06:06+00:00","verified_at":"2026-10-28T10:06:01+00:00","fulfilled_at":"2026-10-28T10:06:01+00:00","period_start":"2026-10-28T10:06:01+00:00","period_end":"2027-10-28T10:06:01+00:00","since":"2026-10-28T10:06:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-10-28T10:21:01+00:00","created_at":"2026-10-28T10:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000035","user_id":"aaaaaaaa-0000-4000-8000-000000000020","subscription_id":"bbbbbbbb-0000-4000-8000-000000000036","amount":9900,"currency":"INR","status":"captured","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_tara_2","gateway_payment_id":"pay_tara_2","gateway_signature":"f0d63635a89cee6a6b0aa33c40db2d7989b78eb40057cbe2ab227c1c9bc834f8","meta":{"tier": "basic"},"captured_at":"2026-10-31T11:59:31+00:00","verified_at":"2026-10-31T11:59:31+00:00","fulfilled_at":"2026-10-31T11:59:31+00:00","period_start":"2026-10-31T11:59:31+00:00","period_end":"2026-11-30T11:59:31+00:00","since":"2026-10-31T11:59:31+00:00","cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-10-31T12:14:31+00:00","created_at":"2026-10-31T11:59:11+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000037","user_id":"aaaaaaaa-0000-4000-8000-000000000020","subscription_id":"bbbbbbbb-0000-4000-8000-000000000036","amount":99900,"currency":"INR","status":"captured","tier":"pro","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","duration_months":12,"gateway_key_id":"key_sample","gateway_order_id":"order_tara_1","gateway_payment_id":"pay_tara_1","gateway_signature":"84a8d4c1382a9c6a311e729d71d4ede9aa470d7057cd0ed6ecf421cf543c2149","meta":{"tier": "pro"},"captured_at":"2026-10-31T11:58:51+00:00","verified_at":"2026-10-31T11:58:51+00:00","fulfilled_at":"2026-10-31T11:58:51+00:00","period_start":"2026-10-31T11:58:51+00:00","period_end":"2027-10-31T11:58:51+00:00","since":"2026-10-31T11:58:51+00:00","cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-10-31T12:13:51+00:00","created_at":"2026-10-31T11:58:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000038","user_id":"aaaaaaaa-0000-4000-8000-000000000021","subscription_id":"bbbbbbbb-0000-4000-8000-000000000039","amount":9900,"currency":"INR","status":"captured","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_uma","gateway_payment_id":"pay_uma","gateway_signature":"7ebf31cb89002a1026fc4146d323170314a8138c1d6c8a35233abf6cb30e6270","meta":{"tier": "basic"},"captured_at":"2026-09-01T07:06:01+00:00","confirmed_at":"2026-09-01T07:06:06+00:00","verified_at":"2026-09-01T07:06:01+00:00","fulfilled_at":"2026-09-01T07:06:01+00:00","period_start":"2026-09-01T07:06:01+00:00","period_end":"2026-10-01T07:06:01+00:00","since":"2026-09-01T07:06:01+00:00","cancel_at_period_end":false,"refunded_amount":0,"created_at":"2026-09-01T07:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000040","user_id":"aaaaaaaa-0000-4000-8000-000000000022","subscription_id":"bbbbbbbb-0000-4000-8000-000000000041","amount":9900,"currency":"INR","status":"failed","tier":"basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","duration_months":1,"gateway_key_id":"key_sample","gateway_order_id":"order_vani","gateway_payment_id":"pay_vani","gateway_signature":"1f279940d67bcdfce4b4187fc5324424c9a328d4b93ff73c3bb0d03978acab14","meta":{"tier": "basic"},"verified_at":"2026-09-05T07:06:01+00:00","fulfilled_at":"2026-09-05T07:06:01+00:00","period_start":"2026-09-05T07:06:01+00:00","period_end":"2026-10-05T07:06:01+00:00","since":"2026-09-05T07:06:01+00:00","ended_at":"2026-09-11T07:30:02+00:00","ended_reason":"never_captured","cancel_at_period_end":false,"refunded_amount":0,"uncaptured_at":"2026-09-11T07:30:02+00:00","created_at":"2026-09-05T07:05:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000042","user_id":"aaaaaaaa-0000-4000-8000-000000000025","amount":9900,"currency":"INR","status":"captured","tier":"gold","gateway_order_id":"order_yash","gateway_payment_id":"pay_yash","meta":{"tier": "gold"},"captured_at":"2026-09-17T10:06:01+00:00","confirmed_at":"2026-09-17T10:06:01+00:00","since":"2026-09-17T10:05:00+00:00","cancel_at_period_end":false,"refunded_amount":0,"next_reconcile_at":"2026-09-17T10:20:00+00:00","created_at":"2026-09-17T10:05:00+00:00"}
]$_$);

insert into public.plans overriding system value
select *
from jsonb_populate_recordset(null::public.plans, $_$[
{"id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","name":"Basic","price":9900,"currency":"INR","duration_months":1,"features":["All core features", "E-mail support"],"is_active":true,"grace_days":3,"gateway_plan_id":"plan_basic","created_at":"2026-10-31T12:00:00+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000014","tier":"premium","name":"Premium","price":199900,"currency":"INR","duration_months":12,"features":["Everything in Pro", "Unlimited projects", "A person to call"],"is_active":true,"grace_days":3,"created_at":"2026-10-31T12:00:00+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000002","tier":"pro","name":"Pro","price":99900,"currency":"INR","duration_months":12,"features":["Everything in Basic", "Analytics", "Priority support"],"is_active":true,"grace_days":3,"created_at":"2026-10-31T12:00:00+00:00"}
]$_$);

insert into public.profiles overriding system value
select *
from jsonb_populate_recordset(null::public.profiles, $_$[
{"user_id":"aaaaaaaa-0000-4000-8000-000000000001","subscription_tier":"pro","username":"asha","created_at":"2026-10-26T09:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000002","subscription_tier":"pro","username":"bela","created_at":"2026-08-12T08:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000003","subscription_tier":"basic","username":"chand","created_at":"2026-08-01T10:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000004","subscription_tier":"premium","username":"dev","created_at":"2026-09-10T10:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000005","subscription_tier":"free","username":"esha","created_at":"2026-10-31T09:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000006","subscription_tier":"basic","username":"farid","created_at":"2026-08-15T00:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000007","subscription_tier":"free","username":"gita","created_at":"2026-09-05T09:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000008","subscription_tier":"basic","username":"hari","created_at":"2026-10-01T00:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000009","subscription_tier":"free","username":"isha","created_at":"2026-09-10T00:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000010","subscription_tier":"basic","username":"jaya","created_at":"2026-10-03T12:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000011","subscription_tier":"premium","username":"kiran","created_at":"2026-09-04T12:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000012","subscription_tier":"premium","username":"lata","created_at":"2026-09-14T10:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000013","subscription_tier":"free","username":"mohan","created_at":"2026-07-20T00:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000014","subscription_tier":"pro","username":"nora","created_at":"2026-09-15T09:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000015","subscription_tier":"pro","username":"omar","created_at":"2026-09-07T09:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000016","subscription_tier":"free","username":"pia","created_at":"2026-09-08T09:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000017","subscription_tier":"pro","username":"qadir","created_at":"2026-09-11T09:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000018","subscription_tier":"basic","username":"rhea","created_at":"2026-10-21T09:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000019","subscription_tier":"pro","username":"sara","created_at":"2026-10-28T10:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000020","subscription_tier":"basic","username":"tara","created_at":"2026-10-31T11:50:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000021","subscription_tier":"free","username":"uma","created_at":"2026-09-01T07:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000022","subscription_tier":"free","username":"vani","created_at":"2026-09-05T07:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000025","subscription_tier":"free","username":"yash","created_at":"2026-09-17T10:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000026","subscription_tier":"pro","username":"zara","created_at":"2026-09-16T10:00:00+00:00"}
]$_$);

insert into public.subscriptions overriding system value
select *
from jsonb_populate_recordset(null::public.subscriptions, $_$[
{"id":"bbbbbbbb-0000-4000-8000-000000000004","user_id":"aaaaaaaa-0000-4000-8000-000000000001","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","tier":"pro","status":"active","current_period_start":"2026-10-26T09:06:01+00:00","current_period_end":"2027-10-26T09:06:01+00:00","cancel_at_period_end":false,"revision":1,"created_at":"2026-10-26T09:06:01+00:00","updated_at":"2026-10-26T09:06:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000006","user_id":"aaaaaaaa-0000-4000-8000-000000000002","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","tier":"pro","status":"active","current_period_start":"2026-08-12T08:25:02+00:00","current_period_end":"2027-08-12T08:25:02+00:00","cancel_at_period_end":false,"revision":1,"created_at":"2026-08-12T08:25:02+00:00","updated_at":"2026-08-12T08:25:02+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000008","user_id":"aaaaaaaa-0000-4000-8000-000000000003","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"active","current_period_start":"2026-08-01T10:06:01+00:00","current_period_end":"2026-11-01T10:06:01+00:00","cancel_at_period_end":false,"revision":4,"created_at":"2026-08-01T10:06:01+00:00","updated_at":"2026-09-29T10:01:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000013","user_id":"aaaaaaaa-0000-4000-8000-000000000004","plan_id":"bbbbbbbb-0000-4000-8000-000000000014","tier":"premium","status":"active","current_period_start":"2026-09-10T10:09:01+00:00","current_period_end":"2027-09-10T10:09:01+00:00","cancel_at_period_end":false,"revision":1,"created_at":"2026-09-10T10:09:01+00:00","updated_at":"2026-09-10T10:09:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000043","user_id":"aaaaaaaa-0000-4000-8000-000000000006","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"active","current_period_start":"2026-10-15T00:00:00+00:00","current_period_end":"2026-11-15T00:00:00+00:00","cancel_at_period_end":false,"gateway_subscription_id":"sub_farid","revision":3,"created_at":"2026-08-15T00:01:01+00:00","updated_at":"2026-10-15T00:02:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000018","user_id":"aaaaaaaa-0000-4000-8000-000000000007","plan_id":"bbbbbbbb-0000-4000-8000-000000000014","tier":"premium","status":"cancelled","current_period_start":"2026-09-05T09:06:01+00:00","current_period_end":"2027-09-05T09:06:01+00:00","cancelled_at":"2026-09-09T15:00:01+00:00","cancel_at_period_end":false,"ended_reason":"refunded","revision":2,"created_at":"2026-09-05T09:06:01+00:00","updated_at":"2026-09-09T15:00:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000044","user_id":"aaaaaaaa-0000-4000-8000-000000000008","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"active","current_period_start":"2026-10-01T00:00:00+00:00","current_period_end":"2026-11-01T00:00:00+00:00","cancel_at_period_end":true,"gateway_subscription_id":"sub_hari","revision":2,"created_at":"2026-10-01T00:01:01+00:00","updated_at":"2026-10-10T00:00:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000045","user_id":"aaaaaaaa-0000-4000-8000-000000000009","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"cancelled","current_period_start":"2026-10-10T00:00:00+00:00","current_period_end":"2026-10-10T00:00:00+00:00","cancelled_at":"2026-10-12T00:00:01+00:00","cancel_at_period_end":false,"ended_reason":"refunded","gateway_subscription_id":"sub_isha","revision":4,"created_at":"2026-09-10T00:01:01+00:00","updated_at":"2026-10-12T00:00:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000020","user_id":"aaaaaaaa-0000-4000-8000-000000000010","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"active","current_period_start":"2026-10-03T12:06:01+00:00","current_period_end":"2026-11-03T12:06:01+00:00","cancel_at_period_end":true,"revision":2,"created_at":"2026-10-03T12:06:01+00:00","updated_at":"2026-10-20T12:00:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000022","user_id":"aaaaaaaa-0000-4000-8000-000000000011","plan_id":"bbbbbbbb-0000-4000-8000-000000000014","tier":"premium","status":"active","current_period_start":"2026-09-04T12:06:01+00:00","current_period_end":"2027-09-04T12:06:01+00:00","cancel_at_period_end":false,"revision":3,"created_at":"2026-09-04T12:06:01+00:00","updated_at":"2026-09-06T12:00:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000046","user_id":"aaaaaaaa-0000-4000-8000-000000000012","plan_id":"bbbbbbbb-0000-4000-8000-000000000014","tier":"premium","status":"active","current_period_start":"2026-09-14T10:05:00+00:00","current_period_end":"2027-01-01T00:00:00+00:00","cancel_at_period_end":false,"revision":3,"created_at":"2026-09-14T10:05:00+00:00","updated_at":"2026-09-15T10:01:00+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000047","user_id":"aaaaaaaa-0000-4000-8000-000000000013","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"cancelled","current_period_start":"2026-08-20T00:00:00+00:00","current_period_end":"2026-09-20T00:00:00+00:00","cancelled_at":"2026-09-05T00:00:01+00:00","cancel_at_period_end":false,"ended_reason":"cancelled","gateway_subscription_id":"sub_mohan","revision":3,"created_at":"2026-07-20T00:01:01+00:00","updated_at":"2026-09-05T00:00:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000024","user_id":"aaaaaaaa-0000-4000-8000-000000000014","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","tier":"pro","status":"active","current_period_start":"2026-09-15T09:06:01+00:00","current_period_end":"2027-09-15T09:06:01+00:00","cancel_at_period_end":false,"revision":1,"created_at":"2026-09-15T09:06:01+00:00","updated_at":"2026-09-15T09:06:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000026","user_id":"aaaaaaaa-0000-4000-8000-000000000015","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","tier":"pro","status":"active","current_period_start":"2026-09-07T09:06:01+00:00","current_period_end":"2027-09-07T09:06:01+00:00","cancel_at_period_end":false,"revision":1,"created_at":"2026-09-07T09:06:01+00:00","updated_at":"2026-09-07T09:06:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000028","user_id":"aaaaaaaa-0000-4000-8000-000000000016","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","tier":"pro","status":"cancelled","current_period_start":"2026-09-08T09:06:01+00:00","current_period_end":"2027-09-08T09:06:01+00:00","cancelled_at":"2026-10-27T09:00:00+00:00","cancel_at_period_end":false,"ended_reason":"dispute_lost","revision":2,"created_at":"2026-09-08T09:06:01+00:00","updated_at":"2026-10-27T09:00:00+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000030","user_id":"aaaaaaaa-0000-4000-8000-000000000017","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","tier":"pro","status":"active","current_period_start":"2026-09-11T09:06:01+00:00","current_period_end":"2027-09-11T09:06:01+00:00","cancel_at_period_end":false,"revision":1,"created_at":"2026-09-11T09:06:01+00:00","updated_at":"2026-09-11T09:06:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000032","user_id":"aaaaaaaa-0000-4000-8000-000000000018","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"active","current_period_start":"2026-10-21T09:06:01+00:00","current_period_end":"2026-11-21T09:06:01+00:00","cancel_at_period_end":false,"revision":1,"created_at":"2026-10-21T09:06:01+00:00","updated_at":"2026-10-21T09:06:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000034","user_id":"aaaaaaaa-0000-4000-8000-000000000019","plan_id":"bbbbbbbb-0000-4000-8000-000000000002","tier":"pro","status":"active","current_period_start":"2026-10-28T10:06:01+00:00","current_period_end":"2027-10-28T10:06:01+00:00","cancel_at_period_end":false,"revision":1,"created_at":"2026-10-28T10:06:01+00:00","updated_at":"2026-10-28T10:06:01+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000036","user_id":"aaaaaaaa-0000-4000-8000-000000000020","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"active","current_period_start":"2026-10-31T11:59:31+00:00","current_period_end":"2026-11-30T11:59:31+00:00","cancel_at_period_end":false,"revision":2,"created_at":"2026-10-31T11:58:51+00:00","updated_at":"2026-10-31T11:59:31+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000039","user_id":"aaaaaaaa-0000-4000-8000-000000000021","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"cancelled","current_period_start":"2026-09-01T07:06:01+00:00","current_period_end":"2026-10-01T07:06:01+00:00","cancelled_at":"2026-10-01T07:06:01+00:00","cancel_at_period_end":false,"ended_reason":"lapsed","revision":2,"created_at":"2026-09-01T07:06:01+00:00","updated_at":"2026-10-10T00:00:00+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000041","user_id":"aaaaaaaa-0000-4000-8000-000000000022","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","tier":"basic","status":"cancelled","current_period_start":"2026-09-05T07:06:01+00:00","current_period_end":"2026-10-05T07:06:01+00:00","cancelled_at":"2026-09-11T07:30:02+00:00","cancel_at_period_end":false,"ended_reason":"never_captured","revision":2,"created_at":"2026-09-05T07:06:01+00:00","updated_at":"2026-09-11T07:30:02+00:00"},
{"id":"bbbbbbbb-0000-4000-8000-000000000048","user_id":"aaaaaaaa-0000-4000-8000-000000000026","tier":"pro","status":"active","current_period_start":"2026-09-16T00:00:00+00:00","current_period_end":"2027-09-16T00:00:00+00:00","cancel_at_period_end":false,"revision":0,"created_at":"2026-09-16T10:05:00+00:00","updated_at":"2026-09-16T10:05:00+00:00"}
]$_$);

insert into private.alerts overriding system value
select *
from jsonb_populate_recordset(null::private.alerts, $_$[
{"kind":"missed_webhook","subject_id":"order_bela","message":"No webhook announced payment.captured: your webhook endpoint is probably switched off at the gateway.","raised_at":"2026-08-12T08:25:02+00:00"}
]$_$);

insert into private.announced_ends overriding system value
select *
from jsonb_populate_recordset(null::private.announced_ends, $_$[
{"is_only":true,"until":"2026-11-07T12:00:00+00:00"}
]$_$);

insert into private.deleted_users overriding system value
select *
from jsonb_populate_recordset(null::private.deleted_users, $_$[
{"user_id":"aaaaaaaa-0000-4000-8000-000000000024","deleted_at":"2026-10-25T10:00:00+00:00"},
{"user_id":"f0ae2639-03ce-078a-9a07-a07768810dc7","deleted_at":"2026-07-10T10:00:00+00:00","erased_at":"2026-10-10T00:00:00+00:00"}
]$_$);

insert into private.extra_payments overriding system value
select *
from jsonb_populate_recordset(null::private.extra_payments, $_$[
{"payment_id":"bbbbbbbb-0000-4000-8000-000000000029","gateway_payment_id":"pay_qadir_2","paid_at":"2026-09-11T09:08:01+00:00","confirmed_at":"2026-09-11T09:08:01+00:00","refunded_amount":99900,"created_at":"2026-09-11T09:08:01+00:00"},
{"payment_id":"bbbbbbbb-0000-4000-8000-000000000031","gateway_payment_id":"pay_rhea_2","paid_at":"2026-10-21T09:08:01+00:00","confirmed_at":"2026-10-21T09:08:06+00:00","refunded_amount":0,"created_at":"2026-10-21T09:08:01+00:00"}
]$_$);

insert into private.gateway_charges overriding system value
select *
from jsonb_populate_recordset(null::private.gateway_charges, $_$[
{"user_id":"aaaaaaaa-0000-4000-8000-000000000006","gateway_subscription_id":"sub_farid","period_end":"2026-09-15T00:00:00+00:00","period_start":"2026-08-15T00:00:00+00:00","gateway_payment_id":"pay_farid_1","amount":9900,"refunded_amount":0,"charged_at":"2026-08-15T00:02:00.999999+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000006","gateway_subscription_id":"sub_farid","period_end":"2026-10-15T00:00:00+00:00","period_start":"2026-09-15T00:00:00+00:00","gateway_payment_id":"pay_farid_2","amount":9900,"refunded_amount":0,"charged_at":"2026-09-15T00:02:00.999999+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000006","gateway_subscription_id":"sub_farid","period_end":"2026-11-15T00:00:00+00:00","period_start":"2026-10-15T00:00:00+00:00","gateway_payment_id":"pay_farid_3","amount":9900,"refunded_amount":0,"charged_at":"2026-10-15T00:02:00.999999+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000008","gateway_subscription_id":"sub_hari","period_end":"2026-11-01T00:00:00+00:00","period_start":"2026-10-01T00:00:00+00:00","gateway_payment_id":"pay_hari","amount":9900,"refunded_amount":0,"charged_at":"2026-10-01T00:02:00.999999+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000009","gateway_subscription_id":"sub_isha","period_end":"2026-10-10T00:00:00+00:00","period_start":"2026-09-10T00:00:00+00:00","gateway_payment_id":"pay_isha_1","amount":9900,"refunded_amount":0,"charged_at":"2026-09-10T00:02:00.999999+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000009","gateway_subscription_id":"sub_isha","period_end":"2026-11-10T00:00:00+00:00","period_start":"2026-10-10T00:00:00+00:00","gateway_payment_id":"pay_isha_2","amount":9900,"refunded_amount":9900,"charged_at":"2026-10-10T00:02:00.999999+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000013","gateway_subscription_id":"sub_mohan","period_end":"2026-08-20T00:00:00+00:00","period_start":"2026-07-20T00:00:00+00:00","gateway_payment_id":"pay_mohan_1","amount":9900,"refunded_amount":0,"charged_at":"2026-07-20T00:02:00.999999+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000013","gateway_subscription_id":"sub_mohan","period_end":"2026-09-20T00:00:00+00:00","period_start":"2026-08-20T00:00:00+00:00","gateway_payment_id":"pay_mohan_2","amount":9900,"refunded_amount":0,"charged_at":"2026-08-20T00:02:00.999999+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000024","gateway_subscription_id":"sub_xena","period_end":"2026-11-18T00:00:00+00:00","period_start":"2026-10-18T00:00:00+00:00","gateway_payment_id":"pay_xena","amount":9900,"refunded_amount":0,"charged_at":"2026-10-18T00:02:00.999999+00:00"}
]$_$);

insert into private.gateway_events overriding system value
select *
from jsonb_populate_recordset(null::private.gateway_events, $_$[
{"body_sha256":"\\x01cdf42254a1c087eda6534efeec7a759341be60e4f2dcd12985a72cf0e7c05a","event_id":"evt_01cdf42254a1c0","event":"payment.captured","subject_id":"order_sara","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_sara", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_sara"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1793181965},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-28T10:06:06+00:00"},
{"body_sha256":"\\x1cf57a76aef5dbee5cce0ea1a53721dbe208f6eee0c3424389df032a571dd4e5","event_id":"evt_1cf57a76aef5db","event":"subscription.charged","subject_id":"sub_farid","event_at":"2026-10-15T00:02:00+00:00","payload":{"event": "subscription.charged", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_farid_3", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null}}, "subscription": {"entity": {"id": "sub_farid", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000006"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1794700800, "current_start": 1792022400}}}, "contains": ["subscription", "payment"], "account_id": "acc_sample", "created_at": 1792022520},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-15T00:02:01+00:00"},
{"body_sha256":"\\x3f1fdd914d5b625a9e0e2a87b26636da4bc21116b07f4da31e1963071f1a4dcb","event_id":"evt_3f1fdd914d5b62","event":"payment.dispute.lost","subject_id":"order_pia","payload":{"event": "payment.dispute.lost", "entity": "event", "payload": {"dispute": {"entity": {"id": "disp_pia", "entity": "dispute", "status": "lost", "payment_id": "pay_pia"}}, "payment": {"entity": {"id": "pay_pia", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_pia"}}}, "contains": ["payment", "dispute"], "account_id": "acc_sample", "created_at": 1793007000},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-26T09:30:01+00:00"},
{"body_sha256":"\\x3f5a5a147092c48f6ae6bdf9c70413c06403ef1d0792e27448cd0ae824931991","event_id":"evt_3f5a5a147092c4","event":"payment.dispute.created","subject_id":"order_omar","payload":{"event": "payment.dispute.created", "entity": "event", "payload": {"dispute": {"entity": {"id": "disp_omar", "entity": "dispute", "status": "open", "payment_id": "pay_omar"}}, "payment": {"entity": {"id": "pay_omar", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_omar"}}}, "contains": ["payment", "dispute"], "account_id": "acc_sample", "created_at": 1789902000},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-20T11:00:01+00:00"},
{"body_sha256":"\\x4ada94fef5c567a6c1be53649e0b079fafe404a8fe4719203732f39dd05831e5","event_id":"evt_4ada94fef5c567","event":"payment.captured","subject_id":"order_nora","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_nora", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_nora"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1789463160},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-15T09:06:01+00:00"},
{"body_sha256":"\\x4cfdaa146c0cfa31d011477feff92eb2aebd17976075d0631b395dd9e58b672f","event_id":"evt_4cfdaa146c0cfa","event":"payment.captured","subject_id":"order_asha","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_asha", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_asha"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1793005565},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-26T09:06:06+00:00"},
{"body_sha256":"\\x4efb9b42450619d67bdf15f3dae0ab40c1e30ac8983f619305f510381a72141f","event_id":"evt_4efb9b42450619","event":"subscription.charged","subject_id":"sub_xena","event_at":"2026-10-18T00:02:00+00:00","payload":{"event": "subscription.charged", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_xena", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null}}, "subscription": {"entity": {"id": "sub_xena", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000024"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1794960000, "current_start": 1792281600}}}, "contains": ["subscription", "payment"], "account_id": "acc_sample", "created_at": 1792281720},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-18T00:02:01+00:00"},
{"body_sha256":"\\x5bda79312ce08dfc3dd68075b9836731edf2be3c4eede730f9cbf72b2f92fb27","event_id":"evt_5bda79312ce08d","event":"subscription.activated","subject_id":"sub_isha","event_at":"2026-09-10T00:01:00+00:00","payload":{"event": "subscription.activated", "entity": "event", "payload": {"subscription": {"entity": {"id": "sub_isha", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000009"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1791590400, "current_start": 1788998400}}}, "contains": ["subscription"], "account_id": "acc_sample", "created_at": 1788998460},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-10T00:01:01+00:00"},
{"body_sha256":"\\x5c00f993869d584a37edba93ab2c6a0377c3d2787c08bdd19fc982625c960ee2","event_id":"evt_5c00f993869d58","event":"refund.processed","subject_id":"order_qadir","payload":{"event": "refund.processed", "entity": "event", "payload": {"refund": {"entity": {"id": "rfnd_qadir_2", "amount": 99900, "entity": "refund", "status": "processed", "currency": "INR", "payment_id": "pay_qadir_2"}}, "payment": {"entity": {"id": "pay_qadir_2", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_qadir", "amount_refunded": 99900}}}, "contains": ["payment", "refund"], "account_id": "acc_sample", "created_at": 1789290000},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-13T09:00:01+00:00"},
{"body_sha256":"\\x6d18b27cc18541bbc6ab29315b1c58bab8efbc75624d0bee57c577f8989ae162","event_id":"evt_6d18b27cc18541","event":"subscription.charged","subject_id":"sub_farid","event_at":"2026-09-15T00:02:00+00:00","payload":{"event": "subscription.charged", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_farid_2", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null}}, "subscription": {"entity": {"id": "sub_farid", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000006"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1792022400, "current_start": 1789430400}}}, "contains": ["subscription", "payment"], "account_id": "acc_sample", "created_at": 1789430520},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-15T00:02:01+00:00"},
{"body_sha256":"\\x6f5eb77206ad8fe75d7ff4fb812ab22d6f16ee23c6b8bad25de8303541d44b5e","event_id":"evt_6f5eb77206ad8f","event":"subscription.activated","subject_id":"sub_hari","event_at":"2026-10-01T00:01:00+00:00","payload":{"event": "subscription.activated", "entity": "event", "payload": {"subscription": {"entity": {"id": "sub_hari", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000008"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1793491200, "current_start": 1790812800}}}, "contains": ["subscription"], "account_id": "acc_sample", "created_at": 1790812860},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-01T00:01:01+00:00"},
{"body_sha256":"\\x7bca8a348962a796e146cfed4dfaff86a691a3f7d4a96e83daf9cf31dd036d41","event_id":"evt_7bca8a348962a7","event":"payment.captured","subject_id":"order_kiran","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_kiran", "notes": [], "amount": 199900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_kiran"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1788523565},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-04T12:06:06+00:00"},
{"body_sha256":"\\x7e661df93b4cdaaeb183db2f6d14f2f4cb5d7c86b63212cd8f0aed6e0067553b","event_id":"evt_7e661df93b4cda","event":"subscription.charged","subject_id":"sub_mohan","event_at":"2026-07-20T00:02:00+00:00","outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-07-20T00:02:01+00:00"},
{"body_sha256":"\\x9a12dcf5dee94421de93d311b2c980f2b97ef4d6d2fdc5083b4044f9dd37bf3f","event_id":"evt_9a12dcf5dee944","event":"payment.captured","subject_id":"order_unknown","reduce_at":"2026-11-01T08:00:01+00:00","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_unknown", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_unknown"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1793433600},"outcome":"unmatched","deliveries":1,"attempts":1,"received_at":"2026-10-31T08:00:01+00:00"},
{"body_sha256":"\\x52a929acecd8e4db78ef76cd87e4a3f50ad3f3bf866a66bb1548561ca7eedd0d","event_id":"reconcile:pay_bela:captured","event":"payment.captured","subject_id":"order_bela","payload":{"event": "payment.captured", "payload": {"payment": {"entity": {"id": "pay_bela", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_bela"}}}},"outcome":"applied","deliveries":0,"attempts":1,"received_at":"2026-08-12T08:25:02+00:00"},
{"body_sha256":"\\x60fd8ad76d63702bc71ecd5eeeab2da067573fefff995cb52be6a81f00778f34","event_id":"evt_60fd8ad76d6370","event":"refund.processed","subject_id":"order_gita","payload":{"event": "refund.processed", "entity": "event", "payload": {"refund": {"entity": {"id": "rfnd_gita", "amount": 199900, "entity": "refund", "status": "processed", "currency": "INR", "payment_id": "pay_gita"}}, "payment": {"entity": {"id": "pay_gita", "notes": [], "amount": 199900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_gita", "amount_refunded": 199900}}}, "contains": ["payment", "refund"], "account_id": "acc_sample", "created_at": 1788966000},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-09T15:00:01+00:00"},
{"body_sha256":"\\x95e24a0921bac4244bf27dc95418ae7727a3a35cdc63a308c33e3b8aca41903b","event_id":"evt_95e24a0921bac4","event":"payment.captured","subject_id":"order_qadir","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_qadir_2", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_qadir"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1789117680},"outcome":"already","deliveries":1,"attempts":1,"received_at":"2026-09-11T09:08:01+00:00"},
{"body_sha256":"\\x99d398b107b653e97f425ec52c8052230ab61af2451d40069825d5b894a9a682","event_id":"evt_99d398b107b653","event":"payment.captured","subject_id":"order_wali","outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-07-05T10:06:01+00:00"},
{"body_sha256":"\\x393e1047adee69a7c3eed30d350096b33055734873eda4149d6bbd19cc3e53d4","event_id":"evt_393e1047adee69","event":"payment.captured","subject_id":"order_qadir","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_qadir", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_qadir"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1789117565},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-11T09:06:06+00:00"},
{"body_sha256":"\\x621b350709b689bb047929b5f1d7e61c128a71e64d859a6f04e2d2d6de6f8723","event_id":"evt_621b350709b689","event":"subscription.activated","subject_id":"sub_farid","event_at":"2026-08-15T00:01:00+00:00","payload":{"event": "subscription.activated", "entity": "event", "payload": {"subscription": {"entity": {"id": "sub_farid", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000006"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1789430400, "current_start": 1786752000}}}, "contains": ["subscription"], "account_id": "acc_sample", "created_at": 1786752060},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-08-15T00:01:01+00:00"},
{"body_sha256":"\\x661aa6255378abbc8a0c8cfdae707694b86f58e26a82c111ecaa020c0d690a9e","event_id":"evt_661aa6255378ab","event":"subscription.charged","subject_id":"sub_mohan","event_at":"2026-08-20T00:02:00+00:00","payload":{"event": "subscription.charged", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_mohan_2", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null}}, "subscription": {"entity": {"id": "sub_mohan", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000013"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1789862400, "current_start": 1787184000}}}, "contains": ["subscription", "payment"], "account_id": "acc_sample", "created_at": 1787184120},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-08-20T00:02:01+00:00"},
{"body_sha256":"\\x661d6b5d375b1d2d6faf895d270c2177eea60fc6d829f8f2e285776ab9e04b39","event_id":"evt_661d6b5d375b1d","event":"payment.captured","subject_id":"order_gita","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_gita", "notes": [], "amount": 199900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_gita"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1788599165},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-05T09:06:06+00:00"},
{"body_sha256":"\\x824c8fd9eff6deec7a9bac6975d432766f3f0b0bcaaad10fa9c823827f5a968b","event_id":"evt_824c8fd9eff6de","event":"payment.dispute.created","subject_id":"order_nora","payload":{"event": "payment.dispute.created", "entity": "event", "payload": {"dispute": {"entity": {"id": "disp_nora", "entity": "dispute", "status": "open", "payment_id": "pay_nora"}}, "payment": {"entity": {"id": "pay_nora", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_nora"}}}, "contains": ["payment", "dispute"], "account_id": "acc_sample", "created_at": 1792486800},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-20T09:00:01+00:00"},
{"body_sha256":"\\x853d75e409d19a02310f51ca818f628d21a6cb44ec3218e114b0cb04cf807d27","event_id":"evt_853d75e409d19a","event":"subscription.charged","subject_id":"sub_isha","event_at":"2026-10-10T00:02:00+00:00","payload":{"event": "subscription.charged", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_isha_2", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null}}, "subscription": {"entity": {"id": "sub_isha", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000009"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1794268800, "current_start": 1791590400}}}, "contains": ["subscription", "payment"], "account_id": "acc_sample", "created_at": 1791590520},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-10T00:02:01+00:00"},
{"body_sha256":"\\x1103f766a8e03aa1ba6c1da746246e6ae4345038f72afcc44fe0e33d92613c86","event_id":"evt_1103f766a8e03a","event":"refund.created","subject_id":"order_gita","payload":{"event": "refund.created", "entity": "event", "payload": {"refund": {"entity": {"id": "rfnd_gita", "amount": 199900, "entity": "refund", "status": "pending", "currency": "INR", "payment_id": "pay_gita"}}, "payment": {"entity": {"id": "pay_gita", "notes": [], "amount": 199900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_gita", "amount_refunded": 199900}}}, "contains": ["payment", "refund"], "account_id": "acc_sample", "created_at": 1788944400},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-09T09:00:01+00:00"},
{"body_sha256":"\\x6281f988a36455eb8465f607ec0533a1d25f918293a71c9748a9e96eccd6ff08","event_id":"evt_6281f988a36455","event":"payment.captured","subject_id":"order_omar","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_omar", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_omar"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1788771965},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-07T09:06:06+00:00"},
{"body_sha256":"\\x6284ac31e77007aebd25794a600026484e630b2338fe06b79b7b18b14d6a9238","event_id":"evt_6284ac31e77007","event":"subscription.charged","subject_id":"sub_isha","event_at":"2026-09-10T00:02:00+00:00","payload":{"event": "subscription.charged", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_isha_1", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null}}, "subscription": {"entity": {"id": "sub_isha", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000009"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1791590400, "current_start": 1788998400}}}, "contains": ["subscription", "payment"], "account_id": "acc_sample", "created_at": 1788998520},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-10T00:02:01+00:00"},
{"body_sha256":"\\x7471cdf3996c5381ef751419dfece4f95a12a195256d9af1f0092d6544d6ed11","event_id":"evt_7471cdf3996c53","event":"payment.captured","subject_id":"order_chand_2","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_chand_2", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_chand_2"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1787911265},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-08-28T10:01:06+00:00"},
{"body_sha256":"\\xa71601c5ed168cb10de3471fed1b9cdb9490b41d30a644466d3cfae04916f9ff","event_id":"evt_a71601c5ed168c","event":"subscription.charged","subject_id":"sub_hari","event_at":"2026-10-01T00:02:00+00:00","payload":{"event": "subscription.charged", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_hari", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null}}, "subscription": {"entity": {"id": "sub_hari", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000008"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1793491200, "current_start": 1790812800}}}, "contains": ["subscription", "payment"], "account_id": "acc_sample", "created_at": 1790812920},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-01T00:02:01+00:00"},
{"body_sha256":"\\xacdbfcf83b31e1323b3c8bafd84a2c88ed9aa6f6c7cffdadd21478a9c295841b","event_id":"evt_acdbfcf83b31e1","event":"payment.captured","subject_id":"order_pia","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_pia", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_pia"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1788858365},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-08T09:06:06+00:00"},
{"body_sha256":"\\xb0e3674ea9454295500c9bc6dda8e71f3c1e10aaa2aed4d7eae72d088ac3d083","event_id":"evt_b0e3674ea94542","event":"payment.captured","subject_id":"order_yash","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_yash", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_yash"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1789639560},"outcome":"plan_not_found","deliveries":1,"attempts":1,"received_at":"2026-09-17T10:06:01+00:00"},
{"body_sha256":"\\xba03061ab3fed111aaa4e583f1965ff25b396f10ff0c451127068a5bb786a1d2","event_id":"evt_ba03061ab3fed1","event":"payment.captured","subject_id":"order_uma","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_uma", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_uma"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1788246365},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-01T07:06:06+00:00"},
{"body_sha256":"\\xc75f0e604705ba63c32314378286be2ea9ae9afef9108b54c09db32602840c9f","event_id":"evt_c75f0e604705ba","event":"subscription.charged","subject_id":"sub_farid","event_at":"2026-08-15T00:02:00+00:00","payload":{"event": "subscription.charged", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_farid_1", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null}}, "subscription": {"entity": {"id": "sub_farid", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000006"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1789430400, "current_start": 1786752000}}}, "contains": ["subscription", "payment"], "account_id": "acc_sample", "created_at": 1786752120},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-08-15T00:02:01+00:00"},
{"body_sha256":"\\xc0316db0f023823dd339d6187d37424599ab0423c32ee1229bbaa3f04925a626","event_id":"evt_c0316db0f02382","event":"payment.captured","subject_id":"order_chand_1","outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-08-01T10:06:06+00:00"},
{"body_sha256":"\\xc2792be4997579ed2d2299f3192a917420a5cc4ebe4de92b14d7b30f9f30c4be","event_id":"evt_c2792be4997579","event":"subscription.activated","subject_id":"sub_zoya","event_at":"2026-10-31T08:05:00+00:00","reduce_at":"2026-11-01T08:05:01+00:00","payload":{"event": "subscription.activated", "entity": "event", "payload": {"subscription": {"entity": {"id": "sub_zoya", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000027"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1795996800, "current_start": 1793404800}}}, "contains": ["subscription"], "account_id": "acc_sample", "created_at": 1793433900},"outcome":"unmatched","deliveries":1,"attempts":1,"received_at":"2026-10-31T08:05:01+00:00"},
{"body_sha256":"\\xc15371da8c46efb54baf8dc42c310385980d60e2eb8ccc18648ea80d2c29ec45","event_id":"evt_c15371da8c46ef","event":"refund.processed","subject_id":"order_nora","payload":{"event": "refund.processed", "entity": "event", "payload": {"refund": {"entity": {"id": "rfnd_nora", "amount": 20000, "entity": "refund", "status": "processed", "currency": "INR", "payment_id": "pay_nora"}}, "payment": {"entity": {"id": "pay_nora", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_nora", "amount_refunded": 20000}}}, "contains": ["payment", "refund"], "account_id": "acc_sample", "created_at": 1789894800},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-20T09:00:01+00:00"},
{"body_sha256":"\\xcc34d64b80f8bd2997f59e301b54c114b8aa7fae09c4f409b709e916abef7647","event_id":"evt_cc34d64b80f8bd","event":"subscription.activated","subject_id":"sub_xena","event_at":"2026-10-18T00:01:00+00:00","payload":{"event": "subscription.activated", "entity": "event", "payload": {"subscription": {"entity": {"id": "sub_xena", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000024"}, "entity": "subscription", "status": "active", "plan_id": "plan_basic", "current_end": 1794960000, "current_start": 1792281600}}}, "contains": ["subscription"], "account_id": "acc_sample", "created_at": 1792281660},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-18T00:01:01+00:00"},
{"body_sha256":"\\xde736b4cce78f49fbbff332ce19c4eecbcf1bd51c34a4a6f5737f8e8f7ef1659","event_id":"evt_de736b4cce78f4","event":"subscription.activated","subject_id":"sub_mohan","event_at":"2026-07-20T00:01:00+00:00","outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-07-20T00:01:01+00:00"},
{"body_sha256":"\\xdff0a6c2936800755a8614b907ab16ad72c3fb1a82a09e75a540d44c421345de","event_id":"evt_dff0a6c2936800","event":"subscription.cancelled","subject_id":"sub_mohan","event_at":"2026-09-05T00:00:00+00:00","payload":{"event": "subscription.cancelled", "entity": "event", "payload": {"subscription": {"entity": {"id": "sub_mohan", "notes": {"user_id": "aaaaaaaa-0000-4000-8000-000000000013"}, "entity": "subscription", "status": "cancelled", "plan_id": "plan_basic", "current_end": 1789862400, "current_start": 1787184000}}}, "contains": ["subscription"], "account_id": "acc_sample", "created_at": 1788566400},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-05T00:00:01+00:00"},
{"body_sha256":"\\xe6c339e379f2d84ab4a071b26f5f886e18c661659b0a4fcc7e10e3b8f13fceab","event_id":"evt_e6c339e379f2d8","event":"payment.captured","subject_id":"order_rhea","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_rhea", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_rhea"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1792573565},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-21T09:06:06+00:00"},
{"body_sha256":"\\xe9df407c1078e07b4a19e9a039c66038482d5afaf897c7d24d534cf4fc56b935","event_id":"evt_e9df407c1078e0","event":"payment.failed","subject_id":"order_dev","payload":{"event": "payment.failed", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_dev_failed", "notes": [], "amount": 199900, "entity": "payment", "method": "upi", "status": "failed", "captured": false, "currency": "INR", "order_id": "order_dev", "error_code": "BAD_REQUEST_ERROR", "error_reason": "payment_failed", "error_description": "Your payment was declined by the bank"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1789034820},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-10T10:07:01+00:00"},
{"body_sha256":"\\xed871cf041e74ea5127b69319a0725445482deabe4006dff504e5aba55637857","event_id":"evt_ed871cf041e74e","event":"payment.captured","subject_id":"order_dev","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_dev", "notes": [], "amount": 199900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_dev"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1789034940},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-10T10:09:01+00:00"},
{"body_sha256":"\\xefd7de637f9101a09a8ac2321369b35bdffbdf04987b24c61ade942dd85ff1aa","event_id":"evt_efd7de637f9101","event":"payment.dispute.lost","subject_id":"order_omar","payload":{"event": "payment.dispute.lost", "entity": "event", "payload": {"dispute": {"entity": {"id": "disp_omar", "entity": "dispute", "status": "lost", "payment_id": "pay_omar"}}, "payment": {"entity": {"id": "pay_omar", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_omar"}}}, "contains": ["payment", "dispute"], "account_id": "acc_sample", "created_at": 1792918800},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-25T09:00:01+00:00"},
{"body_sha256":"\\xf3db9f20d2b48e488071af587dd698c4137f8cde59eafb82074e3b797ddebbee","event_id":"evt_f3db9f20d2b48e","event":"payment.captured","subject_id":"order_rhea","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_rhea_2", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_rhea"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1792573685},"outcome":"already","deliveries":1,"attempts":1,"received_at":"2026-10-21T09:08:06+00:00"},
{"body_sha256":"\\xf5d39ca485f167cd9b8d76e693e59d5ac89962bc9fcaf3cf081a3541cb6012ab","event_id":"evt_f5d39ca485f167","event":"payment.captured","subject_id":"order_chand_3","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_chand_3", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_chand_3"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1790676050},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-09-29T10:00:51+00:00"},
{"body_sha256":"\\xf86ea3bf55cc7087e61c845eab0e5582b57dfea3930d2a873eec8b36cdce2a4d","event_id":"evt_f86ea3bf55cc70","event":"refund.processed","subject_id":"pay_isha_2","payload":{"event": "refund.processed", "entity": "event", "payload": {"refund": {"entity": {"id": "rfnd_isha_2", "amount": 9900, "entity": "refund", "status": "processed", "currency": "INR", "payment_id": "pay_isha_2"}}, "payment": {"entity": {"id": "pay_isha_2", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": null, "amount_refunded": 9900}}}, "contains": ["payment", "refund"], "account_id": "acc_sample", "created_at": 1791763200},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-12T00:00:01+00:00"},
{"body_sha256":"\\xfe783b67a1bdce5b3a807de410d15c41a397e236e5f36c1b41cd60a001833dc8","event_id":"evt_fe783b67a1bdce","event":"payment.failed","subject_id":"order_esha_1","payload":{"event": "payment.failed", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_esha_1_failed", "notes": [], "amount": 99900, "entity": "payment", "method": "upi", "status": "failed", "captured": false, "currency": "INR", "order_id": "order_esha_1", "error_code": "BAD_REQUEST_ERROR", "error_reason": "payment_failed", "error_description": "Your payment was declined by the bank"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1793437620},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-31T09:07:01+00:00"},
{"body_sha256":"\\xfff05f7d06b52217d35c164061d1d82e5748e9db003b20eebb16c1742bf3c322","event_id":"evt_fff05f7d06b522","event":"payment.captured","subject_id":"order_jaya","payload":{"event": "payment.captured", "entity": "event", "payload": {"payment": {"entity": {"id": "pay_jaya", "notes": [], "amount": 9900, "entity": "payment", "method": "upi", "status": "captured", "captured": true, "currency": "INR", "order_id": "order_jaya"}}}, "contains": ["payment"], "account_id": "acc_sample", "created_at": 1791029165},"outcome":"applied","deliveries":1,"attempts":1,"received_at":"2026-10-03T12:06:06+00:00"}
]$_$);

insert into private.gateway_subscriptions overriding system value
select *
from jsonb_populate_recordset(null::private.gateway_subscriptions, $_$[
{"user_id":"aaaaaaaa-0000-4000-8000-000000000006","gateway_subscription_id":"sub_farid","gateway_plan_id":"plan_basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","plan_event_at":"2026-10-15T00:02:00+00:00","status":"active","status_event_at":"2026-08-15T00:01:00+00:00","activated_event_at":"2026-08-15T00:01:00+00:00","activated_at":"2026-08-15T00:01:00.999999+00:00","first_activated_at":"2026-08-15T00:01:00.999999+00:00","first_charged_at":"2026-08-15T00:02:00.999999+00:00","period_start":"2026-10-15T00:00:00+00:00","period_end":"2026-11-15T00:00:00+00:00","period_event_at":"2026-10-15T00:02:00+00:00","has_refunds":false,"cancel_at_period_end":false,"is_replaced":false,"arrived_at":"2026-10-15T00:02:01+00:00","is_waiting":false,"next_check_at":"2026-11-14T00:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000008","gateway_subscription_id":"sub_hari","gateway_plan_id":"plan_basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","plan_event_at":"2026-10-01T00:02:00+00:00","status":"active","status_event_at":"2026-10-01T00:01:00+00:00","activated_event_at":"2026-10-01T00:01:00+00:00","activated_at":"2026-10-01T00:01:00.999999+00:00","first_activated_at":"2026-10-01T00:01:00.999999+00:00","first_charged_at":"2026-10-01T00:02:00.999999+00:00","period_start":"2026-10-01T00:00:00+00:00","period_end":"2026-11-01T00:00:00+00:00","period_event_at":"2026-10-01T00:02:00+00:00","has_refunds":false,"cancel_at_period_end":true,"is_replaced":false,"user_cancelled_at":"2026-10-10T00:00:01+00:00","arrived_at":"2026-10-01T00:02:01+00:00","is_waiting":false,"next_check_at":"2026-10-31T07:00:02+00:00","checked_at":"2026-10-31T01:00:02+00:00","gateway_status":"active"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000009","gateway_subscription_id":"sub_isha","gateway_plan_id":"plan_basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","plan_event_at":"2026-10-10T00:02:00+00:00","status":"active","status_event_at":"2026-09-10T00:01:00+00:00","activated_event_at":"2026-09-10T00:01:00+00:00","activated_at":"2026-09-10T00:01:00.999999+00:00","first_activated_at":"2026-09-10T00:01:00.999999+00:00","first_charged_at":"2026-09-10T00:02:00.999999+00:00","period_start":"2026-10-10T00:00:00+00:00","period_end":"2026-11-10T00:00:00+00:00","period_event_at":"2026-10-10T00:02:00+00:00","has_refunds":true,"paid_until":"2026-10-10T00:00:00+00:00","cancel_at_period_end":false,"is_replaced":false,"user_cancelled_at":"2026-09-20T00:00:01+00:00","arrived_at":"2026-10-10T00:02:01+00:00","is_waiting":false,"next_check_at":"2026-11-09T00:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000013","gateway_subscription_id":"sub_mohan","gateway_plan_id":"plan_basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","plan_event_at":"2026-08-20T00:02:00+00:00","status":"cancelled","status_event_at":"2026-09-05T00:00:00+00:00","cancelled_at":"2026-09-05T00:00:00.999999+00:00","cancelled_arrived_at":"2026-09-05T00:00:01+00:00","activated_event_at":"2026-07-20T00:01:00+00:00","activated_at":"2026-07-20T00:01:00.999999+00:00","first_activated_at":"2026-07-20T00:01:00.999999+00:00","first_charged_at":"2026-07-20T00:02:00.999999+00:00","period_start":"2026-08-20T00:00:00+00:00","period_end":"2026-09-20T00:00:00+00:00","period_event_at":"2026-08-20T00:02:00+00:00","has_refunds":false,"cancel_at_period_end":false,"is_replaced":false,"arrived_at":"2026-09-05T00:00:01+00:00","is_waiting":false},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000024","gateway_subscription_id":"sub_xena","gateway_plan_id":"plan_basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","plan_event_at":"2026-10-18T00:02:00+00:00","status":"active","status_event_at":"2026-10-18T00:01:00+00:00","activated_event_at":"2026-10-18T00:01:00+00:00","activated_at":"2026-10-18T00:01:00.999999+00:00","first_activated_at":"2026-10-18T00:01:00.999999+00:00","first_charged_at":"2026-10-18T00:02:00.999999+00:00","period_start":"2026-10-18T00:00:00+00:00","period_end":"2026-11-18T00:00:00+00:00","period_event_at":"2026-10-18T00:02:00+00:00","has_refunds":false,"cancel_at_period_end":false,"is_replaced":false,"arrived_at":"2026-10-18T00:02:01+00:00","is_waiting":false,"next_check_at":"2026-11-17T00:00:00+00:00"},
{"user_id":"aaaaaaaa-0000-4000-8000-000000000027","gateway_subscription_id":"sub_zoya","gateway_plan_id":"plan_basic","plan_id":"bbbbbbbb-0000-4000-8000-000000000009","plan_event_at":"2026-10-31T08:05:00+00:00","status":"active","status_event_at":"2026-10-31T08:05:00+00:00","activated_event_at":"2026-10-31T08:05:00+00:00","activated_at":"2026-10-31T08:05:00.999999+00:00","first_activated_at":"2026-10-31T08:05:00.999999+00:00","period_start":"2026-10-31T00:00:00+00:00","period_end":"2026-11-30T00:00:00+00:00","period_event_at":"2026-10-31T08:05:00+00:00","has_refunds":false,"cancel_at_period_end":false,"is_replaced":false,"arrived_at":"2026-10-31T08:05:01+00:00","is_waiting":true,"next_check_at":"2026-11-29T00:00:00+00:00"}
]$_$);

insert into private.grants overriding system value
select *
from jsonb_populate_recordset(null::private.grants, $_$[
{"id":1,"user_id":"aaaaaaaa-0000-4000-8000-000000000012","tier":"premium","until":"2027-01-01T00:00:00+00:00","reason":"Beta tester","at":"2026-09-14T10:05:00+00:00","cancel_at_period_end":false},
{"id":2,"user_id":"aaaaaaaa-0000-4000-8000-000000000012","tier":"pro","until":"2027-06-01T00:00:00+00:00","reason":"A mistake","at":"2026-09-15T10:00:00+00:00","cancel_at_period_end":false,"ended_at":"2026-09-15T10:01:00+00:00","ended_reason":"revoked"}
]$_$);

insert into private.manual_subscriptions overriding system value
select *
from jsonb_populate_recordset(null::private.manual_subscriptions, $_$[
{"user_id":"aaaaaaaa-0000-4000-8000-000000000026","tier":"pro","status":"active","period_start":"2026-09-16T00:00:00+00:00","period_end":"2027-09-16T00:00:00+00:00","cancel_at_period_end":false,"at":"2026-09-16T10:05:00+00:00"}
]$_$);

insert into private.order_keys overriding system value
select *
from jsonb_populate_recordset(null::private.order_keys, $_$[
{"user_id":"aaaaaaaa-0000-4000-8000-000000000001","key":"checkout-1","payment_id":"bbbbbbbb-0000-4000-8000-000000000003","tier":"pro","created_at":"2026-10-26T09:05:01+00:00"}
]$_$);

insert into private.outbox overriding system value
select *
from jsonb_populate_recordset(null::private.outbox, $_$[
{"id":62,"key":"cancel-subscription/sub_isha","destination":"gateway","kind":"cancel-subscription","payload":{"at_cycle_end": false, "gateway_subscription_id": "sub_isha"},"created_at":"2026-09-20T00:00:01+00:00","queued_at":"2026-09-20T00:00:01+00:00","next_attempt_at":"2026-09-20T00:01:09+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000049"],"delivered_at":"2026-09-20T00:00:10+00:00"},
{"id":71,"key":"revalidation/sample-50","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-03T12:00:00+00:00","queued_at":"2026-10-03T12:00:00+00:00","next_attempt_at":"2026-10-03T12:01:03+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000051"],"delivered_at":"2026-10-03T12:00:04+00:00"},
{"id":72,"key":"revalidation/sample-52","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-03T12:06:01+00:00","queued_at":"2026-10-03T12:06:01+00:00","next_attempt_at":"2026-10-03T12:07:06+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000053"],"delivered_at":"2026-10-03T12:06:07+00:00"},
{"id":73,"key":"payment-success/bbbbbbbb-0000-4000-8000-000000000019","destination":"email","kind":"payment-success","payload":{"to": "jaya@example.com", "amount": 9900, "currency": "INR", "plan_name": "Basic", "valid_until": "2026-11-03T12:06:01.000Z", "display_name": "jaya", "transaction_id": "pay_jaya"},"created_at":"2026-10-03T12:06:01+00:00","queued_at":"2026-10-03T12:06:01+00:00","next_attempt_at":"2026-10-03T12:07:02+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000054"],"delivered_at":"2026-10-03T12:06:03+00:00"},
{"id":74,"key":"revalidation/sample-55","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-10T00:00:00+00:00","queued_at":"2026-10-10T00:00:00+00:00","next_attempt_at":"2026-10-10T00:01:06+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000056"],"delivered_at":"2026-10-10T00:00:07+00:00"},
{"id":75,"key":"subscription-ended/bbbbbbbb-0000-4000-8000-000000000039/2026-10-01T07:06:01.000Z","destination":"notice","kind":"subscription-ended","payload":{"to": "uma@example.com", "ends_at": "2026-10-01T07:06:01.000Z", "plan_name": "Basic", "display_name": "uma"},"created_at":"2026-10-10T00:00:00+00:00","queued_at":"2026-10-10T00:00:00+00:00","next_attempt_at":"2026-10-10T00:01:03+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000057"],"delivered_at":"2026-10-10T00:00:04+00:00"},
{"id":76,"key":"cancel-subscription/sub_hari","destination":"gateway","kind":"cancel-subscription","payload":{"at_cycle_end": true, "gateway_subscription_id": "sub_hari"},"created_at":"2026-10-10T00:00:01+00:00","queued_at":"2026-10-30T00:00:00+00:00","next_attempt_at":"2026-10-31T01:01:07+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000058"],"delivered_at":"2026-10-31T01:00:08+00:00"},
{"id":77,"key":"revalidation/sample-59","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-10T00:02:01+00:00","queued_at":"2026-10-10T00:02:01+00:00","next_attempt_at":"2026-10-10T00:03:04+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000060"],"delivered_at":"2026-10-10T00:02:05+00:00"},
{"id":78,"key":"revalidation/sample-61","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-12T00:00:01+00:00","queued_at":"2026-10-12T00:00:01+00:00","next_attempt_at":"2026-10-12T00:01:06+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000062"],"delivered_at":"2026-10-12T00:00:07+00:00"},
{"id":79,"key":"subscription-ended/bbbbbbbb-0000-4000-8000-000000000045/2026-10-12T00:00:01.000Z","destination":"notice","kind":"subscription-ended","payload":{"to": "isha@example.com", "ends_at": "2026-10-12T00:00:01.000Z", "plan_name": "Basic", "display_name": "isha"},"created_at":"2026-10-12T00:00:01+00:00","queued_at":"2026-10-12T00:00:01+00:00","next_attempt_at":"2026-10-12T00:01:03+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000063"],"delivered_at":"2026-10-12T00:00:04+00:00"},
{"id":80,"key":"revalidation/sample-64","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-15T00:02:01+00:00","queued_at":"2026-10-15T00:02:01+00:00","next_attempt_at":"2026-10-15T00:03:04+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000065"],"delivered_at":"2026-10-15T00:02:05+00:00"},
{"id":81,"key":"revalidation/sample-66","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-18T00:00:00+00:00","queued_at":"2026-10-18T00:00:00+00:00","next_attempt_at":"2026-10-18T00:01:03+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000067"],"delivered_at":"2026-10-18T00:00:04+00:00"},
{"id":82,"key":"revalidation/sample-68","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-18T00:01:01+00:00","queued_at":"2026-10-18T00:01:01+00:00","next_attempt_at":"2026-10-18T00:02:04+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000069"],"delivered_at":"2026-10-18T00:01:05+00:00"},
{"id":83,"key":"revalidation/sample-70","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-21T09:00:00+00:00","queued_at":"2026-10-21T09:00:00+00:00","next_attempt_at":"2026-10-21T09:01:03+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000071"],"delivered_at":"2026-10-21T09:00:04+00:00"},
{"id":84,"key":"revalidation/sample-72","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-21T09:06:01+00:00","queued_at":"2026-10-21T09:06:01+00:00","next_attempt_at":"2026-10-21T09:07:06+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000073"],"delivered_at":"2026-10-21T09:06:07+00:00"},
{"id":85,"key":"payment-success/bbbbbbbb-0000-4000-8000-000000000031","destination":"email","kind":"payment-success","payload":{"to": "rhea@example.com", "amount": 9900, "currency": "INR", "plan_name": "Basic", "valid_until": "2026-11-21T09:06:01.000Z", "display_name": "rhea", "transaction_id": "pay_rhea"},"created_at":"2026-10-21T09:06:01+00:00","queued_at":"2026-10-21T09:06:01+00:00","next_attempt_at":"2026-10-21T09:07:02+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000074"],"delivered_at":"2026-10-21T09:06:03+00:00"},
{"id":86,"key":"subscription-ending/bbbbbbbb-0000-4000-8000-000000000044/2026-11-01T00:00:00.000Z","destination":"notice","kind":"subscription-ending","payload":{"to": "hari@example.com", "ends_at": "2026-11-01T00:00:00.000Z", "plan_name": "Basic", "display_name": "hari", "early_renewal": "extend"},"created_at":"2026-10-25T09:00:00+00:00","queued_at":"2026-10-25T09:00:00+00:00","next_attempt_at":"2026-10-25T09:01:03+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000075"],"delivered_at":"2026-10-25T09:00:04+00:00"},
{"id":87,"key":"cancel-subscription/sub_xena","destination":"gateway","kind":"cancel-subscription","payload":{"at_cycle_end": false, "gateway_subscription_id": "sub_xena"},"created_at":"2026-10-25T10:00:00+00:00","queued_at":"2026-10-25T10:00:00+00:00","next_attempt_at":"2026-10-25T10:01:04+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000076"],"delivered_at":"2026-10-25T10:00:05+00:00"},
{"id":88,"key":"subscription-ending/bbbbbbbb-0000-4000-8000-000000000008/2026-11-01T10:06:01.000Z","destination":"notice","kind":"subscription-ending","payload":{"to": "chand@example.com", "ends_at": "2026-11-01T10:06:01.000Z", "plan_name": "Basic", "display_name": "chand", "early_renewal": "extend"},"created_at":"2026-10-26T09:00:00+00:00","queued_at":"2026-10-26T09:00:00+00:00","next_attempt_at":"2026-10-26T09:01:02+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000077"],"delivered_at":"2026-10-26T09:00:03+00:00"},
{"id":89,"key":"revalidation/sample-78","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-26T09:00:00+00:00","queued_at":"2026-10-26T09:00:00+00:00","next_attempt_at":"2026-10-26T09:01:05+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000079"],"delivered_at":"2026-10-26T09:00:06+00:00"},
{"id":90,"key":"revalidation/sample-80","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-26T09:06:01+00:00","queued_at":"2026-10-26T09:06:01+00:00","next_attempt_at":"2026-10-26T09:07:06+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000081"],"delivered_at":"2026-10-26T09:06:07+00:00"},
{"id":91,"key":"payment-success/bbbbbbbb-0000-4000-8000-000000000003","destination":"email","kind":"payment-success","payload":{"to": "asha@example.com", "amount": 99900, "currency": "INR", "plan_name": "Pro", "valid_until": "2027-10-26T09:06:01.000Z", "display_name": "asha", "transaction_id": "pay_asha"},"created_at":"2026-10-26T09:06:01+00:00","queued_at":"2026-10-26T09:06:01+00:00","next_attempt_at":"2026-10-26T09:07:02+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000082"],"delivered_at":"2026-10-26T09:06:03+00:00"},
{"id":92,"key":"revalidation/sample-83","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-27T09:00:00+00:00","queued_at":"2026-10-27T09:00:00+00:00","next_attempt_at":"2026-10-27T09:01:05+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000084"],"delivered_at":"2026-10-27T09:00:06+00:00"},
{"id":93,"key":"subscription-ended/bbbbbbbb-0000-4000-8000-000000000028/2026-10-27T09:00:00.000Z","destination":"notice","kind":"subscription-ended","payload":{"to": "pia@example.com", "ends_at": "2026-10-27T09:00:00.000Z", "plan_name": "Pro", "display_name": "pia"},"created_at":"2026-10-27T09:00:00+00:00","queued_at":"2026-10-27T09:00:00+00:00","next_attempt_at":"2026-10-27T09:01:02+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000085"],"delivered_at":"2026-10-27T09:00:03+00:00"},
{"id":94,"key":"subscription-ending/bbbbbbbb-0000-4000-8000-000000000020/2026-11-03T12:06:01.000Z","destination":"notice","kind":"subscription-ending","payload":{"to": "jaya@example.com", "ends_at": "2026-11-03T12:06:01.000Z", "plan_name": "Basic", "display_name": "jaya", "early_renewal": "extend"},"created_at":"2026-10-28T10:00:00+00:00","queued_at":"2026-10-28T10:00:00+00:00","next_attempt_at":"2026-10-28T10:01:02+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000086"],"delivered_at":"2026-10-28T10:00:03+00:00"},
{"id":95,"key":"revalidation/sample-87","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-28T10:00:00+00:00","queued_at":"2026-10-28T10:00:00+00:00","next_attempt_at":"2026-10-28T10:01:05+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000088"],"delivered_at":"2026-10-28T10:00:06+00:00"},
{"id":96,"key":"revalidation/sample-89","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-28T10:06:01+00:00","queued_at":"2026-10-28T10:06:01+00:00","next_attempt_at":"2026-10-28T10:07:06+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000090"],"delivered_at":"2026-10-28T10:06:07+00:00"},
{"id":97,"key":"payment-success/bbbbbbbb-0000-4000-8000-000000000033","destination":"email","kind":"payment-success","payload":{"to": "sara@example.com", "amount": 99900, "currency": "INR", "plan_name": "Pro", "valid_until": "2027-10-28T10:06:01.000Z", "display_name": "sara", "transaction_id": "pay_sara"},"created_at":"2026-10-28T10:06:01+00:00","queued_at":"2026-10-28T10:06:01+00:00","next_attempt_at":"2026-10-28T10:06:08+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000091",null],"last_error":"HTTP 422","parked_at":"2026-10-28T10:06:03+00:00"},
{"id":98,"key":"revalidation/sample-92","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-31T09:00:00+00:00","queued_at":"2026-10-31T09:00:00+00:00","next_attempt_at":"2026-10-31T09:01:03+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000093"],"delivered_at":"2026-10-31T09:00:04+00:00"},
{"id":99,"key":"payment-failed/pay_esha_1_failed","destination":"email","kind":"payment-failed","payload":{"to": "esha@example.com", "tier": "pro", "amount": 99900, "reason": "Your payment was declined by the bank", "currency": "INR", "display_name": "esha"},"created_at":"2026-10-31T09:07:01+00:00","queued_at":"2026-10-31T09:07:01+00:00","next_attempt_at":"2026-10-31T09:08:02+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000094"],"delivered_at":"2026-10-31T09:07:03+00:00"},
{"id":100,"key":"revalidation/sample-95","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-31T11:50:00+00:00","queued_at":"2026-10-31T11:50:00+00:00","next_attempt_at":"2026-10-31T11:51:03+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000096"],"delivered_at":"2026-10-31T11:50:04+00:00"},
{"id":101,"key":"revalidation/sample-97","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-31T11:58:51+00:00","queued_at":"2026-10-31T11:58:51+00:00","next_attempt_at":"2026-10-31T11:59:56+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000098"],"delivered_at":"2026-10-31T11:58:57+00:00"},
{"id":102,"key":"payment-success/bbbbbbbb-0000-4000-8000-000000000037","destination":"email","kind":"payment-success","payload":{"to": "tara@example.com", "amount": 99900, "currency": "INR", "plan_name": "Pro", "valid_until": "2027-10-31T11:58:51.000Z", "display_name": "tara", "transaction_id": "pay_tara_1"},"created_at":"2026-10-31T11:58:51+00:00","queued_at":"2026-10-31T11:58:51+00:00","next_attempt_at":"2026-10-31T11:58:58+00:00","attempts":1,"claims":["bbbbbbbb-0000-4000-8000-000000000099",null],"last_error":"HTTP 500"},
{"id":103,"key":"revalidation/sample-100","destination":"revalidation","kind":"revalidation","payload":{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]},"created_at":"2026-10-31T11:59:31+00:00","queued_at":"2026-10-31T11:59:31+00:00","next_attempt_at":"2026-10-31T12:01:33+00:00","attempts":0,"claims":["bbbbbbbb-0000-4000-8000-000000000101",null],"last_error":"HTTP 429"},
{"id":104,"key":"payment-success/bbbbbbbb-0000-4000-8000-000000000035","destination":"email","kind":"payment-success","payload":{"to": "tara@example.com", "amount": 9900, "currency": "INR", "plan_name": "Basic", "valid_until": "2026-11-30T11:59:31.000Z", "display_name": "tara", "transaction_id": "pay_tara_2"},"created_at":"2026-10-31T11:59:31+00:00","queued_at":"2026-10-31T11:59:31+00:00","next_attempt_at":"2026-10-31T11:59:31+00:00","attempts":0,"claims":[]}
]$_$);

insert into private.outbox_pauses overriding system value
select *
from jsonb_populate_recordset(null::private.outbox_pauses, $_$[
{"destination":"revalidation","until":"2026-10-31T12:01:33+00:00"}
]$_$);

insert into private.refunds overriding system value
select *
from jsonb_populate_recordset(null::private.refunds, $_$[
{"refund_id":"rfnd_gita","gateway_payment_id":"pay_gita","amount":199900,"status":"processed","created_at":"2026-09-09T09:00:01+00:00"},
{"refund_id":"rfnd_isha_2","gateway_payment_id":"pay_isha_2","amount":9900,"status":"processed","created_at":"2026-10-12T00:00:01+00:00"},
{"refund_id":"rfnd_nora","gateway_payment_id":"pay_nora","amount":20000,"status":"processed","created_at":"2026-09-20T09:00:01+00:00"},
{"refund_id":"rfnd_qadir_2","gateway_payment_id":"pay_qadir_2","amount":99900,"status":"processed","created_at":"2026-09-13T09:00:01+00:00"}
]$_$);

insert into private.scheduled_jobs overriding system value
select *
from jsonb_populate_recordset(null::private.scheduled_jobs, $_$[
{"name":"reconciliation","since":"2026-10-31T12:00:00+00:00","done_at":"2026-10-31T12:00:00+00:00"},
{"name":"sweep","since":"2026-10-31T12:00:00+00:00","done_at":"2026-10-31T12:00:00+00:00"}
]$_$);

insert into private.settings overriding system value
select *
from jsonb_populate_recordset(null::private.settings, $_$[
{"is_only":true,"early_renewal":"extend"}
]$_$);

insert into private.tier_changes overriding system value
select *
from jsonb_populate_recordset(null::private.tier_changes, $_$[
{"id":2,"user_id":"aaaaaaaa-0000-4000-8000-000000000013","from_tier":"free","to_tier":"basic","cause":"subscription.activated","reference":"sub_mohan","at":"2026-07-20T00:01:01+00:00"},
{"id":3,"user_id":"aaaaaaaa-0000-4000-8000-000000000003","from_tier":"free","to_tier":"basic","cause":"payment","reference":"pay_chand_1","at":"2026-08-01T10:06:01+00:00"},
{"id":4,"user_id":"aaaaaaaa-0000-4000-8000-000000000002","from_tier":"free","to_tier":"pro","cause":"payment.captured","reference":"order_bela","at":"2026-08-12T08:25:02+00:00"},
{"id":5,"user_id":"aaaaaaaa-0000-4000-8000-000000000006","from_tier":"free","to_tier":"basic","cause":"subscription.activated","reference":"sub_farid","at":"2026-08-15T00:01:01+00:00"},
{"id":6,"user_id":"aaaaaaaa-0000-4000-8000-000000000021","from_tier":"free","to_tier":"basic","cause":"payment","reference":"pay_uma","at":"2026-09-01T07:06:01+00:00"},
{"id":7,"user_id":"aaaaaaaa-0000-4000-8000-000000000011","from_tier":"free","to_tier":"premium","cause":"payment","reference":"pay_kiran","at":"2026-09-04T12:06:01+00:00"},
{"id":8,"user_id":"aaaaaaaa-0000-4000-8000-000000000013","from_tier":"basic","to_tier":"free","cause":"subscription.cancelled","reference":"sub_mohan","at":"2026-09-05T00:00:01+00:00"},
{"id":9,"user_id":"aaaaaaaa-0000-4000-8000-000000000022","from_tier":"free","to_tier":"basic","cause":"payment","reference":"pay_vani","at":"2026-09-05T07:06:01+00:00"},
{"id":10,"user_id":"aaaaaaaa-0000-4000-8000-000000000007","from_tier":"free","to_tier":"premium","cause":"payment","reference":"pay_gita","at":"2026-09-05T09:06:01+00:00"},
{"id":11,"user_id":"aaaaaaaa-0000-4000-8000-000000000015","from_tier":"free","to_tier":"pro","cause":"payment","reference":"pay_omar","at":"2026-09-07T09:06:01+00:00"},
{"id":12,"user_id":"aaaaaaaa-0000-4000-8000-000000000016","from_tier":"free","to_tier":"pro","cause":"payment","reference":"pay_pia","at":"2026-09-08T09:06:01+00:00"},
{"id":13,"user_id":"aaaaaaaa-0000-4000-8000-000000000007","from_tier":"premium","to_tier":"free","cause":"refund.processed","reference":"order_gita","at":"2026-09-09T15:00:01+00:00"},
{"id":14,"user_id":"aaaaaaaa-0000-4000-8000-000000000009","from_tier":"free","to_tier":"basic","cause":"subscription.activated","reference":"sub_isha","at":"2026-09-10T00:01:01+00:00"},
{"id":15,"user_id":"aaaaaaaa-0000-4000-8000-000000000004","from_tier":"free","to_tier":"premium","cause":"payment.captured","reference":"order_dev","at":"2026-09-10T10:09:01+00:00"},
{"id":16,"user_id":"aaaaaaaa-0000-4000-8000-000000000022","from_tier":"basic","to_tier":"free","cause":"never captured","reference":"pay_vani","at":"2026-09-11T07:30:02+00:00"},
{"id":17,"user_id":"aaaaaaaa-0000-4000-8000-000000000017","from_tier":"free","to_tier":"pro","cause":"payment","reference":"pay_qadir","at":"2026-09-11T09:06:01+00:00"},
{"id":18,"user_id":"aaaaaaaa-0000-4000-8000-000000000012","from_tier":"free","to_tier":"premium","cause":"grant","reference":"Beta tester","at":"2026-09-14T10:05:00+00:00"},
{"id":19,"user_id":"aaaaaaaa-0000-4000-8000-000000000014","from_tier":"free","to_tier":"pro","cause":"payment.captured","reference":"order_nora","at":"2026-09-15T09:06:01+00:00"},
{"id":20,"user_id":"aaaaaaaa-0000-4000-8000-000000000012","from_tier":"premium","to_tier":"pro","cause":"grant","reference":"A mistake","at":"2026-09-15T10:00:00+00:00"},
{"id":21,"user_id":"aaaaaaaa-0000-4000-8000-000000000012","from_tier":"pro","to_tier":"premium","cause":"grant revoked","reference":"2","at":"2026-09-15T10:01:00+00:00"},
{"id":22,"user_id":"aaaaaaaa-0000-4000-8000-000000000026","from_tier":"free","to_tier":"pro","cause":"direct","at":"2026-09-16T10:05:00+00:00"},
{"id":23,"user_id":"aaaaaaaa-0000-4000-8000-000000000009","from_tier":"basic","to_tier":"free","cause":"cancellation","at":"2026-09-20T00:00:01+00:00"},
{"id":24,"user_id":"aaaaaaaa-0000-4000-8000-000000000008","from_tier":"free","to_tier":"basic","cause":"subscription.activated","reference":"sub_hari","at":"2026-10-01T00:01:01+00:00"},
{"id":25,"user_id":"aaaaaaaa-0000-4000-8000-000000000010","from_tier":"free","to_tier":"basic","cause":"payment","reference":"pay_jaya","at":"2026-10-03T12:06:01+00:00"},
{"id":26,"user_id":"aaaaaaaa-0000-4000-8000-000000000021","from_tier":"basic","to_tier":"free","cause":"expiry","at":"2026-10-10T00:00:00+00:00"},
{"id":27,"user_id":"aaaaaaaa-0000-4000-8000-000000000009","from_tier":"free","to_tier":"basic","cause":"subscription.charged","reference":"sub_isha","at":"2026-10-10T00:02:01+00:00"},
{"id":28,"user_id":"aaaaaaaa-0000-4000-8000-000000000009","from_tier":"basic","to_tier":"free","cause":"refund.processed","reference":"pay_isha_2","at":"2026-10-12T00:00:01+00:00"},
{"id":29,"user_id":"aaaaaaaa-0000-4000-8000-000000000024","from_tier":"free","to_tier":"basic","cause":"subscription.activated","reference":"sub_xena","at":"2026-10-18T00:01:01+00:00"},
{"id":30,"user_id":"aaaaaaaa-0000-4000-8000-000000000018","from_tier":"free","to_tier":"basic","cause":"payment","reference":"pay_rhea","at":"2026-10-21T09:06:01+00:00"},
{"id":31,"user_id":"aaaaaaaa-0000-4000-8000-000000000001","from_tier":"free","to_tier":"pro","cause":"payment","reference":"pay_asha","at":"2026-10-26T09:06:01+00:00"},
{"id":32,"user_id":"aaaaaaaa-0000-4000-8000-000000000016","from_tier":"pro","to_tier":"free","cause":"dispute_lost","reference":"pay_pia","at":"2026-10-27T09:00:00+00:00"},
{"id":33,"user_id":"aaaaaaaa-0000-4000-8000-000000000019","from_tier":"free","to_tier":"pro","cause":"payment","reference":"pay_sara","at":"2026-10-28T10:06:01+00:00"},
{"id":34,"user_id":"aaaaaaaa-0000-4000-8000-000000000020","from_tier":"free","to_tier":"pro","cause":"payment","reference":"pay_tara_1","at":"2026-10-31T11:58:51+00:00"},
{"id":35,"user_id":"aaaaaaaa-0000-4000-8000-000000000020","from_tier":"pro","to_tier":"basic","cause":"payment","reference":"pay_tara_2","at":"2026-10-31T11:59:31+00:00"}
]$_$);

insert into private.unsettled_events overriding system value
select *
from jsonb_populate_recordset(null::private.unsettled_events, $_$[
{"body_sha256":"\\xb0e3674ea9454295500c9bc6dda8e71f3c1e10aaa2aed4d7eae72d088ac3d083"}
]$_$);

insert into private.user_cancellations overriding system value
select *
from jsonb_populate_recordset(null::private.user_cancellations, $_$[
{"user_id":"aaaaaaaa-0000-4000-8000-000000000009","at":"2026-09-20T00:00:01+00:00"}
]$_$);

select setval('private.grants_id_seq', 2);
select setval('private.outbox_id_seq', 104);
select setval('private.tier_changes_id_seq', 35);

reset session_replication_role;
