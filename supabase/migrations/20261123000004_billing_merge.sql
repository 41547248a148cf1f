-- Merges an event about a gateway subscription into the mirror. Contract: "Gateway subscriptions", "Order of events".

drop function private.merge_gateway_subscription(
  uuid, text, text, text, timestamptz, timestamptz, text, bigint, timestamptz, timestamptz
);

-- Merges one event into the mirror. The caller holds the lock on the user, if the user exists.
create function private.merge_gateway_subscription(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_event text,
  p_entity jsonb, -- the subscription
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
  v_at constant timestamptz := coalesce(p_created_at, p_arrived_at);
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
    insert into private.gateway_subscriptions (
      user_id, gateway_subscription_id, ended_at, ended_reason, user_cancelled_at, is_replaced
    )
    select p_user_id, p_gateway_subscription_id, c.at, case when c.at is not null then 'cancelled' end, c.at, exists (
      -- Another subscription was authorised, so the cancellation of this one is enqueued.
      select
      from private.subscription_orders o
      where o.gateway_subscription_id = p_gateway_subscription_id
        and o.user_id = p_user_id
        and o.withdrawn_at is not null
    )
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

  if p_event = 'subscription.halted' then
    v_after.first_halted_at := least(v_before.first_halted_at, v_at);
    v_after.last_halted_at := greatest(v_before.last_halted_at, v_at);
  elsif p_event = 'subscription.resumed' then
    v_after.last_resumed_at := greatest(v_before.last_resumed_at, v_at);
  elsif p_event = 'subscription.authenticated' then
    v_after.authenticated_at := least(v_before.authenticated_at, v_happened_at);
    -- A trial is a period without a charge.
    select v_at, o.starts_at into p_start, p_end
    from private.subscription_orders o
    where o.gateway_subscription_id = p_gateway_subscription_id
      and o.user_id = p_user_id
      and o.is_trial;
  elsif v_charged then
    v_after.paid_count := greatest(v_before.paid_count, private.json_integer(p_entity -> 'paid_count'));
  end if;
  if p_event in ('subscription.pending', 'subscription.halted', 'subscription.paused') then
    v_after.next_check_at := least(v_before.next_check_at, p_arrived_at + interval '1 hour');
  end if;
  v_after := private.merge_gateway_status(v_after, p_event, p_entity, p_created_at);

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
    v_after.next_check_at := least(v_after.next_check_at, p_end - interval '1 day');
  end if;

  if (v_activated or v_cancelled) and (
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
    if p_end is not null and (
      v_before.first_period_event_at is null
      or v_at < v_before.first_period_event_at
      or v_at = v_before.first_period_event_at and (p_end, p_start) > (v_before.first_period_end, v_before.first_period_start)
    ) then
      v_after.first_period_start := p_start;
      v_after.first_period_end := p_end;
      v_after.first_period_event_at := v_at;
    end if;
    if v_at < v_before.first_period_event_at or v_happened_at < v_before.first_activated_at then
      -- An older activation that arrives late changes only these fields.
      update private.gateway_subscriptions m
      set first_activated_at = v_after.first_activated_at,
        first_period_start = v_after.first_period_start,
        first_period_end = v_after.first_period_end,
        first_period_event_at = v_after.first_period_event_at
      where m.user_id = p_user_id
        and m.gateway_subscription_id = p_gateway_subscription_id;
      v_before.first_activated_at := v_after.first_activated_at;
      v_before.first_period_start := v_after.first_period_start;
      v_before.first_period_end := v_after.first_period_end;
      v_before.first_period_event_at := v_after.first_period_event_at;
    end if;
  end if;
  if v_charged then
    v_after.first_charged_at := least(v_before.first_charged_at, v_happened_at);
    v_refunded := private.record_charge(
      p_user_id, p_gateway_subscription_id, p_start, p_end, p_gateway_payment_id, p_amount, v_charged_at
    );
  end if;
  if v_after.first_halted_at is not null then
    v_after := private.last_paid_cycle(v_after);
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
    first_period_start = v_after.first_period_start,
    first_period_end = v_after.first_period_end,
    first_period_event_at = v_after.first_period_event_at,
    first_halted_at = v_after.first_halted_at,
    last_halted_at = v_after.last_halted_at,
    last_resumed_at = v_after.last_resumed_at,
    authenticated_at = v_after.authenticated_at,
    paid_count = v_after.paid_count,
    gateway_status = v_after.gateway_status,
    gateway_status_event_at = v_after.gateway_status_event_at,
    charge_at = v_after.charge_at,
    short_url = v_after.short_url,
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
    uuid, text, text, jsonb, text, timestamptz, timestamptz, text, bigint, timestamptz, timestamptz
  ) to service_role;

revoke execute on all functions in schema private from public;
