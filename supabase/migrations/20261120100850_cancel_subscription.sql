-- Cancellation by the user: the intent is noted here first, the gateway is told through the outbox until it agrees.
-- POST /api/subscriptions/cancel and /resume.
-- Depends on: _get_subscription, _outbox, _wake.

-- API: service_role only.
create function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- the tier stays until the paid period ends; else access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_subscription public.subscriptions;
begin
  perform private.begin_request('cancellation', null);
  perform from private.find_user(p_user_id, true);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found or v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;

  if p_at_period_end then
    update public.subscriptions s
    set cancel_at_period_end = true
    where s.id = v_subscription.id;
  else
    update public.subscriptions s
    set status = 'cancelled',
      cancelled_at = private.clock(),
      cancel_at_period_end = false,
      ended_reason = 'cancelled'
    where s.id = v_subscription.id;
    update public.profiles p set subscription_tier = 'free' where p.user_id = p_user_id;
  end if;

  if v_subscription.gateway_subscription_id is not null then
    perform private.enqueue_cancellation(
      v_subscription.gateway_subscription_id,
      p_at_period_end,
      case
        when p_at_period_end
          then greatest(v_subscription.current_period_end - interval '24 hours', private.clock())
        else private.clock()
      end
    );
  end if;
  return jsonb_build_object(
    'outcome', 'cancelled',
    'subscription', public.get_subscription(p_user_id) -> 'subscription'
  );
end
$$;
comment on function public.cancel_subscription(uuid, boolean) is
  'Ends a user''s subscription, now or when the paid period ends.';
revoke execute on function public.cancel_subscription(uuid, boolean) from public, anon, authenticated;
grant execute on function public.cancel_subscription(uuid, boolean) to service_role;

-- Drops the intent to cancel, until the gateway was told: a cancellation is final there.
-- API: service_role only.
create function public.resume_subscription(
  p_user_id uuid
)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_subscription public.subscriptions;
  v_row private.outbox;
begin
  perform private.begin_request('resumption', null);
  perform from private.find_user(p_user_id, true);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  if v_subscription.cancel_at_period_end and v_subscription.gateway_subscription_id is not null then
    select * into v_row
    from private.outbox o
    where o.key = 'cancel-subscription/' || v_subscription.gateway_subscription_id
    for update;
    -- One that was ever claimed may have arrived.
    if v_row.attempts > 0 or v_row.delivered_at is not null then
      return jsonb_build_object('outcome', 'cannot_be_resumed');
    end if;
    update private.outbox o
    set parked_at = private.clock(),
      last_error = 'withdrawn: by the user'
    where o.id = v_row.id;
  end if;
  update public.subscriptions s
  set cancel_at_period_end = false
  where s.id = v_subscription.id
    and s.cancel_at_period_end;
  return jsonb_build_object(
    'outcome', 'resumed',
    'subscription', public.get_subscription(p_user_id) -> 'subscription'
  );
end
$$;
comment on function public.resume_subscription(uuid) is 'Drops a user''s intent to cancel, if the gateway was not told yet.';
revoke execute on function public.resume_subscription(uuid) from public, anon, authenticated;
grant execute on function public.resume_subscription(uuid) to service_role;
