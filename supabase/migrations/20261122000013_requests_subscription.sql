-- The requests for the subscription, the plans, cancellation and resumption.

-- Returns the subscription, the tier and the newest payments of a user. Contract: GET /api/subscriptions.
-- API: service_role only.
create function public.get_subscription(
  p_user_id uuid
)
returns json -- {subscription, currentTier, payments}: the answer's body; not jsonb, since the function only sends it
language plpgsql -- a session caches its plan
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
begin
  return row_to_json(answer)
  from (
    select
      (
        select record
        from (
          select
            s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
            s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
            row_to_json(p) as plan
          from public.subscriptions s
          left join public.plans p on p.id = s.plan_id
          where s.user_id = p_user_id
        ) record
      ) as subscription,
      coalesce(
        (select p.subscription_tier from public.profiles p where p.user_id = p_user_id),
        'free'
      ) as "currentTier",
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.gateway_order_id,
            p.gateway_payment_id, p.gateway_signature, p.meta, p.captured_at, p.confirmed_at, p.fulfilled_at,
            p.period_start, p.period_end, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments
  ) answer;
end
$$;
comment on function public.get_subscription(uuid) is
  'Returns a user''s subscription with its plan, the current tier and the ten newest payments.';
revoke execute on function public.get_subscription(uuid) from public, anon, authenticated;
grant execute on function public.get_subscription(uuid) to service_role;

-- Returns the plans on offer. Contract: GET /api/subscriptions/plans.
-- API: service_role only.
create function public.list_plans()
returns jsonb -- {plans}: the answer's body, the lowest price first
language sql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
  select jsonb_build_object('plans', coalesce(jsonb_agg(to_jsonb(p) order by p.price, p.tier), '[]'))
  from public.plans p
  where p.is_active
$$;
comment on function public.list_plans() is 'Returns the plans on offer, the lowest price first.';
revoke execute on function public.list_plans() from public, anon, authenticated;
grant execute on function public.list_plans() to service_role;

-- Cancellation and resumption by the user. A cancellation is stored first, and the outbox then delivers it to the gateway.

-- Sets or clears cancel_at_period_end of the ruling source and of the gateway subscription attached to it.
-- The caller holds the lock on the user.
create function private.mark_ruling_source(
  p_user_id uuid,
  p_gateway_subscription_id text, -- of the subscription row
  p_cancel_at_period_end boolean
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_source constant private.sources := (private.find_ruling(p_user_id)).source;
begin
  update public.payments p
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'payment'
    and p.id = case when v_source.kind = 'payment' then v_source.id::uuid end;
  update private.grants g
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'grant'
    and g.id = case when v_source.kind = 'grant' then v_source.id::bigint end;
  update private.manual_subscriptions w
  set cancel_at_period_end = p_cancel_at_period_end
  where v_source.kind = 'manual'
    and w.user_id = p_user_id;
  update private.gateway_subscriptions m
  set cancel_at_period_end = p_cancel_at_period_end,
    user_cancelled_at = case when p_cancel_at_period_end then private.clock() end
  where m.user_id = p_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
end
$$;
grant execute on function private.mark_ruling_source(uuid, text, boolean) to service_role;

-- Ends every running source of a user at once. The caller holds the lock on the user.
create function private.end_sources(
  p_user_id uuid,
  p_reason text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_source private.sources;
begin
  for v_source in
    select s.*
    from private.sources s
    where s.user_id = p_user_id
      and s.ended_at is null
      and s.lapses_at > v_now
    order by s.kind, s.id
  loop
    case v_source.kind
      when 'payment' then
        update public.payments p
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where p.id = v_source.id::uuid;
      when 'grant' then
        update private.grants g
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where g.id = v_source.id::bigint;
      when 'manual' then
        update private.manual_subscriptions w
        set ended_at = v_now, ended_reason = p_reason, cancel_at_period_end = false
        where w.user_id = p_user_id;
      else
        null; -- ended below, together with the gateway subscriptions that are no sources
    end case;
  end loop;
  insert into private.user_cancellations as c (user_id, at)
  values (p_user_id, v_now)
  on conflict (user_id) do update set at = excluded.at;
  update private.gateway_subscriptions m
  set ended_at = v_now,
    ended_reason = p_reason,
    cancel_at_period_end = false,
    user_cancelled_at = least(m.user_cancelled_at, v_now)
  where m.user_id = p_user_id
    and m.ended_at is null
    and m.status is distinct from 'cancelled';
end
$$;
grant execute on function private.end_sources(uuid, text) to service_role;

-- Ends a user's subscription. Contract: POST /api/subscriptions/cancel. API: service_role only.
create function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- true: the tier stays until the paid period ends; false: access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_subscription public.subscriptions;
begin
  perform private.begin_request('cancellation', null);
  v_email := private.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found or v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;

  -- A repeated cancellation for the period's end writes nothing.
  if not (p_at_period_end and v_subscription.cancel_at_period_end) then
    if p_at_period_end then
      perform private.mark_ruling_source(p_user_id, v_subscription.gateway_subscription_id, true);
      if v_subscription.gateway_subscription_id is not null then
        perform private.enqueue_cancellation(
          v_subscription.gateway_subscription_id,
          true,
          private.cancellation_time(v_subscription.current_period_end)
        );
      end if;
    else
      perform private.enqueue_cancellation(m.gateway_subscription_id)
      from private.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.gateway_subscription_id <> ''
        and m.status is distinct from 'cancelled'
        and m.ended_at is null;
      perform private.end_sources(p_user_id, 'cancelled');
    end if;
    perform private.settle_access(p_user_id, v_email);
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

-- Withdraws a cancellation for the period's end, unless the gateway may have received it: there it is final.
-- Contract: POST /api/subscriptions/resume. API: service_role only.
create function public.resume_subscription(
  p_user_id uuid
)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_email text;
  v_subscription public.subscriptions;
begin
  perform private.begin_request('resumption', null);
  v_email := private.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status <> 'active' then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  if v_subscription.cancel_at_period_end then
    if v_subscription.gateway_subscription_id is not null
      and not private.withdraw_cancellation(v_subscription.gateway_subscription_id, 'by the user')
    then
      return jsonb_build_object('outcome', 'cannot_be_resumed');
    end if;
    perform private.mark_ruling_source(p_user_id, v_subscription.gateway_subscription_id, false);
    perform private.settle_access(p_user_id, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'resumed',
    'subscription', public.get_subscription(p_user_id) -> 'subscription'
  );
end
$$;
comment on function public.resume_subscription(uuid) is
  'Withdraws a user''s cancellation for the period''s end, unless it was sent to the gateway.';
revoke execute on function public.resume_subscription(uuid) from public, anon, authenticated;
grant execute on function public.resume_subscription(uuid) to service_role;
