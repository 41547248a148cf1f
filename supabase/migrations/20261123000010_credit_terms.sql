-- When a purchase begins, and the credit for the unused time that it replaces. Contract: "Start and credit".

alter table private.settings
add column credit text not null default 'on' constraint settings_credit_check check (credit in ('on', 'off'));
comment on column private.settings.credit is
  'Whether a purchase of a dearer tier that starts now gets a credit for the unused time of the running period.';

create function private.credit()
returns text -- on or off
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce((select s.credit from private.settings s where s.is_only), 'on');
end
$$;
grant execute on function private.credit() to service_role;

alter table public.payments
add column starts text constraint payments_starts_check check (starts in ('now', 'after_current')),
add column credit bigint constraint payments_credit_check check (credit > 0),
add column credited_kind text
  constraint payments_credited_kind_check check (credited_kind in ('payment', 'gateway_subscription')),
add column credited_id text,
add column credited_until timestamptz,
add column credited_amount bigint,
add column settle_at timestamptz;
create index payments_credited_id_idx on public.payments (credited_id)
where credited_id is not null;
create index payments_settle_at_idx on public.payments (settle_at)
where settle_at is not null;
comment on column public.payments.starts is
  'When the period begins: now, or after_current: when what runs ends. Null: the order did not say it.';
comment on column public.payments.credit is
  'The credit for the unused time that this payment replaces, minor currency units. amount is the price minus the credit. '
  'Null: none.';
comment on column public.payments.credited_id is
  'The source whose unused time was credited: a payment''s id or a gateway subscription''s id, as credited_kind says.';
comment on column public.payments.credited_until is 'The end of the period whose unused time was credited.';
comment on column public.payments.credited_amount is
  'What was paid for that period when the order was made, minor currency units.';
comment on column public.payments.settle_at is
  'When this period begins, and the sweep settles the user''s access. Null: nothing is to be settled.';
comment on column public.payments.extends_from is
  'End of the source that this payment extends, if that source is not a payment, or of the source after which it begins. '
  'Null: there is no such source.';

-- The sources that a payment replaced and credited. Nothing is stored about them: when the payment is refunded in full, the
-- row is gone and the source runs again.
create view private.replacements
with (security_invoker = true)
as
select
  p.id as payment_id,
  p.user_id,
  p.credited_kind as kind,
  p.credited_id as id,
  p.credited_until as until,
  p.since,
  p.fulfilled_at
from public.payments p
where p.credited_id is not null
  and p.fulfilled_at is not null
  and p.refunded_amount < p.amount
  and p.uncaptured_at is null
  and p.ended_reason is distinct from 'dispute_lost';
grant select on private.replacements to service_role;
comment on view private.replacements is
  'The sources of access that a purchase replaced: the credit of the purchase has paid for their unused time.';

-- Purchases that begin when another source ends.
create view private.upcoming_payments
with (security_invoker = true)
as
select p.user_id, p.id::text as id, p.since, p.period_start, p.period_end
from public.payments p
where p.settle_at is not null
  and p.starts = 'after_current'
  and p.ended_at is null
  and p.period_start > private.clock();
grant select on private.upcoming_payments to service_role;
comment on view private.upcoming_payments is
  'Paid purchases whose period has not begun. They rule from the start of their period.';

-- Returns what was paid for a period and was not refunded. The credit of a payment counts: it was paid for with an earlier
-- period.
create function private.paid_for(
  p_user_id uuid,
  p_kind text, -- payment or gateway_subscription
  p_id text,
  p_until timestamptz -- the end of the cycle; not used for a payment
)
returns bigint -- minor currency units
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_kind = 'payment' then
    return coalesce(
      (
        select p.amount + coalesce(p.credit, 0) - p.refunded_amount
        from public.payments p
        where p.id = p_id::uuid
          and p.uncaptured_at is null
          and p.refunded_amount < p.amount
      ),
      0
    );
  end if;
  return (
    select coalesce(sum(greatest(c.amount - c.refunded_amount, 0)), 0)
    from private.gateway_charges c
    where c.user_id = p_user_id
      and c.gateway_subscription_id = p_id
      and c.period_end = p_until
      and c.gateway_payment_id <> ''
  );
end
$$;
grant execute on function private.paid_for(uuid, text, text, timestamptz) to service_role;

