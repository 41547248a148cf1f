-- Reconciliation of gateway subscriptions: the function reads each from the gateway before its access may lapse.
-- Contract: POST /api/internal/reconcile, "Reconciliation".

-- Claims gateway subscriptions whose period ends within a day, under a lease of five minutes. Each is reconciled every six
-- hours until it is renewed or cancelled. API: service_role only.
create function public.claim_subscriptions_to_reconcile()
returns jsonb -- {subscriptions: [{id, gateway_subscription_id}]}: at most 20; id: of the user's subscription row
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_subscriptions jsonb;
begin
  with due as materialized (
    select
      m.user_id, m.gateway_subscription_id, s.id, m.status, m.period_end, m.checked_at, m.arrived_at,
      coalesce(p.grace_days, 3) as grace_days
    from private.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now
    order by m.next_check_at
    limit 1000
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- A cancelled subscription has ended, and one without an id cannot be read.
        when d.status = 'cancelled' or d.gateway_subscription_id = '' then 'never'
        -- The user may still sign up. The subscription may also belong to another app with the same gateway account.
        when d.id is null then case when d.arrived_at > v_now - interval '30 days' then 'tomorrow' else 'never' end
        -- So long after the last access no further cycle is expected.
        when d.checked_at > d.period_end + make_interval(days => d.grace_days + 14) then 'never'
        -- The subscription was renewed. A charge does not change next_check_at, so that it writes no index.
        when d.period_end > v_now + interval '1 day' then 'later'
        else 'now'
      end as turn
    from due d
  ),
  asked as (
    select p.* from planned p where p.turn = 'now' order by p.period_end limit 20
  ),
  leased as (
    update private.gateway_subscriptions m
    set next_check_at = case
        when p.turn = 'tomorrow' then v_now + interval '1 day'
        when p.turn = 'later' then p.period_end - interval '1 day'
        when p.turn = 'now' then v_now + interval '5 minutes'
      end
    from planned p
    where m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
      and (
        p.turn <> 'now'
        or exists (
          select
          from asked a
          where a.user_id = p.user_id
            and a.gateway_subscription_id = p.gateway_subscription_id
        )
      )
    returning p.id, m.gateway_subscription_id, p.turn
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id)),
    '[]'
  )
  into v_subscriptions
  from leased l
  where l.turn = 'now';
  return jsonb_build_object('subscriptions', v_subscriptions);
end
$$;
comment on function public.claim_subscriptions_to_reconcile() is
  'Claims up to 20 gateway subscriptions to reconcile before their period ends, for five minutes.';
revoke execute on function public.claim_subscriptions_to_reconcile() from public, anon, authenticated;
grant execute on function public.claim_subscriptions_to_reconcile() to service_role;

-- Applies the gateway's answer about a subscription. API: service_role only.
create function public.apply_gateway_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text,
  p_entity text default null -- the subscription at the gateway, JSON; null: the gateway has no such subscription
)
returns jsonb -- {applied}: whether the answer changed anything
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_user_id uuid;
  v_email text;
  v_mirrored private.gateway_subscriptions;
  v_entity jsonb := p_entity::jsonb;
  v_status constant text := private.json_text(v_entity -> 'status');
  v_event text;
  v_applied boolean := false;
begin
  perform private.begin_request('reconciliation', p_gateway_subscription_id);
  select s.user_id into v_user_id from public.subscriptions s where s.id = p_subscription_id;
  v_email := private.lock_user(v_user_id);
  select * into v_mirrored
  from private.gateway_subscriptions m
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id
  for update;
  if not found then
    return jsonb_build_object('applied', false);
  end if;
  v_event := case
    when v_status = 'active' and private.json_time(v_entity -> 'current_end') > v_mirrored.period_end
      then 'subscription.charged'
    when v_status in ('cancelled', 'expired') and v_mirrored.status is distinct from 'cancelled'
      then 'subscription.cancelled'
  end;

  if v_event is not null then
    -- The user is known, so the notes in the answer are not used.
    v_entity := v_entity || jsonb_build_object(
      'id', p_gateway_subscription_id,
      'notes', jsonb_build_object('user_id', v_user_id)
    );
    v_applied := private.apply_answer(
      concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, case
        when v_event = 'subscription.charged' then v_entity ->> 'current_end'
      end),
      jsonb_build_object(
        'event', v_event,
        'payload', jsonb_build_object('subscription', jsonb_build_object('entity', v_entity)),
        -- A charge happens when its period begins. So its webhook changes nothing if it still arrives.
        'created_at', v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end
      ),
      v_mirrored.period_end - interval '1 day'
    );
  end if;

  update private.gateway_subscriptions m
  set checked_at = private.clock(),
    next_check_at = case when m.status is distinct from 'cancelled' then private.clock() + interval '6 hours' end,
    gateway_status = coalesce(v_status, 'unknown')
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
  return jsonb_build_object('applied', v_applied);
end
$$;
comment on function public.apply_gateway_subscription(uuid, text, text) is
  'Applies the gateway''s answer about a subscription that it bills.';
revoke execute on function public.apply_gateway_subscription(uuid, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_subscription(uuid, text, text) to service_role;
