-- subscription.activated, .charged and .cancelled, in whatever order they come. SPEC 3 and 6.
-- Each field goes by a clock of its own: the created_at of the newest event that set it. The clocks belong to one gateway
-- subscription: when another takes its place, they start again and the ledger says what happened to that one before.
-- Depends on: _gateway_events, _access, _outbox, _fulfil_payment, _supersede_subscription, _replay_subscription_events,
-- _deleted_users.

-- Whether a subscription gives access now; none gives none.
create function private.is_running(
  p_subscription public.subscriptions
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce(p_subscription.status = 'active' and p_subscription.current_period_end > private.clock(), false);
end
$$;
revoke execute on function private.is_running(public.subscriptions) from public;
grant execute on function private.is_running(public.subscriptions) to service_role;

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
  v_plan public.plans;
  v_before public.subscriptions;
  v_after public.subscriptions;
  v_period_clock timestamptz;
  v_status_clock timestamptz;
  v_switches boolean;
  v_sets_period boolean;
  v_sets_status boolean;
  v_sets_id boolean;
  v_restores boolean;
begin
  if v_user_id is null then
    return 'ignored: subscription.entity.notes.user_id';
  end if;
  if not v_cancelled and not v_before_first_cycle and (v_start is null or v_end is null) then
    return 'ignored: subscription.entity.current_start, current_end';
  end if;

  select u.email into v_email from private.find_user(v_user_id, true) u;
  if not found then
    return case when v_cancelled then 'unmatched' else private.apply_event_of_nobody(v_user_id, v_id) end;
  end if;

  if private.is_replaced(v_user_id, p_created_at) then
    return private.apply_replaced_event(v_user_id, v_id, not v_cancelled);
  end if;

  select * into v_plan from public.plans p where p.gateway_plan_id = private.json_text(p_entity -> 'plan_id');
  select * into v_before from public.subscriptions s where s.user_id = v_user_id for update;
  if not found then
    if v_cancelled then
      update public.profiles p set subscription_tier = 'free' where p.user_id = v_user_id;
      return 'unmatched';
    end if;
    if v_before_first_cycle or v_plan.id is null then
      return 'unmatched';
    end if;

    insert into public.subscriptions (
      user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id,
      period_event_at, status_event_at, activated_event_at
    )
    values (
      v_user_id, v_plan.id, v_plan.tier, 'active', v_start, v_end, v_id,
      p_created_at,
      case when v_activated then p_created_at end,
      case when v_activated then p_created_at end
    )
    returning * into v_after;
  else
    v_sets_id := v_activated and v_id is not null and (
      p_created_at is null
      or v_before.gateway_subscription_id is null
      or v_before.activated_event_at is null
      or p_created_at > v_before.activated_event_at
      or p_created_at = v_before.activated_event_at and v_id > v_before.gateway_subscription_id
    );
    -- What a purchase replaced is over for good; what another gateway subscription did may come to count again.
    if v_id = any (v_before.superseded_gateway_subscription_ids)
      and (v_before.gateway_subscription_id is null or not v_sets_id)
    then
      return 'stale';
    end if;
    if v_id <> v_before.gateway_subscription_id and not v_sets_id then
      return case
        when not v_activated then 'mismatch'
        when private.supersede_subscription(v_before.id, v_id) then 'applied'
        else 'stale'
      end;
    end if;

    v_switches := v_sets_id and v_id is distinct from v_before.gateway_subscription_id;
    if not v_switches then
      v_period_clock := v_before.period_event_at;
      v_status_clock := v_before.status_event_at;
    end if;
    -- Of two events of one second the longer period and the cancellation win, in either order of arrival.
    v_sets_period := v_end is not null and not v_cancelled and (
      p_created_at is null
      or v_period_clock is null
      or p_created_at > v_period_clock
      or p_created_at = v_period_clock
        and (v_end, v_start) > (v_before.current_period_end, v_before.current_period_start)
    );
    v_sets_status := (v_activated or v_cancelled) and (
      p_created_at is null
      or v_status_clock is null
      or p_created_at > v_status_clock
      or p_created_at = v_status_clock and v_cancelled and v_before.status <> 'cancelled'
    );
    if not (v_sets_period or v_sets_status or v_sets_id) then
      return 'stale';
    end if;
    -- A charge after the access had lapsed pays for it again; no other end is undone by money that comes late.
    v_restores := p_event = 'subscription.charged'
      and v_sets_period
      and v_end > private.clock()
      and v_before.status = 'cancelled'
      and v_before.ended_reason = 'lapsed';
    -- What is paid from now on is the gateway's plan, if it is one of ours.
    if not (v_sets_period or v_switches) then
      v_plan := null;
    end if;

    update public.subscriptions s
    set plan_id = coalesce(v_plan.id, s.plan_id),
      tier = coalesce(v_plan.tier, s.tier),
      current_period_start = case when v_sets_period then v_start else s.current_period_start end,
      current_period_end = case when v_sets_period then v_end else s.current_period_end end,
      period_event_at = case when v_sets_period then coalesce(p_created_at, v_period_clock) else v_period_clock end,
      status = case when v_restores then 'active' when not v_sets_status then s.status when v_cancelled then 'cancelled' else 'active' end,
      cancelled_at = case when v_restores then null when not v_sets_status then s.cancelled_at when v_cancelled then private.clock() end,
      ended_reason = case when v_restores then null when not v_sets_status then s.ended_reason when v_cancelled then 'cancelled' end,
      status_event_at = case when v_sets_status then coalesce(p_created_at, v_status_clock) else v_status_clock end,
      gateway_subscription_id = case when v_sets_id then v_id else s.gateway_subscription_id end,
      activated_event_at = case when v_sets_id then coalesce(p_created_at, s.activated_event_at) else s.activated_event_at end
    where s.id = v_before.id
    returning * into v_after;
  end if;

  -- Whoever paid has the tier: when the subscription comes to run, be it by its status or by its period, and when it
  -- comes to be of another tier. One that ran before is left alone: a charge changes its period and nothing else.
  if v_sets_status and v_cancelled then
    update public.profiles p set subscription_tier = 'free' where p.user_id = v_user_id;
  elsif private.is_running(v_after) and (not private.is_running(v_before) or v_after.tier <> v_before.tier) then
    perform private.set_tier(v_user_id, v_after.tier, v_email);
  end if;

  if v_switches then
    -- One that is known by its charges alone may turn out to be the newer one.
    if v_before.activated_event_at is not null or v_before.period_event_at is null then
      perform private.supersede_subscription(v_before.id, v_before.gateway_subscription_id);
    end if;
    perform private.unsupersede_subscription(v_before.id, v_id);
  end if;
  if v_before.id is null or v_switches and p_created_at is not null then
    perform private.replay_subscription_events(v_user_id, v_id);
  end if;
  if v_before.id is null then
    perform private.replay_waiting_events(v_user_id, p_created_at);
  end if;
  return 'applied';
end
$$;
revoke execute on function private.apply_subscription_event(text, jsonb, timestamptz) from public;
grant execute on function private.apply_subscription_event(text, jsonb, timestamptz) to service_role;
