-- The mirror: the subscriptions that the gateway bills, one row for each, from its request to its end, with the facts about it,
-- merged from events and reconciliation in any order. Contract: "Gateway subscriptions", "Order of events".

-- Each fact has its own event time, so that the same facts give the same row in every order of arrival, repeats included.

create table billing.gateway_subscriptions (
  id uuid constraint gateway_subscriptions_pkey primary key default gen_random_uuid(),
  user_id uuid not null,
  gateway_subscription_id text, -- null: the gateway has not answered yet. Empty where the events have no id
  -- When it was asked for here, by our clock: its request, else the first fact about it. Wishes and purchases are older or newer.
  asked_at timestamptz not null default billing.clock(),
  -- The request. Null: it was not asked for here.
  asked_plan_id uuid, -- the row of public.plans
  asked_tier text,
  asked_gateway_plan_id text, -- the plan at the gateway when the subscription was made
  asked_price billing.price,
  gateway_key_id text,
  -- Each of these keys returns this request.
  idempotency_keys text[] not null default '{}', -- at most 20
  -- From then on the gateway accepts no authorisation. If none came before, the subscription is cancelled.
  expires_at timestamptz,
  starts_at timestamptz, -- when the first cycle is charged. Null: at the authorisation
  is_trial boolean not null default false, -- whether the authorisation gives access until starts_at
  replaces text, -- the one that ends when this one starts: a change of plan
  -- The payment for the time until starts_at. Without it the subscription is cancelled before it starts.
  payment_id uuid,
  undone_at timestamptz, -- when the user undid this change of the plan
  noted_user_id uuid, -- another user that the notes at the gateway name, by the newest event or read. It changes nothing
  gateway_plan_id text, -- the gateway's plan id in the newest event
  -- Our plan, which makes the subscription a source of access. Null: the subscription attaches to the ruling source.
  plan_id uuid,
  sold billing.price, -- the price of plan_id that is billed, of all units
  plan_event_at timestamptz,
  status text, -- active or cancelled
  status_event_at timestamptz,
  cancelled_at timestamptz,
  cancelled_arrived_at timestamptz,
  activated_event_at timestamptz,
  activated_at timestamptz, -- the newest activation. Ranks the sources of a user
  first_activated_at timestamptz, -- findings compare it with the times of payments
  first_charged_at timestamptz, -- ranks the sources of a user while no activation is known
  period_start timestamptz,
  period_end timestamptz,
  period_event_at timestamptz,
  has_refunds boolean not null default false, -- whether a cycle's payment was refunded, at least in part
  -- The end of the paid time after a full refund of the newest cycle. Null: the newest cycle is paid.
  paid_until timestamptz,
  -- Whether its access ends with its cycle, since the user cancelled it or the gateway was told: no days of grace.
  cancel_at_period_end boolean not null default false,
  stops_at timestamptz, -- when the gateway must stop billing it, as billing.plan derived it. Null: never
  ended_at timestamptz, -- when the user ended the subscription at once
  -- When the newest fact arrived. Null: it was only asked for here, or named by a row that was written by hand.
  arrived_at timestamptz,
  awaits_user boolean not null default false, -- whether an event arrived before its user existed
  -- When the subscription is next reconciled with the gateway. During a reconciliation: the end of the lease. -infinity: at once,
  -- since support asked for it.
  next_check_at timestamptz,
  checked_at timestamptz,
  gateway_status text, -- the newest status at the gateway. status has only whether it was activated or cancelled
  gateway_status_event_at timestamptz, -- of the newest event. A reconciliation has no time of the gateway
  charge_at timestamptz, -- when the gateway charges next. Null: it does not
  -- The page of the gateway on which the customer authorises the subscription or changes the method of payment.
  short_url text,
  paid_count bigint, -- the number of paid cycles in the newest charge
  authenticated_at timestamptz, -- when the customer authorised it. Ranks a trial
  -- After it an activation may carry a cycle that is not paid: only a charge sets the period.
  first_halted_at timestamptz,
  last_halted_at timestamptz, -- if no later charge is known, access ends after the days of grace
  last_resumed_at timestamptz, -- if that is after the paid time, only a charge gives access again
  first_period_start timestamptz, -- the cycle of the first activation: its start
  first_period_end timestamptz,
  first_period_event_at timestamptz,
  paid_period_start timestamptz, -- the newest charged cycle: its start
  paid_period_end timestamptz,
  paid_period_event_at timestamptz,
  -- When a row of public.subscriptions that was written by hand last named it, or came before its first event: it ranks from
  -- then on.
  written_at timestamptz,
  last_paused_at timestamptz, -- once it is cancelled, that tells whether its paid time had passed before
  quantity bigint, -- the units that the gateway bills, edited there. Null: one
  constraint gateway_subscriptions_key unique (user_id, gateway_subscription_id)
)
-- Space in each page for a new row version (HOT updates): the usual merge writes no index.
with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
alter table billing.gateway_subscriptions enable row level security;
grant select, insert, update on billing.gateway_subscriptions to service_role;
create index gateway_subscriptions_gateway_subscription_id_idx
on billing.gateway_subscriptions (gateway_subscription_id);
create index gateway_subscriptions_next_check_at_idx on billing.gateway_subscriptions (next_check_at)
where next_check_at is not null;
create index gateway_subscriptions_plan_waiting_idx on billing.gateway_subscriptions (gateway_plan_id)
where plan_id is null and gateway_plan_id is not null;
create unique index gateway_subscriptions_asked_idx on billing.gateway_subscriptions (gateway_subscription_id)
where asked_plan_id is not null;
create index gateway_subscriptions_user_waiting_idx on billing.gateway_subscriptions (user_id) where awaits_user;
comment on table billing.gateway_subscriptions is
  'One row for each gateway subscription, from its request to its end. One that was not authorised gives no access, and is '
  'forgotten after expires_at. No foreign key to the user, because an event may arrive before its user exists. A column with '
  'event_at is the created_at of the event that set the columns of its name.';

