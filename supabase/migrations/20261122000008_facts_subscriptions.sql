-- Facts from the gateway: subscriptions and the cycles that were charged.

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
