-- What the gateway reported: subscriptions, charges, refunds and further payments, merged in any order.

-- The mirror of the gateway's subscriptions: one row each, merged from webhooks and polls in any order. Each field has a
-- clock of its own, so that the same facts give the same row in every order of arrival, repeats included.

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
-- Space in each page for a new row version: a merge writes no index.
with (fillfactor = 80);
alter table private.gateway_subscriptions enable row level security;
grant select, insert, update on private.gateway_subscriptions to service_role;
create index gateway_subscriptions_gateway_subscription_id_idx
on private.gateway_subscriptions (gateway_subscription_id);
create index gateway_subscriptions_next_check_at_idx on private.gateway_subscriptions (next_check_at)
where next_check_at is not null;
create index gateway_subscriptions_plan_waiting_idx on private.gateway_subscriptions (gateway_plan_id)
where plan_id is null and gateway_plan_id is not null;
create index gateway_subscriptions_user_waiting_idx on private.gateway_subscriptions (user_id)
where is_waiting;
comment on table private.gateway_subscriptions is
  'What is known of each gateway subscription. No foreign key on the user: events may arrive before the user does.';
comment on column private.gateway_subscriptions.gateway_subscription_id is 'Empty where the events carry no id.';
comment on column private.gateway_subscriptions.gateway_plan_id is 'The plan as the newest event named it.';
comment on column private.gateway_subscriptions.plan_id is
  'The plan of ours that an event named: the subscription is a source of access. Null: it attaches to the ruling source.';
comment on column private.gateway_subscriptions.plan_event_at is 'created_at of the event that set the plan.';
comment on column private.gateway_subscriptions.status_event_at is 'created_at of the event that set the status.';
comment on column private.gateway_subscriptions.activated_event_at is 'created_at of the newest activation.';
comment on column private.gateway_subscriptions.period_event_at is 'created_at of the event that set the period.';
comment on column private.gateway_subscriptions.activated_at is
  'When the newest activation happened, as private.happened_at has it; ranks the sources of access of a user.';
comment on column private.gateway_subscriptions.first_activated_at is
  'When the first activation happened: since when it was there for a payment that came later.';
comment on column private.gateway_subscriptions.first_charged_at is
  'When the first charge happened; ranks the source while no activation is known.';
comment on column private.gateway_subscriptions.has_refunds is 'A payment of one of its cycles was refunded, at least in part.';
comment on column private.gateway_subscriptions.paid_until is
  'Where the newest cycle was refunded in full: the end of what is still paid.';
comment on column private.gateway_subscriptions.is_replaced is
  'Another source rules: the gateway is told to cancel the subscription at the end of its cycle.';
comment on column private.gateway_subscriptions.user_cancelled_at is
  'When the user cancelled it, at once or for the end of the cycle: a later charge is unexpected.';
comment on column private.gateway_subscriptions.ended_at is 'When the user ended the subscription at once.';
comment on column private.gateway_subscriptions.arrived_at is
  'When the newest fact arrived here. Null: known only from a subscription that was written by hand.';
comment on column private.gateway_subscriptions.is_waiting is 'An event arrived before its user did.';
comment on column private.gateway_subscriptions.next_check_at is
  'When it is reconciled with the gateway next; during a reconciliation the end of the lease.';

create table private.user_cancellations (
  user_id uuid primary key constraint user_cancellations_user_id_fkey references auth.users (id) on delete cascade,
  at timestamptz not null
);
alter table private.user_cancellations enable row level security;
grant select, insert, update on private.user_cancellations to service_role;
comment on table private.user_cancellations is
  'When a user last ended everything at once: a gateway subscription that was activated before and is announced later has '
  'ended, too.';

create table private.gateway_charges (
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
);
alter table private.gateway_charges enable row level security;
grant select, insert, update on private.gateway_charges to service_role;
create index gateway_charges_gateway_payment_id_idx on private.gateway_charges (gateway_payment_id)
where gateway_payment_id <> '';
comment on table private.gateway_charges is 'The cycles that gateway subscriptions were charged for, with their payments.';
comment on column private.gateway_charges.gateway_payment_id is 'Empty where the gateway named no payment.';
comment on column private.gateway_charges.amount is 'Minor currency units; null where the gateway named no payment.';
comment on column private.gateway_charges.dispute_event_at is 'created_at of the newest event about the dispute.';
comment on column private.gateway_charges.refunded_amount is 'Minor currency units; the processed refunds.';