-- Finds the credit that a purchase of a plan gets: for the unused time of the ruling source, if that was paid and its plan is
-- cheaper. Of a chain of early renewals, the period that runs counts. The caller holds the lock on the user.
create function private.find_credit(
  p_user_id uuid,
  p_plan public.plans,
  out credit bigint, -- minor currency units; null, as all others: there is none
  out kind text,
  out id text,
  out until timestamptz,
  out amount bigint -- what was paid for the period
)
language plpgsql
stable
set search_path = ''
as $$
declare
  -- The least amount that the gateway accepts for an order, minor currency units.
  v_least constant bigint := 100;
  v_now constant timestamptz := private.clock();
  v_ruling private.ruling;
  v_source private.sources;
  v_from timestamptz;
begin
  if private.credit() = 'off' then
    return;
  end if;
  v_ruling := private.find_ruling(p_user_id);
  v_source := v_ruling.source;
  if v_ruling.is_live is not true
    or v_source.kind not in ('payment', 'gateway_subscription')
    or not exists (
      select
      from public.plans running
      where running.id = v_source.plan_id
        and running.currency = p_plan.currency
        and running.price < p_plan.price
    )
  then
    return;
  end if;

  if v_source.kind = 'payment' then
    select p.id::text, p.period_start, p.period_end
    into id, v_from, until
    from public.payments ruling
    join public.payments p
      on p.user_id = ruling.user_id
      and coalesce(p.chain_id, p.id) = coalesce(ruling.chain_id, ruling.id)
    where ruling.id = v_source.id::uuid
      and p.fulfilled_at is not null
      and p.ended_at is null
      and p.period_end > v_now
      and p.currency = p_plan.currency
      and not exists (select from private.replacements r where r.kind = 'payment' and r.id = p.id::text)
    order by p.period_start
    limit 1;
  else
    select m.gateway_subscription_id, m.period_start, m.period_end
    into id, v_from, until
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.gateway_subscription_id = v_source.id
      and m.paid_until is null
      and m.period_end > v_now;
  end if;
  if v_from < until then
    amount := private.paid_for(p_user_id, v_source.kind, id, until);
    credit := least(
      floor(amount * extract(epoch from until - greatest(v_now, v_from)) / extract(epoch from until - v_from)),
      p_plan.price - v_least
    );
  end if;
  kind := v_source.kind;
  if (credit > 0) is not true then
    credit := null;
    kind := null;
    id := null;
    until := null;
    amount := null;
  end if;
end
$$;
grant execute on function private.find_credit(uuid, public.plans) to service_role;

-- Returns when what a user has now ends: the latest end of the sources that were paid or written by hand, of the ruling
-- source, which may be a grant, and of the subscription row, which may show the period of an attached gateway subscription.
-- A purchase that has not begun counts, too. The caller holds the lock on the user.
create function private.find_end(
  p_user_id uuid,
  out ends_at timestamptz, -- null: nothing runs
  out since timestamptz -- of the newest of these sources
)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ruling constant private.ruling := private.find_ruling(p_user_id);
begin
  if v_ruling.is_live is not true then
    return;
  end if;
  select max(s.ends_at) filter (where s.kind <> 'grant'), max(s.since)
  into ends_at, since
  from private.sources s
  where s.user_id = p_user_id
    and s.ended_at is null
    and s.lapses_at > v_now;
  ends_at := greatest(
    ends_at,
    (v_ruling.source).ends_at,
    (
      select s.current_period_end
      from public.subscriptions s
      where s.user_id = p_user_id
        and s.status = 'active'
    )
  );
  if ends_at <= v_now then
    ends_at := null;
  end if;
  ends_at := date_trunc('milliseconds', ends_at);
end
$$;
grant execute on function private.find_end(uuid) to service_role;

-- When its user is deleted, a payment keeps the data for accounting, its credit included. The texts of the bank, the data of
-- the app and the ids of other records are erased at once.
create or replace function private.erase_payment_meta()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.meta := case
    when new.meta ? 'tier' then jsonb_build_object('tier', new.meta -> 'tier')
    else '{}'
  end;
  new.credited_id := null;
  new.settle_at := null;
  new.user_deleted_at := private.clock();
  return new;
end
$$;

revoke execute on all functions in schema private from public;
