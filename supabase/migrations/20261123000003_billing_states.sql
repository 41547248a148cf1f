-- The state of a gateway subscription, from all ten events about it. Contract: "Gateway subscriptions".

alter table private.gateway_subscriptions
add column gateway_status_event_at timestamptz,
add column charge_at timestamptz,
add column short_url text,
add column paid_count bigint,
add column authenticated_at timestamptz,
add column first_halted_at timestamptz,
add column last_halted_at timestamptz,
add column last_resumed_at timestamptz,
add column first_period_start timestamptz,
add column first_period_end timestamptz,
add column first_period_event_at timestamptz,
add column replaced_by text;
comment on column private.gateway_subscriptions.gateway_status is
  'The newest status at the gateway. status has only whether it was activated or cancelled.';
comment on column private.gateway_subscriptions.gateway_status_event_at is
  'created_at of the event that set gateway_status, or the time of the reconciliation that did.';
comment on column private.gateway_subscriptions.charge_at is 'When the gateway charges next. Null: it does not.';
comment on column private.gateway_subscriptions.short_url is
  'The page of the gateway on which the customer authorises the subscription or changes the method of payment.';
comment on column private.gateway_subscriptions.paid_count is 'The number of paid cycles in the newest charge.';
comment on column private.gateway_subscriptions.authenticated_at is
  'When the customer authorised the subscription, by private.happened_at. Ranks a trial among the sources of access.';
comment on column private.gateway_subscriptions.first_halted_at is
  'created_at of the first halt. After it an activation may carry a cycle that is not paid: only a charge sets the period.';
comment on column private.gateway_subscriptions.last_halted_at is
  'created_at of the newest halt. If no later charge is known, access ends after the days of grace.';
comment on column private.gateway_subscriptions.last_resumed_at is
  'created_at of the newest resumption. If that is after the paid time, only a charge gives access again.';
comment on column private.gateway_subscriptions.first_period_start is 'The cycle of the first activation: its start.';
comment on column private.gateway_subscriptions.first_period_end is 'The cycle of the first activation: its end.';
comment on column private.gateway_subscriptions.first_period_event_at is 'created_at of the first activation with a cycle.';

comment on column private.gateway_subscriptions.replaced_by is
  'The authorised gateway subscription that starts when this one ends: a change of plan.';

-- The events about gateway subscriptions.
create function private.subscription_events()
returns text[]
language sql
immutable
set search_path = ''
return array[
  'subscription.authenticated', 'subscription.activated', 'subscription.charged', 'subscription.pending',
  'subscription.halted', 'subscription.paused', 'subscription.resumed', 'subscription.cancelled',
  'subscription.completed', 'subscription.updated'
];
grant execute on function private.subscription_events() to service_role;

-- Returns the status of a gateway subscription after an event.
create function private.status_after(
  p_event text,
  p_entity jsonb -- the subscription
)
returns text -- null: the event says nothing about the status
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case p_event
    when 'subscription.activated' then 'active'
    when 'subscription.charged' then 'active'
    when 'subscription.resumed' then 'active'
    when 'subscription.updated' then (
      select s.status
      from unnest(private.gateway_statuses()) s (status)
      where s.status = private.json_text(p_entity -> 'status')
    )
    else substr(p_event, length('subscription.') + 1)
  end;
end
$$;
grant execute on function private.status_after(text, jsonb) to service_role;

-- The statuses of a gateway subscription. Of two events in the same second the later one in this list wins.
create function private.gateway_statuses()
returns text[]
language sql
immutable
set search_path = ''
return array['created', 'authenticated', 'pending', 'halted', 'paused', 'active', 'completed', 'expired', 'cancelled'];
grant execute on function private.gateway_statuses() to service_role;

-- Merges the status of an event, with the time of the next charge and the page of the gateway, if no newer one is known.
create function private.merge_gateway_status(
  p_subscription private.gateway_subscriptions,
  p_event text,
  p_entity jsonb, -- the subscription
  p_created_at timestamptz -- of the event; null: the event is applied and sets no event time
)
returns private.gateway_subscriptions
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_status constant text := private.status_after(p_event, p_entity);
  v_charge_at constant timestamptz := private.json_time(p_entity -> 'charge_at');
  v_before constant private.gateway_subscriptions := p_subscription;
begin
  p_subscription.short_url := greatest(v_before.short_url, left(private.json_text(p_entity -> 'short_url'), 500));
  if v_status is not null and (
    p_created_at is null
    or v_before.gateway_status_event_at is null
    or (
      p_created_at, array_position(private.gateway_statuses(), v_status), coalesce(v_charge_at, '-infinity')
    ) > (
      v_before.gateway_status_event_at,
      coalesce(array_position(private.gateway_statuses(), v_before.gateway_status), 0),
      coalesce(v_before.charge_at, '-infinity')
    )
  ) then
    p_subscription.gateway_status := v_status;
    p_subscription.charge_at := v_charge_at;
    p_subscription.gateway_status_event_at := coalesce(p_created_at, v_before.gateway_status_event_at);
  end if;
  return p_subscription;
end
$$;
grant execute on function
  private.merge_gateway_status(private.gateway_subscriptions, text, jsonb, timestamptz) to service_role;

-- Sets the period of a gateway subscription that was halted: its newest charged cycle. If no charge is known, the cycle of
-- its first activation if that came before the halt, else its trial. If nothing of these is known, its paid time ended where
-- the cycle of its first activation began.
create function private.last_paid_cycle(
  p_subscription private.gateway_subscriptions
)
returns private.gateway_subscriptions
language plpgsql
stable
set search_path = ''
as $$
begin
  select date_trunc('second', cycle.period_start), cycle.period_end, date_trunc('second', cycle.at)
  into p_subscription.period_start, p_subscription.period_end, p_subscription.period_event_at
  from (
    select c.period_start, c.period_end, c.charged_at as at
    from private.gateway_charges c
    where c.user_id = p_subscription.user_id
      and c.gateway_subscription_id = p_subscription.gateway_subscription_id
    union all
    select p_subscription.first_period_start, p_subscription.first_period_end, p_subscription.first_period_event_at
    where p_subscription.first_period_event_at < p_subscription.first_halted_at
    union all
    select p_subscription.authenticated_at, o.starts_at, p_subscription.authenticated_at
    from private.subscription_orders o
    where o.gateway_subscription_id = p_subscription.gateway_subscription_id
      and o.user_id = p_subscription.user_id
      and o.is_trial
      and p_subscription.authenticated_at is not null
    union all
    select unpaid.at, unpaid.at, '-infinity'
    from (select least(p_subscription.first_period_start, p_subscription.first_halted_at) as at) unpaid
    where p_subscription.first_period_start is not null
  ) cycle
  order by cycle.at desc, cycle.period_end desc, cycle.period_start desc
  limit 1;
  return p_subscription;
end
$$;
grant execute on function private.last_paid_cycle(private.gateway_subscriptions) to service_role;

revoke execute on all functions in schema private from public;