-- Returns whether anything but the request is known of a gateway subscription: the customer authorised it, or a row that was
-- written by hand names it.
create function billing.is_known(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return num_nonnulls(p_subscription.arrived_at, p_subscription.written_at) > 0; end $$;

-- Returns the notes for what is read of a gateway subscription whose user is known: whom they were last seen to name.
create function billing.notes_of(p_subscription billing.gateway_subscriptions)
returns jsonb language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin return jsonb_build_object('user_id', coalesce(p_subscription.noted_user_id, p_subscription.user_id)); end $$;

-- Finds a gateway subscription by its id: the row of the user who asked for it, else of one who exists and whose row by hand
-- named it last, else of the first one who was seen with it.
create function billing.find_subscription(p_gateway_subscription_id text)
returns billing.gateway_subscriptions -- all null: it is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select m
    from billing.gateway_subscriptions m
    where m.gateway_subscription_id = p_gateway_subscription_id and m.gateway_subscription_id <> ''
    order by
      m.asked_plan_id,
      case when m.asked_plan_id is null then exists (select from billing.find_user(m.user_id)) end desc,
      case when m.asked_plan_id is null then (
        select w.at
        from billing.manual_subscriptions w
        where (w.user_id, w.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
      ) end desc nulls last,
      m.asked_at,
      m.user_id
    limit 1
  );
end $$;

-- Returns another user than its own whom the gateway's answer names.
create function billing.noted_user(p_subscription billing.gateway_subscriptions, p_entity jsonb)
returns uuid -- null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return nullif(billing.json_uuid(p_entity #> '{notes,user_id}'), p_subscription.user_id);
end $$;

-- Sets the period of a gateway subscription that was halted: its newest charged cycle. If no charge is known, the cycle of
-- its first activation if that came before the halt, else its trial. If nothing of these is known, its paid time ended where
-- the cycle of its first activation began.
create function billing.last_paid_cycle(p_subscription billing.gateway_subscriptions)
returns billing.gateway_subscriptions language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  select date_trunc('second', cycle.period_start), cycle.period_end, date_trunc('second', cycle.at)
  into p_subscription.period_start, p_subscription.period_end, p_subscription.period_event_at
  from (
    select
      p_subscription.paid_period_start as period_start, p_subscription.paid_period_end as period_end,
      p_subscription.paid_period_event_at as at
    where p_subscription.paid_period_event_at is not null
    union all
    select p_subscription.first_period_start, p_subscription.first_period_end, p_subscription.first_period_event_at
    where p_subscription.first_period_event_at < p_subscription.first_halted_at
    union all
    select p_subscription.authenticated_at, p_subscription.starts_at, p_subscription.authenticated_at
    where p_subscription.is_trial and p_subscription.authenticated_at is not null
    union all
    select unpaid.at, unpaid.at, '-infinity'
    from (select least(p_subscription.first_period_start, p_subscription.first_halted_at) as at) unpaid
    where p_subscription.first_period_start is not null
  ) cycle
  order by cycle.at desc, cycle.period_end desc, cycle.period_start desc
  limit 1;
  return p_subscription;
end $$;

-- Returns the end of the paid time of a gateway subscription whose newest cycle was refunded in full: the end of the newest
-- paid cycle before it, else the start of the first refunded cycle. A cycle with several payments is refunded when all are.
create function billing.paid_until(p_subscription billing.gateway_subscriptions)
returns timestamptz -- null: the newest cycle is paid
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select case
      when bool_or(cycle.is_refunded and cycle.ends_at = p_subscription.period_end) then coalesce(
        max(cycle.ends_at) filter (where not cycle.is_refunded and cycle.ends_at < p_subscription.period_end),
        min(cycle.starts_at) filter (where cycle.is_refunded)
      )
    end
    from (
      select
        c.period_start as starts_at,
        c.period_end as ends_at,
        bool_and(billing.is_refunded(c)) as is_refunded
      from public.payments c
      where c.gateway_subscription_id = p_subscription.gateway_subscription_id
        -- Null: the user does not exist yet, or was deleted.
        and coalesce(c.user_id = p_subscription.user_id, c.gateway_subscription_id <> '')
      group by c.period_start, c.period_end
    ) cycle
  );
end $$;

-- Returns when the gateway charges a subscription next; null: never. An entity without that field renews at the end of its
-- cycle. So does one whose field has the try that was charged.
create function billing.next_charge_at(
  p_entity jsonb, -- the subscription
  p_charged_at timestamptz default null -- null: it was not charged now
)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when billing.json_integer(p_entity -> 'remaining_count') = 0 and p_entity ->> 'status' is distinct from 'pending' then null
    when p_entity ? 'charge_at' and (billing.json_time(p_entity -> 'charge_at') <= p_charged_at) is not true
      then billing.json_time(p_entity -> 'charge_at')
    else billing.json_time(p_entity -> 'current_end')
  end;
end $$;

-- Merges the status of an event, with the time of the next charge and the page of the gateway, if no newer one is known. A
-- halt, a pause and a resumption are kept with their times.
create function billing.merge_gateway_status(
  p_subscription billing.gateway_subscriptions,
  p_event text,
  p_entity jsonb, -- the subscription
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  -- Of two events in the same second the later one in this list wins.
  v_statuses constant text[] := array[
    'created', 'authenticated', 'pending', 'halted', 'paused', 'active', 'completed', 'expired', 'cancelled'
  ];
  v_status text := case
    when p_event in ('subscription.activated', 'subscription.charged', 'subscription.resumed') then 'active'
    when p_event = 'subscription.updated' then billing.json_text(p_entity -> 'status')
    else substr(p_event, length('subscription.') + 1)
  end;
  v_charge_at constant timestamptz := billing.next_charge_at(
    p_entity, case when p_event = 'subscription.charged' then coalesce(p_created_at, p_arrived_at) end
  );
  v_before constant billing.gateway_subscriptions := p_subscription;
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
begin
  if p_event = 'subscription.halted' then
    p_subscription.first_halted_at := least(v_before.first_halted_at, v_at);
    p_subscription.last_halted_at := greatest(v_before.last_halted_at, v_at);
  elsif p_event = 'subscription.paused' then
    p_subscription.last_paused_at := greatest(v_before.last_paused_at, v_at);
  elsif p_event = 'subscription.resumed' then
    p_subscription.last_resumed_at := greatest(v_before.last_resumed_at, v_at);
  end if;
  -- The last charge before an end is known by this number only. A cycle that is paid after a halt makes it grow.
  if p_event in ('subscription.charged', 'subscription.halted', 'subscription.cancelled', 'subscription.completed') then
    p_subscription.paid_count := greatest(v_before.paid_count, billing.json_integer(p_entity -> 'paid_count'));
  end if;
  if p_event in ('subscription.pending', 'subscription.halted', 'subscription.paused')
    or p_event <> 'subscription.charged' and p_subscription.paid_count > coalesce(v_before.paid_count, 0)
  then
    p_subscription.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  end if;
  -- Pages link to it, so no other scheme is stored.
  p_subscription.short_url := greatest(
    v_before.short_url, left(substring(billing.json_text(p_entity -> 'short_url') from '^https?://.*'), 500)
  );
  if v_status = any (v_statuses)
    -- An event from before the newest charge, which a reconciliation may have told.
    and (billing.json_integer(p_entity -> 'paid_count') < v_before.paid_count) is not true
    and (
      -- A first charge may have the time at which its cycle began, before the authorisation.
      v_before.gateway_status in ('created', 'authenticated') and billing.json_integer(p_entity -> 'paid_count') > 0
      -- Of two in one second, no further charge is the later state.
      or (p_created_at, array_position(v_statuses, v_status), coalesce(v_charge_at, 'infinity')) > (
        v_before.gateway_status_event_at,
        coalesce(array_position(v_statuses, v_before.gateway_status), 0),
        coalesce(v_before.charge_at, 'infinity')
      ) is not false
    )
  then
    p_subscription.gateway_status := v_status;
    p_subscription.charge_at := v_charge_at;
    p_subscription.gateway_status_event_at := greatest(p_created_at, v_before.gateway_status_event_at);
    -- By its time it may be older than the reconciliation, but that is the clock of the gateway: the subscription is read again.
    if p_created_at < v_before.checked_at and v_status <> v_before.gateway_status then
      p_subscription.next_check_at := least(p_subscription.next_check_at, p_arrived_at);
    end if;
  end if;
  return p_subscription;
end $$;

-- Finds our plan of a plan at the gateway, and the price: as it was asked for, else as it is now.
create function billing.find_billed_price(p_gateway_plan_id text, p_gateway_subscription_id text)
returns table (plan_id uuid, sold billing.price) -- no row: it is not ours
language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select p.id, m.asked_price
  from billing.gateway_subscriptions m
  join public.plans p on p.id = m.asked_plan_id
  where m.gateway_subscription_id = p_gateway_subscription_id and m.asked_gateway_plan_id = p_gateway_plan_id;
  if found then return; end if;
  return query
  select p.id, billing.price_of(p)
  from public.plans p
  where p.gateway_plan_id = p_gateway_plan_id;
end $$;

-- Returns the price of so many units.
create function billing.price_of_units(
  p_price billing.price, -- of one
  p_units bigint -- null: one
)
returns billing.price language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  p_price.amount := p_price.amount * coalesce(p_units, 1);
  return p_price;
end $$;

-- Returns the number of units that the gateway bills.
create function billing.quantity_of(p_entity jsonb) -- the subscription
returns bigint -- null: one, or it is not named
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_quantity constant bigint := billing.json_integer(p_entity -> 'quantity');
begin
  return case when v_quantity between 2 and 1000000 then v_quantity end;
end $$;

-- Merges the plan that an event names, with its quantity. After an event named a plan of ours, the subscription remains a
-- source. A cancellation does not change that plan.
create function billing.merge_gateway_plan(
  p_subscription billing.gateway_subscriptions,
  p_event text,
  p_entity jsonb, -- the subscription
  p_gateway_plan_id text, -- null: the event names none
  p_created_at timestamptz -- of the event; null: the event is applied and sets no event time
)
returns billing.gateway_subscriptions language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_id constant text := left(p_gateway_plan_id, 200);
  v_plan_id uuid := p_subscription.plan_id;
  v_sold billing.price := p_subscription.sold; -- of one unit
  v_quantity constant bigint := case
    when p_entity ? 'quantity' then billing.quantity_of(p_entity)
    else p_subscription.quantity
  end;
  v_billed record;
begin
  if v_id is null
    or (p_created_at, v_id, coalesce(v_quantity, 1))
      > (p_subscription.plan_event_at, p_subscription.gateway_plan_id, coalesce(p_subscription.quantity, 1)) is false
  then
    return p_subscription;
  end if;
  v_sold.amount := v_sold.amount / coalesce(p_subscription.quantity, 1);
  if v_plan_id is null or v_id is distinct from p_subscription.gateway_plan_id then
    select * into v_billed from billing.find_billed_price(v_id, p_subscription.gateway_subscription_id);
    v_plan_id := v_billed.plan_id;
    v_sold := v_billed.sold;
  end if;
  if v_plan_id is not null and (not v_cancelled or p_subscription.plan_id is null) then
    p_subscription.sold := billing.price_of_units(v_sold, v_quantity);
    p_subscription.quantity := v_quantity;
    p_subscription.plan_id := v_plan_id;
    p_subscription.gateway_plan_id := v_id;
    p_subscription.plan_event_at := case
      when v_cancelled then p_subscription.plan_event_at
      else coalesce(p_created_at, p_subscription.plan_event_at)
    end;
  elsif p_subscription.plan_id is null then
    p_subscription.gateway_plan_id := v_id;
    p_subscription.quantity := v_quantity;
  end if;
  return p_subscription;
end $$;

-- Returns whether the gateway may charge another cycle.
create function billing.is_billed(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return billing.is_known(p_subscription)
    and p_subscription.status is distinct from 'cancelled'
    and p_subscription.ended_at is null
    and coalesce(p_subscription.gateway_status, 'active') not in ('completed', 'expired', 'cancelled');
end $$;

-- Returns whether the gateway charges another cycle of what it bills: not in the last one that was agreed, nor while it is paused.
create function billing.has_next_charge(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_subscription.gateway_status
    when 'paused' then false
    when 'active' then p_subscription.charge_at is not null
    else true
  end;
end $$;

-- Returns when a charge was made. One that arrives late, such as from reconciliation, keeps the gateway's time.
create function billing.charged_at(p_created_at timestamptz, p_arrived_at timestamptz)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return least(p_created_at + interval '999999 microseconds', p_arrived_at); end $$;

-- Merges the cycle of an event. Of two events in the same second the longer period wins.
create function billing.merge_cycle(
  p_subscription billing.gateway_subscriptions,
  p_event text,
  p_start timestamptz, -- null, here and below: the event has none
  p_end timestamptz,
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_before constant billing.gateway_subscriptions := p_subscription;
  v_charged_at constant timestamptz := billing.charged_at(p_created_at, p_arrived_at);
begin
  if p_end is not null
    and (p_created_at, p_end, p_start) > (v_before.period_event_at, v_before.period_end, v_before.period_start) is not false
  then
    p_subscription.period_start := p_start;
    p_subscription.period_end := p_end;
    p_subscription.period_event_at := coalesce(p_created_at, v_before.period_event_at);
    p_subscription.next_check_at := least(v_before.next_check_at, p_end - interval '1 day');
  end if;
  if p_event = 'subscription.charged' then
    p_subscription.first_charged_at := least(
      v_before.first_charged_at, billing.happened_at(p_created_at, p_arrived_at)
    );
    if (v_charged_at, p_end, p_start)
      > (v_before.paid_period_event_at, v_before.paid_period_end, v_before.paid_period_start) is not false
    then
      p_subscription.paid_period_start := p_start;
      p_subscription.paid_period_end := p_end;
      p_subscription.paid_period_event_at := v_charged_at;
    end if;
  end if;
  return p_subscription;
end $$;

-- Merges whether a subscription was activated or cancelled. Of an activation and a cancellation in the same second the
-- cancellation wins. So the order of arrival does not matter.
create function billing.merge_activation(
  p_subscription billing.gateway_subscriptions,
  p_event text, -- activated or cancelled
  p_start timestamptz, -- of the cycle; null, here and below: the event has none
  p_end timestamptz,
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_before constant billing.gateway_subscriptions := p_subscription;
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
  v_happened_at constant timestamptz := billing.happened_at(p_created_at, p_arrived_at);
begin
  if (p_created_at, v_cancelled) > (v_before.status_event_at, v_before.status = 'cancelled') is not false then
    p_subscription.status := case when v_cancelled then 'cancelled' else 'active' end;
    p_subscription.status_event_at := coalesce(p_created_at, v_before.status_event_at);
    if v_cancelled then
      p_subscription.cancelled_at := v_happened_at;
      p_subscription.cancelled_arrived_at := p_arrived_at;
    end if;
  end if;
  if v_cancelled then return p_subscription; end if;
  if p_created_at > v_before.activated_event_at is not false then
    p_subscription.activated_at := case
      when num_nulls(v_before.activated_event_at, p_created_at) > 0 then greatest(v_before.activated_at, v_happened_at)
      else v_happened_at
    end;
    p_subscription.activated_event_at := coalesce(p_created_at, v_before.activated_event_at);
  end if;
  p_subscription.first_activated_at := least(v_before.first_activated_at, v_happened_at);
  if p_end is not null and (
    v_at < v_before.first_period_event_at
    or v_at = v_before.first_period_event_at
      and (p_end, p_start) > (v_before.first_period_end, v_before.first_period_start)
  ) is not false then
    p_subscription.first_period_start := p_start;
    p_subscription.first_period_end := p_end;
    p_subscription.first_period_event_at := v_at;
  end if;
  return p_subscription;
end $$;

-- Finds the row of a gateway subscription and locks it. An event may arrive before the gateway's answer: its notes name the
-- request. One that the user ended before its first event is ended. One whose first event arrives after a row was written by
-- hand ranks above that row.
create function billing.lock_mirrored(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_request_id uuid, -- null: the event names none
  p_seen_at timestamptz -- by its first event
)
returns billing.gateway_subscriptions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_found record;
  v_subscription billing.gateway_subscriptions;
begin
  loop
    select
      m as subscription,
      case when billing.is_known(m) then m.ended_at else (
        select max(w.at) from billing.wishes w where w.user_id = p_user_id and not w.at_period_end and w.at >= m.asked_at
      ) end as ended_at,
      case when billing.is_known(m) then m.written_at else (
        select r.at + interval '1 microsecond'
        from billing.manual_subscriptions r
        where r.user_id = p_user_id and r.at >= m.asked_at
      ) end as written_at
    into v_found
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id
    for update;
    exit when found;
    update billing.gateway_subscriptions m
    set gateway_subscription_id = p_gateway_subscription_id
    where m.id = p_request_id
      and m.user_id = p_user_id
      and m.gateway_subscription_id is null
      and p_gateway_subscription_id <> '';
    continue when found;
    insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, asked_at)
    values (p_user_id, p_gateway_subscription_id, p_seen_at)
    on conflict on constraint gateway_subscriptions_key do nothing;
  end loop;
  v_subscription := v_found.subscription;
  v_subscription.ended_at := v_found.ended_at;
  v_subscription.written_at := v_found.written_at;
  return v_subscription;
end $$;

create function billing.store_mirrored(p_subscription billing.gateway_subscriptions)
returns billing.gateway_subscriptions language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.gateway_subscriptions m
  set (
    id, user_id, gateway_subscription_id, asked_at, asked_plan_id, asked_tier, asked_gateway_plan_id, asked_price,
    gateway_key_id, idempotency_keys, expires_at, starts_at, is_trial, replaces, payment_id, undone_at, noted_user_id,
    gateway_plan_id, plan_id, sold, plan_event_at, status, status_event_at, cancelled_at, cancelled_arrived_at,
    activated_event_at, activated_at, first_activated_at, first_charged_at, period_start, period_end, period_event_at,
    has_refunds, paid_until, cancel_at_period_end, stops_at, ended_at, arrived_at, awaits_user, next_check_at, checked_at,
    gateway_status, gateway_status_event_at, charge_at, short_url, paid_count, authenticated_at, first_halted_at,
    last_halted_at, last_resumed_at, first_period_start, first_period_end, first_period_event_at, paid_period_start,
    paid_period_end, paid_period_event_at, written_at, last_paused_at, quantity
  ) = row(p_subscription.*)
  where m.id = p_subscription.id
  returning m.* into p_subscription;
  return p_subscription;
end $$;

-- Merges one event into the mirror. The caller holds the lock on the user, if the user exists.
create function billing.merge_gateway_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_event text,
  p_entity jsonb, -- the subscription
  p_gateway_plan_id text,
  p_start timestamptz, -- of the cycle; null, here and below: the event has none
  p_end timestamptz,
  p_payment jsonb, -- of the cycle
  p_created_at timestamptz, -- of the event; null: the event is applied and sets no event time
  p_arrived_at timestamptz
)
returns billing.gateway_subscriptions -- the row after the merge; all null: the event changed nothing
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_activated constant boolean := p_event = 'subscription.activated';
  v_charged constant boolean := p_event = 'subscription.charged';
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
  v_happened_at constant timestamptz := billing.happened_at(p_created_at, p_arrived_at);
  v_charged_at constant timestamptz := billing.charged_at(p_created_at, p_arrived_at);
  -- When it was first seen, if it was not asked for here. The clock of the gateway may differ from ours, so its time counts
  -- only for an event that arrives late.
  v_seen_at constant timestamptz := case
    when p_created_at < p_arrived_at - interval '1 hour' then v_happened_at
    else p_arrived_at
  end;
  v_is_paid boolean := false; -- the payment of the cycle is new
  v_is_older boolean := false;
  v_is_news boolean;
  v_again_at timestamptz;
  v_before billing.gateway_subscriptions;
  v_after billing.gateway_subscriptions;
begin
  v_before := billing.lock_mirrored(
    p_user_id, p_gateway_subscription_id, billing.json_uuid(p_entity #> '{notes,request_id}'), v_seen_at
  );
  v_after := v_before;
  if v_seen_at < v_before.asked_at
    and num_nonnulls(v_before.asked_plan_id, v_before.written_at) = 0
  then
    v_after.asked_at := v_seen_at;
    -- An older event that arrives late is no news, unless it changes what is newer.
    if billing.since_of(v_after) = billing.since_of(v_before)
      and not exists (select from billing.wishes w where w.user_id = p_user_id)
    then
      v_before.asked_at := v_seen_at;
      v_is_older := true;
    end if;
  end if;

  -- Here and in the functions a comparison with a time that is not known is null: the event is applied.
  v_after := billing.merge_gateway_plan(v_after, p_event, p_entity, p_gateway_plan_id, p_created_at);
  v_after := billing.merge_gateway_status(v_after, p_event, p_entity, p_created_at, p_arrived_at);
  if p_event = 'subscription.authenticated' then
    v_after.authenticated_at := least(v_before.authenticated_at, v_happened_at);
    -- A trial is a period without a charge.
    if v_before.is_trial then
      p_start := v_at;
      p_end := v_before.starts_at;
    end if;
  end if;
  v_after := billing.merge_cycle(v_after, p_event, p_start, p_end, p_created_at, p_arrived_at);
  if v_activated or p_event = 'subscription.cancelled' then
    v_after := billing.merge_activation(v_after, p_event, p_start, p_end, p_created_at, p_arrived_at);
  end if;
  if v_activated and (v_at < v_before.first_period_event_at or v_happened_at < v_before.first_activated_at) then
    -- An older activation that arrives late is no news.
    v_is_older := true;
    v_before.first_activated_at := v_after.first_activated_at;
    v_before.first_period_start := v_after.first_period_start;
    v_before.first_period_end := v_after.first_period_end;
    v_before.first_period_event_at := v_after.first_period_event_at;
  end if;
  if v_charged then
    v_is_paid := billing.record_charge(v_after, left(p_gateway_plan_id, 200), p_start, p_end, p_payment, v_charged_at);
  end if;
  if v_after.first_halted_at is not null then v_after := billing.last_paid_cycle(v_after); end if;
  v_after.has_refunds := v_before.has_refunds
    or v_is_paid and billing.refunded_amount(billing.json_text(p_payment -> 'id')) > 0;
  if v_after.has_refunds then
    v_after.paid_until := billing.paid_until(v_after);
  end if;
  -- The gateway bills the subscription again after the user ended it. A repeated activation counts once, however late it
  -- arrives.
  v_again_at := greatest(
    case when v_charged then v_charged_at else v_happened_at end,
    -- Before its first event the gateway's time says nothing about a wish.
    case when v_before.arrived_at is null then v_seen_at end
  );
  if v_again_at > v_before.ended_at
    and (v_charged or v_activated and coalesce(p_created_at > v_before.activated_event_at, true))
  then
    v_after.ended_at := null;
  end if;

  v_is_news := v_after is distinct from v_before;
  if not v_is_news and not v_is_older and not v_is_paid then return null; end if;
  if v_is_news then
    v_after.arrived_at := p_arrived_at;
  end if;
  v_after := billing.store_mirrored(v_after);
  if v_before.plan_id is null and v_after.plan_id is not null and v_before.first_charged_at is not null then
    perform billing.adopt_charges(p_user_id);
  end if;
  return case when v_is_news or v_is_paid then v_after end;
end $$;
