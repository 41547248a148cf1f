-- The mirror of the gateway's subscriptions, the users' immediate cancellations, and the charged cycles.

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
  'The mirror: the facts about each gateway subscription. No foreign key to the user, because an event may arrive before '
  'its user exists.';
comment on column private.gateway_subscriptions.gateway_subscription_id is 'Empty where the events have no id.';
comment on column private.gateway_subscriptions.gateway_plan_id is 'The gateway''s plan id in the newest event.';
comment on column private.gateway_subscriptions.plan_id is
  'The plan with this gateway plan id, which makes the subscription a source of access. Null: the subscription attaches to '
  'the ruling source.';
comment on column private.gateway_subscriptions.plan_event_at is 'created_at of the event that set the plan.';
comment on column private.gateway_subscriptions.status_event_at is 'created_at of the event that set the status.';
comment on column private.gateway_subscriptions.activated_event_at is 'created_at of the newest activation.';
comment on column private.gateway_subscriptions.period_event_at is 'created_at of the event that set the period.';
comment on column private.gateway_subscriptions.activated_at is
  'The time of the newest activation, by private.happened_at. Ranks the sources of access of a user.';
comment on column private.gateway_subscriptions.first_activated_at is
  'The time of the first activation, by private.happened_at. The findings compare it with the times of payments.';
comment on column private.gateway_subscriptions.first_charged_at is
  'The time of the first charge. Ranks the sources of access of a user while no activation is known.';
comment on column private.gateway_subscriptions.has_refunds is
  'Whether a payment of one of its cycles was refunded, at least in part.';
comment on column private.gateway_subscriptions.paid_until is
  'The end of the paid time after a full refund of the newest cycle. Null: the newest cycle is paid.';
comment on column private.gateway_subscriptions.is_replaced is
  'Whether another source rules. Then the outbox cancels the subscription at the gateway for the end of its cycle.';
comment on column private.gateway_subscriptions.user_cancelled_at is
  'When the user cancelled the subscription, at once or for the end of the cycle. A later charge is unexpected.';
comment on column private.gateway_subscriptions.ended_at is 'When the user ended the subscription at once.';
comment on column private.gateway_subscriptions.arrived_at is
  'When the newest fact arrived. Null: only a subscription row that was written by hand names the subscription.';
comment on column private.gateway_subscriptions.is_waiting is 'Whether an event arrived before its user existed.';
comment on column private.gateway_subscriptions.next_check_at is
  'When the subscription is next reconciled with the gateway. During a reconciliation: the end of the lease.';

create table private.user_cancellations (
  user_id uuid primary key constraint user_cancellations_user_id_fkey references auth.users (id) on delete cascade,
  at timestamptz not null
);
alter table private.user_cancellations enable row level security;
grant select, insert, update on private.user_cancellations to service_role;
comment on table private.user_cancellations is
  'When a user last ended all access at once. A gateway subscription that was activated before that time has ended, too, '
  'even if its event arrives later.';

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
comment on table private.gateway_charges is 'The charged cycles of gateway subscriptions, with their payments.';
comment on column private.gateway_charges.gateway_payment_id is 'Empty where the gateway named no payment.';
comment on column private.gateway_charges.amount is 'Minor currency units. Null where the gateway named no payment.';
comment on column private.gateway_charges.dispute_event_at is 'created_at of the newest event about the dispute.';
comment on column private.gateway_charges.refunded_amount is 'The sum of the processed refunds, minor currency units.';

-- Returns when an event happened, to rank it among the customer's acts. The gateway's times have whole seconds, so an event
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
$$;
grant execute on function private.happened_at(timestamptz, timestamptz) to service_role;

-- Returns the end of the paid time of a gateway subscription whose newest cycle was refunded in full: the end of the newest
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
$$;
grant execute on function private.paid_until(private.gateway_subscriptions) to service_role;

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
$$;
grant execute on function
  private.record_charge(uuid, text, timestamptz, timestamptz, text, bigint, timestamptz) to service_role;