-- When an event happened, to rank it among acts of the customer. The gateway's times have whole seconds, so an event
-- counts from the end of its second. A time that is missing or older than the gateway's retries says nothing: the event
-- then counts from its arrival.
create function private.happened_at(
  p_created_at timestamptz, -- of the event; null: it carries none
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
$$;
grant execute on function private.happened_at(timestamptz, timestamptz) to service_role;

-- Until when a gateway subscription is paid, where its newest cycle was refunded in full: the end of the cycle before.
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
      -- Refunded in full, and no other payment of the cycle counts.
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
$$;
grant execute on function private.paid_until(private.gateway_subscriptions) to service_role;

-- Refunds, by their ids. Only processed ones count: while a refund is pending the gateway counts it in the payment already,
-- and a failed one returns no money.

create table private.refunds (
  refund_id text primary key,
  gateway_payment_id text not null,
  amount bigint not null,
  status text not null constraint refunds_status_check check (status in ('pending', 'processed', 'failed')),
  created_at timestamptz not null default private.clock()
);
create index refunds_gateway_payment_id_idx on private.refunds (gateway_payment_id);
alter table private.refunds enable row level security;
grant select, insert, update on private.refunds to service_role;
comment on table private.refunds is 'The gateway''s refunds. They may arrive before their payment is known.';
comment on column private.refunds.amount is 'Minor currency units.';

-- Refunded total of a gateway payment.
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
$$;
grant execute on function private.refunded_amount(text) to service_role;

-- Whether a payment was refunded in full.
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
$$;
grant execute on function private.is_refunded(public.payments) to service_role;

-- Serializes writes about a gateway payment: a refund and the charge that it refunds may arrive at once, and neither
-- transaction would see the other's row. It comes before the user's lock, which a refund does not know yet. One for each event,
-- never for each row of a bulk insert: the locks share a table of fixed size.
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
$$;
grant execute on function private.lock_gateway_payment(text) to service_role;

-- Merges what an event says about a refund. A refund goes from pending to processed or failed; a processed one may still
-- fail.
create function private.merge_refund(
  p_refund_id text,
  p_gateway_payment_id text,
  p_amount bigint,
  p_status text -- pending, processed or failed
)
returns boolean -- whether that is news
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
$$;
grant execute on function private.merge_refund(text, text, bigint, text) to service_role;

-- Merging an event into the mirror of the gateway's subscriptions.

-- Stores the charge of a cycle, once for each payment.
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
    -- As private.refunded_amount, without a call.
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
$$;
grant execute on function
  private.record_charge(uuid, text, timestamptz, timestamptz, text, bigint, timestamptz) to service_role;

-- Merges an event into the mirror. The caller holds the user's lock, where there is such a user.
create function private.merge_gateway_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_event text, -- subscription.activated, subscription.charged or subscription.cancelled
  p_gateway_plan_id text,
  p_start timestamptz, -- of the cycle; null: the event carries none, here and below
  p_end timestamptz,
  p_gateway_payment_id text, -- of the cycle
  p_amount bigint, -- of that payment, minor currency units
  p_created_at timestamptz, -- of the event; without it the event applies and moves no clock
  p_arrived_at timestamptz
)
returns private.gateway_subscriptions -- as it is now; all null: the event changed nothing
language plpgsql
set search_path = ''
as $$
declare
  v_activated constant boolean := p_event = 'subscription.activated';
  v_charged constant boolean := p_event = 'subscription.charged';
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_gateway_plan_id constant text := left(p_gateway_plan_id, 200);
  v_happened_at constant timestamptz := private.happened_at(p_created_at, p_arrived_at);
  -- A charge that becomes known late, such as by reconciliation, keeps the gateway's time.
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
    -- Once an event named a plan of ours the subscription stays a source. A cancellation names the plan, but buys none.
    if v_plan_id is not null and (not v_cancelled or v_before.plan_id is null) then
      v_after.plan_id := v_plan_id;
      v_after.gateway_plan_id := v_gateway_plan_id;
      v_after.plan_event_at := case when v_cancelled then v_before.plan_event_at else coalesce(p_created_at, v_before.plan_event_at) end;
    elsif v_before.plan_id is null then
      v_after.gateway_plan_id := v_gateway_plan_id;
    end if;
  end if;

  -- Of two events of one second the longer period and the cancellation win, in either order of arrival.
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
      -- An older activation that arrives late is stale, but for this.
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
  -- Billed again after the user ended it. An activation that is known counts once, however late it comes again.
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
$$;
grant execute on function
  private.merge_gateway_subscription(
    uuid, text, text, text, timestamptz, timestamptz, text, bigint, timestamptz, timestamptz
  ) to service_role;

-- Further payments on an order: one counts, the others are to be refunded. A captured payment counts before one that is
-- only verified.

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
);
create index extra_payments_gateway_payment_id_idx on private.extra_payments (gateway_payment_id);
alter table private.extra_payments enable row level security;
grant select, insert, update, delete on private.extra_payments to service_role;
comment on table private.extra_payments is 'Payments on an order that another payment pays for: to be refunded.';
comment on column private.extra_payments.paid_at is 'When it was verified or its capture was announced.';
comment on column private.extra_payments.confirmed_at is 'When the gateway confirmed that the money was captured.';
comment on column private.extra_payments.refunded_amount is 'Minor currency units; the processed refunds.';

-- Stores a payment on an order that does not count. The caller holds the payment's lock, here and below.
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
$$;
grant execute on function private.note_extra_payment(uuid, text, timestamptz, timestamptz) to service_role;

-- Chooses the payment that counts for an order: one that was not refunded in full before one that was, a captured one before
-- one that is only verified, then the one that counts already.
create function private.count_best_payment(
  p_payment public.payments
)
returns public.payments -- as it is now
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
    -- A payment that is only verified is reconciled.
    next_reconcile_at = case
      when v_extra.confirmed_at is null then private.clock() + interval '15 minutes'
      else p.next_reconcile_at
    end
  where p.id = p_payment.id
  returning p.* into p_payment;
  return p_payment;
end
$$;
grant execute on function private.count_best_payment(public.payments) to service_role;
