-- The payments: orders, and charged cycles. Contract: "Records".

-- Checks are on what an app may write here. Postgres reads each one anew for every statement, which took a twelfth of a renewal
-- for what our own functions alone write: starts is now or after_current, credited_kind payment or gateway_subscription, and
-- an order has at most 20 idempotency keys.

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
  failed_subscription_id text,
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
  base_amount bigint,
  paid_amount bigint,
  dispute_status text,
  dispute_event_at timestamptz,
  uncaptured_at timestamptz,
  next_reconcile_at timestamptz default billing.clock() + interval '15 minutes',
  created_at timestamptz not null default billing.clock(),
  user_deleted_at timestamptz,
  starts text,
  credit bigint,
  credited_kind text,
  credited_id text,
  credited_until timestamptz,
  credited_amount bigint,
  settle_at timestamptz,
  reads integer not null default 0,
  read_at timestamptz,
  read_attempts integer not null default 0,
  is_attempt_open boolean not null default false,
  idempotency_keys text[] not null default '{}'
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
-- For the payments of a day or a month. Cost: one index entry for each capture and each charged cycle.
create index payments_captured_at_idx on public.payments (captured_at) where status = 'captured';
comment on table public.payments is
  'One row for each order, with its payment, for each further payment on an order, and for each charge of a gateway '
  'subscription. The last two give no access by themselves, so they are never fulfilled or reconciled. Also one for each '
  'renewal that failed, whose charge is a row of its own. A row remains when its user is deleted. Amounts are in minor '
  'currency units.';
comment on column public.payments.amount is 'What the customer is to pay: the price minus a credit.';
comment on column public.payments.paid_amount is
  'What the gateway captured: with its fee on top, or less by an offer. Null: it has not said so yet.';
comment on column public.payments.base_amount is
  'What the gateway booked in INR, in paise. Null: it was paid in INR, or is not known.';
comment on column public.payments.refunded_amount is 'The sum of its processed refunds.';
comment on column public.payments.gateway_key_id is 'The API key of the order: it does not exist under another key.';
comment on column public.payments.tier is 'The tier that was sold. Any text is valid: an app may sell tiers of its own.';
comment on column public.payments.plan_id is 'Null: the plan of the tier. No foreign key: it would need an index.';
comment on column public.payments.price_key is 'The lookup key of the price that was sold. Null: the default price.';
comment on column public.payments.price_amount is
  'The price that was sold, before its credit. Null: an order of the app''s own, or a charge of a gateway subscription.';
comment on column public.payments.duration_months is 'The calendar months that were sold. Null: those of the plan.';
comment on column public.payments.meta is 'tier of a new payment; also the three error fields after a failed attempt.';
comment on column public.payments.gateway_subscription_id is 'Of a charge; empty where its events have no id.';
comment on column public.payments.failed_subscription_id is
  'The gateway subscription whose renewal failed: this row was never to be paid.';
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
comment on column public.payments.settle_at is 'When this period begins, if that was not at once.';
comment on column public.payments.reads is 'How often the order was read at the gateway for its page: at most 20 times.';
comment on column public.payments.is_attempt_open is 'Whether the newest attempt was neither captured nor failed.';
comment on column public.payments.idempotency_keys is 'Each returns this order, for seven days. Erased with the user.';
alter table public.payments enable row level security;

revoke all on public.payments from public, anon, authenticated, service_role;
grant select on public.payments to authenticated;
-- The service deletes no rows. The app inserts its own payments with the same role.
grant select, insert, update on public.payments to service_role;

create policy "Users see their own payments" on public.payments for select to authenticated
using ((select auth.uid()) = user_id);
