-- subscription.activated, .charged and .cancelled, in whatever order they come. SPEC 3 and 6.
-- Each field goes by a clock of its own: the created_at of the newest event that set it.
-- Depends on: _gateway_events, _access, _outbox, _fulfil_payment.

-- A subscription that the gateway bills and that is not known here yet: made, if one of our plans is the gateway's.
create function private.create_gateway_subscription(
  p_user_id uuid,
  p_email text,
  p_event text,
  p_entity jsonb,
  p_start timestamptz,
  p_end timestamptz,
  p_created_at timestamptz
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_id constant text := private.json_text(p_entity -> 'id');
  v_earlier private.gateway_events;
begin
  insert into public.subscriptions (
    user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id,
    period_event_at, status_event_at, activated_event_at
  )
  select
    p_user_id, p.id, p.tier, 'active', p_start, p_end, v_id,
    p_created_at,
    case when p_event = 'subscription.activated' then p_created_at end,
    case when p_event = 'subscription.activated' then p_created_at end
  from public.plans p
  where p.gateway_plan_id = private.json_text(p_entity -> 'plan_id');
  if not found then
    return 'unmatched';
  end if;

  if p_end > private.clock() then
    perform private.set_tier(p_user_id, s.tier, p_email) from public.subscriptions s where s.user_id = p_user_id;
  end if;

  -- What came too early has its turn now. Whoever holds one of these rows waits for the user and then finds the
  -- subscription: skipping it loses nothing, waiting for it would be a deadlock.
  for v_earlier in
    select e.*
    from private.gateway_events e
    where e.subject_id = v_id
      and e.outcome = 'unmatched'
      and e.event like 'subscription.%'
    order by e.received_at
    for update skip locked
  loop
    perform private.apply_recorded_event(v_earlier);
  end loop;
  return 'applied';
end
$$;
revoke execute on function private.create_gateway_subscription(uuid, text, text, jsonb, timestamptz, timestamptz, timestamptz) from public;
grant execute on function private.create_gateway_subscription(uuid, text, text, jsonb, timestamptz, timestamptz, timestamptz) to service_role;

create function private.apply_subscription_event(
  p_event text, -- subscription.activated, subscription.charged or subscription.cancelled
  p_entity jsonb,
  p_created_at timestamptz -- of the event; without it the event applies and moves no clock
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_activated constant boolean := p_event = 'subscription.activated';
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_id constant text := private.json_text(p_entity -> 'id');
  v_user_id constant uuid := private.json_uuid(p_entity -> 'notes' -> 'user_id');
  v_start constant timestamptz := private.json_time(p_entity -> 'current_start');
  v_end constant timestamptz := private.json_time(p_entity -> 'current_end');
  v_before_first_cycle constant boolean := v_activated
    and p_entity -> 'current_start' = 'null'
    and p_entity -> 'current_end' = 'null';
  v_email text;
  v_subscription public.subscriptions;
  v_sets_period boolean;
  v_sets_status boolean;
  v_sets_id boolean;
begin
  if v_user_id is null then
    return 'ignored: subscription.entity.notes.user_id';
  end if;
  if not v_cancelled and not v_before_first_cycle and (v_start is null or v_end is null) then
    return 'ignored: subscription.entity.current_start, current_end';
  end if;

  select u.email into v_email from private.find_user(v_user_id, true) u;
  if not found then
    return 'unmatched';
  end if;

  select * into v_subscription from public.subscriptions s where s.user_id = v_user_id for update;
  if not found then
    if v_cancelled then
      update public.profiles p set subscription_tier = 'free' where p.user_id = v_user_id;
    elsif not v_before_first_cycle then
      return private.create_gateway_subscription(v_user_id, v_email, p_event, p_entity, v_start, v_end, p_created_at);
    end if;
    return 'unmatched';
  end if;

  if v_id = any (v_subscription.superseded_gateway_subscription_ids) then
    return 'stale';
  end if;
  if not v_activated and v_id <> v_subscription.gateway_subscription_id then
    return 'mismatch';
  end if;

  -- Of two events of one second the longer period and the cancellation win, in either order of arrival.
  v_sets_period := v_end is not null and not v_cancelled and (
    p_created_at is null
    or v_subscription.period_event_at is null
    or p_created_at > v_subscription.period_event_at
    or p_created_at = v_subscription.period_event_at and v_end > v_subscription.current_period_end
  );
  v_sets_status := (v_activated or v_cancelled) and (
    p_created_at is null
    or v_subscription.status_event_at is null
    or p_created_at > v_subscription.status_event_at
    or p_created_at = v_subscription.status_event_at and v_cancelled and v_subscription.status <> 'cancelled'
  );
  v_sets_id := v_activated and v_id is not null and (
    p_created_at is null
    or v_subscription.gateway_subscription_id is null
    or v_subscription.activated_event_at is null
    or p_created_at > v_subscription.activated_event_at
  );
  if not (v_sets_period or v_sets_status or v_sets_id) then
    return 'stale';
  end if;

  update public.subscriptions s
  set current_period_start = case when v_sets_period then v_start else s.current_period_start end,
    current_period_end = case when v_sets_period then v_end else s.current_period_end end,
    period_event_at = case when v_sets_period then coalesce(p_created_at, s.period_event_at) else s.period_event_at end,
    status = case when not v_sets_status then s.status when v_cancelled then 'cancelled' else 'active' end,
    cancelled_at = case when not v_sets_status then s.cancelled_at when v_cancelled then private.clock() end,
    ended_reason = case when not v_sets_status then s.ended_reason when v_cancelled then 'cancelled' end,
    status_event_at = case when v_sets_status then coalesce(p_created_at, s.status_event_at) else s.status_event_at end,
    gateway_subscription_id = case when v_sets_id then v_id else s.gateway_subscription_id end,
    activated_event_at = case when v_sets_id then greatest(p_created_at, s.activated_event_at) else s.activated_event_at end
  where s.id = v_subscription.id;

  if v_sets_status and v_cancelled then
    update public.profiles p set subscription_tier = 'free' where p.user_id = v_user_id;
  elsif v_sets_status
    and v_subscription.status = 'cancelled'
    and (case when v_sets_period then v_end else v_subscription.current_period_end end) > private.clock()
  then
    perform private.set_tier(v_user_id, v_subscription.tier, v_email);
  end if;
  return 'applied';
end
$$;
revoke execute on function private.apply_subscription_event(text, jsonb, timestamptz) from public;
grant execute on function private.apply_subscription_event(text, jsonb, timestamptz) to service_role;
